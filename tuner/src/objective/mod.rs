//! The objective: how badly parameters predict results, and how that changes with them.
//!
//! It knows rows and a [`Model`] only. A row is scored `q(θ)`, in centipawns and White's view, and the objective is
//! `mean loss(σ(K q), target) + λ Σ w (θ − s θ₀)²`, the mean that of the rows by their weights, with the loss a squared error or cross-entropy, the scale `s` of the
//! start free or 1 (see `prior.rs`), and `σ(x) = 1 / (1 + 10^(−x / 400))`.
//!
//! Sums run in parallel over parts of the rows that do not depend on the number of threads or processes, and are added up
//! in a fixed order: the same bits come out of any number of either.

mod difference;
mod fit_k;
mod hessian;
mod loss;
mod pass;
mod prior;
mod products;

pub use crate::linear::SymmetricMatrix;
pub use difference::{Difference, loss_difference, score_loss};
pub use fit_k::{FitKError, K_MAX, K_MIN, KFit, OneResult, Score, fit_k, fit_k_at};
pub use hessian::HessianKind;
pub use loss::{SampleLoss, expectation};
pub use prior::PriorScale;

use crate::model::Model;
use crate::model::rows::{PARTS, Part, Rows};
use crate::parallel;
use crate::processes::{self, Shared};
use hessian::Scored;
use pass::{Point, Room, Sums};
use prior::Prior;
use std::ops::Range;
use thiserror::Error;

/// Why an objective cannot be set up.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("objective: {0}")]
pub struct ObjectiveError(String);

/// The function to be minimised; see the module's description.
#[derive(Debug, Clone)]
pub struct Objective<'r> {
    /// The rows.
    pub(crate) rows: &'r Rows,
    /// How rows are scored.
    pub(crate) model: &'r Model,
    /// The scale K.
    pub(crate) k: f64,
    loss: SampleLoss,
    prior: Option<Prior>,
}

impl<'r> Objective<'r> {
    /// Squared error of `rows`, scored by `model`, under the scale `k`, without prior.
    ///
    /// # Errors
    /// If there are no rows or `k` is not positive and finite.
    ///
    /// # Panics
    /// If the rows are not of the model's layout.
    pub fn new(rows: &'r Rows, model: &'r Model, k: f64) -> Result<Self, ObjectiveError> {
        assert_eq!(*rows.shape(), (&model.layout).into(), "rows of another layout");
        if rows.is_empty() {
            return Err(ObjectiveError("no rows to fit".to_owned()));
        }
        if !(k.is_finite() && k > 0.0) {
            return Err(ObjectiveError(format!("K is {k}, but must be positive and finite")));
        }
        Ok(Self { rows, model, k, loss: SampleLoss::default(), prior: None })
    }

    /// The same with another loss per sample.
    pub fn with_loss(mut self, loss: SampleLoss) -> Self {
        self.loss = loss;
        self
    }

    /// The same with a pull of `strength` (λ, at least 0, per squared centipawn) towards `centre` (θ₀).
    ///
    /// # Errors
    /// If the strength is negative, a number is not finite, or the centre has the wrong size.
    pub fn with_prior(mut self, strength: f64, centre: &[f64], scale: PriorScale) -> Result<Self, ObjectiveError> {
        if !(strength.is_finite() && strength >= 0.0) {
            let message = format!("strength of the prior is {strength}, but must be finite and not negative");
            return Err(ObjectiveError(message));
        }
        if centre.len() != self.parameters() {
            let (found, expected) = (centre.len(), self.parameters());
            let message = format!("centre of the prior has {found} parameters, expected {expected}");
            return Err(ObjectiveError(message));
        }
        if let Some(index) = centre.iter().position(|value| !value.is_finite()) {
            return Err(ObjectiveError(format!("parameter {index} of the prior's centre is {}", centre[index])));
        }
        self.prior = (strength > 0.0).then(|| Prior::new(strength, centre, scale, &self.model.layout));
        Ok(self)
    }

