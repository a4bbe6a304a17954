//! Whether the formula and the rows give what the engine itself computes.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

use crate::model::rows::{Part, RowsError};
use crate::model::text::TextRows;
use crate::objective::scores;

/// Centipawns by which rows and scores may differ without being counted: the rounding of one integer.
const ROUNDING: f64 = 1.0;

/// The share of the rows that may differ by more than the tolerance.
const MOST_OFF: f64 = 0.1;

/// Worst rows that are told.
const WORST: usize = 3;

/// Correlations below this are not told.
const LEAST_CORRELATION: f64 = 0.3;

/// How the scores of the engine differ from those of the formula where parameters start.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Rows.
    pub rows: usize,
    /// Rows that differ by more than a centipawn.
    pub off: usize,
    /// Rows among these for which the score with the other sign would do.
    pub negated: usize,
    /// Root of the mean square of the differences, in centipawns.
    pub rms: f64,
    /// A tenth of the rows, and no more, differ by more than this, in centipawns.
    pub usual: f64,
    /// The rows that differ most.
    pub worst: Vec<Worst>,
    /// What the differences go along with: facts, or `score`; and their correlation with the difference or its size.
    pub along: Vec<(String, f64)>,
}

/// A row that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// File and line; the position, if an engine was asked.
    pub place: String,
    /// The line.
    pub line: u64,
    /// The score of the engine, in centipawns and White's view.
    pub score: f64,
    /// The score of the formula.
    pub formula: f64,
}

impl Check {
    /// Compares the scores of a text, if it has any, and lets the constant of each row be what the formula lacks.
    pub(super) fn of(text: &mut TextRows) -> Result<Option<Self>, RowsError> {
        let Some(own) = &text.scores else { return Ok(None) };
        let formula = scores(&text.rows, &text.model, &text.start());
        let differences: Vec<f64> =
            own.iter().zip(&formula).map(|(&score, formula)| f64::from(score) - formula).collect();
        let is_off = |difference: f64| difference.abs() > ROUNDING;
        let off: Vec<usize> = (0..own.len()).filter(|&row| is_off(differences[row])).collect();
        let mut worst = off.clone();
        worst.sort_by(|&a, &b| differences[b].abs().total_cmp(&differences[a].abs()).then(a.cmp(&b)));
        worst.truncate(WORST);
        let of_row = |row: usize| (f64::from(own[row]), formula[row]);
        let mut sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let mean_square = differences.iter().map(|difference| difference * difference).sum::<f64>() / own.len() as f64;
        let check = Check {
            rows: own.len(),
            off: off.len(),
            negated: off.iter().filter(|&&row| !is_off(of_row(row).0 + of_row(row).1)).count(),
            rms: mean_square.sqrt(),
            usual: sizes.get((MOST_OFF * own.len() as f64) as usize).copied().unwrap_or_default(),
            worst: worst
                .into_iter()
                .map(|row| {
                    let (score, formula) = of_row(row);
                    Worst { place: text.place(row), line: text.lines.of(row), score, formula }
                })
                .collect(),
            along: if off.is_empty() { Vec::new() } else { along(text, own, &differences) },
        };
        let constants: Vec<f32> = differences.iter().map(|&difference| difference as f32).collect();
        text.rows = std::mem::take(&mut text.rows).with_fact(0, &constants)?;
        Ok(Some(check))
    }

    /// Share of the rows that agree.
    pub fn agreement(&self) -> f64 {
        1.0 - self.off as f64 / self.rows as f64
    }

    /// Whether more than a tenth of the rows differ by more than `tolerance` centipawns.
    pub fn has_failed(&self, tolerance: f64) -> bool {
        self.usual > tolerance
    }

    /// The check as an object.
    pub fn to_json(&self) -> Json {
        let worst =
            self.worst.iter().map(|row| json!({ "row": row.place, "score": row.score, "formula": row.formula }));
        json!({
            "rows": self.rows,
            "agreement": self.agreement(),
            "rms": self.rms,
            "usual": self.usual,
            "worst": worst.collect::<Vec<Json>>(),
            "along": self.along.iter().map(|(name, correlation)| (name.clone(), json!(correlation)))
                .collect::<serde_json::Map<String, Json>>(),
        })
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(to)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "score − row: {:.1} % within 1 cp", 100.0 * self.agreement())?;
        if self.usual > ROUNDING {
            write!(f, ", 90 % within {:.1} cp", self.usual)?;
        }
        write!(f, ", rms {:.1} cp", self.rms)?;
        if self.worst.is_empty() {
            return Ok(());
        }
        let worst = self.worst.iter().map(|row| format!("{} (score {}, row {:.1})", row.place, row.score, row.formula));
        write!(f, "; worst {}", worst.collect::<Vec<_>>().join(", "))?;
        if 2 * self.negated > self.off {
            write!(
                f,
                "; in {} of {} the score with the other sign agrees: White's view is wanted",
                self.negated, self.off
            )?;
        }
        if !self.along.is_empty() {
            let along = self.along.iter().map(|(name, correlation)| format!("{name} ({correlation:+.2})"));
            write!(f, "; goes along with {}", along.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

/// What differences correlate with, the strongest first: they themselves or their sizes, whichever does so more.
fn along(text: &TextRows, own: &[f32], differences: &[f64]) -> Vec<(String, f64)> {
    let facts = text.model.layout.facts.iter().enumerate().skip(1);
    let columns = facts.map(|(fact, name)| {
        let of_part = |part: Part<'_>| -> Vec<f32> {
            part.blocks().flat_map(|block| block.facts().map(|facts| facts[fact]).collect::<Vec<f32>>()).collect()
        };
        let column: Vec<f64> = text.rows.by_row(of_part).into_iter().map(f64::from).collect();
        (name.clone(), column)
    });
    let score = ("score".to_owned(), own.iter().map(|&score| f64::from(score)).collect());
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    let told = columns.chain([score]).filter_map(|(name, column)| {
        let found = [correlation(&column, differences), correlation(&column, &sizes)];
        let strongest = if found[1].abs() > found[0].abs() { found[1] } else { found[0] };
        (strongest.abs() >= LEAST_CORRELATION).then_some((name, strongest))
    });
    let mut along: Vec<(String, f64)> = told.collect();
    along.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    along
}

/// The correlation of two columns; 0 if one of them is constant.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |column: &[f64]| column.iter().sum::<f64>() / column.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let (ab, aa, bb) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    if aa > 0.0 && bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
}
