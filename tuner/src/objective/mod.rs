//! The objective: how badly parameters predict results, and how that changes with them.
//!
//! It knows nothing of chess. A parameter vector `θ` holds, for `P` pair features, `θ[2j] = mg_j` and
//! `θ[2j + 1] = eg_j` in centipawns, then five phase weights: `2 P + 5` components. A row of [`Rows`] is scored
//!
//! ```text
//! q(θ) = constant + f · Σ c_j mg_j + (1 − f) · Σ c_j eg_j        f = the taper of the phase weights
//! ```
//!
//! in centipawns and white's view, and the objective is
//! `mean loss(σ(K q), target) + λ Σ (θ − s θ₀)²`, with the loss a squared error or cross-entropy, the scale `s` free or 1 (see `prior.rs`), and `σ(x) = 1 / (1 + 10^(−x / 400))`.
//!
//! Sums run in parallel over a partition of the rows that depends on their number only, and are added up in a fixed
//! order: the same bits come out of any number of threads.

mod curvature;
mod fit_k;
mod forest;
mod loss;
mod outer;
mod pass;
mod prior;
mod rows;

pub use curvature::{Curvature, CurvatureKind};
pub use fit_k::{FitKError, K_MAX, K_MIN, KFit, OneResult, fit_k, fit_k_at, fit_k_of_integers};
pub use loss::{SampleLoss, expectation};
pub use prior::PriorScale;
pub use rows::{Entry, Rows, RowsBuilder, RowsError, RowsWriter};

use crate::processes::{self, Shared};
pub use engine::eval::taper::PHASE_PIECES;
use pass::{BLOCK, Block, Point, Sums};
use prior::Prior;
use rayon::prelude::*;
use serde::Serialize;
use std::ops::Range;
use thiserror::Error;

/// Parts the rows are divided into for sums; bounds the threads that can share a pass.
const PARTS: usize = 64;

/// Why an objective cannot be set up.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// Without rows there is no mean.
    #[error("objective: no rows to fit")]
    NoRows,
    /// K must be positive and finite.
    #[error("objective: K is {0}, but must be positive and finite")]
    K(f64),
    /// The strength of the prior must be finite and not negative.
    #[error("objective: strength of the prior is {0}, but must be finite and not negative")]
    PriorStrength(f64),
    /// The centre of the prior has the wrong number of parameters.
    #[error("objective: centre of the prior has {found} parameters, expected {expected}")]
    PriorSize {
        /// Parameters of the objective.
        expected: usize,
        /// Parameters given.
        found: usize,
    },
    /// A component of the prior's centre is not a finite number.
    #[error("objective: parameter {index} of the prior's centre is {value}")]
    PriorCentre {
        /// The parameter.
        index: usize,
        /// The value given.
        value: f64,
    },
}

/// Number of parameters for a number of pair features.
pub const fn parameters(features: usize) -> usize {
    2 * features + PHASE_PIECES
}

/// The function to be minimised; see the module's description.
#[derive(Debug, Clone)]
pub struct Objective<'r> {
    rows: &'r Rows,
    k: f64,
    loss: SampleLoss,
    prior: Option<Prior>,
    /// Whether passes for loss and gradient go by what rows share.
    shares: bool,
}

