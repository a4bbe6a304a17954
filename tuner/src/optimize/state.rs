//! The state of a fit between two steps: everything needed to go on from there.
//!
//! What follows from parameters and rows alone (losses, gradients, matrices, factors) is no part of it: it comes out the
//! same, to the bit, when it is computed again.

use super::adam::AdamState;
use super::iterate::{Iterate, Problem};
use super::lbfgs::LbfgsState;
use super::local_search::LocalSearchState;
use super::{OptimizeError, Step, Work};
use serde::{Deserialize, Serialize};

/// Everything needed to go on with a fit from one of its steps, for the same method over the same objective, start and
/// limits. It can be stored in any format that keeps every bit of a number, infinities included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The start and every accepted step so far.
    pub(crate) history: Vec<Step>,
    pub(super) work: Work,
    pub(super) method: MethodState,
}

impl State {
    /// Whether this can be the state of a fit by a method from a start.
    pub(super) fn check(&self, method: &str, start: &Iterate) -> Result<(), OptimizeError> {
        if self.method.name() != method {
            return Err(self.method.refused_by(method));
        }
        let refused = |fault: String| Err(OptimizeError(format!("optimise: state {fault}")));
        match self.history.first() {
            None => refused("without a step".to_owned()),
            Some(first) if first.loss != start.loss => {
                refused(format!("of a fit that began at loss {}, but this one begins at {}", first.loss, start.loss))
            }
            Some(first) if first.gradient_norm != start.norm => refused("of a fit with other limits".to_owned()),
            Some(_) => Ok(()),
        }
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
    pub(super) fn refused_by(&self, expected: &str) -> OptimizeError {
        OptimizeError(format!("optimise: state of {} given to {expected}", self.name()))
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

/// Whether something is as long as it must be.
pub(super) fn check_size(found: usize, expected: usize) -> Result<(), OptimizeError> {
    let message = || format!("optimise: state with {found} numbers where {expected} are expected");
    if found == expected { Ok(()) } else { Err(OptimizeError(message())) }
}

/// Whether two lists have the same members; both without repetition.
pub(super) fn check_order(order: &[usize], members: &[usize], what: &str) -> Result<(), OptimizeError> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted == members { Ok(()) } else { Err(no_order(what)) }
}

/// The error of an order that names things that do not exist, or not all.
pub(super) fn no_order(what: &str) -> OptimizeError {
    OptimizeError(format!("optimise: state with an order of {what} that is none"))
}

impl Problem<'_> {
    /// Whether parameters out of a state can be those of a fit here.
    pub(super) fn check(&self, theta: &[f64]) -> Result<(), OptimizeError> {
        check_size(theta.len(), self.objective.parameters())?;
        let leaders = self.limits.leaders();
        let is_wrong = |&(index, &value): &(usize, &f64)| {
            !self.limits.allows(index, value) || value.to_bits() != theta[leaders[index]].to_bits()
        };
        match theta.iter().enumerate().find(is_wrong) {
            Some((index, value)) => {
                Err(OptimizeError(format!("optimise: state with parameter {index} at {value}, outside of its limits")))
            }
            None => Ok(()),
        }
    }
}
