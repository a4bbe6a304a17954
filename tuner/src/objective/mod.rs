//! The objective of the fit: the mean loss of predicted results plus a prior, with its derivatives.
//!
//! It depends on rows and a [`Model`] only. The score of a row is `q(θ)`, in centipawns and White's view. The objective
//! is `mean loss(σ(K q), target) + λ Σ w (θ − s θ₀)²` with `σ(x) = 1 / (1 + 10^(−x / 400))`. The mean is weighted by
//! the weights of the rows. The loss is the squared error or the cross-entropy. The scale `s` of the start is free or 1
//! (see `prior.rs`).
//!
//! Sums run in parallel over parts of the rows that do not depend on the number of threads or processes, and are added
//! up in a fixed order. So any number of threads or processes computes the same bits.

mod difference;
mod fit_k;
mod hessian;
pub(crate) mod linear;
mod loss;
mod pass;
mod prior;
mod products;
mod vectors;

pub use difference::{Difference, loss_difference, score_loss};
pub use fit_k::{K_MAX, K_MIN, Score, fit_k, refuse_one_result};
pub use hessian::HessianKind;
pub use linear::SymmetricMatrix;
pub use loss::{SampleLoss, expectation};
pub use prior::PriorScale;

use crate::model::Model;
use crate::model::rows::{PARTS, Part, Rows};
use crate::parallel;
use anyhow::{Result, bail, ensure};
use pass::{EvaluationPoint, Room};
pub(crate) use pass::{each_count, each_row};
use prior::Prior;
use std::ops::Range;

/// The objective function of a fit; see the module's description.
#[derive(Debug, Clone)]
pub struct Objective<'r> {
    /// The rows.
    pub(crate) rows: &'r Rows,
    /// The model that scores the rows.
    pub(crate) model: &'r Model,
    /// The scale K.
    pub(crate) k: f64,
    loss: SampleLoss,
    /// The prior.
    pub(crate) prior: Prior,
}

impl<'r> Objective<'r> {
    /// Creates the objective of `rows`, scored by `model`, with squared error at the scale `k` and without prior.
    ///
    /// # Errors
    /// If there are no rows or `k` is not positive and finite.
    ///
    /// # Panics
    /// If the rows are not of the model's layout.
    pub fn new(rows: &'r Rows, model: &'r Model, k: f64) -> Result<Self> {
        assert_eq!(*rows.shape(), (&model.layout).into(), "rows of another layout");
        ensure!(!rows.is_empty(), "objective: no rows to fit");
        ensure!(k.is_finite() && k > 0.0, "objective: K is {k}, but must be positive and finite");
        let prior = Prior::new(0.0, &vec![0.0; model.layout.parameters], PriorScale::Fixed, &model.layout);
        Ok(Self { rows, model, k, loss: SampleLoss::default(), prior })
    }

    /// Returns the same objective with another loss per sample.
    pub fn with_loss(mut self, loss: SampleLoss) -> Self {
        self.loss = loss;
        self
    }

    /// Returns the same objective with a prior of `strength` (λ, at least 0, per squared centipawn) around `centre`
    /// (θ₀).
    ///
    /// # Errors
    /// If the strength is negative, a number is not finite, or the centre has the wrong size.
    pub fn with_prior(mut self, strength: f64, centre: &[f64], scale: PriorScale) -> Result<Self> {
        ensure!(
            strength.is_finite() && strength >= 0.0,
            "objective: strength of the prior is {strength}, but must be finite and not negative"
        );
        let (found, expected) = (centre.len(), self.parameters());
        ensure!(found == expected, "objective: centre of the prior has {found} parameters, expected {expected}");
        if let Some(index) = centre.iter().position(|value| !value.is_finite()) {
            bail!("objective: parameter {index} of the prior's centre is {}", centre[index]);
        }
        self.prior = Prior::new(strength, centre, scale, &self.model.layout);
        Ok(self)
    }

    /// Returns the same objective, including the prior, over other rows of the same layout.
    ///
    /// # Panics
    /// If there are no rows, or the rows have another layout.
    pub fn over<'s>(&'s self, rows: &'s Rows) -> Objective<'s> {
        assert!(!rows.is_empty() && rows.shape() == self.rows.shape(), "rows do not fit the objective");
        Objective { rows, prior: self.prior.clone(), ..*self }
    }