impl<'r> Objective<'r> {
    /// Squared error of `rows` under the scale `k`, without prior.
    ///
    /// # Errors
    /// If there are no rows or `k` is not positive and finite.
    pub fn new(rows: &'r Rows, k: f64) -> Result<Self, ObjectiveError> {
        if rows.is_empty() {
            return Err(ObjectiveError::NoRows);
        }
        if !(k.is_finite() && k > 0.0) {
            return Err(ObjectiveError::K(k));
        }
        Ok(Self { rows, k, loss: SampleLoss::default(), prior: None, shares: false })
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
    pub fn with_prior(mut self, strength: f64, centre: &[f64]) -> Result<Self, ObjectiveError> {
        if !(strength.is_finite() && strength >= 0.0) {
            return Err(ObjectiveError::PriorStrength(strength));
        }
        if centre.len() != self.parameters() {
            return Err(ObjectiveError::PriorSize { expected: self.parameters(), found: centre.len() });
        }
        if let Some(index) = centre.iter().position(|value| !value.is_finite()) {
            return Err(ObjectiveError::PriorCentre { index, value: centre[index] });
        }
        self.prior = (strength > 0.0).then(|| Prior::new(strength, centre));
        Ok(self)
    }

    /// The same, its prior, if there is one, pulling to the scale of its centre or not; a new prior does.
    pub fn with_prior_scale(mut self, scale: PriorScale) -> Self {
        self.prior = self.prior.map(|prior| prior.with_scale(scale));
        self
    }

    /// The same, prepared for many passes for loss and gradient: the first over some rows takes as long as dozens of
    /// others, which then look only at what rows do not share with similar rows near them. Sums differ in their rounding
    /// from those of an objective that is not prepared.
    pub fn for_many_passes(mut self) -> Self {
        self.shares = true;
        self
    }

    /// The same objective, prior and all, over other rows of as many pair features.
    ///
    /// # Panics
    /// If there are no rows, or of another number of features.
    pub fn over<'s>(&self, rows: &'s Rows) -> Objective<'s> {
        assert!(!rows.is_empty() && rows.features() == self.rows.features(), "rows do not fit the objective");
        Objective { rows, prior: self.prior.clone(), ..*self }
    }

    /// The rows.
    pub fn rows(&self) -> &'r Rows {
        self.rows
    }

    /// The scale K.
    pub fn k(&self) -> f64 {
        self.k
    }

    /// Number of parameters, `2 P + 5`.
    pub fn parameters(&self) -> usize {
        parameters(self.rows.features())
    }

    /// The objective at `theta`, prior included.
    ///
    /// # Panics
    /// Here and below: if `theta` has another number of components than [`Objective::parameters`].
    pub fn loss(&self, theta: &[f64]) -> f64 {
        self.data_loss(theta) + self.prior_loss(theta)
    }

    /// The mean loss of the rows at `theta`, without the prior: what is comparable between fits.
    pub fn data_loss(&self, theta: &[f64]) -> f64 {
        self.pass(theta, false).loss / self.rows.len() as f64
    }

    /// The loss of every row at `theta`, the prior aside.
    pub fn row_losses(&self, theta: &[f64]) -> Vec<f64> {
        let (loss, logit) = self.measure();
        let mut losses = scores(self.rows, theta);
        losses.par_iter_mut().zip(self.rows.targets()).with_min_len(BLOCK).for_each(|(score, &target)| {
            *score = loss.cost(logit * *score, f64::from(target)).loss;
        });
        losses
    }

    /// What the prior adds to the mean loss at `theta`.
    pub fn prior_loss(&self, theta: &[f64]) -> f64 {
        self.prior.as_ref().map_or(0.0, |prior| prior.loss(theta))
    }

    /// The objective at `theta` and its first derivatives by every parameter.
    pub fn loss_and_gradient(&self, theta: &[f64]) -> (f64, Vec<f64>) {
        let sums = self.pass(theta, true);
        let scale = 1.0 / self.rows.len() as f64;
        let mut gradient: Vec<f64> = sums.by_parameter().map(|sum| sum * scale).collect();
        if let Some(prior) = &self.prior {
            prior.add_gradient(theta, &mut gradient);
        }
        (sums.loss * scale + self.prior_loss(theta), gradient)
    }

    /// Second derivatives of the objective at `theta`, accurate to about six digits.
    pub fn curvature(&self, theta: &[f64], kind: CurvatureKind) -> Curvature {
        self.check(theta);
        let mut curvature = curvature::sum(self.rows, theta, self.measure(), kind);
        if let Some(prior) = &self.prior
            && kind != CurvatureKind::Outer
        {
            prior.add_curvature(&mut curvature);
        }
        curvature
    }

    /// As [`CurvatureKind::Outer`], but over groups of rows, whose gradients are added up first; and the number of
    /// groups. Rows of one group stand side by side, or count for several.
    ///
    /// # Panics
    /// If there is not one group a row.
    pub fn outer_by_group(&self, theta: &[f64], groups: &[u32]) -> (Curvature, usize) {
        self.check(theta);
        outer::by_group(self.rows, theta, self.measure(), groups)
    }

    /// The diagonal of the Gauss-Newton curvature at `theta`: never negative, and far cheaper than all of it.
    pub fn curvature_diagonal(&self, theta: &[f64]) -> Vec<f64> {
        self.check(theta);
        let point = Point::new(theta);
        let sum_part = |range| {
            let mut sums = Sums::new(self.rows.features());
            pass::accumulate_diagonal(&mut sums, self.rows, range, &point, self.measure());
            sums
        };
        let parts: Vec<Sums> = each_part(self.rows.len(), sum_part);
        let scale = 1.0 / self.rows.len() as f64;
        let of_prior = |parameter| self.prior.as_ref().map_or(0.0, |prior| prior.diagonal(parameter));
        let total = Sums::total(self.rows.features(), &parts);
        total.by_parameter().enumerate().map(|(parameter, sum)| sum * scale + of_prior(parameter)).collect()
    }

    /// What single rows cost, for who changes their scores one by one.
    pub(crate) fn pricing(&self) -> Pricing {
        let (loss, logit) = self.measure();
        Pricing { loss, logit, share: 1.0 / self.rows.len() as f64 }
    }

    /// What the prior adds to the mean loss if one parameter of `theta` becomes `new`.
    pub(crate) fn prior_change(&self, theta: &[f64], parameter: usize, new: f64) -> f64 {
        self.prior.as_ref().map_or(0.0, |prior| prior.change(theta, parameter, new))
    }

    /// [`Objective::loss_and_gradient`] and [`Objective::curvature`] together.
    pub fn loss_gradient_curvature(&self, theta: &[f64], kind: CurvatureKind) -> (f64, Vec<f64>, Curvature) {
        let (loss, gradient) = self.loss_and_gradient(theta);
        (loss, gradient, self.curvature(theta, kind))
    }

    /// Where the prior draws parameters to, if there is one.
    pub fn prior_centre(&self) -> Option<&[f64]> {
        self.prior.as_ref().map(|prior| &prior.centre[..])
    }

    /// About what one row adds to the curvature by a parameter it has once: the scale of what is next to nothing.
    pub(crate) fn row_curvature(&self) -> f64 {
        let (loss, logit) = self.measure();
        loss.cost(0.0, 0.5).gauss_newton * logit * logit / self.rows.len() as f64
    }

    /// The loss per sample and the logit of a centipawn.
    fn measure(&self) -> (SampleLoss, f64) {
        (self.loss, loss::logit_per_centipawn(self.k))
    }

    fn check(&self, theta: &[f64]) {
        assert_eq!(theta.len(), self.parameters(), "number of parameters");
    }

    fn pass(&self, theta: &[f64], with_gradient: bool) -> Sums {
        self.check(theta);
        let point = Point::new(theta);
        if self.shares
            && let Some(forest) = self.rows.forest()
        {
            return forest.pass(self.rows, &point, self.measure(), with_gradient);
        }
        let features = if with_gradient { self.rows.features() } else { 0 };
        let sum_part = |range| {
            let mut sums = Sums::new(features);
            pass::accumulate(&mut sums, self.rows, range, &point, self.measure(), with_gradient);
            sums
        };
        Sums::total(features, &each_part(self.rows.len(), sum_part))
    }
}

