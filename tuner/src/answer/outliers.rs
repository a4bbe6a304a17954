//! Outliers of data: the positions that an evaluation predicts worst. Their labels may be wrong.

use std::fmt::Write;

use engine::eval::DEFAULT_SCALE;
use serde_json::{Value, json};

use crate::data::judge;
use crate::objective::{SampleLoss, fit_k};
use crate::progress::Progress;
use crate::run::explain::{Case, Explanation, FAR_OFF, Misjudged, explain};
use crate::source::Problem;

/// The outliers of a data set and its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// The explanation whose worst positions are the outliers.
    explanation: Explanation,
    /// The number of skipped records.
    skipped: u64,
    /// Warnings about the labels as a whole.
    warnings: Vec<String>,
}

/// Finds the `count` rows with the largest residuals.
///
/// K is fitted if it is not given. If the results contradict the scores as a whole, so that they determine no K, it is
/// 1: such data need the search for outliers most.
pub fn outliers(problem: &Problem, k: Option<f64>, count: usize, progress: &dyn Progress) -> Outliers {
    let (scores, weighted) = (problem.scores(), problem.text.rows.weighted());
    let fitted = || fit_k(SampleLoss::default(), &scores, weighted).unwrap_or(DEFAULT_SCALE);
    let (k, targets) = (k.unwrap_or_else(fitted), weighted.targets);
    let case = Case { problem, k, scores: &scores, targets, weights: weighted.weights, counted: None };
    Outliers {
        explanation: explain(&case, (count, 1), progress),
        skipped: problem.dataset().map_or(0, |dataset| dataset.skipped_records()),
        warnings: judge::warnings(problem.files(), true),
    }
}

impl Outliers {
    /// Formats the outliers as a table.
    pub fn to_table(&self) -> String {
        let Explanation { k, all, files, worst, .. } = &self.explanation;
        let width = worst.iter().map(|worst| worst.place.chars().count()).max().unwrap_or(0).max("position".len());
        let mut table = format!("{:<width$}  result   expected   score  FEN\n", "position");
        for Misjudged { place, position, target, expected, score, .. } in worst {
            let (result, fen) = match position {
                Some((position, outcome)) => (outcome.to_string(), position.to_fen()),
                None => (target.to_string(), String::new()),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{place:<width$}  {result:<7}  {expected:>8.4}  {score:>+6.0}  {fen}");
        }
        let _ = writeln!(table, "\nExpectations of White at K {k:.4}; mean squared error {:.7}.", all.loss());
        let width = files.iter().map(|file| file.file.chars().count()).max().unwrap_or(0);
        for file in files {
            let share = 100.0 * file.far_off as f64 / file.positions.max(1) as f64;
            let _ = writeln!(
                table,
                "{:<width$}  {} of {} positions are off by more than {FAR_OFF} ({share:.3} %)",
                file.file, file.far_off, file.positions
            );
        }
        for warning in &self.warnings {
            let _ = writeln!(table, "warning: {warning}");
        }
        if self.skipped > 0 {
            let _ = writeln!(table, "{} records were skipped", self.skipped);
        }
        table.truncate(table.trim_end().len());
        table
    }

    /// Converts the outliers to one JSON object.
    pub fn to_json(&self) -> Value {
        let Explanation { k, all, files, worst, .. } = &self.explanation;
        json!({
            "positions": all.count(),
            "skipped": self.skipped,
            "k": k,
            "loss": all.loss(),
            "files": files,
            "warnings": self.warnings,
            "outliers": worst.iter().map(outlier_json).collect::<Vec<_>>(),
        })
    }

    /// Formats the outliers with known positions as EPD, which can be read as data again. Expectation and score are a
    /// comment; file and line, or file and game, are the name.
    pub fn to_epd(&self) -> String {
        let line = |worst: &Misjudged| {
            let Misjudged { place, position, expected, score, .. } = worst;
            let (position, outcome) = position.as_ref()?;
            // EPD has no escape for a quotation mark, and a record must stay on one line.
            let place: String = place.chars().map(|c| if c.is_control() || c == '"' { '\'' } else { c }).collect();
            Some(format!(
                "{} c9 \"{outcome}\"; c1 \"expected {expected:.4}, score {score:+.0}\"; id \"{place}\";\n",
                position.to_epd_fields(),
            ))
        };
        self.explanation.worst.iter().filter_map(line).collect()
    }
}

fn outlier_json(worst: &Misjudged) -> Value {
    let Misjudged { place, position, target, expected, score, source, .. } = worst;
    let mut found = json!({
        "place": place,
        "fen": position.as_ref().map(|(position, _)| position.to_fen()),
        "result": position.as_ref().map_or_else(|| target.to_string(), |(_, outcome)| outcome.to_string()),
        "expected": expected,
        "score": score,
    });
    if let Some((file, record, number)) = source {
        found["file"] = json!(file);
        found[*record] = json!(number);
    }
    found
}