    /// The same objective, prior and all, over other rows of the same layout.
    ///
    /// # Panics
    /// If there are no rows, or of another layout.
    pub fn over<'s>(&'s self, rows: &'s Rows) -> Objective<'s> {
        assert!(!rows.is_empty() && rows.shape() == self.rows.shape(), "rows do not fit the objective");
        Objective { rows, prior: self.prior.clone(), ..*self }
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.model.layout.parameters
    }

    /// The objective at `theta`, prior included.
    ///
    /// # Panics
    /// Here and below: if `theta` has another number of components than [`Objective::parameters`].
    pub fn loss(&self, theta: &[f64]) -> f64 {
        self.data_loss(theta) + self.prior_loss(theta)
    }

    /// The mean loss of the rows at `theta`, without the prior: what is comparable between fits.
    pub(crate) fn data_loss(&self, theta: &[f64]) -> f64 {
        self.pass(theta, false).loss / self.rows.weight(1)
    }

    /// The loss of every row at `theta`, times its weight, the prior aside.
    pub(crate) fn row_losses(&self, theta: &[f64]) -> Vec<f64> {
        let (loss, logit) = self.measure();
        let mut losses = scores(self.rows, self.model, theta);
        const CHUNK: usize = 4096;
        let chunks = losses.chunks_mut(CHUNK).zip(self.rows.targets().chunks(CHUNK)).enumerate();
        parallel::for_each(chunks, |(chunk, (scores, targets))| {
            for (score, &target) in scores.iter_mut().zip(targets) {
                *score = loss.cost(logit * *score, f64::from(target)).loss;
            }
            self.rows.weighted().weigh(chunk * CHUNK, scores);
        });
        losses
    }

    /// The loss of a row by its score, and its derivative by the score, both times its weight.
    pub(crate) fn row_cost(&self, score: f64, row: usize) -> (f64, f64) {
        let ((loss, logit), weighted) = (self.measure(), self.rows.weighted());
        let cost = loss.cost(logit * score, f64::from(weighted.targets[row])).times(weighted.weight(row));
        (cost.loss, logit * cost.slope)
    }

    /// By slot: the totals of all rows at `theta`, which are here.
    pub(crate) fn totals(&self, theta: &[f64]) -> Vec<Vec<f64>> {
        self.check(theta);
        let layout = &self.model.layout;
        let point = Point::new(layout, theta);
        let mut room = Room::new(layout, &point);
        let mut totals = vec![Vec::with_capacity(self.rows.len()); layout.slots()];
        for block in self.rows.blocks() {
            room.add_up(&block, &point);
            totals.iter_mut().zip(&room.work.totals).for_each(|(all, lanes)| all.extend(&lanes[..block.len()]));
        }
        totals
    }

    /// What the prior adds to the mean loss at `theta`.
    pub(crate) fn prior_loss(&self, theta: &[f64]) -> f64 {
        self.prior.as_ref().map_or(0.0, |prior| prior.loss(theta))
    }

