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
    /// The ray of an objective; `None` if a weight is frozen, but at 0, or tied to something else, as the scale is settled
    /// then.
    pub(super) fn new(objective: &Objective<'_>, start: &[f64], limits: &Limits) -> Option<Self> {
        let weights = open_weights(start, limits)?;
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

/// The phase weights among the parameters, if their common scale is open: what is frozen at `start`, but at 0, settles it.
pub(crate) fn open_weights(start: &[f64], limits: &Limits) -> Option<Range<usize>> {
    let weights = limits.size() - PHASE_PIECES..limits.size();
    let leaders = limits.leaders();
    let settles = |j: usize| limits.is_frozen(j) && start[j] != 0.0 || !weights.contains(&leaders[j]);
    let is_settled = weights.clone().any(settles) || weights.clone().all(|j| limits.is_frozen(j));
    (!is_settled).then_some(weights)
}

/// Enlarges phase weights until the largest is as large as that of the start, as far as bounds allow: no score changes,
/// and rounding changes the less the larger they are. Where what tells midgame from endgame is nothing of what did so
/// at the start, the nearest point of the ray is so small that all weights would be rounded to 0. Whole numbers, and
/// weights whose scale is settled, stay as they are.
pub(crate) fn enlarge_weights(theta: &mut [f64], start: &[f64], limits: &Limits) {
    let Some(range) = open_weights(start, limits) else { return };
    let weights = &theta[range.clone()];
    let largest = |weights: &[f64]| weights.iter().copied().fold(0.0, f64::max);
    let upper = |(weight, j): (&f64, usize)| if *weight > 0.0 { limits.bounds(j).1 / weight } else { f64::INFINITY };
    let most = weights.iter().zip(range.clone()).map(upper).fold(f64::INFINITY, f64::min);
    let scale = (largest(&start[range.clone()]) / largest(weights)).min(most);
    if scale.is_finite() && scale > 1.0 && weights.iter().any(|weight| weight.fract() != 0.0) {
        theta[range].iter_mut().for_each(|weight| *weight *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enlarged(weights: [f64; PHASE_PIECES], limits: &Limits) -> Vec<f64> {
        let mut theta: Vec<f64> = [7.0].into_iter().chain(weights).collect();
        enlarge_weights(&mut theta, &[9.0, 0.0, 10.0, 10.0, 20.0, 40.0], limits);
        theta
    }

    #[test]
    fn small_weights_grow_to_the_size_of_the_start() {
        let none = Limits::none(6);
        assert_eq!(enlarged([0.125, 0.0, 0.0, 0.0625, 0.0], &none), [7.0, 40.0, 0.0, 0.0, 20.0, 0.0]);
        assert_eq!(enlarged([0.0, 0.0, 0.0, 14.5, 41.5], &none), [7.0, 0.0, 0.0, 0.0, 14.5, 41.5]);
        assert_eq!(enlarged([1.0, 0.0, 2.0, 0.0, 3.0], &none), [7.0, 1.0, 0.0, 2.0, 0.0, 3.0]);
        assert_eq!(enlarged([0.0; PHASE_PIECES], &none), [7.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn bounds_and_settled_scales_are_kept() {
        let mut upper = vec![f64::INFINITY; 6];
        upper[1] = 0.5;
        let bounded = Limits::new(vec![0.0; 6], upper).unwrap();
        assert_eq!(enlarged([0.125, 0.0, 0.25, 0.0, 0.0], &bounded), [7.0, 0.5, 0.0, 1.0, 0.0, 0.0]);
        let mut frozen = Limits::none(6);
        frozen.freeze(3).unwrap();
        assert_eq!(enlarged([0.125, 0.0, 0.0, 0.0, 0.0], &frozen), [7.0, 0.125, 0.0, 0.0, 0.0, 0.0]);
        let mut without_pawns = Limits::none(6);
        without_pawns.freeze(1).unwrap();
        assert_eq!(enlarged([0.0, 0.0, 0.0, 0.125, 0.25], &without_pawns), [7.0, 0.0, 0.0, 0.0, 20.0, 40.0]);
    }
}
