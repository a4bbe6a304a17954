//! A fit from its start to its end: what is the same for every method.

use super::iterate::{Iterate, Problem, Scale};
use super::{Fit, Limits, Observer, OptimizeError, Solver, Step, Termination, Work};
use crate::objective::Objective;
use std::ops::ControlFlow;

/// A method that goes step by step.
pub(super) trait Iterative {
    /// Whether every iterate is settled along scales that no score depends on; if not, the last one is, unless its numbers
    /// are whole.
    const SETTLES: bool = true;

    /// Most steps it takes.
    fn max_steps(&self) -> usize;

    /// The iteration from a start.
    fn begin<'p>(&'p self, problem: &'p Problem<'p>, start: Iterate) -> Box<dyn Iteration + 'p>;
}

/// A method under way.
pub(super) trait Iteration {
    /// The present iterate.
    fn iterate(&self) -> &Iterate;

    /// Goes on to the next step that is accepted; why there is none, if so. Adds to `work` what it takes.
    fn advance(&mut self, work: &mut Work) -> ControlFlow<Termination>;

    /// The best iterate.
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
        let problem = Problem { objective, limits, scales: &scales };
        let start = problem.start(start)?;
        let (start_norm, start_theta) = (start.norm, start.theta.clone());
        let work = Work { passes: 1, ..Work::default() };
        let mut run = Run { iteration: self.begin(&problem, start), history: Vec::new(), work };
        let termination = run.report(observer).unwrap_or_else(|| run.iterate(self.max_steps(), observer));
        let best = run.iteration.best().clone();
        let is_whole = best.theta.iter().all(|value| value.fract() == 0.0);
        let best = if M::SETTLES || is_whole { best } else { settled(objective, &start_theta, limits, best) };
        let gradient_ratio = if start_norm > 0.0 { best.norm / start_norm } else { 0.0 };
        let (theta, loss) = (best.theta, best.loss);
        Ok(Fit { theta, loss, gradient_ratio, termination, history: run.history, work: run.work })
    }
}

/// An iterate along scales that no score depends on, where the objective is least.
fn settled(objective: &Objective<'_>, start: &[f64], limits: &Limits, best: Iterate) -> Iterate {
    let scales = Scale::open(objective, start, limits);
    let settled = Problem { objective, limits, scales: &scales }.iterate(best.theta.clone());
    if settled.loss < best.loss { settled } else { best }
}

/// An iteration, and what it has done so far.
struct Run<'p> {
    iteration: Box<dyn Iteration + 'p>,
    history: Vec<Step>,
    work: Work,
}

impl Run<'_> {
    /// Goes on until something ends it.
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

    /// Takes the iterate into the history and shows it; why to end there, if so.
    fn report(&mut self, observer: &mut dyn Observer) -> Option<Termination> {
        let &Iterate { loss, norm: gradient_norm, .. } = self.iteration.iterate();
        let step = Step { iteration: self.history.len(), loss, gradient_norm };
        self.history.push(step);
        let outcome = observer.step(&step, &self.iteration.iterate().theta);
        outcome.is_break().then_some(Termination::Cancelled)
    }
}
