//! Second-order minimisation: a factorised curvature, reused for as many cheap steps as it is good for.
//!
//! A curvature costs about five passes for a gradient, and its factorisation another. So a step is a Newton step
//! through a curvature computed some steps ago, corrected by what the gradients since then have told; the curvature
//! is computed anew when steps stop being good: Gauss-Newton's at first, in full later, when that is positive
//! definite. The start is usually far away, where exact figures are wasted: the first descents look at a sixteenth
//! and a fourth of the rows, and stop as soon as more of them would decide otherwise.

use super::descent::{Descent, DescentState, Goal};
use super::place::{Ground, Place};
use super::run::{Begun, Stepwise, Walk};
use super::state::{StateError, WalkState};
use super::{Stop, Work};
use crate::objective::{Objective, Rows};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Rows per parameter that a descent on part of the rows must have.
const ROWS_PER_PARAMETER: usize = 40;

/// How many times more rows each descent has than the one before it.
const GROWTH: usize = 4;

/// Rows of a part of those that lie in files, at most.
const MOST_PART_ROWS: usize = 1 << 20;

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

/// What Newton's method keeps from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NewtonState {
    /// Descents that are over; the last of all is over all rows.
    stage: usize,
    /// The descent under way; none at the start.
    descent: Option<DescentState>,
}

impl Stepwise for Newton {
    const NAME: &'static str = "Newton";
    const HAS_RAY: bool = true;
    const HAS_MANY_STEPS: bool = false;

    fn max_steps(&self) -> usize {
        self.max_steps
    }

    fn walk<'g>(&'g self, ground: &'g Ground<'g>, origin: Place, state: Option<WalkState>) -> Begun<'g> {
        let goal = Goal { norm: self.tolerance * origin.norm, worthwhile: 0.0, noticeable: 0.0, damping: 0.02 };
        let strides = strides(ground.objective);
        let mut walk = NewtonWalk { whole: ground, goal, origin, strides, stage: 0, part: None, descent: None };
        match state {
            None => {}
            Some(WalkState::Newton(state)) => walk.resume(state)?,
            Some(other) => return Err(other.refused_by(Self::NAME)),
        }
        Ok(Box::new(walk))
    }
}

/// Newton's method under way.
struct NewtonWalk<'g> {
    whole: &'g Ground<'g>,
    /// Of the descent over all rows.
    goal: Goal,
    origin: Place,
    /// Which parts of the rows the stages before the last look at.
    strides: Vec<usize>,
    stage: usize,
    /// The rows of this stage, if they are a part.
    part: Option<Rows>,
    /// The descent of this stage, once it has begun.
    descent: Option<Descent>,
}

impl NewtonWalk<'_> {
    /// Goes to where an earlier walk was.
    fn resume(&mut self, state: NewtonState) -> Result<(), StateError> {
        self.stage = state.stage;
        if self.stage > self.strides.len() {
            return Err(StateError::Order("stages"));
        }
        if let Some(descent) = state.descent {
            self.cut_out();
            let (goal, share) = self.terms();
            self.descent = Some(self.on_part(|ground| Descent::resume(ground, descent, goal, share))?);
        }
        Ok(())
    }

    /// Takes the rows of this stage out of all.
    fn cut_out(&mut self) {
        self.part = self.strides.get(self.stage).map(|&stride| self.whole.objective.rows().every(stride));
    }

    /// The goal of this stage, and its rows as a share of all.
    fn terms(&self) -> (Goal, f64) {
        self.strides.get(self.stage).map_or((self.goal, 1.0), |&stride| (SKETCH, 1.0 / stride as f64))
    }

    /// Does something on the ground of this stage.
    fn on_part<T>(&self, act: impl FnOnce(&Ground<'_>) -> T) -> T {
        match &self.part {
            Some(rows) => act(&Ground { objective: &self.whole.objective.over(rows), ..*self.whole }),
            None => act(self.whole),
        }
    }

    /// Begins the descent of this stage.
    fn begin(&mut self, theta: Vec<f64>, work: &mut Work) -> Descent {
        self.cut_out();
        let (goal, share) = self.terms();
        let place = if self.part.is_some() {
            work.gradients += share;
            self.on_part(|ground| ground.place(theta))
        } else {
            self.land(theta, work)
        };
        Descent::new(place, goal, share)
    }

    /// The place over all rows where descents on parts of them have led, unless the start is better.
    fn land(&self, theta: Vec<f64>, work: &mut Work) -> Place {
        if theta == self.origin.theta {
            return self.origin.clone();
        }
        work.gradients += 1.0;
        let place = self.whole.place(theta);
        if place.loss < self.origin.loss { place } else { self.origin.clone() }
    }
}

impl Walk for NewtonWalk<'_> {
    fn place(&self) -> &Place {
        self.descent.as_ref().map_or(&self.origin, |descent| &descent.place)
    }

    fn rows(&self) -> usize {
        self.part.as_ref().unwrap_or(self.whole.objective.rows()).len()
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Stop> {
        loop {
            let mut descent = match self.descent.take() {
                Some(descent) => descent,
                None => self.begin(self.origin.theta.clone(), work),
            };
            let outcome = self.on_part(|ground| descent.advance(ground, work));
            if outcome.is_continue() || self.part.is_none() {
                self.descent = Some(descent);
                return outcome;
            }
            self.stage += 1;
            self.descent = Some(self.begin(descent.place.theta, work));
        }
    }

    fn state(&self) -> WalkState {
        let descent = self.descent.as_ref().and_then(Descent::state);
        WalkState::Newton(NewtonState { stage: self.stage, descent })
    }

    fn finish(self: Box<Self>, work: &mut Work) -> Place {
        match (&self.descent, &self.part) {
            (None, _) => self.origin,
            (Some(descent), Some(_)) => self.land(descent.place.theta.clone(), work),
            (Some(descent), None) => descent.place.clone(),
        }
    }
}

/// Which parts of the rows to begin with: every so-many-th, in this order.
fn strides(objective: &Objective<'_>) -> Vec<usize> {
    let most = objective.rows().len() / (ROWS_PER_PARAMETER * objective.parameters());
    let powers = std::iter::successors(Some(GROWTH), |stride| stride.checked_mul(GROWTH));
    // Parts of rows lie in memory, even where not all rows do.
    let rows = objective.rows();
    let fits = |stride: usize| !rows.is_mapped() || rows.len() / stride <= MOST_PART_ROWS;
    let mut strides: Vec<usize> = powers.take_while(|&stride| stride <= most).filter(|&stride| fits(stride)).collect();
    strides.reverse();
    strides
}
