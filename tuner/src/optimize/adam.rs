//! The method most tuners use: gradient steps scaled by their own recent size (Adam), over all rows or over batches.
//!
//! How long and how fast to go are the questions that it leaves open elsewhere. Here the rate is halved whenever the
//! loss over all rows has not fallen for some epochs, and the fit is over when the rate has become too small to
//! matter. See Kingma and Ba, <https://arxiv.org/abs/1412.6980>.

use super::limits::Limits;
use super::place::{Ground, Place};
use super::run::Run;
use super::{Fit, OptimizeError, Optimizer, Step, Stop};
use crate::objective::{Objective, Rows};
use engine::random::Random;
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

impl Optimizer for Adam {
    fn minimize(
        &self,
        objective: &Objective<'_>,
        start: &[f64],
        limits: &Limits,
        progress: &mut dyn FnMut(&Step) -> ControlFlow<()>,
    ) -> Result<Fit, OptimizeError> {
        Run::fit(objective, start, limits, self.max_epochs, true, progress, |run, ground, origin| {
            self.descend(run, ground, origin)
        })
    }
}

impl Adam {
    fn descend(&self, run: &mut Run<'_>, ground: &Ground<'_>, origin: Place) -> (Place, Stop) {
        let batches = self.batches(ground.objective.rows());
        let mut random = Random::seeded(self.seed);
        let mut order: Vec<usize> = (0..batches.len()).collect();
        let mut moments = Moments::new(origin.theta.len());
        let mut best = origin.clone();
        let mut place = origin;
        let mut rate = self.rate;
        let mut idle = 0;
        loop {
            if batches.is_empty() {
                place = ground.place(moments.step(&place, rate, ground.limits));
            } else {
                random.shuffle(&mut order);
                for &batch in &order {
                    let objective = ground.objective.over(&batches[batch]);
                    place = Ground { objective: &objective, ..*ground }.place(place.theta);
                    place.theta = moments.step(&place, rate, ground.limits);
                }
                run.work.gradients += 1.0;
                place = ground.place(place.theta);
            }
            run.work.gradients += 1.0;
            idle = if place.loss < best.loss * (1.0 - NOTICEABLE) { 0 } else { idle + 1 };
            if place.loss < best.loss {
                best = place.clone();
            }
            if idle == PATIENCE || !place.is_finite() {
                (idle, rate) = (0, rate / 2.0);
                place = best.clone();
                moments = Moments::new(place.theta.len());
                if rate < LEAST_RATE * self.rate {
                    return (best, Stop::NoProgress);
                }
            }
            if let Some(stop) = run.report(ground, &place) {
                return (best, stop);
            }
        }
    }

    /// The rows in batches of about the wanted size, each spread over all the data; none if that is all rows.
    fn batches(&self, rows: &Rows) -> Vec<Rows> {
        let count = self.batch.map_or(1, |size| rows.len().div_ceil(size.max(1)));
        if count < 2 { Vec::new() } else { (0..count).map(|first| rows.stripe(first, count)).collect() }
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
