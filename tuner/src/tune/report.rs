//! What comes out of a run.

use std::collections::BTreeMap;
use std::ops::Deref;

use engine::eval::params::Weights;
use serde::Serialize;

use crate::data::{FileSummary, Grouping, Skipped};
use crate::features::{Resolve, Scores};
use crate::model::rows::Weighted;
use crate::objective::{SampleLoss, score_loss};
use crate::run::Outcome;

/// Mean losses of the engine's integer scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Of the evaluation itself.
    #[serde(rename = "static")]
    pub still: f64,
    /// Of the quiescence search, where positions are resolved by it.
    pub qsearch: Option<f64>,
}

impl Loss {
    /// Of scores under a scale.
    pub(crate) fn of(loss: SampleLoss, scores: &Scores, weighted: Weighted<'_>, k: f64) -> Self {
        let mean = |scores: &[i16]| score_loss(loss, k, scores, weighted);
        let qsearch = (!scores.qsearch.is_empty()).then(|| mean(&scores.qsearch));
        Loss { still: mean(&scores.static_score), qsearch }
    }

    /// The one that is minimised.
    pub fn minimised(&self) -> f64 {
        self.qsearch.unwrap_or(self.still)
    }
}

/// The outcome of a run, and what is known of the positions.
#[derive(Clone, Debug)]
pub struct Report {
    /// What any run has to say.
    pub outcome: Outcome<Loss>,
    /// The files.
    pub files: Vec<FileSummary>,
    /// What speaks against the labels of the files.
    pub warnings_of_data: Vec<String>,
    /// Positions used, those held out included.
    pub positions: u64,
    /// What positions stayed together by, in folds, in what was held out and in errors.
    pub grouping: Grouping,
    /// Lines passed over, by reason.
    pub skipped: BTreeMap<&'static str, Skipped>,
    /// The tuned parameters.
    pub tuned: Weights,
    /// How positions were resolved.
    pub resolve: Resolve,
    /// Pairs that occur in no row, and therefore kept their start.
    pub unseen: usize,
    /// Pairs that occur in too few rows, and therefore kept their start.
    pub rare: usize,
    /// Numbers of pairs that reached the end of their range.
    pub at_bound: usize,
}

impl Deref for Report {
    type Target = Outcome<Loss>;

    fn deref(&self) -> &Outcome<Loss> {
        &self.outcome
    }
}
