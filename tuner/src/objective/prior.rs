//! The pull to the start: what a parameter costs when the data say little of it.
//!
//! The scale of the pairs is free: as the shape of an evaluation gets better, the best overall scale grows, and a pull
//! to the start itself would hold it back. So the penalty is `λ min_s Σ (θ − s θ₀)²` over the pairs: the square of what
//! is left of `θ` beside its share in the direction of `θ₀`. Phase weights, of which only the ratios matter, are pulled
//! to where they began. With a fixed scale, `s` is 1 everywhere.

use super::{Curvature, PHASE_PIECES};
use crate::name_of;
use clap::ValueEnum;

/// Whether the overall scale of the start is pulled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum PriorScale {
    /// To its shape only.
    #[default]
    Free,
    /// To the start itself.
    Fixed,
}

impl PriorScale {
    /// Its name on the command line.
    pub fn name(self) -> String {
        name_of(&self)
    }
}

/// A pull towards given parameters.
#[derive(Debug, Clone)]
pub(super) struct Prior {
    pub(super) strength: f64,
    pub(super) centre: Vec<f64>,
    /// Direction of the pairs of the centre, of length 1; none if the scale is fixed.
    direction: Option<Vec<f64>>,
}

impl Prior {
    /// With a fixed scale.
    pub(super) fn new(strength: f64, centre: &[f64]) -> Self {
        Self { strength, centre: centre.to_vec(), direction: None }
    }

    pub(super) fn with_scale(mut self, scale: PriorScale) -> Self {
        let pairs = &self.centre[..self.centre.len() - PHASE_PIECES];
        let norm = pairs.iter().map(|value| value * value).sum::<f64>().sqrt();
        let is_free = scale == PriorScale::Free && norm > 0.0;
        self.direction = is_free.then(|| pairs.iter().map(|value| value / norm).collect());
        self
    }

    /// How far `theta` is from where it is pulled to.
    fn rest(&self, theta: &[f64]) -> impl Iterator<Item = f64> {
        let pairs = self.direction.as_deref().unwrap_or_default();
        let along = share(theta, pairs);
        let scaled = std::iter::zip(theta, pairs).map(move |(value, part)| value - along * part);
        let others = std::iter::zip(theta, &self.centre).skip(pairs.len()).map(|(value, centre)| value - centre);
        scaled.chain(others)
    }

    pub(super) fn loss(&self, theta: &[f64]) -> f64 {
        self.strength * self.rest(theta).map(|rest| rest * rest).sum::<f64>()
    }

    pub(super) fn add_gradient(&self, theta: &[f64], gradient: &mut [f64]) {
        for (slope, rest) in gradient.iter_mut().zip(self.rest(theta)) {
            *slope += 2.0 * self.strength * rest;
        }
    }

    pub(super) fn add_curvature(&self, curvature: &mut Curvature) {
        let strength = 2.0 * self.strength;
        curvature.add_to_diagonal(strength);
        if let Some(direction) = &self.direction {
            curvature.add_outer(-strength, direction);
        }
    }

    /// The second derivative by one parameter alone.
    pub(super) fn diagonal(&self, parameter: usize) -> f64 {
        2.0 * self.strength * self.stiffness(parameter)
    }

    /// What the loss gains if one parameter of `theta` becomes `new`.
    pub(super) fn change(&self, theta: &[f64], parameter: usize, new: f64) -> f64 {
        let by = new - theta[parameter];
        let rest = match self.direction.as_deref() {
            Some(pairs) if parameter < pairs.len() => theta[parameter] - share(theta, pairs) * pairs[parameter],
            _ => theta[parameter] - self.centre[parameter],
        };
        self.strength * by * (2.0 * rest + by * self.stiffness(parameter))
    }

    /// The part of a change of one parameter that no change of the scale makes up for.
    fn stiffness(&self, parameter: usize) -> f64 {
        let part = self.direction.as_ref().and_then(|pairs| pairs.get(parameter)).unwrap_or(&0.0);
        1.0 - part * part
    }
}

/// How much of `theta` lies along a direction of its first components.
fn share(theta: &[f64], direction: &[f64]) -> f64 {
    std::iter::zip(theta, direction).map(|(value, part)| value * part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CENTRE: [f64; 9] = [100.0, 120.0, -30.0, 0.0, 0.0, 10.0, 10.0, 20.0, 40.0];
    const THETA: [f64; 9] = [180.0, 230.0, -20.0, 9.0, 2.0, 12.0, 9.0, 25.0, 35.0];

    fn priors() -> [Prior; 2] {
        [PriorScale::Free, PriorScale::Fixed].map(|scale| Prior::new(0.25, &CENTRE).with_scale(scale))
    }

    fn moved(parameter: usize, by: f64) -> Vec<f64> {
        let mut theta = THETA.to_vec();
        theta[parameter] += by;
        theta
    }

    #[test]
    fn a_scaled_start_costs_nothing_but_with_a_fixed_scale() {
        let [free, fixed] = priors();
        let mut theta = CENTRE;
        theta[..4].iter_mut().for_each(|value| *value *= 1.7);
        assert!(free.loss(&theta) < 1e-24 && fixed.loss(&theta) > 1.0);
        // The best scale, found the plain way.
        let loss_at = |scale: f64| {
            let square = |j: usize| (THETA[j] - if j < 4 { scale * CENTRE[j] } else { CENTRE[j] }).powi(2);
            0.25 * (0..9).map(square).sum::<f64>()
        };
        let best = (1000..3000).map(|scale| loss_at(f64::from(scale) / 1000.0)).fold(f64::INFINITY, f64::min);
        assert!((free.loss(&THETA) / best - 1.0).abs() < 1e-5);
        assert!((fixed.loss(&THETA) - loss_at(1.0)).abs() < 1e-9);
    }

    #[test]
    fn derivatives_and_changes_follow_from_the_loss() {
        for prior in priors() {
            let mut gradient = vec![0.0; 9];
            prior.add_gradient(&THETA, &mut gradient);
            let mut curvature = Curvature::zero(9);
            prior.add_curvature(&mut curvature);
            for j in 0..9 {
                let slope = (prior.loss(&moved(j, 1e-3)) - prior.loss(&moved(j, -1e-3))) / 2e-3;
                assert!((slope - gradient[j]).abs() < 1e-6);
                assert!((prior.diagonal(j) - curvature.get(j, j)).abs() < 1e-12);
                let change = prior.loss(&moved(j, 7.0)) - prior.loss(&THETA);
                assert!((prior.change(&THETA, j, THETA[j] + 7.0) - change).abs() < 1e-9);
                let mut above = vec![0.0; 9];
                prior.add_gradient(&moved(j, 1.0), &mut above);
                for i in 0..9 {
                    assert!((above[i] - gradient[i] - curvature.get(i, j)).abs() < 1e-9, "{i}, {j}");
                }
            }
        }
    }
}
