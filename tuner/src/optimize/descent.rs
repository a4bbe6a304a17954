//! A descent over a fixed set of rows: quasi-Newton steps through a factorised curvature, renewed when they get poor.

use super::Stop;
use super::factor::{Factor, Treatment};
use super::memory::{Memory, dot};
use super::place::{Ground, Place, ROUNDING, difference};
use super::run::Run;
use crate::objective::{Curvature, CurvatureKind};

/// A step that promises no more than this share of the loss is not worth taking, however small the first gradient.
pub(super) const NOTHING: f64 = 1e-19;
/// A curvature is computed anew after a step that lowered the loss by this share: it was computed far away.
const FAR: f64 = 0.01;
/// Steps are poor when the decrease they promise shrinks by less than this factor.
const POOR: f64 = 0.1;
/// Poor steps are borne for so long before the curvature is computed anew: while much is left to gain, and later.
const PATIENCE: (usize, usize) = (2, 12);
/// Much is left to gain while steps promise more than this share of what is uncertain about the loss.
const MUCH: f64 = 1e-3;
/// By how much more steps are damped after some failed, so many times at most.
const MORE_DAMPING: f64 = 100.0;
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

/// A descent under way.
pub(super) struct Descent<'d, 'r, 'g> {
    run: &'d mut Run<'r>,
    ground: &'d Ground<'g>,
    /// The rows here, as a share of all rows.
    share: f64,
    goal: Goal,
    curvature: Option<Curvature>,
    factor: Option<Factor>,
    /// Parameters held when the curvature was factorised.
    held: Vec<bool>,
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

impl<'d, 'r, 'g> Descent<'d, 'r, 'g> {
    pub(super) fn new(run: &'d mut Run<'r>, ground: &'d Ground<'g>, share: f64, goal: Goal) -> Self {
        Self {
            run,
            ground,
            share,
            goal,
            curvature: None,
            factor: None,
            held: Vec::new(),
            memory: Memory::default(),
            age: 0,
            far: false,
            last_promise: f64::INFINITY,
            caution: 0,
        }
    }

    /// Descends from `place` until its goal is reached or something else stops it.
    pub(super) fn descend(mut self, mut place: Place) -> (Place, Stop) {
        let mut asked = self.goal.worthwhile;
        loop {
            if place.norm <= self.goal.norm {
                return (place, Stop::Converged);
            }
            self.prepare(&place);
            let Some(factor) = &self.factor else {
                return (place, Stop::NoProgress);
            };
            let direction = self.memory.direction(|rest| factor.solve(rest), &place.projected);
            let promise = -dot(&direction, &place.projected);
            let uncertainty = self.ground.uncertainty(&place);
            if 0.5 * promise <= asked * uncertainty || promise <= NOTHING * place.loss {
                return (place, Stop::Converged);
            }
            if self.is_stale(promise, uncertainty) {
                self.curvature = None;
                continue;
            }
            self.last_promise = promise;
            let mut looks = 0;
            let next = self.ground.search(&place, &direction, &mut looks);
            self.run.work.gradients += looks as f64 * self.share;
            if let Some(next) = next {
                place = self.accept(&place, next);
                asked = self.goal.noticeable;
                if let Some(stop) = self.run.report(self.ground, &place) {
                    return (place, stop);
                }
            } else if self.caution == MOST_CAUTION || promise < ROUNDING * place.loss {
                return (place, Stop::NoProgress);
            } else {
                self.caution += 1;
                self.curvature = None;
            }
        }
    }

    /// Sees to it that there is a curvature, factorised for what is held at `place`.
    fn prepare(&mut self, place: &Place) {
        if self.curvature.is_some() {
            if place.held != self.held {
                self.factorise(place);
            }
            return;
        }
        // Far away the full curvature is indefinite, and Gauss-Newton's is better even where it is not.
        let from_afar = self.run.work.factorisations == 0 || self.caution > 0;
        if from_afar || !self.renew(place, CurvatureKind::Full) {
            self.renew(place, CurvatureKind::GaussNewton);
        }
        self.age = 0;
        self.far = false;
        self.last_promise = f64::INFINITY;
    }

    /// Computes and factorises the curvature; whether it is positive definite.
    fn renew(&mut self, place: &Place, kind: CurvatureKind) -> bool {
        self.run.work.curvatures += self.share;
        self.curvature = Some(self.ground.objective.curvature(&place.theta, kind));
        self.factorise(place);
        self.factor.as_ref().is_some_and(|factor| factor.definite)
    }

    fn factorise(&mut self, place: &Place) {
        self.memory.clear();
        self.held.clone_from(&place.held);
        let damping = self.ground.objective.row_curvature() * self.goal.damping * MORE_DAMPING.powi(self.caution);
        let stiff = self.ground.ray.map(|ray| ray.direction(&place.theta));
        let treatment = Treatment { held: &self.held, damping, stiff };
        self.run.work.factorisations += 1;
        self.factor = self.curvature.as_ref().and_then(|curvature| Factor::new(curvature, &treatment));
    }

    /// Whether a step that promises so much should rather wait for a new curvature.
    fn is_stale(&self, promise: f64, uncertainty: f64) -> bool {
        let patience = if promise > MUCH * uncertainty { PATIENCE.0 } else { PATIENCE.1 };
        self.far || (self.age >= patience && promise > POOR * self.last_promise)
    }

    fn accept(&mut self, place: &Place, next: Place) -> Place {
        self.memory.push(difference(&next.theta, &place.theta), difference(&next.gradient, &place.gradient));
        self.far = self.age == 0 && place.loss - next.loss > FAR * place.loss;
        self.age += 1;
        self.caution = 0;
        next
    }
}
