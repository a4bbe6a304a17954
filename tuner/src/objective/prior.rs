//! The prior: a quadratic penalty on the distance from the start.
//!
//! The overall scale of the scores is free: it grows as an evaluation gets better, and a penalty on the distance from
//! the start itself would hold it back. So the penalty is `λ min_s Σ (θ − s θ₀)²` over the parameters of pairs: the
//! squared norm of the component of `θ` orthogonal to `θ₀`. Parameters of single sums, which need not be centipawns,
//! are drawn to their starts. With a fixed scale, `s` is 1 everywhere.

use crate::model::layout::{Layout, SumKind};
use crate::objective::linear::{SymmetricMatrix, dot};
use clap::ValueEnum;
use serde::Serialize;

/// The choice of the scale in the prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorScale {
    /// Pairs are drawn to the shape of the start at any scale.
    #[default]
    Free,
    /// All parameters are drawn to their starts.
    Fixed,
}

/// The penalty `λ Σ (θ − s θ₀)²`.
#[derive(Debug, Clone)]
pub(crate) struct Prior {
    /// The strength λ; 0 without a prior.
    pub(crate) strength: f64,
    pub(crate) centre: Vec<f64>,
    /// Unit vector of the pairs' start, 0 for other parameters; all 0 if the scale is fixed.
    direction: Vec<f64>,
}

impl Prior {
    pub(super) fn new(strength: f64, centre: &[f64], scale: PriorScale, layout: &Layout) -> Self {
        let mut direction = vec![0.0; centre.len()];
        if scale == PriorScale::Free {
            for leaf in layout.sums.iter().filter(|sum| sum.kind == SumKind::Pair).flat_map(|sum| &sum.leaves) {
                let own = leaf.parameter..leaf.parameter + 2;
                direction[own.clone()].copy_from_slice(&centre[own]);
            }
            let norm = dot(&direction, &direction).sqrt();
            if norm > 0.0 {
                direction.iter_mut().for_each(|part| *part /= norm);
            }
        }
        Self { strength, centre: centre.to_vec(), direction }
    }

    /// Returns the components of `θ − s θ₀` with the optimal scale `s`.
    fn rest(&self, theta: &[f64]) -> impl Iterator<Item = f64> {
        let off = dot(theta, &self.direction) - dot(&self.centre, &self.direction);
        let parts = theta.iter().zip(&self.centre).zip(&self.direction);
        parts.map(move |((value, centre), part)| value - centre - off * part)
    }

    /// Returns the penalty.
    pub(crate) fn loss(&self, theta: &[f64]) -> f64 {
        self.strength * self.rest(theta).map(|rest| rest * rest).sum::<f64>()
    }

    pub(super) fn add_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        for (slope, rest) in gradient.iter_mut().zip(self.rest(theta)) {
            *slope += 2.0 * self.strength * rest;
        }
    }

    pub(super) fn add_hessian(&self, hessian: &mut SymmetricMatrix) {
        hessian.add_to_diagonal(2.0 * self.strength);
        hessian.add_outer(-2.0 * self.strength, &self.direction);
    }

    /// Returns the diagonal of the Hessian.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        self.direction.iter().map(|part| 2.0 * self.strength * (1.0 - part * part)).collect()
    }

    /// Returns the change of the penalty if one parameter becomes `new`.
    pub(crate) fn change(&self, theta: &[f64], parameter: usize, new: f64) -> f64 {
        let by = new - theta[parameter];
        let part = self.direction[parameter];
        let rest = self.rest(theta).nth(parameter).expect("a parameter");
        self.strength * by * (2.0 * rest + by * (1.0 - part * part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::layout::{Leaf, Sum};

    const CENTRE: [f64; 9] = [100.0, 120.0, -30.0, 0.0, 0.0, 10.0, 10.0, 20.0, 40.0];
    const THETA: [f64; 9] = [180.0, 230.0, -20.0, 9.0, 2.0, 12.0, 9.0, 25.0, 35.0];

    /// Returns a layout of two pairs and five single numbers.
    fn layout() -> Layout {
        let leaves = |parameters: &[usize]| parameters.iter().map(|&parameter| Leaf { parameter, unit: 1.0 }).collect();
        let sum = |kind, leaves| Sum { name: "sum".to_owned(), kind, is_sided: false, leaves };
        let sums = vec![sum(SumKind::Pair, leaves(&[0, 2])), sum(SumKind::Single, leaves(&[4, 5, 6, 7, 8]))];
        Layout::new(9, sums, Vec::new(), Vec::new())
    }

    fn priors() -> [Prior; 2] {
        [PriorScale::Free, PriorScale::Fixed].map(|scale| Prior::new(0.25, &CENTRE, scale, &layout()))
    }

    fn moved(parameter: usize, by: f64) -> Vec<f64> {
        let mut theta = THETA.to_vec();
        theta[parameter] += by;
        theta
    }

    #[test]
    fn a_scaled_start_has_no_penalty_unless_the_scale_is_fixed() {
        let [free, fixed] = priors();
        let mut theta = CENTRE;
        theta[..4].iter_mut().for_each(|value| *value *= 1.7);
        assert!(free.loss(&theta) < 1e-24 && fixed.loss(&theta) > 1.0);
        // The best scale is found by a grid search.
        let loss_at = |scale: f64| {
            let square = |j: usize| (THETA[j] - if j < 4 { scale * CENTRE[j] } else { CENTRE[j] }).powi(2);
            0.25 * (0..9).map(square).sum::<f64>()
        };
        let best = (1000..3000).map(|scale| loss_at(f64::from(scale) / 1000.0)).fold(f64::INFINITY, f64::min);
        assert!((free.loss(&THETA) / best - 1.0).abs() < 1e-5);
        assert!((fixed.loss(&THETA) - loss_at(1.0)).abs() < 1e-9);
    }

    #[test]
    fn derivatives_and_changes_agree_with_the_loss() {
        for prior in priors() {
            let mut gradient = vec![0.0; 9];
            prior.add_gradient(&THETA, &mut gradient);
            let mut hessian = SymmetricMatrix::zeros(9);
            prior.add_hessian(&mut hessian);
            let diagonal = prior.diagonal();
            for j in 0..9 {
                let slope = (prior.loss(&moved(j, 1e-3)) - prior.loss(&moved(j, -1e-3))) / 2e-3;
                assert!((slope - gradient[j]).abs() < 1e-6);
                assert!((diagonal[j] - hessian.get(j, j)).abs() < 1e-12);
                let change = prior.loss(&moved(j, 7.0)) - prior.loss(&THETA);
                assert!((prior.change(&THETA, j, THETA[j] + 7.0) - change).abs() < 1e-9);
                let mut above = vec![0.0; 9];
                prior.add_gradient(&moved(j, 1.0), &mut above);
                for i in 0..9 {
                    assert!((above[i] - gradient[i] - hessian.get(i, j)).abs() < 1e-9, "{i}, {j}");
                }
            }
        }
    }

    #[test]
    fn a_start_of_zeros_has_no_scale() {
        let prior = Prior::new(0.25, &[0.0; 9], PriorScale::Free, &layout());
        let squares: f64 = THETA.iter().map(|value| value * value).sum();
        assert!((prior.loss(&THETA) - 0.25 * squares).abs() < 1e-9);
    }
}