/// The cost of a row by its score.
#[derive(Clone, Copy)]
pub(crate) struct Pricing {
    loss: SampleLoss,
    logit: f64,
    /// What a row counts in the mean.
    share: f64,
}

impl Pricing {
    /// What a row with a score (centipawns, white's view) adds to the mean loss.
    #[inline(always)]
    pub(crate) fn cost(&self, score: f64, target: f32) -> f64 {
        self.share * self.loss.cost(self.logit * score, f64::from(target)).loss
    }

    /// The same with its derivatives by the score.
    #[inline(always)]
    pub(crate) fn price(&self, score: f64, target: f32) -> Price {
        let cost = self.loss.cost(self.logit * score, f64::from(target));
        let (slope, bend) = (self.logit * cost.slope, self.logit * self.logit * cost.full);
        Price { cost: self.share * cost.loss, slope: self.share * slope, bend: self.share * bend }
    }

    /// No third derivative of what a row adds is larger.
    pub(crate) fn third(&self) -> f64 {
        self.share * self.loss.largest_third() * self.logit.powi(3)
    }
}

/// What a row adds to the mean loss, and the first two derivatives of that by its score.
#[derive(Clone, Copy)]
pub(crate) struct Price {
    pub(crate) cost: f64,
    pub(crate) slope: f64,
    pub(crate) bend: f64,
}

