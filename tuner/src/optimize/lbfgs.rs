//! Minimisation by gradients alone: limited-memory quasi-Newton steps (L-BFGS) from the diagonal of the curvature.
//!
//! No matrix is stored or factorised: the method for more parameters than a matrix of them fits into memory, and an
//! independent way to the minimum that Newton's method finds.

use super::descent::NOTHING;
use super::memory::{Memory, dot};
use super::place::{Ground, Place, difference};
use super::run::{Begun, Stepwise, Walk};
use super::state::WalkState;
use super::{Stop, Work};
use serde::{Deserialize, Serialize};
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

/// What L-BFGS keeps from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LbfgsState {
    theta: Vec<f64>,
    memory: Memory,
    /// Where the diagonal of the curvature was taken.
    diagonal_at: Vec<f64>,
}

impl Stepwise for Lbfgs {
    const NAME: &'static str = "L-BFGS";
    const HAS_RAY: bool = true;
    const HAS_MANY_STEPS: bool = true;

    fn max_steps(&self) -> usize {
        self.max_steps
    }

    fn walk<'g>(&'g self, ground: &'g Ground<'g>, origin: Place, state: Option<WalkState>) -> Begun<'g> {
        let goal = self.tolerance * origin.norm;
        let walk = match state {
            None => {
                let diagonal = Diagonal::at(ground, origin.theta.clone());
                LbfgsWalk { ground, goal, place: origin, memory: Memory::default(), diagonal }
            }
            Some(WalkState::Lbfgs(LbfgsState { theta, memory, diagonal_at })) => {
                ground.check(&theta)?;
                ground.check(&diagonal_at)?;
                memory.check(theta.len())?;
                LbfgsWalk { ground, goal, place: ground.at(theta), memory, diagonal: Diagonal::at(ground, diagonal_at) }
            }
            Some(other) => return Err(other.refused_by(Self::NAME)),
        };
        Ok(Box::new(walk))
    }
}

/// L-BFGS under way.
struct LbfgsWalk<'g> {
    ground: &'g Ground<'g>,
    /// Norm of the projected gradient to reach.
    goal: f64,
    place: Place,
    memory: Memory,
    diagonal: Diagonal,
}

impl Walk for LbfgsWalk<'_> {
    fn place(&self) -> &Place {
        &self.place
    }

    fn rows(&self) -> usize {
        self.ground.objective.rows().len()
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Stop> {
        loop {
            let place = &self.place;
            if place.norm <= self.goal {
                return ControlFlow::Break(Stop::Converged);
            }
            let direction = self.memory.direction(|rest| self.diagonal.solve(rest), &place.projected);
            let promise = -dot(&direction, &place.projected);
            if promise.abs() <= NOTHING * place.loss {
                return ControlFlow::Break(Stop::Converged);
            }
            let mut looks = 0;
            let next = if promise > 0.0 { self.ground.search(place, &direction, &mut looks) } else { None };
            work.gradients += looks as f64;
            match next {
                Some(next) => {
                    self.accept(next);
                    return ControlFlow::Continue(());
                }
                None if self.memory.is_empty() => return ControlFlow::Break(Stop::NoProgress),
                None => {
                    self.memory.clear();
                    self.diagonal = Diagonal::at(self.ground, self.place.theta.clone());
                }
            }
        }
    }

    fn state(&self) -> WalkState {
        WalkState::Lbfgs(LbfgsState {
            theta: self.place.theta.clone(),
            memory: self.memory.clone(),
            diagonal_at: self.diagonal.at.clone(),
        })
    }

    fn finish(self: Box<Self>, _work: &mut Work) -> Place {
        self.place
    }
}

impl LbfgsWalk<'_> {
    fn accept(&mut self, next: Place) {
        if next.held == self.place.held {
            // What is held has no part in it.
            let change = difference(&next.projected, &self.place.projected);
            self.memory.push(difference(&next.theta, &self.place.theta), change);
        } else {
            // What was learnt among other free parameters leads out of bounds.
            self.memory.clear();
        }
        self.place = next;
    }
}

/// The diagonal of the curvature at some parameters.
///
/// Of tied parameters it is what the diagonal can be at most, whatever they have to do with each other: the square of a
/// sum of n terms is at most n times the sum of their squares.
struct Diagonal {
    at: Vec<f64>,
    seconds: Vec<f64>,
}

impl Diagonal {
    fn at(ground: &Ground<'_>, at: Vec<f64>) -> Self {
        let damping = ground.objective.row_curvature();
        let mut seconds = ground.objective.curvature_diagonal(&at);
        ground.limits.gather(&mut seconds);
        for (second, members) in seconds.iter_mut().zip(ground.limits.group_sizes()) {
            *second = *second * members as f64 + damping;
        }
        Self { at, seconds }
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        right.iter().zip(&self.seconds).map(|(right, second)| right / second).collect()
    }
}
