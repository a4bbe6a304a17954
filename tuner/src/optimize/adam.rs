//! Adam over all rows, the method of most tuners: gradient steps scaled by running means.
//!
//! Other tuners leave the learning rate and the number of epochs to the user. Here the rate is halved whenever the loss
//! over all rows has not fallen for some epochs, and the fit ends when the rate is too small to matter.
//! See Kingma and Ba, <https://arxiv.org/abs/1412.6980>.

use super::iterate::{BoundedProblem, Iterate};
use super::limits::Limits;
use super::{FitLog, Solver, Termination};

/// Decay rates β₁ and β₂ of the running means of the gradient and of its square.
const DECAY: (f64, f64) = (0.9, 0.999);
/// The ε in the denominator, which keeps steps finite for a parameter without gradient.
const TINY: f64 = 1e-12;
/// Relative decrease of the loss that counts as progress.
const NOTICEABLE: f64 = 1e-7;
/// Number of epochs without progress after which the rate is halved.
const PATIENCE: usize = 10;
/// The smallest rate, relative to the first.
const LEAST_RATE: f64 = 1e-3;

/// The settings of Adam within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adam {
    /// Initial learning rate: the step length of a parameter, in centipawns.
    pub rate: f64,
    /// Maximum number of epochs, which are passes over all rows.
    pub max_epochs: usize,
}

impl Default for Adam {
    fn default() -> Self {
        Self { rate: 5.0, max_epochs: 5000 }
    }
}

impl Solver for Adam {
    // Steps have one size for all numbers, so scales are settled once, at the end.
    fn settles(&self) -> bool {
        false
    }

    fn descend(&self, problem: &BoundedProblem<'_>, best: &mut Iterate, log: &mut FitLog<'_>) -> Termination {
        let (mut at, mut moments) = (best.clone(), GradientMoments::new(best.theta.len()));
        // `idle` is the number of epochs since the last progress.
        let (mut rate, mut idle) = (self.rate, 0);
        loop {
            if let Some(termination) = log.step(&at, self.max_epochs) {
                return termination;
            }
            log.work.passes += 1;
            at = problem.iterate(moments.step(&at, rate, problem.limits));
            idle = if at.loss < best.loss * (1.0 - NOTICEABLE) { 0 } else { idle + 1 };
            if at.loss < best.loss {
                best.clone_from(&at);
            }
            if idle == PATIENCE || !at.is_finite() {
                (idle, rate) = (0, rate / 2.0);
                at.clone_from(best);
                moments = GradientMoments::new(at.theta.len());
                if rate < LEAST_RATE * self.rate {
                    return Termination::NoProgress;
                }
            }
        }
    }
}

/// The running means of the gradient and of its square.
struct GradientMoments {
    first: Vec<f64>,
    second: Vec<f64>,
    /// Weight of the initial zeros in the means, for the bias correction.
    remaining: (f64, f64),
}

impl GradientMoments {
    fn new(size: usize) -> Self {
        GradientMoments { first: vec![0.0; size], second: vec![0.0; size], remaining: (1.0, 1.0) }
    }

    /// Updates the means by the gradient of an iterate and returns the parameters after the step.
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