/// Scores of all rows at `theta`, centipawns, white's view.
///
/// # Panics
/// If `theta` has another number of components than the rows have parameters.
pub fn scores(rows: &Rows, theta: &[f64]) -> Vec<f64> {
    assert_eq!(theta.len(), parameters(rows.features()), "number of parameters");
    let point = Point::new(theta);
    let mut scores = vec![0.0; rows.len()];
    scores.par_chunks_mut(BLOCK).enumerate().for_each_init(Block::new, |block, (number, scores)| {
        let start = number * BLOCK;
        let range = start..start + scores.len();
        block.evaluate(rows, range.clone(), &point);
        rows.passed(range);
        scores.copy_from_slice(&block.score[..scores.len()]);
    });
    scores
}

/// Divides rows, by their number alone, into consecutive parts of whole blocks.
fn parts(rows: usize) -> Vec<Range<usize>> {
    let size = rows.div_ceil(PARTS).next_multiple_of(BLOCK);
    (0..rows).step_by(size.max(1)).map(|start| start..(start + size).min(rows)).collect()
}

/// What comes of every part of the rows, in order; processes share the work.
fn each_part<T: Shared>(rows: usize, work: impl Fn(Range<usize>) -> T + Send + Sync) -> Vec<T> {
    let parts = parts(rows);
    let own = processes::share(parts.len());
    processes::gather(parts[own].par_iter().cloned().map(work).collect())
}

/// By how much one mean loss differs from another on the same samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The second less the first.
    pub mean: f64,
    /// Standard error of that, from the differences of the groups; 0 for a single one.
    pub error: f64,
}

/// The difference of the mean losses of two sets of scores (centipawns, white's view), each under its own scale, against
/// the same targets. Neighbours of one group, such as a game, count as one when the error is worked out. The slices are
/// of one length and not empty.
pub fn loss_difference(
    loss: SampleLoss,
    (first_k, first): (f64, &[i16]),
    (second_k, second): (f64, &[i16]),
    targets: &[f32],
    groups: &[u32],
) -> Difference {
    debug_assert!([first.len(), second.len(), groups.len()].iter().all(|&length| length == targets.len()));
    let loss = |k: f64, score: i16, target: f32| {
        let logit = loss::logit_per_centipawn(k) * f64::from(score);
        loss.cost(logit, f64::from(target)).loss
    };
    let difference = |i: usize| loss(second_k, second[i], targets[i]) - loss(first_k, first[i], targets[i]);
    let count = targets.len() as f64;
    let mean = (0..targets.len()).map(difference).sum::<f64>() / count;
    let (mut place, mut runs, mut squares) = (0, 0_usize, 0.0);
    for run in groups.chunk_by(|a, b| a == b) {
        let sum: f64 = (place..place + run.len()).map(difference).sum();
        squares += (sum - run.len() as f64 * mean).powi(2);
        (place, runs) = (place + run.len(), runs + 1);
    }
    let freedom = 1.0 - 1.0 / runs as f64;
    let variance = squares / (count * count * freedom.max(f64::MIN_POSITIVE));
    Difference { mean, error: variance.sqrt() }
}

/// Mean loss of given scores (centipawns, white's view) against targets (0..=1, white's view) under the scale `k`:
/// what an engine's own integer scores are worth. The slices are of one length and not empty.
pub fn score_loss(loss: SampleLoss, k: f64, scores: &[i16], targets: &[f32]) -> f64 {
    debug_assert_eq!(scores.len(), targets.len());
    let logit = loss::logit_per_centipawn(k);
    let sum_part = |range: Range<usize>| -> f64 {
        let samples = scores[range.clone()].iter().zip(&targets[range]);
        samples.map(|(&score, &target)| loss.cost(logit * f64::from(score), f64::from(target)).loss).sum()
    };
    let sums: Vec<f64> = parts(scores.len()).into_par_iter().map(sum_part).collect();
    sums.iter().sum::<f64>() / scores.len() as f64
}
