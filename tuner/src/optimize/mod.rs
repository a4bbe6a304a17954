//! Solvers, which find a minimum of an [`Objective`] from a start.

mod adam;
mod history;
mod iterate;
mod lbfgs;
mod limits;
mod local_search;
mod metric;
mod run;

pub use adam::Adam;
pub(crate) use iterate::open_scales;
pub use lbfgs::Lbfgs;
pub use limits::Limits;
pub use local_search::LocalSearch;

use crate::objective::Objective;
use anyhow::Result;
use clap::ValueEnum;
use serde::Serialize;
use std::ops::ControlFlow;

/// A method that minimises an objective within limits.
pub trait Solver {
    /// Minimises `objective` from `start` within `limits`.
    ///
    /// `observer` sees the start and every accepted step. If it returns [`ControlFlow::Break`], the fit stops and
    /// returns the best parameters so far.
    ///
    /// # Errors
    /// If the start or the limits do not fit the objective, or the objective is not finite at the start.
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Fit>;
}

/// A solver by name. All of them lead to the same minimum; they differ in the time they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Quasi-Newton steps in the metric of a Gauss-Newton matrix: converges in some dozens of passes.
    Lbfgs,
    /// Gradient steps scaled by running means; the rate is halved when the loss stops falling.
    Adam,
    /// Moves of one parameter by a step up or down, as in Texel's method.
    LocalSearch,
}

impl Method {
    /// Returns the solver: L-BFGS with the given settings, another with its defaults. `seed` seeds its random numbers.
    pub fn solver(self, seed: u64, lbfgs: Lbfgs) -> Box<dyn Solver> {
        match self {
            Method::Lbfgs => Box::new(lbfgs),
            Method::Adam => Box::new(Adam::default()),
            Method::LocalSearch => Box::new(LocalSearch { seed, ..LocalSearch::default() }),
        }
    }
}

/// An observer of a fit, which may cancel it.
pub trait Observer {
    /// Observes the start or an accepted step with its parameters `theta`.
    fn step(&mut self, step: &Step, theta: &[f64]) -> ControlFlow<()>;
}

/// Observes nothing.
impl Observer for () {
    fn step(&mut self, _step: &Step, _theta: &[f64]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Calls a closure with every step.
impl<F: FnMut(&Step) -> ControlFlow<()>> Observer for F {
    fn step(&mut self, step: &Step, _theta: &[f64]) -> ControlFlow<()> {
        self(step)
    }
}

/// An accepted step, or the start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Number of accepted steps so far, 0 for the start.
    pub iteration: usize,
    /// Value of the objective.
    pub loss: f64,
    /// Euclidean norm of the projected gradient, which is 0 for frozen parameters and for those whose descent direction
    /// leaves their bounds. Tied parameters count as one.
    pub gradient_norm: f64,
}

/// The reason why a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Termination {
    /// The gradient is below the tolerance, or the predicted decrease is less than 1e-17 of the loss.
    Converged,
    /// No step decreases the loss by more than its rounding error.
    NoProgress,
    /// The largest number of steps was taken.
    StepLimit,
    /// The observer cancelled the fit.
    Cancelled,
}

/// The outcome of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The parameters found. Their objective is not above that of the start, within rounding.
    pub theta: Vec<f64>,
    /// Value of the objective there.
    pub loss: f64,
    /// Norm of the projected gradient there, relative to its norm at the start; 0 if that is 0.
    pub gradient_ratio: f64,
    /// The reason why the fit ended.
    pub termination: Termination,
    /// The start and every accepted step.
    pub history: Vec<Step>,
    /// The computational work of the fit.
    pub work: FitWork,
}

/// The computational work of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FitWork {
    /// Number of passes over all rows.
    pub passes: usize,
    /// Number of rows whose outer products were summed.
    pub outer_products: usize,
    /// Number of matrix factorisations.
    pub factorisations: usize,
}
