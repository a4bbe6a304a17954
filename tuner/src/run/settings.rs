//! How parameters are fitted, whosever evaluation they are of.

use super::MIN_SEEN;
use crate::constraints::Constraints;
use crate::objective::{PriorScale, SampleLoss};
use crate::optimize::Method;
use crate::target::Target;

/// How parameters are fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Which parameters are tuned, and what they keep to.
    pub constraints: Constraints,
    /// Rows in which a parameter, with those it is tied to, must occur to be tuned; rarer ones keep their start.
    pub min_seen: u32,
    /// What positions are to predict; in an outcome, what [`Target::Auto`] came to.
    pub target: Target,
    /// What a wrong prediction costs.
    pub loss: SampleLoss,
    /// The scale from centipawns to expected results, positive; `None` to fit it to the start.
    pub k: Option<f64>,
    /// λ, the strength of the pull to the start, at least 0; `None` to choose it by cross-validation.
    pub prior: Option<f64>,
    /// Whether the scale of the start is pulled to.
    pub prior_scale: PriorScale,
    /// The share of the rows that is not fitted but decides which parameters are kept; `None` to fit all.
    pub validation: Option<f64>,
    /// How the objective is minimised.
    pub method: Method,
    /// What decides everything that is left to chance: what is held out, folds, the choices of a method.
    pub seed: u64,
    /// Whether tables are centred on what they are bonuses of.
    pub centre: bool,
    /// Whether the tuned parameters are scaled so that K is 1.
    pub normalize: bool,
    /// Whether standard errors are computed.
    pub errors: bool,
    /// Whether it is told what the parameters get right and wrong, before and after.
    pub explain: bool,
    /// Centipawns by which a tenth of the rows of text, and no more, may differ from the engine's own scores: above it,
    /// nothing is fitted.
    pub tolerance: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            constraints: Constraints::default(),
            min_seen: MIN_SEEN,
            target: Target::default(),
            loss: SampleLoss::default(),
            k: None,
            prior: None,
            prior_scale: PriorScale::default(),
            validation: None,
            method: Method::Lbfgs,
            seed: 0,
            centre: true,
            normalize: false,
            errors: true,
            explain: false,
            tolerance: Settings::TOLERANCE,
        }
    }
}

impl Settings {
    /// The rounding of one integer, in centipawns.
    pub const TOLERANCE: f64 = 1.0;

    /// The flag that asks for something that keeps every row in memory, if there is one.
    pub(super) fn needs_memory(&self) -> Option<&'static str> {
        match self.method {
            Method::LocalSearch => Some("--method local-search"),
            _ => None,
        }
    }
}
