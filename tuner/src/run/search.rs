//! A fit with an observer: reports each step and measures the held-out loss after it.

use std::ops::ControlFlow;

use super::Hooks;
use crate::model::rows::Rows;
use crate::objective::Objective;
use crate::optimize::{Fit, Limits, Observer, OptimizeError, Solver, Step, Termination};
use crate::progress::Unit;

/// Parameters and the mean loss of the held-out rows.
struct Pick {
    theta: Vec<f64>,
    loss: f64,
}

/// The inputs of one fit.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    /// The function to minimise.
    pub(crate) objective: &'a Objective<'a>,
    /// Rows held out: the step with the lowest loss on them is kept.
    pub(crate) held: Option<&'a Rows>,
    pub(crate) solver: &'a dyn Solver,
    pub(crate) start: &'a [f64],
    /// The limits of the parameters.
    pub(crate) limits: &'a Limits,
    pub(crate) hooks: Hooks<'a>,
}

/// The result of one fit.
pub(crate) struct FitResult {
    /// The parameters of the step with the lowest held-out loss; without held-out rows, the minimum.
    pub(crate) theta: Vec<f64>,
    pub(crate) fit: Fit,
}

impl FitResult {
    pub(crate) fn is_interrupted(&self) -> bool {
        self.fit.termination == Termination::Cancelled
    }

    pub(crate) fn has_converged(&self) -> bool {
        !matches!(self.fit.termination, Termination::StepLimit | Termination::Cancelled)
    }

    pub(crate) fn steps(&self) -> usize {
        self.fit.history.len().saturating_sub(1)
    }
}

impl Search<'_> {
    /// Runs the fit. `watch` receives every step with the mean loss of the held-out rows there.
    pub(crate) fn run(&self, watch: &mut dyn FnMut(&Step, Option<f64>)) -> Result<FitResult, OptimizeError> {
        self.hooks.progress.begin("minimising", 0, Unit::Iterations);
        let mut watcher = Watcher { search: self, pick: None, watch };
        let fit = self.solver.minimize(self.objective, self.start, self.limits, &mut watcher);
        let pick = watcher.pick;
        self.hooks.progress.end();
        let fit = fit?;
        Ok(FitResult { theta: pick.map_or_else(|| fit.theta.clone(), |pick| pick.theta), fit })
    }
}

struct Watcher<'w, 'a> {
    search: &'w Search<'a>,
    pick: Option<Pick>,
    watch: &'w mut dyn FnMut(&Step, Option<f64>),
}

impl Observer for Watcher<'_, '_> {
    fn step(&mut self, step: &Step, theta: &[f64]) -> ControlFlow<()> {
        let Search { objective, held, hooks, .. } = self.search;
        let held = held.map(|held| objective.over(held).data_loss(theta));
        if let Some(loss) = held
            && self.pick.as_ref().is_none_or(|pick| loss < pick.loss)
        {
            self.pick = Some(Pick { theta: theta.to_vec(), loss });
        }
        let held_text = held.map_or_else(String::new, |loss| format!(", held out {loss:.7}"));
        hooks.progress.advance(1);
        hooks.progress.message(format!("loss {:.7}{held_text}, gradient {:.1e}", step.loss, step.gradient_norm));
        (self.watch)(step, held);
        if hooks.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