    /// Returns the number of parameters.
    pub fn parameters(&self) -> usize {
        self.model.layout.parameters
    }

    /// Evaluates the objective at `theta`, including the prior.
    ///
    /// # Panics
    /// Here and below: if `theta` has another number of components than [`Objective::parameters`].
    pub fn loss(&self, theta: &[f64]) -> f64 {
        self.data_loss(theta) + self.prior.loss(theta)
    }

    /// Evaluates the mean loss of the rows at `theta` without the prior, which is comparable between fits.
    pub(crate) fn data_loss(&self, theta: &[f64]) -> f64 {
        pass::sum(self, &self.point(theta), false).0 / self.rows.weight(1)
    }

    /// Returns the weighted loss of every row at `theta`, without the prior.
    pub(crate) fn row_losses(&self, theta: &[f64]) -> Vec<f64> {
        let scores = scores(self.rows, self.model, theta);
        let of_part = |rows: Range<usize>| rows.map(|row| self.row_cost(scores[row], row).0).collect::<Vec<f64>>();
        parallel::map(parts(scores.len()), of_part).concat()
    }

    /// Returns the weighted loss of a row with a score, and its derivative by the score.
    pub(crate) fn row_cost(&self, score: f64, row: usize) -> (f64, f64) {
        let ((loss, logit), weighted) = (self.measure(), self.rows.weighted());
        let cost = loss.cost(logit * score, f64::from(weighted.targets[row])).times(weighted.weight(row));
        (cost.loss, logit * cost.slope)
    }

    /// Returns the totals at `theta` by slot and row; all rows must be local.
    pub(crate) fn totals(&self, theta: &[f64]) -> Vec<Vec<f64>> {
        let (layout, point) = (&self.model.layout, self.point(theta));
        let mut room = Room::new(layout, &point);
        let mut totals = vec![Vec::with_capacity(self.rows.len()); layout.slots()];
        for block in self.rows.blocks() {
            room.add_up(&block, &point);
            totals.iter_mut().zip(&room.work.totals).for_each(|(all, lanes)| all.extend(&lanes[..block.len()]));
        }
        totals
    }

    /// Returns the objective at `theta` and its gradient.
    pub fn loss_and_gradient(&self, theta: &[f64]) -> (f64, Vec<f64>) {
        let (loss, slopes) = pass::sum(self, &self.point(theta), true);
        let scale = 1.0 / self.rows.weight(1);
        let mut gradient = pass::by_parameter(&self.model.layout, &slopes);
        gradient.iter_mut().for_each(|sum| *sum *= scale);
        self.prior.add_gradient(theta, &mut gradient);
        (loss / self.rows.weight(1) + self.prior.loss(theta), gradient)
    }

    /// Returns the Hessian of the objective at `theta`, or an approximation of it.
    pub fn hessian(&self, theta: &[f64], kind: HessianKind) -> SymmetricMatrix {
        self.hessian_among(theta, kind, 1, &|_| true)
    }

    /// Returns the loss per sample and the logit of a centipawn.
    pub(crate) fn measure(&self) -> (SampleLoss, f64) {
        (self.loss, loss::logit_per_centipawn(self.k))
    }

    fn point(&self, theta: &[f64]) -> EvaluationPoint {
        EvaluationPoint::new(&self.model.layout, theta)
    }
}

/// Returns the scores of all rows at `theta`, in centipawns and White's view.
///
/// # Panics
/// If `theta` has another number of components than the model has parameters.
pub fn scores(rows: &Rows, model: &Model, theta: &[f64]) -> Vec<f64> {
    let point = EvaluationPoint::new(&model.layout, theta);
    let of_part = |part: Part<'_>| -> Vec<f64> {
        let mut room = Room::new(&model.layout, &point);
        let mut scores = Vec::new();
        for block in part.blocks() {
            room.evaluate(&block, model, &point);
            scores.extend_from_slice(&room.scores[..block.len()]);
        }
        scores
    };
    rows.by_row(of_part)
}

/// Divides `count` items into consecutive parts that depend on `count` alone.
fn parts(count: usize) -> Vec<Range<usize>> {
    let size = count.div_ceil(PARTS).max(1);
    (0..count).step_by(size).map(|start| start..(start + size).min(count)).collect()
}

#[cfg(test)]
pub(crate) mod tests;
