//! The parts of a fit that all methods share: the start, the history, and the choice of the result.

use super::iterate::{BoundedProblem, Iterate, Scale};
use super::{Fit, FitWork, Limits, Observer, Solver, Step, Termination};
use crate::objective::Objective;
use anyhow::{Result, ensure};

/// An iterative method.
pub(super) trait Descent {
    /// True if every iterate is settled along scales that no score depends on. Otherwise only the last one is, unless
    /// its numbers are whole.
    const SETTLES: bool = true;

    /// Takes steps from `best` until termination and leaves the best iterate there. Logs the start and every accepted
    /// step.
    fn descend(&self, problem: &BoundedProblem<'_>, best: &mut Iterate, log: &mut FitLog<'_>) -> Termination;
}

/// The history and the work of a fit, and its observer.
pub(super) struct FitLog<'o> {
    history: Vec<Step>,
    pub(super) work: FitWork,
    observer: &'o mut dyn Observer,
}

impl FitLog<'_> {
    /// Records an iterate and passes it to the observer; returns the reason to stop, if there is one.
    pub(super) fn step(&mut self, at: &Iterate, max_steps: usize) -> Option<Termination> {
        let step = Step { iteration: self.history.len(), loss: at.loss, gradient_norm: at.norm };
        self.history.push(step);
        if self.observer.step(&step, &at.theta).is_break() {
            return Some(Termination::Cancelled);
        }
        (step.iteration >= max_steps).then_some(Termination::StepLimit)
    }
}

impl<M: Descent> Solver for M {
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        limits.check_start(objective, start)?;
        let scales = if M::SETTLES { Scale::open(objective, start, limits) } else { Vec::new() };
        let problem = BoundedProblem { objective, limits, scales: &scales };
        let mut best = problem.iterate(start.to_vec());
        ensure!(best.is_finite(), "optimise: the objective is {} at the start", best.loss);
        let (start_norm, start) = (best.norm, best.theta.clone());
        let mut log = FitLog { history: Vec::new(), work: FitWork { passes: 1, ..FitWork::default() }, observer };
        let termination = self.descend(&problem, &mut best, &mut log);
        let is_whole = best.theta.iter().all(|value| value.fract() == 0.0);
        let best = if M::SETTLES || is_whole { best } else { settled(objective, &start, limits, best) };
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
