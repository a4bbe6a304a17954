//! The iteration loop that all methods share.

use super::iterate::{BoundedProblem, Iterate, Scale};
use super::{Fit, FitWork, Limits, Observer, OptimizeError, Solver, Step, Termination};
use crate::objective::Objective;
use std::ops::ControlFlow;

/// An iterative method.
pub(super) trait Iterative {
    /// True if every iterate is settled along scales that no score depends on. Otherwise only the last one is, unless
    /// its numbers are whole.
    const SETTLES: bool = true;

    /// Returns the maximum number of steps.
    fn max_steps(&self) -> usize;

    /// Begins an iteration at a start.
    fn begin<'p>(&'p self, problem: &'p BoundedProblem<'p>, start: Iterate) -> Box<dyn Iteration + 'p>;
}

/// The state of an iterative method.
pub(super) trait Iteration {
    /// Returns the current iterate.
    fn iterate(&self) -> &Iterate;

    /// Takes the next accepted step, or breaks with the reason why there is none. Adds its cost to `work`.
    fn advance(&mut self, work: &mut FitWork) -> ControlFlow<Termination>;

    /// Returns the best iterate.
    fn best(&self) -> &Iterate {
        self.iterate()
    }
}

impl<M: Iterative> Solver for M {
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Fit, OptimizeError> {
        limits.check_start(objective, start)?;
        let scales = if M::SETTLES { Scale::open(objective, start, limits) } else { Vec::new() };
        let problem = BoundedProblem { objective, limits, scales: &scales };
        let start = problem.start(start)?;
        let (start_norm, start_theta) = (start.norm, start.theta.clone());
        let work = FitWork { passes: 1, ..FitWork::default() };
        let mut run = FitRun { iteration: self.begin(&problem, start), history: Vec::new(), work };
        let termination = run.report(observer).unwrap_or_else(|| run.iterate(self.max_steps(), observer));
        let best = run.iteration.best().clone();
        let is_whole = best.theta.iter().all(|value| value.fract() == 0.0);
        let best = if M::SETTLES || is_whole { best } else { settled(objective, &start_theta, limits, best) };
        let gradient_ratio = if start_norm > 0.0 { best.norm / start_norm } else { 0.0 };
        let (theta, loss) = (best.theta, best.loss);
        Ok(Fit { theta, loss, gradient_ratio, termination, history: run.history, work: run.work })
    }
}

/// Settles an iterate along scales that no score depends on, if that lowers the objective.
fn settled(objective: &Objective<'_>, start: &[f64], limits: &Limits, best: Iterate) -> Iterate {
    let scales = Scale::open(objective, start, limits);
    let settled = BoundedProblem { objective, limits, scales: &scales }.iterate(best.theta.clone());
    if settled.loss < best.loss { settled } else { best }
}

/// An iteration with its history and its work so far.
struct FitRun<'p> {
    iteration: Box<dyn Iteration + 'p>,
    history: Vec<Step>,
    work: FitWork,
}

impl FitRun<'_> {
    /// Iterates until termination.
    fn iterate(&mut self, max_steps: usize, observer: &mut dyn Observer) -> Termination {
        loop {
            if self.history.len() > max_steps {
                return Termination::StepLimit;
            }
            if let ControlFlow::Break(termination) = self.iteration.advance(&mut self.work) {
                return termination;
            }
            if let Some(termination) = self.report(observer) {
                return termination;
            }
        }
    }

    /// Records the iterate and passes it to the observer; returns the reason to stop, if there is one.
    fn report(&mut self, observer: &mut dyn Observer) -> Option<Termination> {
        let &Iterate { loss, norm: gradient_norm, .. } = self.iteration.iterate();
        let step = Step { iteration: self.history.len(), loss, gradient_norm };
        self.history.push(step);
        let outcome = observer.step(&step, &self.iteration.iterate().theta);
        outcome.is_break().then_some(Termination::Cancelled)
    }
}
