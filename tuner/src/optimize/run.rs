//! A fit from its start to its end: what is the same for every method.

use super::place::{Ground, Place};
use super::ray::Ray;
use super::state::{State, StateError, WalkState};
use super::{Fit, Limits, OptimizeError, Optimizer, Step, Stop, Watch, Work};
use crate::objective::Objective;
use std::ops::ControlFlow;

/// A walk, or why it cannot go on from a state.
pub(super) type Begun<'g> = Result<Box<dyn Walk + 'g>, StateError>;

/// A method that goes step by step.
pub(super) trait Stepwise {
    /// What it is called.
    const NAME: &'static str;

    /// Whether it moves along any direction, and not by whole numbers: then the scale of the phase weights is settled.
    const HAS_RAY: bool;

    /// Whether it takes so many steps that passes are worth some preparation.
    const HAS_MANY_STEPS: bool;

    /// The place where a fit begins, as the method sees it: whoever judges by more than the rows says so here.
    fn judge(&self, _ground: &Ground<'_>, place: Place) -> Place {
        place
    }

    /// Most steps it takes.
    fn max_steps(&self) -> usize;

    /// A walk from `origin`, or one that goes on from a state of an earlier walk from there.
    ///
    /// # Errors
    /// If the state cannot be one of this method here.
    fn walk<'g>(&'g self, ground: &'g Ground<'g>, origin: Place, state: Option<WalkState>) -> Begun<'g>;
}

/// A method under way.
pub(super) trait Walk {
    /// Where it stands.
    fn place(&self) -> &Place;

    /// How many rows the loss there is the mean of.
    fn rows(&self) -> usize;

    /// Goes on to the next step that is accepted; why there is none, if so. Adds to `work` what it takes.
    fn advance(&mut self, work: &mut Work) -> ControlFlow<Stop>;

    /// What it needs to go on from here: the start, or a step that was accepted.
    fn state(&self) -> WalkState;

    /// The best place over all rows.
    fn finish(self: Box<Self>, work: &mut Work) -> Place;
}

impl<M: Stepwise> Optimizer for M {
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        resume: Option<State>,
        watch: &mut dyn Watch,
    ) -> Result<Fit, OptimizeError> {
        let limits = limits.for_start(objective, start)?;
        let prepared = M::HAS_MANY_STEPS.then(|| objective.clone().for_many_passes());
        let objective = prepared.as_ref().unwrap_or(objective);
        let ray = if M::HAS_RAY { Ray::new(objective, start, &limits) } else { None };
        let ground = Ground { objective, limits: &limits, ray: ray.as_ref() };
        let origin = self.judge(&ground, ground.origin(start)?);
        let start_norm = origin.norm;
        let (mut run, stop) = match resume {
            Some(state) => {
                state.check(M::NAME, &origin)?;
                let walk = self.walk(&ground, origin, Some(state.walk))?;
                (Run { walk, history: state.history, work: state.work }, None)
            }
            None => {
                let work = Work { gradients: 1.0, ..Work::default() };
                let mut run = Run { walk: self.walk(&ground, origin, None)?, history: Vec::new(), work };
                let stop = run.report(watch);
                (run, stop)
            }
        };
        let stop = stop.unwrap_or_else(|| run.walk(self.max_steps(), watch));
        let best = run.walk.finish(&mut run.work);
        let gradient_ratio = if start_norm > 0.0 { best.norm / start_norm } else { 0.0 };
        let (theta, loss) = (best.theta, best.loss);
        Ok(Fit { theta, loss, gradient_ratio, stop, history: run.history, work: run.work })
    }
}

/// A walk, and what it has done so far.
struct Run<'g> {
    walk: Box<dyn Walk + 'g>,
    history: Vec<Step>,
    work: Work,
}

impl Run<'_> {
    /// Walks until something stops it.
    fn walk(&mut self, max_steps: usize, watch: &mut dyn Watch) -> Stop {
        loop {
            if self.history.len() > max_steps {
                return Stop::StepLimit;
            }
            if let ControlFlow::Break(stop) = self.walk.advance(&mut self.work) {
                return stop;
            }
            if let Some(stop) = self.report(watch) {
                return stop;
            }
        }
    }

    /// Takes the place into the history and shows it; why to stop there, if so.
    fn report(&mut self, watch: &mut dyn Watch) -> Option<Stop> {
        let (iteration, rows) = (self.history.len(), self.walk.rows());
        let &Place { loss, norm: gradient_norm, .. } = self.walk.place();
        let step = Step { iteration, rows, loss, gradient_norm };
        self.history.push(step);
        let state = || State { history: self.history.clone(), work: self.work, walk: self.walk.state() };
        watch.step(&step, &self.walk.place().theta, &state).is_break().then_some(Stop::Cancelled)
    }
}
