//! The method most tuners use: gradient steps scaled by their own recent size (Adam), over all rows or over batches.
//!
//! How long and how fast to go are the questions that it leaves open elsewhere. Here the rate is halved whenever the
//! loss over all rows has not fallen for some epochs, and the fit is over when the rate has become too small to
//! matter. See Kingma and Ba, <https://arxiv.org/abs/1412.6980>.

use super::limits::Limits;
use super::place::{Ground, Place};
use super::run::{Begun, Stepwise, Walk};
use super::state::{StateError, WalkState, check_order, check_size};
use super::{Stop, Work};
use crate::objective::Rows;
use engine::random::Random;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// How fast the mean and the mean square of gradients forget.
const DECAY: (f64, f64) = (0.9, 0.999);
/// Keeps steps finite where a parameter has no gradient.
const TINY: f64 = 1e-12;
/// An epoch makes progress if it lowers the loss by this share.
const NOTICEABLE: f64 = 1e-7;
/// So many epochs without progress halve the rate.
const PATIENCE: usize = 10;
/// The smallest rate, in parts of the first.
const LEAST_RATE: f64 = 1e-3;

/// Adam within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// How far a parameter moves at first in a step, centipawns.
    pub rate: f64,
    /// Rows a step looks at; `None` for all.
    pub batch: Option<usize>,
    /// Most epochs: times that every row is looked at.
    pub max_epochs: usize,
    /// What decides the order of the batches.
    pub seed: u64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { rate: 5.0, batch: None, max_epochs: 5000, seed: 0 }
    }
}

/// What Adam keeps from epoch to epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AdamState {
    theta: Vec<f64>,
    best: Vec<f64>,
    moments: Moments,
    rate: f64,
    idle: usize,
    order: Vec<usize>,
    random: u64,
}

impl Stepwise for Adam {
    const NAME: &'static str = "Adam";
    const HAS_RAY: bool = true;
    const HAS_MANY_STEPS: bool = true;

    fn max_steps(&self) -> usize {
        self.max_epochs
    }

    fn walk<'g>(&'g self, ground: &'g Ground<'g>, origin: Place, state: Option<WalkState>) -> Begun<'g> {
        let batches = self.batches(ground.objective.rows());
        let begun = AdamWalk {
            settings: self,
            ground,
            moments: Moments::new(origin.theta.len()),
            order: (0..batches.len()).collect(),
            batches,
            best: origin.clone(),
            place: origin,
            rate: self.rate,
            idle: 0,
            random: Random::seeded(self.seed),
        };
        match state {
            None => Ok(Box::new(begun)),
            Some(WalkState::Adam(state)) => Ok(Box::new(begun.resume(state)?)),
            Some(other) => Err(other.refused_by(Self::NAME)),
        }
    }
}

impl Adam {
    /// The rows in batches of about the wanted size, each spread over all the data; none if that is all rows.
    fn batches(&self, rows: &Rows) -> Vec<Rows> {
        let count = self.batch.map_or(1, |size| rows.len().div_ceil(size.max(1)));
        if count < 2 { Vec::new() } else { (0..count).map(|first| rows.stripe(first, count)).collect() }
    }
}

/// Adam under way.
struct AdamWalk<'g> {
    settings: &'g Adam,
    ground: &'g Ground<'g>,
    batches: Vec<Rows>,
    place: Place,
    best: Place,
    moments: Moments,
    rate: f64,
    /// Epochs since the last that made progress.
    idle: usize,
    /// The batches as they came last.
    order: Vec<usize>,
    random: Random,
}

impl AdamWalk<'_> {
    /// Goes to where an earlier walk was.
    fn resume(self, state: AdamState) -> Result<Self, StateError> {
        let AdamState { theta, best, moments, rate, idle, order, random } = state;
        self.ground.check(&theta)?;
        self.ground.check(&best)?;
        moments.check(theta.len())?;
        check_order(&order, &self.order, "batches")?;
        let (place, best) = (self.ground.at(theta), self.ground.at(best));
        Ok(Self { place, best, moments, rate, idle, order, random: Random::seeded(random), ..self })
    }

    /// Looks at every row once, and steps after each batch.
    fn epoch(&mut self, work: &mut Work) {
        let (ground, rate) = (self.ground, self.rate);
        work.gradients += 1.0;
        if self.batches.is_empty() {
            self.place = ground.place(self.moments.step(&self.place, rate, ground.limits));
            return;
        }
        work.gradients += 1.0;
        self.random.shuffle(&mut self.order);
        let mut theta = std::mem::take(&mut self.place.theta);
        for &batch in &self.order {
            let objective = ground.objective.over(&self.batches[batch]);
            let place = Ground { objective: &objective, ..*ground }.place(theta);
            theta = self.moments.step(&place, rate, ground.limits);
        }
        self.place = ground.place(theta);
    }
}

impl Walk for AdamWalk<'_> {
    fn place(&self) -> &Place {
        &self.place
    }

    fn rows(&self) -> usize {
        self.ground.objective.rows().len()
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Stop> {
        self.epoch(work);
        self.idle = if self.place.loss < self.best.loss * (1.0 - NOTICEABLE) { 0 } else { self.idle + 1 };
        if self.place.loss < self.best.loss {
            self.best = self.place.clone();
        }
        if self.idle == PATIENCE || !self.place.is_finite() {
            (self.idle, self.rate) = (0, self.rate / 2.0);
            self.place = self.best.clone();
            self.moments = Moments::new(self.place.theta.len());
            if self.rate < LEAST_RATE * self.settings.rate {
                return ControlFlow::Break(Stop::NoProgress);
            }
        }
        ControlFlow::Continue(())
    }

    fn state(&self) -> WalkState {
        WalkState::Adam(AdamState {
            theta: self.place.theta.clone(),
            best: self.best.theta.clone(),
            moments: self.moments.clone(),
            rate: self.rate,
            idle: self.idle,
            order: self.order.clone(),
            random: self.random.state(),
        })
    }

    fn finish(self: Box<Self>, _work: &mut Work) -> Place {
        self.best
    }
}

/// Running means of the gradient and of its square.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Moments {
    first: Vec<f64>,
    second: Vec<f64>,
    /// What the decay has left of the zeroes that the means began with.
    remaining: (f64, f64),
}

impl Moments {
    fn new(size: usize) -> Self {
        Moments { first: vec![0.0; size], second: vec![0.0; size], remaining: (1.0, 1.0) }
    }

    fn check(&self, size: usize) -> Result<(), StateError> {
        check_size(self.first.len(), size)?;
        check_size(self.second.len(), size)
    }

    /// Takes in the gradient at a place, and steps from there.
    fn step(&mut self, place: &Place, rate: f64, limits: &Limits) -> Vec<f64> {
        self.remaining = (self.remaining.0 * DECAY.0, self.remaining.1 * DECAY.1);
        let mut theta = place.theta.clone();
        for (j, &slope) in place.projected.iter().enumerate() {
            if place.held[j] {
                continue;
            }
            let (first, second) = (&mut self.first[j], &mut self.second[j]);
            *first = DECAY.0 * *first + (1.0 - DECAY.0) * slope;
            *second = DECAY.1 * *second + (1.0 - DECAY.1) * slope * slope;
            let size = (*second / (1.0 - self.remaining.1)).sqrt();
            theta[j] = limits.clamp(j, theta[j] - rate * *first / (1.0 - self.remaining.0) / (size + TINY));
        }
        theta
    }
}
