//! Correction pairs of a quasi-Newton method: the last steps and the changes of the gradient along them.
//! See Nocedal and Wright, Numerical Optimization, 2nd edition, section 7.2 (limited-memory BFGS, two-loop recursion).

use crate::objective::linear::dot;
use std::collections::VecDeque;

/// Number of pairs that are kept.
const PAIRS: usize = 30;

/// A step and the change of the gradient along it.
pub(super) struct CorrectionPair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// The factor 1 / (step · change).
    weight: f64,
}

/// The last correction pairs.
#[derive(Default)]
pub(super) struct History {
    pub(super) pairs: VecDeque<CorrectionPair>,
}

impl History {
    /// Adds a step, unless its curvature (step · change) is not positive.
    pub(super) fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let growth = dot(&step, &change);
        let noise = 1e-12 * (dot(&step, &step) * dot(&change, &change)).sqrt();
        if growth > noise {
            if self.pairs.len() == PAIRS {
                self.pairs.pop_front();
            }
            self.pairs.push_back(CorrectionPair { step, change, weight: growth.recip() });
        }
    }

    /// Returns the quasi-Newton direction for a gradient whose held components are 0 (two-loop recursion). `solve`
    /// multiplies a vector by the initial inverse Hessian.
    pub(super) fn direction(&self, solve: impl FnOnce(&[f64]) -> Vec<f64>, gradient: &[f64]) -> Vec<f64> {
        let mut rest = gradient.to_vec();
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = pair.weight * dot(&pair.step, &rest);
            add_scaled(&mut rest, -share, &pair.change);
            shares.push(share);
        }
        let mut direction = solve(&rest);
        for (pair, share) in self.pairs.iter().zip(shares.into_iter().rev()) {
            let correction = share - pair.weight * dot(&pair.change, &direction);
            add_scaled(&mut direction, correction, &pair.step);
        }
        direction.iter_mut().for_each(|component| *component = -*component);
        direction
    }
}

/// Computes `sum += factor · part`.
fn add_scaled(sum: &mut [f64], factor: f64, part: &[f64]) {
    for (sum, part) in sum.iter_mut().zip(part) {
        *sum += factor * part;
    }
}
