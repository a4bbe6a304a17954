//! Solvers: ways from a start to a minimum of an [`Objective`].

mod adam;
mod columns;
mod history;
mod iterate;
mod lbfgs;
mod limits;
mod local_search;
mod method;
mod metric;
mod run;

pub use adam::Adam;
pub(crate) use iterate::open_scales;
pub use lbfgs::Lbfgs;
pub use limits::Limits;
pub use local_search::LocalSearch;
pub use method::Method;

use crate::objective::Objective;
use std::ops::ControlFlow;
use thiserror::Error;

/// A way to minimise an objective within limits.
pub trait Solver {
    /// Minimises `objective` from `start` within `limits`.
    ///
    /// `observer` sees the start and every accepted step; when it answers [`ControlFlow::Break`] the fit stops and the
    /// best parameters so far are returned.
    ///
    /// # Errors
    /// If start or limits do not fit the objective, or the objective is not finite at the start.
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Fit, OptimizeError>;
}

/// Observer of a fit; may cancel it.
pub trait Observer {
    /// A step was accepted, or this is the start: `theta` are the parameters there.
    fn step(&mut self, step: &Step, theta: &[f64]) -> ControlFlow<()>;
}

/// No-op observer.
impl Observer for () {
    fn step(&mut self, _step: &Step, _theta: &[f64]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// An observer that needs to know the steps only.
impl<F: FnMut(&Step) -> ControlFlow<()>> Observer for F {
    fn step(&mut self, step: &Step, _theta: &[f64]) -> ControlFlow<()> {
        self(step)
    }
}

/// An accepted step, or the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Accepted steps so far; the start is number 0.
    pub iteration: usize,
    /// The objective.
    pub loss: f64,
    /// Euclidean norm of the projected gradient: without frozen parameters, and without those at a bound the loss pulls
    /// them out of; tied parameters count as one.
    pub gradient_norm: f64,
}

/// Why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// The gradient is as small as asked for, or a step promises less than 1e-17 of the loss.
    Converged,
    /// The loss cannot be told from that of neighbouring parameters any more.
    NoProgress,
    /// The largest number of steps was taken.
    StepLimit,
    /// The observer said so.
    Cancelled,
}

/// Outcome of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The parameters found: never with a higher objective than the start, to within its rounding.
    pub theta: Vec<f64>,
    /// The objective there.
    pub loss: f64,
    /// Norm of the projected gradient there, relative to that of the start; 0 if that is 0.
    pub gradient_ratio: f64,
    /// Why it ended.
    pub termination: Termination,
    /// The start and every accepted step.
    pub history: Vec<Step>,
    /// What it took.
    pub work: Work,
}

/// What a fit takes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// Passes over all rows.
    pub passes: usize,
    /// Rows whose outer products were added up.
    pub outer_products: usize,
    /// Factorised matrices.
    pub factorisations: usize,
}

/// Why limits cannot be, or a fit not begin.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{0}")]
pub struct OptimizeError(String);
