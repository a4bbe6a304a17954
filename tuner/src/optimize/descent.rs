//! A descent over a fixed set of rows: quasi-Newton steps through a factorised curvature, renewed when they get poor.

use super::memory::{Memory, dot};
use super::model::{Model, Recipe};
use super::place::{Ground, Place, ROUNDING, difference};
use super::state::StateError;
use super::{Stop, Work};
use crate::objective::CurvatureKind;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// A step that promises no more than this share of the loss is not worth taking, however small the first gradient.
pub(super) const NOTHING: f64 = 1e-19;
/// A curvature is computed anew after a step that lowered the loss by this share: it was computed far away.
const FAR: f64 = 0.03;
/// Steps are poor when the decrease they promise shrinks by less than this factor.
const POOR: f64 = 0.1;
/// Poor steps are borne for so long before the curvature is computed anew: while much is left to gain, and later.
const PATIENCE: (usize, usize) = (6, 12);
/// Much is left to gain while steps promise more than this share of what is uncertain about the loss.
const MUCH: f64 = 1e-3;
/// So many times in a row steps are damped more when none is found.
const MOST_CAUTION: i32 = 3;

/// How careful a descent is, and when it is over.
#[derive(Clone, Copy)]
pub(super) struct Goal {
    /// Norm of the projected gradient to reach.
    pub(super) norm: f64,
    /// The first step must promise this much, in units of what is uncertain about the loss.
    pub(super) worthwhile: f64,
    /// So must all others.
    pub(super) noticeable: f64,
    /// Damping of steps, in curvatures of a single row.
    pub(super) damping: f64,
}

/// What a descent keeps from step to step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct DescentState {
    theta: Vec<f64>,
    model: Recipe,
    memory: Memory,
    age: usize,
    far: bool,
    last_promise: f64,
}

/// A descent under way.
pub(super) struct Descent {
    pub(super) place: Place,
    goal: Goal,
    /// The rows here, as a share of all rows.
    share: f64,
    /// What the next step must promise.
    asked: f64,
    model: Option<Model>,
    memory: Memory,
    /// Steps since the curvature was computed.
    age: usize,
    /// Whether the first of these led far away.
    far: bool,
    /// What the last of these promised.
    last_promise: f64,
    /// How many times in a row no step was found.
    caution: i32,
}

impl Descent {
    /// A descent from a place.
    pub(super) fn new(place: Place, goal: Goal, share: f64) -> Self {
        Self {
            place,
            goal,
            share,
            asked: goal.worthwhile,
            model: None,
            memory: Memory::default(),
            age: 0,
            far: false,
            last_promise: f64::INFINITY,
            caution: 0,
        }
    }

    /// A descent that goes on after one of its steps.
    ///
    /// # Errors
    /// If the state cannot be one of a descent here.
    pub(super) fn resume(ground: &Ground<'_>, state: DescentState, goal: Goal, share: f64) -> Result<Self, StateError> {
        let DescentState { theta, model, memory, age, far, last_promise } = state;
        ground.check(&theta)?;
        model.check(ground)?;
        memory.check(theta.len())?;
        let model = Some(Model::by(ground, model, goal.damping));
        let asked = goal.noticeable;
        Ok(Self { asked, model, memory, age, far, last_promise, ..Self::new(ground.at(theta), goal, share) })
    }

    /// What it keeps, unless no step was taken yet.
    pub(super) fn state(&self) -> Option<DescentState> {
        self.model.as_ref().map(|model| DescentState {
            theta: self.place.theta.clone(),
            model: model.recipe().clone(),
            memory: self.memory.clone(),
            age: self.age,
            far: self.far,
            last_promise: self.last_promise,
        })
    }

    /// Goes on to the next step, unless its goal is reached or something else stops it.
    pub(super) fn advance(&mut self, ground: &Ground<'_>, work: &mut Work) -> ControlFlow<Stop> {
        loop {
            if self.place.norm <= self.goal.norm {
                return ControlFlow::Break(Stop::Converged);
            }
            self.prepare(ground, work);
            let Some(factor) = self.model.as_ref().and_then(Model::factor) else {
                return ControlFlow::Break(Stop::NoProgress);
            };
            let place = &self.place;
            let direction = self.memory.direction(|rest| factor.solve(rest), &place.projected);
            let promise = -dot(&direction, &place.projected);
            let uncertainty = ground.uncertainty(place);
            if 0.5 * promise <= self.asked * uncertainty || promise <= NOTHING * place.loss {
                return ControlFlow::Break(Stop::Converged);
            }
            if self.is_stale(promise, uncertainty) {
                self.model = None;
                continue;
            }
            self.last_promise = promise;
            let mut looks = 0;
            let next = ground.search(place, &direction, &mut looks);
            work.gradients += looks as f64 * self.share;
            if let Some(next) = next {
                self.accept(next);
                return ControlFlow::Continue(());
            }
            if self.caution == MOST_CAUTION || promise < ROUNDING * place.loss {
                return ControlFlow::Break(Stop::NoProgress);
            }
            self.caution += 1;
            self.model = None;
        }
    }

    /// Sees to it that there is a curvature, factorised for what is held here.
    fn prepare(&mut self, ground: &Ground<'_>, work: &mut Work) {
        if let Some(model) = &mut self.model {
            if !model.suits(&self.place) {
                self.memory.clear();
                work.factorisations += 1;
                model.move_to(ground, &self.place, self.goal.damping, self.caution);
            }
            return;
        }
        // Far away the full curvature is indefinite, and Gauss-Newton's is better even where it is not.
        let from_afar = work.factorisations == 0 || self.caution > 0;
        let kinds = [CurvatureKind::Full, CurvatureKind::GaussNewton];
        self.memory.clear();
        for &kind in &kinds[usize::from(from_afar)..] {
            work.curvatures += self.share;
            work.factorisations += 1;
            self.model = None;
            let model = Model::new(ground, &self.place, kind, self.goal.damping, self.caution);
            let is_definite = model.is_definite();
            self.model = Some(model);
            if is_definite {
                break;
            }
        }
        self.age = 0;
        self.far = false;
        self.last_promise = f64::INFINITY;
    }

    /// Whether a step that promises so much should rather wait for a new curvature.
    fn is_stale(&self, promise: f64, uncertainty: f64) -> bool {
        let patience = if promise > MUCH * uncertainty { PATIENCE.0 } else { PATIENCE.1 };
        self.far || (self.age >= patience && promise > POOR * self.last_promise)
    }

    fn accept(&mut self, next: Place) {
        let place = &self.place;
        self.memory.push(difference(&next.theta, &place.theta), difference(&next.gradient, &place.gradient));
        self.far = self.age == 0 && place.loss - next.loss > FAR * place.loss;
        self.age += 1;
        self.caution = 0;
        self.asked = self.goal.noticeable;
        self.place = next;
    }
}
