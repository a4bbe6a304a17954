//! The method most tuners use: gradient steps scaled by their own recent size (Adam), over all rows.
//!
//! How long and how fast to go are the questions that it leaves open elsewhere. Here the rate is halved whenever the
//! loss over all rows has not fallen for some epochs, and the fit is over when the rate has become too small to
//! matter. See Kingma and Ba, <https://arxiv.org/abs/1412.6980>.

use super::iterate::{Iterate, Problem};
use super::limits::Limits;
use super::run::{Iteration, Iterative};
use super::{Termination, Work};
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
    /// Most epochs: passes over all rows.
    pub max_epochs: usize,
}

impl Default for Adam {
    fn default() -> Self {
        Self { rate: 5.0, max_epochs: 5000 }
    }
}

impl Iterative for Adam {
    // Its steps of one size for all numbers are settled once, at the end.
    const SETTLES: bool = false;

    fn max_steps(&self) -> usize {
        self.max_epochs
    }

    fn begin<'p>(&'p self, problem: &'p Problem<'p>, start: Iterate) -> Box<dyn Iteration + 'p> {
        let moments = Moments::new(start.theta.len());
        Box::new(AdamIteration {
            settings: self,
            problem,
            moments,
            best: start.clone(),
            at: start,
            rate: self.rate,
            idle: 0,
        })
    }
}

/// Adam under way.
struct AdamIteration<'p> {
    settings: &'p Adam,
    problem: &'p Problem<'p>,
    at: Iterate,
    best: Iterate,
    moments: Moments,
    rate: f64,
    /// Epochs since the last that made progress.
    idle: usize,
}

impl Iteration for AdamIteration<'_> {
    fn iterate(&self) -> &Iterate {
        &self.at
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Termination> {
        work.passes += 1;
        self.at = self.problem.iterate(self.moments.step(&self.at, self.rate, self.problem.limits));
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

    fn best(&self) -> &Iterate {
        &self.best
    }
}

/// Running means of the gradient and of its square.
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
