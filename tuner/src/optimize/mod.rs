//! Solvers, which find a minimum of an [`Objective`] from a start.

mod adam;
mod history;
mod iterate;
mod lbfgs;
mod limits;
mod local_search;
mod metric;

pub use adam::Adam;
pub(crate) use iterate::open_scales;
use iterate::{BoundedProblem, Iterate, Scale};
pub use lbfgs::Lbfgs;
pub use limits::Limits;
pub use local_search::LocalSearch;

use crate::objective::Objective;
use anyhow::{Result, ensure};
use clap::ValueEnum;
use serde::Serialize;
use std::ops::ControlFlow;

/// An observer of a fit: a function of the start and of every accepted step, with its parameters. If it returns
/// [`ControlFlow::Break`], the fit ends.
pub type Observer<'o> = dyn FnMut(&Step, &[f64]) -> ControlFlow<()> + 'o;

/// An iterative method that minimises an objective within limits.
pub trait Solver {
    /// Returns true if every iterate is settled along scales that no score depends on. Otherwise only the last one is,
    /// unless its numbers are whole.
    fn settles(&self) -> bool {
        true
    }

    /// Takes steps from `best` until termination and leaves the best iterate there. Logs the start and every accepted
    /// step.
    fn descend(&self, problem: &BoundedProblem<'_>, best: &mut Iterate, log: &mut FitLog<'_>) -> Termination;

    /// Minimises `objective` from `start` within `limits`.
    ///
    /// # Errors
    /// If the start or the limits do not fit the objective, or the objective is not finite at the start.
    fn minimize(&self, objective: &Objective<'_>, start: &[f64], limits: &Limits) -> Result<Fit> {
        self.minimize_watched(objective, start, limits, &mut |_, _| ControlFlow::Continue(()))
    }

    /// Minimises as [`Solver::minimize`], with an observer, which may end the fit with the best parameters so far.
    ///
    /// # Errors
    /// As for [`Solver::minimize`].
    fn minimize_watched(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        observer: &mut Observer<'_>,
    ) -> Result<Fit> {
        limits.check_start(objective, start)?;
        let scales = if self.settles() { Scale::open(objective, start, limits) } else { Vec::new() };
        let problem = BoundedProblem { objective, limits, scales: &scales };
        let mut best = problem.iterate(start.to_vec());
        ensure!(best.is_finite(), "optimise: the objective is {} at the start", best.loss);
        let (start_norm, start) = (best.norm, best.theta.clone());
        let mut log = FitLog { history: Vec::new(), work: FitWork { passes: 1, ..FitWork::default() }, observer };
        let termination = self.descend(&problem, &mut best, &mut log);
        let is_whole = best.theta.iter().all(|value| value.fract() == 0.0);
        let best = if self.settles() || is_whole { best } else { settled(objective, &start, limits, best) };
        let gradient_ratio = if start_norm > 0.0 { best.norm / start_norm } else { 0.0 };
        let (theta, loss) = (best.theta, best.loss);
        Ok(Fit { theta, loss, gradient_ratio, termination, history: log.history, work: log.work })
    }
}

/// Settles an iterate along scales that no score depends on, if that lowers the objective.
fn settled(objective: &Objective<'_>, start: &[f64], limits: &Limits, best: Iterate) -> Iterate {
    let scales = Scale::open(objective, start, limits);
    let settled = BoundedProblem { objective, limits, scales: &scales }.iterate(best.theta.clone());
    if settled.loss < best.loss { settled } else { best }
}

/// The history and the work of a fit, and its observer.
pub struct FitLog<'o> {
    history: Vec<Step>,
    work: FitWork,
    observer: &'o mut Observer<'o>,
}

impl FitLog<'_> {
    /// Records an iterate and passes it to the observer; returns the reason to stop, if there is one.
    fn step(&mut self, at: &Iterate, max_steps: usize) -> Option<Termination> {
        let step = Step { iteration: self.history.len(), loss: at.loss, gradient_norm: at.norm };
        self.history.push(step);
        if (self.observer)(&step, &at.theta).is_break() {
            return Some(Termination::Cancelled);
        }
        (step.iteration >= max_steps).then_some(Termination::StepLimit)
    }
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
