//! Second-order minimisation: a factorised curvature, reused for as many cheap steps as it is good for.
//!
//! A curvature costs about five passes for a gradient, and its factorisation another. So a step is a Newton step
//! through a curvature computed some steps ago, corrected by what the gradients since then have told; the curvature
//! is computed anew when steps stop being good: Gauss-Newton's at first, in full later, when that is positive
//! definite. The start is usually far away, where exact figures are wasted: the first descents look at a sixteenth
//! and a fourth of the rows, and stop as soon as more of them would decide otherwise.

use super::descent::{Descent, Goal};
use super::limits::Limits;
use super::place::{Ground, Place};
use super::run::Run;
use super::{Fit, OptimizeError, Optimizer, Step, Stop};
use crate::objective::Objective;
use std::ops::ControlFlow;

/// Rows per parameter that a descent on part of the rows must have.
const ROWS_PER_PARAMETER: usize = 40;

/// How many times more rows each descent has than the one before it.
const GROWTH: usize = 4;

/// When a descent on part of the rows is worthwhile, and how far it goes: rare features, of which a part of the rows
/// knows little, had better not go far.
const SKETCH: Goal = Goal { norm: 0.0, worthwhile: 2.0, noticeable: 0.05, damping: 1.0 };

/// Newton's method within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Newton {
    /// Norm of the projected gradient, relative to that of the start, at which a fit has converged.
    pub tolerance: f64,
    /// Most steps taken.
    pub max_steps: usize,
}

impl Default for Newton {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_steps: 500 }
    }
}

impl Optimizer for Newton {
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        progress: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    ) -> Result<Fit, OptimizeError> {
        Run::fit(objective, start, limits, self.max_steps, true, progress, |run, ground, origin| {
            let norm = self.tolerance * origin.norm;
            let goal = Goal { norm, worthwhile: 0.0, noticeable: 0.0, damping: 0.02 };
            match sketch(run, ground, origin) {
                (best, Some(stop)) => (best, stop),
                (best, None) => Descent::new(run, ground, 1.0, goal).descend(best),
            }
        })
    }
}

/// Descends on parts of the rows, ever more of them, as long as that makes the whole better; why to stop, if so.
fn sketch(run: &mut Run<'_>, whole: &Ground<'_>, origin: Place) -> (Place, Option<Stop>) {
    let mut theta = origin.theta.clone();
    let mut stop = None;
    for stride in strides(whole.objective) {
        let rows = whole.objective.rows().every(stride);
        let objective = whole.objective.over(&rows);
        let part = Ground { objective: &objective, limits: whole.limits, ray: whole.ray };
        let share = 1.0 / stride as f64;
        run.work.gradients += share;
        let (place, end) = Descent::new(run, &part, share, SKETCH).descend(part.place(theta));
        theta = place.theta;
        stop = matches!(end, Stop::Cancelled | Stop::StepLimit).then_some(end);
        if stop.is_some() {
            break;
        }
    }
    if theta == origin.theta {
        return (origin, stop);
    }
    run.work.gradients += 1.0;
    let place = whole.place(theta);
    (if place.loss < origin.loss { place } else { origin }, stop)
}

/// Which parts of the rows to begin with: every so-many-th, in this order.
fn strides(objective: &Objective<'_>) -> Vec<usize> {
    let most = objective.rows().len() / (ROWS_PER_PARAMETER * objective.parameters());
    let powers = std::iter::successors(Some(GROWTH), |stride| stride.checked_mul(GROWTH));
    let mut strides: Vec<usize> = powers.take_while(|&stride| stride <= most).collect();
    strides.reverse();
    strides
}
