//! Positions whose labels deserve a second look: those that parameters misjudge most.

use std::fmt::Write;

use engine::eval::params::Weights;
use engine::eval::{DEFAULT_SCALE, Evaluator};
use serde_json::{Value, json};

use crate::data::{Dataset, DatasetError, ReadOptions, Source, judge};
use crate::features::{Resolve, score};
use crate::model::rows::Weighted;
use crate::objective::{SampleLoss, fit_k};
use crate::progress::Progress;
use crate::run::explain::{Case, Explanation, FAR_OFF, Misjudged, Worst, explain};

/// Outliers of data, and what all of the data say.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// What was found; the outliers are its worst positions.
    explanation: Explanation,
    /// Records that were passed over.
    skipped: u64,
    /// What speaks against the labels as a whole.
    warnings: Vec<String>,
}

/// Finds the `count` positions whose result is furthest from what the parameters expect.
///
/// K is fitted if it is not given; where the results contradict the scores as a whole, and determine none, it is 1:
/// these are the data that outliers are wanted of.
///
/// # Errors
/// The first fault of the data.
pub fn outliers(
    sources: Vec<Source>,
    weights: &Weights,
    resolve: Resolve,
    k: Option<f64>,
    options: &ReadOptions,
    count: usize,
    progress: &dyn Progress,
) -> Result<Outliers, DatasetError> {
    let dataset = Dataset::read(sources, options, progress)?;
    let evaluator = &Evaluator::new(weights.clone());
    let targets: Vec<f32> = (0..dataset.len()).map(|index| dataset.label(index).outcome.points()).collect();
    let k = k.unwrap_or_else(|| {
        let scores = score(&dataset, evaluator, resolve, progress);
        let weighted = Weighted { targets: &targets, weights: &dataset.weights() };
        fit_k(SampleLoss::default(), scores.of(resolve), weighted).map_or(DEFAULT_SCALE, |fit| fit.k)
    });
    let case = Case { dataset: &dataset, evaluator, resolve, k, targets: &targets, counted: None };
    Ok(Outliers {
        explanation: explain(&case, Worst { count, apart: 1 }, progress),
        skipped: dataset.skipped_records(),
        warnings: judge::warnings(dataset.files(), true),
    })
}

impl Outliers {
    /// As a table.
    pub fn to_table(&self) -> String {
        let Explanation { k, all, files, worst, .. } = &self.explanation;
        let place = |misjudged: &Misjudged| misjudged.place(&misjudged.file);
        let width = worst.iter().map(|worst| place(worst).chars().count()).max().unwrap_or(0).max("position".len());
        let mut table = format!("{:<width$}  result   expected  static  quiescence  FEN\n", "position");
        for worst in worst {
            let Misjudged { outcome, expected, static_score, qsearch, position, .. } = worst;
            // Writing to a string cannot fail.
            let _ = writeln!(
                table,
                "{:<width$}  {:<7}  {expected:>8.4}  {static_score:>+6}  {qsearch:>+10}  {}",
                place(worst),
                outcome.to_string(),
                position.to_fen()
            );
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

    /// As one JSON object.
    pub fn to_json(&self) -> Value {
        let Explanation { k, all, files, worst, .. } = &self.explanation;
        let files: Vec<Value> = files
            .iter()
            .map(|file| {
                json!({
                    "file": file.file,
                    "positions": file.positions,
                    "far_off": file.far_off,
                })
            })
            .collect();
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

    /// The outliers as EPD, which can be read as data again: the expectation and the scores as a comment, file and line
    /// or game as their name.
    pub fn to_epd(&self) -> String {
        let line = |worst: &Misjudged| {
            let Misjudged { outcome, expected, static_score, qsearch, position, file, .. } = worst;
            // EPD knows no way to write a quotation mark, and a line has to stay one.
            let file: String = file.chars().map(|c| if c.is_control() || c == '"' { '\'' } else { c }).collect();
            format!(
                "{} c9 \"{}\"; \
                 c1 \"expected {expected:.4}, static {static_score:+}, quiescence {qsearch:+}\"; id \"{}\";\n",
                position.to_epd_fields(),
                outcome,
                worst.place(&file)
            )
        };
        self.explanation.worst.iter().map(line).collect()
    }
}

fn outlier_json(worst: &Misjudged) -> Value {
    json!({
        "file": worst.file,
        worst.record.name(): worst.number,
        "fen": worst.position.to_fen(),
        "result": worst.outcome.to_string(),
        "expected": worst.expected,
        "static": worst.static_score,
        "qsearch": worst.qsearch,
        "moves": worst.line_to_leaf(),
        "leaf": worst.leaf.to_fen(),
    })
}
