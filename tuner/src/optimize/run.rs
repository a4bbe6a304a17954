//! A fit under way: what it has done so far, and what it reports.

use super::limits::Limits;
use super::place::{Ground, Place};
use super::ray::Ray;
use super::{Fit, OptimizeError, Step, Stop, Work};
use crate::objective::Objective;
use std::ops::ControlFlow;

/// What the steps of a fit share.
pub(super) struct Run<'r> {
    progress: &'r mut dyn FnMut(&Step) -> ControlFlow<()>,
    history: Vec<Step>,
    pub(super) work: Work,
    max_steps: usize,
}

impl<'r> Run<'r> {
    /// A fit of at most `max_steps`: looks at the start and, unless that is to be all, has `descend` go on from there.
    /// The ground has a ray if the method moves along any direction, and not by whole steps.
    pub(super) fn fit(
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        max_steps: usize,
        has_ray: bool,
        progress: &'r mut dyn FnMut(&Step) -> ControlFlow<()>,
        descend: impl FnOnce(&mut Self, &Ground<'_>, Place) -> (Place, Stop),
    ) -> Result<Fit, OptimizeError> {
        let limits = limits.for_start(objective, start)?;
        let ray = if has_ray { Ray::new(objective, start, &limits) } else { None };
        let ground = Ground { objective, limits: &limits, ray: ray.as_ref() };
        let origin = ground.origin(start)?;
        let start_norm = origin.norm;
        let work = Work { gradients: 1.0, ..Work::default() };
        let mut run = Run { progress, history: Vec::new(), work, max_steps };
        let (best, stop) = match run.report(&ground, &origin) {
            Some(stop) => (origin, stop),
            None => descend(&mut run, &ground, origin),
        };
        let gradient_ratio = if start_norm > 0.0 { best.norm / start_norm } else { 0.0 };
        let (theta, loss) = (best.theta, best.loss);
        Ok(Fit { theta, loss, gradient_ratio, stop, history: run.history, work: run.work })
    }

    /// Takes a place into the history; why to stop there, if so.
    pub(super) fn report(&mut self, ground: &Ground<'_>, place: &Place) -> Option<Stop> {
        let step = Step {
            iteration: self.history.len(),
            rows: ground.objective.rows().len(),
            loss: place.loss,
            gradient_norm: place.norm,
        };
        self.history.push(step);
        if (self.progress)(&step).is_break() {
            return Some(Stop::Cancelled);
        }
        (self.history.len() > self.max_steps).then_some(Stop::StepLimit)
    }
}
