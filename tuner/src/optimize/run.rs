//! A fit under way: what it has done so far, and what it reports.

use super::place::{Ground, Place};
use super::{Fit, Step, Stop, Work};
use std::ops::ControlFlow;

/// What the steps of a fit share.
pub(super) struct Run<'r> {
    progress: &'r mut dyn FnMut(&Step) -> ControlFlow<()>,
    history: Vec<Step>,
    pub(super) work: Work,
    max_steps: usize,
}

impl<'r> Run<'r> {
    /// A fit that has looked at its start.
    pub(super) fn new(progress: &'r mut dyn FnMut(&Step) -> ControlFlow<()>, max_steps: usize) -> Self {
        Self { progress, history: Vec::new(), work: Work { gradients: 1.0, ..Work::default() }, max_steps }
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

    /// The outcome, the gradient of the start having had `start_norm`.
    pub(super) fn fit(self, best: Place, start_norm: f64, stop: Stop) -> Fit {
        let gradient_ratio = if start_norm > 0.0 { best.norm / start_norm } else { 0.0 };
        let (theta, loss) = (best.theta, best.loss);
        Fit { theta, loss, gradient_ratio, stop, history: self.history, work: self.work }
    }
}
