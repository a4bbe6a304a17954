//! The state of a run between two rounds.

use super::{CurvePoint, PriorChoice, Sides};

/// Rounds of resolving and minimising at most.
pub(super) const MAX_ROUNDS: u64 = 12;

/// The state of a run.
pub(crate) struct RunState<L> {
    /// K of the start.
    pub(super) start_k: f64,
    /// K of the fit.
    pub(super) k: f64,
    pub(super) prior: f64,
    pub(super) prior_choice: Option<PriorChoice>,
    /// Losses at the start.
    pub(super) before: Sides<L>,
    /// By number: rows to fit in which it occurred at the start.
    pub(super) occurrences: Vec<u32>,
    /// Where the first fit began, and what the prior pulls to.
    pub(super) start: Vec<f64>,
    /// Where the present fit began.
    pub(super) theta: Vec<f64>,
    pub(super) rounds: u64,
    pub(super) iterations: u64,
    /// Norm of the gradient where the first fit began.
    pub(super) first_norm: Option<f64>,
    pub(crate) best: Best<L>,
    pub(super) history: Vec<CurvePoint>,
}

/// The best parameters so far.
#[derive(Clone)]
pub(crate) struct Best<L> {
    /// As found.
    pub(super) theta: Vec<f64>,
    /// Rounded.
    pub(crate) vector: Vec<f64>,
    /// True losses of the rounded parameters, without the prior.
    pub(super) sides: Sides<L>,
    /// What is to become less from round to round.
    pub(super) measure: f64,
    pub(super) iterations: u64,
    pub(super) gradient_ratio: f64,
    pub(super) converged: bool,
}

impl<L> RunState<L> {
    /// Whether no strength of the prior is better than the start, so that nothing is fitted.
    pub(super) fn keeps_start(&self) -> bool {
        self.prior_choice.as_ref().is_some_and(|choice| choice.keeps_start)
    }
}
