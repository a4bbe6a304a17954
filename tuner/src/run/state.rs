//! The state of a run between two rounds.

use super::{CurvePoint, PriorChoice};

/// The largest number of rounds of resolving and minimising.
pub(super) const MAX_ROUNDS: u64 = 12;

/// Mean losses of the fitted rows and of the held-out rows, if there are any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SplitLosses {
    pub(super) fitted: f64,
    pub(super) held: Option<f64>,
}

impl SplitLosses {
    /// Returns the loss that is compared between rounds: the held-out loss if there is one, else the fitted loss.
    pub(super) fn deciding(self) -> f64 {
        self.held.unwrap_or(self.fitted)
    }
}

/// The state of a run.
pub(super) struct RunState {
    /// K fitted at the start.
    pub(super) start_k: f64,
    /// K used in the fit.
    pub(super) k: f64,
    pub(super) prior: f64,
    pub(super) prior_choice: Option<PriorChoice>,
    /// Losses at the start.
    pub(super) before: SplitLosses,
    /// By parameter: the number of fitted rows in which it occurs at the start.
    pub(super) occurrences: Vec<u32>,
    /// Parameters at the start of the first fit: the centre of the prior.
    pub(super) start: Vec<f64>,
    /// Parameters at the start of the current fit.
    pub(super) theta: Vec<f64>,
    pub(super) rounds: u64,
    pub(super) iterations: u64,
    /// Norm of the gradient at the start of the first fit.
    pub(super) first_norm: Option<f64>,
    pub(super) best: Best,
    pub(super) history: Vec<CurvePoint>,
}

/// The best parameters so far.
#[derive(Clone)]
pub(super) struct Best {
    /// Parameters before rounding.
    pub(super) theta: Vec<f64>,
    /// Parameters after rounding.
    pub(super) vector: Vec<f64>,
    /// Losses of the rounded parameters on rows resolved with them, without the prior.
    pub(super) sides: SplitLosses,
    /// The loss that has to fall from round to round.
    pub(super) measure: f64,
    pub(super) iterations: u64,
    pub(super) gradient_ratio: f64,
    pub(super) converged: bool,
}

impl RunState {
    /// True if no strength of the prior beats the start, so that nothing is fitted.
    pub(super) fn keeps_start(&self) -> bool {
        self.prior_choice.as_ref().is_some_and(|choice| choice.keeps_start)
    }
}
