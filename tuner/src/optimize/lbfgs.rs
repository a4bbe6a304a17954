//! Minimisation by gradients alone: limited-memory quasi-Newton steps (L-BFGS) from the diagonal of the curvature.
//!
//! No matrix is stored or factorised: the method for more parameters than a matrix of them fits into memory, and an
//! independent way to the minimum that Newton's method finds.

use super::descent::NOTHING;
use super::limits::Limits;
use super::memory::{Memory, dot};
use super::place::{Ground, Place, difference};
use super::run::Run;
use super::{Fit, OptimizeError, Optimizer, Step, Stop};
use crate::objective::Objective;
use std::ops::ControlFlow;

/// L-BFGS within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lbfgs {
    /// Norm of the projected gradient, relative to that of the start, at which a fit has converged.
    pub tolerance: f64,
    /// Most steps taken.
    pub max_steps: usize,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Self { tolerance: 1e-6, max_steps: 5000 }
    }
}

impl Optimizer for Lbfgs {
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        progress: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    ) -> Result<Fit, OptimizeError> {
        Run::fit(objective, start, limits, self.max_steps, true, progress, |run, ground, origin| {
            self.descend(run, ground, origin)
        })
    }
}

impl Lbfgs {
    fn descend(&self, run: &mut Run<'_>, ground: &Ground<'_>, mut place: Place) -> (Place, Stop) {
        let goal = self.tolerance * place.norm;
        let mut memory = Memory::default();
        let mut diagonal = Diagonal::of(ground, &place);
        loop {
            if place.norm <= goal {
                return (place, Stop::Converged);
            }
            let direction = memory.direction(|rest| diagonal.solve(rest), &place.projected);
            let promise = -dot(&direction, &place.projected);
            if promise.abs() <= NOTHING * place.loss {
                return (place, Stop::Converged);
            }
            let mut looks = 0;
            let next = if promise > 0.0 { ground.search(&place, &direction, &mut looks) } else { None };
            run.work.gradients += looks as f64;
            match next {
                Some(next) => {
                    if next.held == place.held {
                        // What is held has no part in it.
                        let change = difference(&next.projected, &place.projected);
                        memory.push(difference(&next.theta, &place.theta), change);
                    } else {
                        // What was learnt among other free parameters leads out of bounds.
                        memory.clear();
                    }
                    place = next;
                    if let Some(stop) = run.report(ground, &place) {
                        return (place, stop);
                    }
                }
                None if memory.is_empty() => return (place, Stop::NoProgress),
                None => {
                    memory.clear();
                    diagonal = Diagonal::of(ground, &place);
                }
            }
        }
    }
}

/// The diagonal of the curvature at some place.
struct Diagonal(Vec<f64>);

impl Diagonal {
    fn of(ground: &Ground<'_>, place: &Place) -> Self {
        let objective = ground.objective;
        let damping = objective.row_curvature();
        Diagonal(objective.curvature_diagonal(&place.theta).into_iter().map(|second| second + damping).collect())
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        right.iter().zip(&self.0).map(|(right, second)| right / second).collect()
    }
}
