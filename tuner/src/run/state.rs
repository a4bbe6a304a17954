//! The state of a run between two rounds.

use super::{CurvePoint, PriorChoice};

/// Rounds of resolving and minimising at most.
pub(super) const MAX_ROUNDS: u64 = 12;

/// Mean losses of the rows that are fitted, and of those held out, if there are any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sides {
    pub(super) fitted: f64,
    pub(super) held: Option<f64>,
}

impl Sides {
    /// The loss that decides: of the rows held out, if there are any.
    pub(super) fn deciding(self) -> f64 {
        self.held.unwrap_or(self.fitted)
    }
}

/// The state of a run.
pub(super) struct RunState {
    /// K of the start.
    pub(super) start_k: f64,
    /// K of the fit.
    pub(super) k: f64,
    pub(super) prior: f64,
    pub(super) prior_choice: Option<PriorChoice>,
    /// Losses at the start.
    pub(super) before: Sides,
    /// By number: rows to fit in which it occurred at the start.
    pub(super) occurrences: Vec<u32>,
    /// Where the first fit began: the centre of the prior.
    pub(super) start: Vec<f64>,
    /// Where the present fit began.
    pub(super) theta: Vec<f64>,
    pub(super) rounds: u64,
    pub(super) iterations: u64,
    /// Norm of the gradient where the first fit began.
    pub(super) first_norm: Option<f64>,
    pub(super) best: Best,
    pub(super) history: Vec<CurvePoint>,
}

/// The best parameters so far.
#[derive(Clone)]
pub(super) struct Best {
    /// As found.
    pub(super) theta: Vec<f64>,
    /// Rounded.
    pub(super) vector: Vec<f64>,
    /// True losses of the rounded parameters, without the prior.
    pub(super) sides: Sides,
    /// The loss that is to fall from round to round.
    pub(super) measure: f64,
    pub(super) iterations: u64,
    pub(super) gradient_ratio: f64,
    pub(super) converged: bool,
}

impl RunState {
    /// Whether no strength of the prior is better than the start, so that nothing is fitted.
    pub(super) fn keeps_start(&self) -> bool {
        self.prior_choice.as_ref().is_some_and(|choice| choice.keeps_start)
    }
}
