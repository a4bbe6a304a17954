//! The state of a fit between two steps: everything needed to go on from there.
//!
//! What follows from parameters and rows alone (losses, gradients, matrices, factors) is no part of it: it comes out the
//! same, to the bit, when it is computed again.

use super::adam::AdamState;
use super::iterate::{Iterate, Problem};
use super::lbfgs::LbfgsState;
use super::local_search::LocalSearchState;
use super::{Step, Work};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Everything needed to go on with a fit from one of its steps, for the same method over the same objective, start and
/// limits. It can be stored in any format that keeps every bit of a number, infinities included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) history: Vec<Step>,
    pub(super) work: Work,
    pub(super) method: MethodState,
}

impl State {
    /// The start and every accepted step so far.
    pub fn history(&self) -> &[Step] {
        &self.history
    }

    /// Whether this can be the state of a fit by a method from a start.
    pub(super) fn check(&self, method: &'static str, start: &Iterate) -> Result<(), StateError> {
        if self.method.name() != method {
            return Err(self.method.refused_by(method));
        }
        let first = self.history.first().ok_or(StateError::NoStep)?;
        if first.loss != start.loss {
            return Err(StateError::OtherObjective { expected: start.loss, found: first.loss });
        }
        if first.gradient_norm == start.norm { Ok(()) } else { Err(StateError::OtherLimits) }
    }
}

/// What a method keeps from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum MethodState {
    Lbfgs(LbfgsState),
    Adam(AdamState),
    LocalSearch(LocalSearchState),
}

impl MethodState {
    /// The error of a method that finds this instead of its own state.
    pub(super) fn refused_by(&self, expected: &'static str) -> StateError {
        StateError::OtherMethod { expected, found: self.name() }
    }

    /// What the method it is of is called.
    fn name(&self) -> &'static str {
        match self {
            MethodState::Lbfgs(_) => "L-BFGS",
            MethodState::Adam(_) => "Adam",
            MethodState::LocalSearch(_) => "local search",
        }
    }
}

/// Why a fit cannot go on from a state.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StateError {
    /// It was made by another method.
    #[error("state of {found} given to {expected}")]
    OtherMethod {
        /// The method that is to go on.
        expected: &'static str,
        /// The method that made it.
        found: &'static str,
    },
    /// It is of a fit with another start, other data, or another prior, scale or loss.
    #[error("state of a fit that began at loss {found}, but this one begins at {expected}")]
    OtherObjective {
        /// The objective at the start.
        expected: f64,
        /// What it was at the start of the fit the state is of.
        found: f64,
    },
    /// It is of a fit in which other parameters could move at the start.
    #[error("state of a fit with other limits")]
    OtherLimits,
    /// It does not even have a start.
    #[error("state without a step")]
    NoStep,
    /// Something in it has the wrong length.
    #[error("state with {found} numbers where {expected} are expected")]
    Size {
        /// Numbers there should be.
        expected: usize,
        /// Numbers there are.
        found: usize,
    },
    /// A parameter in it is outside of the limits, or not a number.
    #[error("state with parameter {index} at {value}, outside of its limits")]
    Outside {
        /// The parameter.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// An order in it names things that do not exist, or not all.
    #[error("state with an order of {0} that is none")]
    Order(&'static str),
}

/// Whether something is as long as it must be.
pub(super) fn check_size(found: usize, expected: usize) -> Result<(), StateError> {
    if found == expected { Ok(()) } else { Err(StateError::Size { expected, found }) }
}

/// Whether two lists have the same members; both without repetition.
pub(super) fn check_order(order: &[usize], members: &[usize], what: &'static str) -> Result<(), StateError> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted == members { Ok(()) } else { Err(StateError::Order(what)) }
}

impl Problem<'_> {
    /// Whether parameters out of a state can be those of a fit here.
    pub(super) fn check(&self, theta: &[f64]) -> Result<(), StateError> {
        check_size(theta.len(), self.objective.parameters())?;
        let leaders = self.limits.leaders();
        let is_wrong = |&(index, &value): &(usize, &f64)| {
            !self.limits.allows(index, value) || value.to_bits() != theta[leaders[index]].to_bits()
        };
        match theta.iter().enumerate().find(is_wrong) {
            Some((index, &value)) => Err(StateError::Outside { index, value }),
            None => Ok(()),
        }
    }
}
