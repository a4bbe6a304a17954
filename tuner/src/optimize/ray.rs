//! The common scale of the phase weights, on which no score depends.
//!
//! Left alone, a second-order step may go anywhere along this ray: its curvature is nothing but rounding. So the ray
//! is taken out of the problem. Parameters are always moved along it to where the prior is least (nearest to the
//! start, without prior), which changes no score, and a curvature is stiffened along it so that steps stay away.

use super::limits::Limits;
use crate::objective::{Objective, PHASE_PIECES};
use std::ops::Range;

/// The ray through the phase weights, if all of them may move.
pub(super) struct Ray {
    /// The phase weights among the parameters.
    weights: Range<usize>,
    /// Where the weights are drawn to.
    centre: Vec<f64>,
    /// Bounds of the weights.
    bounds: Vec<(f64, f64)>,
}

impl Ray {
    /// The ray of an objective; `None` if a weight is frozen or tied to something else, as the scale is settled then.
    pub(super) fn new(objective: &Objective<'_>, start: &[f64], limits: &Limits) -> Option<Self> {
        let weights = objective.parameters() - PHASE_PIECES..objective.parameters();
        let leaders = limits.leaders();
        if weights.clone().any(|j| limits.is_frozen(j) || !weights.contains(&leaders[j])) {
            return None;
        }
        let centre = objective.prior_centre().unwrap_or(start)[weights.clone()].to_vec();
        let bounds = weights.clone().map(|j| limits.bounds(j)).collect();
        Some(Self { weights, centre, bounds })
    }

    /// Moves the weights of `theta` along the ray to the point nearest to the centre within bounds.
    pub(super) fn settle(&self, theta: &mut [f64]) {
        let weights = &mut theta[self.weights.clone()];
        let (mut ahead, mut square, mut most, mut least) = (0.0, 0.0, f64::INFINITY, 0.0_f64);
        for ((&weight, &centre), &(lower, upper)) in weights.iter().zip(&self.centre).zip(&self.bounds) {
            ahead += weight * centre;
            square += weight * weight;
            if weight > 0.0 {
                most = most.min(upper / weight);
                least = least.max(lower / weight);
            }
        }
        let scale = (ahead / square).min(most).max(least);
        let possible = scale.is_finite() && scale > 0.0;
        if possible {
            for (weight, &(lower, upper)) in weights.iter_mut().zip(&self.bounds) {
                *weight = (*weight * scale).clamp(lower, upper);
            }
        }
    }

    /// The direction of the ray at `theta` by phase weight, with the index of the first; all zero if there is none.
    pub(super) fn direction(&self, theta: &[f64]) -> (usize, [f64; PHASE_PIECES]) {
        let weights = &theta[self.weights.clone()];
        let norm = weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt();
        let unit = |piece: usize| {
            if norm > 0.0 { weights[piece] / norm } else { 0.0 }
        };
        (self.weights.start, std::array::from_fn(unit))
    }
}