    /// The second derivatives of the prior by every parameter alone.
    pub(crate) fn prior_diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.parameters()];
        self.prior.iter().for_each(|prior| prior.add_diagonal(&mut diagonal));
        diagonal
    }

    /// The objective at `theta` and its first derivatives by every parameter.
    pub fn loss_and_gradient(&self, theta: &[f64]) -> (f64, Vec<f64>) {
        let sums = self.pass(theta, true);
        let scale = 1.0 / self.rows.weight(1);
        let mut gradient = sums.by_parameter(&self.model.layout);
        gradient.iter_mut().for_each(|sum| *sum *= scale);
        if let Some(prior) = &self.prior {
            prior.add_gradient(theta, &mut gradient);
        }
        (sums.loss / self.rows.weight(1) + self.prior_loss(theta), gradient)
    }

    /// Second derivatives of the objective at `theta`, or what stands in for them.
    pub fn hessian(&self, theta: &[f64], kind: HessianKind) -> SymmetricMatrix {
        self.hessian_among(theta, kind, 1, &|_| true)
    }

    /// The same of every `stride`-th row and among some parameters, which takes the less the fewer these are. What the rows
    /// say of others may be missing.
    pub(crate) fn hessian_among(
        &self,
        theta: &[f64],
        kind: HessianKind,
        stride: usize,
        is_wanted: &dyn Fn(usize) -> bool,
    ) -> SymmetricMatrix {
        self.check(theta);
        let point = Point::new(&self.model.layout, theta);
        let mut hessian = self.scored(&point).hessian(kind, stride, is_wanted);
        if let Some(prior) = &self.prior
            && kind != HessianKind::Outer
        {
            prior.add_hessian(&mut hessian);
        }
        hessian
    }

    /// The diagonal of the Gauss-Newton matrix at `theta`: far cheaper than all of it.
    pub(crate) fn gauss_newton_diagonal(&self, theta: &[f64]) -> Vec<f64> {
        self.check(theta);
        let point = Point::new(&self.model.layout, theta);
        let mut diagonal = vec![0.0; self.parameters()];
        let weight = self.rows.weight(1);
        for part in self.rows.each_part(|part| self.scored(&point).diagonal(part)) {
            diagonal.iter_mut().zip(part).for_each(|(sum, part)| *sum += part / weight);
        }
        if let Some(prior) = &self.prior {
            prior.add_diagonal(&mut diagonal);
        }
        diagonal
    }

    /// As [`HessianKind::Outer`], but over groups of rows, whose gradients are added up first, and among the parameters that
    /// are wanted: others have 0; and the number of groups. Rows of one group stand side by side, or count for several.
    pub(crate) fn outer_by_group(
        &self,
        theta: &[f64],
        groups: &[u32],
        is_wanted: &dyn Fn(usize) -> bool,
    ) -> (SymmetricMatrix, usize) {
        self.check(theta);
        self.scored(&Point::new(&self.model.layout, theta)).outer_by_group(groups, is_wanted)
    }

    /// What the prior adds to the mean loss if one parameter of `theta` becomes `new`.
    pub(crate) fn prior_change(&self, theta: &[f64], parameter: usize, new: f64) -> f64 {
        self.prior.as_ref().map_or(0.0, |prior| prior.change(theta, parameter, new))
    }

    /// Where the prior draws parameters to, if there is one.
    pub(crate) fn prior_centre(&self) -> Option<&[f64]> {
        self.prior.as_ref().map(|prior| &prior.centre[..])
    }

    /// The loss per sample and the logit of a centipawn.
    pub(crate) fn measure(&self) -> (SampleLoss, f64) {
        (self.loss, loss::logit_per_centipawn(self.k))
    }

    fn scored<'s>(&'s self, point: &'s Point) -> Scored<'s> {
        let (loss, logit) = self.measure();
        Scored { rows: self.rows, model: self.model, point, loss, logit }
    }

    fn check(&self, theta: &[f64]) {
        assert_eq!(theta.len(), self.parameters(), "number of parameters");
    }

    fn pass(&self, theta: &[f64], with_gradient: bool) -> Sums {
        self.check(theta);
        let point = Point::new(&self.model.layout, theta);
        Sums::total(self.rows.each_part(|part| pass::sum(self, part, &point, with_gradient)))
    }
}

/// Scores of all rows at `theta`, centipawns, White's view.
///
/// # Panics
/// If `theta` has another number of components than the model has parameters.
pub fn scores(rows: &Rows, model: &Model, theta: &[f64]) -> Vec<f64> {
    assert_eq!(theta.len(), model.layout.parameters, "number of parameters");
    let point = Point::new(&model.layout, theta);
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

/// Divides pieces, by their number alone, into consecutive parts.
fn parts(count: usize) -> Vec<Range<usize>> {
    let size = count.div_ceil(PARTS).max(1);
    (0..count).step_by(size).map(|start| start..(start + size).min(count)).collect()
}

/// What comes of every part of what each process has, in order; processes share the work.
fn each_part<T: Shared>(count: usize, work: impl Fn(Range<usize>) -> T + Send + Sync) -> Vec<T> {
    let parts = parts(count);
    processes::each(parts.len(), |part| work(parts[part].clone()))
}

#[cfg(test)]
pub(crate) mod tests;
