//! Merino's own evaluation, as a run sees it.

use std::borrow::Cow;

use engine::eval::Evaluator;
use engine::eval::params::{PAIRS, Weights};

use super::{Loss, RunError};
use crate::data::Dataset;
use crate::features::{Resolve, Scores, resolve, score};
use crate::model::Model;
use crate::model::centre::Shift;
use crate::model::merino::merino;
use crate::model::rows::Rows;
use crate::numbers::Numbers;
use crate::objective::{FitKError, SampleLoss, fit_k};
use crate::progress::Progress;
use crate::run::{Divided, Sides, Split, Subject};

/// Positions, and how the engine's evaluation and quiescence search judge them.
pub(super) struct Merino<'r> {
    pub(super) dataset: &'r Dataset,
    pub(super) targets: &'r [f32],
    pub(super) split: Option<&'r Split>,
    pub(super) loss: SampleLoss,
    pub(super) resolve: Resolve,
    pub(super) numbers: Numbers,
    /// Those of the start, until they have been looked at.
    pub(super) scores: Option<Scores>,
    pub(super) progress: &'r dyn Progress,
}

impl Merino<'_> {
    pub(super) fn score(&self, vector: &[f64]) -> Scores {
        score(self.dataset, &evaluator(vector), self.resolve, self.progress)
    }

    /// The losses of scores, of what is fitted and of what is held out.
    fn sides(&self, rows: &Divided<'_>, scores: &Scores, k: f64) -> Sides<Loss> {
        let of = |rows: &Rows, scores: &Scores| Loss::of(self.loss, scores, rows.weighted(), k);
        let Some(split) = self.split else {
            return Sides { fitted: of(&rows.fitted, scores), held: None };
        };
        let held = rows.held.as_ref().map(|held| of(held, &scores.pick(&split.held)));
        Sides { fitted: of(&rows.fitted, &scores.pick(&split.fitted)), held }
    }
}

impl<'r> Subject<'r> for Merino<'r> {
    type Loss = Loss;

    fn model(&self) -> &Model {
        &merino().model
    }

    fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    fn shifts(&self, _rows: &Rows) -> Vec<Shift> {
        merino().shifts().to_vec()
    }

    /// Scores are nearly as large as pairs: what the joints have of their own is left to the fit. The phase is a ratio.
    fn powers(&self) -> Option<Vec<f64>> {
        Some((0..Weights::DIMENSIONS).map(|j| if j < 2 * PAIRS { 1.0 } else { 0.0 }).collect())
    }

    fn check(&self, vector: &[f64]) -> Result<(), RunError> {
        has_phase(vector)
    }

    fn fit_k(&self, rows: &Rows, start: &[f64]) -> Result<f64, FitKError> {
        let scores = self.scores.as_ref().map_or_else(|| Cow::Owned(self.score(start)), Cow::Borrowed);
        let fitted = self.split.map(|split| scores.pick(&split.fitted));
        let scores = fitted.as_ref().unwrap_or(&scores).of(self.resolve);
        Ok(fit_k(self.loss, scores, rows.weighted())?.k)
    }

    fn losses(&mut self, rows: &Divided<'r>, vector: &[f64], k: f64) -> Result<Sides<Loss>, RunError> {
        let scores = self.scores.take().unwrap_or_else(|| self.score(vector));
        Ok(self.sides(rows, &scores, k))
    }

    fn minimised(&self, loss: Loss) -> f64 {
        loss.minimised()
    }

    fn has_moving_rows(&self) -> bool {
        self.resolve == Resolve::Qsearch
    }

    fn judge(&mut self, rows: Divided<'r>, vector: &[f64], k: f64) -> Result<(Sides<Loss>, Divided<'r>), RunError> {
        if self.resolve == Resolve::Static {
            return Ok((self.losses(&rows, vector, k)?, rows));
        }
        // The old rows make room for the new ones.
        drop(rows);
        let resolved = resolve(self.dataset, &evaluator(vector), self.resolve, self.progress)?;
        let rows = Cow::Owned(resolved.rows.with_targets(self.targets)?);
        let rows = Divided::new(rows, self.split, self.dataset.storage())?;
        Ok((self.sides(&rows, &resolved.scores, k), rows))
    }
}

/// Whether some piece has a phase weight: without one, the phase of a position is unknown.
pub(super) fn has_phase(vector: &[f64]) -> Result<(), RunError> {
    if Weights::from_vector(vector).0.has_phase() { Ok(()) } else { Err(RunError::NoPhase) }
}

fn evaluator(vector: &[f64]) -> Evaluator {
    Evaluator::new(Weights::from_vector(vector).0)
}
