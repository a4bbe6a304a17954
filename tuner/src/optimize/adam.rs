//! The method most tuners use: gradient steps scaled by their own recent size (Adam), over all rows or over batches.
//!
//! How long and how fast to go are the questions that it leaves open elsewhere. Here the rate is halved whenever the
//! loss over all rows has not fallen for some epochs, and the fit is over when the rate has become too small to
//! matter. See Kingma and Ba, <https://arxiv.org/abs/1412.6980>.

use super::iterate::{Iterate, Problem};
use super::limits::Limits;
use super::run::{Begun, Iteration, Iterative};
use super::state::{MethodState, check_order, check_size};
use super::{OptimizeError, Termination, Work};
use crate::model::rows::Rows;
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

impl Iterative for Adam {
    const NAME: &'static str = "Adam";
    // Its steps of one size for all numbers are settled once, at the end.
    const SETTLES: bool = false;

    fn max_steps(&self) -> usize {
        self.max_epochs
    }

    fn begin<'p>(&'p self, problem: &'p Problem<'p>, start: Iterate, state: Option<MethodState>) -> Begun<'p> {
        let batches = self.batches(problem.objective.rows);
        let begun = AdamIteration {
            settings: self,
            problem,
            moments: Moments::new(start.theta.len()),
            order: (0..batches.len()).collect(),
            batches,
            best: start.clone(),
            at: start,
            rate: self.rate,
            idle: 0,
            random: Random::seeded(self.seed),
        };
        match state {
            None => Ok(Box::new(begun)),
            Some(MethodState::Adam(state)) => Ok(Box::new(begun.resume(state)?)),
            Some(other) => Err(other.refused_by(Self::NAME)),
        }
    }
}

impl Adam {
    /// The rows in batches of about the wanted size, each spread over all the data; none if that is all rows.
    fn batches(&self, rows: &Rows) -> Vec<Rows> {
        let count = self.batch.map_or(1, |size| rows.len().div_ceil(size.max(1)));
        if count < 2 {
            Vec::new()
        } else {
            (0..count).map(|first| rows.pick((first..rows.len()).step_by(count))).collect()
        }
    }
}

/// Adam under way.
struct AdamIteration<'p> {
    settings: &'p Adam,
    problem: &'p Problem<'p>,
    batches: Vec<Rows>,
    at: Iterate,
    best: Iterate,
    moments: Moments,
    rate: f64,
    /// Epochs since the last that made progress.
    idle: usize,
    /// The batches as they came last.
    order: Vec<usize>,
    random: Random,
}

impl AdamIteration<'_> {
    /// Goes to where an earlier one was.
    fn resume(self, state: AdamState) -> Result<Self, OptimizeError> {
        let AdamState { theta, best, moments, rate, idle, order, random } = state;
        self.problem.check(&theta)?;
        self.problem.check(&best)?;
        moments.check(theta.len())?;
        check_order(&order, &self.order, "batches")?;
        let (at, best) = (self.problem.at(theta), self.problem.at(best));
        Ok(Self { at, best, moments, rate, idle, order, random: Random::seeded(random), ..self })
    }

    /// Looks at every row once, and steps after each batch.
    fn epoch(&mut self, work: &mut Work) {
        let (problem, rate) = (self.problem, self.rate);
        work.passes += 1;
        if self.batches.is_empty() {
            self.at = problem.iterate(self.moments.step(&self.at, rate, problem.limits));
            return;
        }
        work.passes += 1;
        self.random.shuffle(&mut self.order);
        let mut theta = std::mem::take(&mut self.at.theta);
        for &batch in &self.order {
            let objective = problem.objective.over(&self.batches[batch]);
            let place = Problem { objective: &objective, ..*problem }.iterate(theta);
            theta = self.moments.step(&place, rate, problem.limits);
        }
        self.at = problem.iterate(theta);
    }
}

impl Iteration for AdamIteration<'_> {
    fn iterate(&self) -> &Iterate {
        &self.at
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Termination> {
        self.epoch(work);
        self.idle = if self.at.loss < self.best.loss * (1.0 - NOTICEABLE) { 0 } else { self.idle + 1 };
        if self.at.loss < self.best.loss {
            self.best = self.at.clone();
        }
        if self.idle == PATIENCE || !self.at.is_finite() {
            (self.idle, self.rate) = (0, self.rate / 2.0);
            self.at = self.best.clone();
            self.moments = Moments::new(self.at.theta.len());
            if self.rate < LEAST_RATE * self.settings.rate {
                return ControlFlow::Break(Termination::NoProgress);
            }
        }
        ControlFlow::Continue(())
    }

    fn state(&self) -> MethodState {
        MethodState::Adam(AdamState {
            theta: self.at.theta.clone(),
            best: self.best.theta.clone(),
            moments: self.moments.clone(),
            rate: self.rate,
            idle: self.idle,
            order: self.order.clone(),
            random: self.random.state(),
        })
    }

    fn best(&self) -> &Iterate {
        &self.best
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

    fn check(&self, size: usize) -> Result<(), OptimizeError> {
        check_size(self.first.len(), size)?;
        check_size(self.second.len(), size)
    }

    /// Takes in the gradient at a place, and steps from there.
    fn step(&mut self, place: &Iterate, rate: f64, limits: &Limits) -> Vec<f64> {
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
