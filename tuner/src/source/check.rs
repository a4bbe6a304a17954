//! The comparison of formula and rows with the engine's own scores.

use std::fmt;

use anyhow::Result;
use serde::{Serialize, Serializer};

use crate::model::rows::Part;
use crate::model::text::TextRows;

/// Largest difference, in centipawns, that is not counted: the rounding of one integer.
const ROUNDING: f64 = 1.0;

/// Largest share of rows that may differ by more than the tolerance.
const TOLERATED_SHARE: f64 = 0.1;

/// Number of largest differences to report.
const REPORTED_ROWS: usize = 3;

/// Smallest correlation to report, by absolute value.
const LEAST_CORRELATION: f64 = 0.3;

/// Statistics of the differences between the engine's scores and those of the formula at the start.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// The number of rows.
    pub rows: usize,
    /// The share of rows that agree to a centipawn.
    pub agreement: f64,
    /// The number of rows that differ by more than a centipawn.
    #[serde(skip)]
    pub differing: usize,
    /// The number of differing rows that agree with the negated score.
    #[serde(skip)]
    pub negated: usize,
    /// Root mean square of the differences, in centipawns.
    pub rms: f64,
    /// The 90th percentile of the absolute differences, in centipawns.
    #[serde(rename = "usual")]
    pub percentile_90: f64,
    /// The rows with the largest differences.
    pub worst: Vec<Discrepancy>,
    /// Facts, or `score`, that correlate with the differences or with their absolute values, and the coefficients.
    #[serde(rename = "along", serialize_with = "serialize_map")]
    pub correlations: Vec<(String, f64)>,
}

/// A row whose formula disagrees with the engine's score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Discrepancy {
    /// File and line; the FEN of the position, if an engine answered it.
    #[serde(rename = "row")]
    pub place: String,
    /// The engine's score, in centipawns and White's view.
    pub score: f64,
    /// The score of the formula, in the same unit and view.
    pub formula: f64,
}

fn serialize_map<S: Serializer>(pairs: &[(String, f64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().map(|(name, number)| (name, number)))
}

impl Check {
    /// Compares the scores of the formula with those of a text, if there are any. Sets the constant of each row to the
    /// difference. `place` names a row.
    pub(super) fn of(
        text: &mut TextRows,
        formula: &[f64],
        mut place: impl FnMut(&TextRows, usize) -> String,
    ) -> Result<Option<Self>> {
        let Some(own) = &text.scores else { return Ok(None) };
        let differences: Vec<f64> =
            own.iter().zip(formula).map(|(&score, formula)| f64::from(score) - formula).collect();
        let differs = |difference: f64| difference.abs() > ROUNDING;
        let differing: Vec<usize> = (0..own.len()).filter(|&row| differs(differences[row])).collect();
        let mut worst = differing.clone();
        worst.sort_by(|&a, &b| differences[b].abs().total_cmp(&differences[a].abs()).then(a.cmp(&b)));
        worst.truncate(REPORTED_ROWS);
        let of_row = |row: usize| (f64::from(own[row]), formula[row]);
        let mut sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        let mean_square = differences.iter().map(|difference| difference * difference).sum::<f64>() / own.len() as f64;
        let check = Check {
            rows: own.len(),
            agreement: 1.0 - differing.len() as f64 / own.len() as f64,
            differing: differing.len(),
            negated: differing.iter().filter(|&&row| !differs(of_row(row).0 + of_row(row).1)).count(),
            rms: mean_square.sqrt(),
            percentile_90: sizes.get((TOLERATED_SHARE * own.len() as f64) as usize).copied().unwrap_or_default(),
            worst: worst
                .into_iter()
                .map(|row| {
                    let (score, formula) = of_row(row);
                    Discrepancy { place: place(text, row), score, formula }
                })
                .collect(),
            correlations: if differing.is_empty() { Vec::new() } else { correlations(text, own, &differences) },
        };
        let constants: Vec<f32> = differences.iter().map(|&difference| difference as f32).collect();
        text.rows = std::mem::take(&mut text.rows).with_fact(0, &constants)?;
        Ok(Some(check))
    }

    /// Returns true if more than a tenth of the rows differ by more than `tolerance` centipawns.
    pub fn has_failed(&self, tolerance: f64) -> bool {
        self.percentile_90 > tolerance
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "score − row: {:.1} % within 1 cp", 100.0 * self.agreement)?;
        if self.percentile_90 > ROUNDING {
            write!(f, ", 90 % within {:.1} cp", self.percentile_90)?;
        }
        write!(f, ", rms {:.1} cp", self.rms)?;
        if self.worst.is_empty() {
            return Ok(());
        }
        let worst =
            self.worst.iter().map(|row| format!("{} (score {}, row {:.1})", row.place, row.score as f32, row.formula));
        write!(f, "; worst {}", worst.collect::<Vec<_>>().join(", "))?;
        if 2 * self.negated > self.differing {
            write!(
                f,
                "; in {} of {} the score with the other sign agrees: White's view is wanted",
                self.negated, self.differing
            )?;
        }
        if !self.correlations.is_empty() {
            let along = self.correlations.iter().map(|(name, correlation)| format!("{name} ({correlation:+.2})"));
            write!(f, "; goes along with {}", along.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

/// Correlates facts and scores with the differences and with their absolute values. Returns the stronger coefficient of
/// each, the strongest first.
fn correlations(text: &TextRows, own: &[f32], differences: &[f64]) -> Vec<(String, f64)> {
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
    let reported = columns.chain([score]).filter_map(|(name, column)| {
        let found = [correlation(&column, differences), correlation(&column, &sizes)];
        let strongest = if found[1].abs() > found[0].abs() { found[1] } else { found[0] };
        (strongest.abs() >= LEAST_CORRELATION).then_some((name, strongest))
    });
    let mut correlations: Vec<(String, f64)> = reported.collect();
    correlations.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    correlations
}

/// Returns the Pearson correlation of two columns; 0 if one of them is constant.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |column: &[f64]| column.iter().sum::<f64>() / column.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let sum = |of: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum::<f64>();
    let (ab, aa, bb) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    if aa > 0.0 && bb > 0.0 { ab / (aa * bb).sqrt() } else { 0.0 }
}
