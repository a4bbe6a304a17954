//! Limits on parameters: bounds, frozen parameters and ties.

use crate::objective::Objective;
use anyhow::{Result, ensure};

/// The bounds of all parameters, in their units, with the frozen and the tied parameters.
///
/// The first of tied parameters leads, the others follow. The vector keeps its length, and tied parameters have one
/// value in it. They have the same bounds, and all or none are frozen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    lower: Vec<f64>,
    upper: Vec<f64>,
    frozen: Vec<bool>,
    /// Leader by parameter: the first one of its group; a parameter that is not tied leads itself.
    leaders: Vec<usize>,
}

impl Limits {
    /// Creates limits for `size` parameters without bounds.
    pub fn none(size: usize) -> Self {
        let (lower, upper) = (vec![f64::NEG_INFINITY; size], vec![f64::INFINITY; size]);
        Self { lower, upper, frozen: vec![false; size], leaders: (0..size).collect() }
    }

    /// Creates limits from inclusive bounds by parameter, which may be infinite.
    pub(crate) fn new(lower: Vec<f64>, upper: Vec<f64>) -> Self {
        let none = Self::none(lower.len());
        Self { lower, upper, ..none }
    }

    /// Freezes parameter `index`, and those it is tied to, at the start.
    pub(crate) fn freeze(&mut self, index: usize) {
        self.tied_to(index).into_iter().for_each(|member| self.frozen[member] = true);
    }

    /// Returns the same limits with all parameters frozen that occur in fewer than `min_seen` rows. The occurrences of
    /// tied parameters are added up.
    pub(crate) fn without_rare(&self, occurrences: &[u32], min_seen: u32) -> Limits {
        assert_eq!(occurrences.len(), self.size(), "a count for each parameter");
        let mut together = vec![0_u32; self.size()];
        for (&leader, &seen) in self.leaders().iter().zip(occurrences) {
            together[leader] = together[leader].saturating_add(seen);
        }
        let mut limits = self.clone();
        for (index, frozen) in limits.frozen.iter_mut().enumerate() {
            *frozen |= together[self.leaders[index]] < min_seen;
        }
        limits
    }

    /// Ties parameters in ascending order that are neither tied nor frozen yet. They always have one value, within the
    /// bounds of all of them.
    pub(crate) fn tie(&mut self, group: &[usize]) {
        let lower = group.iter().map(|&member| self.lower[member]).fold(f64::NEG_INFINITY, f64::max);
        let upper = group.iter().map(|&member| self.upper[member]).fold(f64::INFINITY, f64::min);
        for &member in group {
            (self.lower[member], self.upper[member], self.leaders[member]) = (lower, upper, group[0]);
        }
    }

    /// Returns the number of parameters.
    pub(crate) fn size(&self) -> usize {
        self.lower.len()
    }

    pub(crate) fn is_frozen(&self, index: usize) -> bool {
        self.frozen[index]
    }

    /// Returns the leader of each parameter; a parameter that is not tied leads itself.
    pub(crate) fn leaders(&self) -> &[usize] {
        &self.leaders
    }

    /// Returns the parameters tied to `index`, ascending and including itself.
    pub(crate) fn tied_to(&self, index: usize) -> Vec<usize> {
        let leader = self.leaders[index];
        (leader..self.size()).filter(|&member| self.leaders[member] == leader).collect()
    }

    /// Returns the free parameters: those that are neither frozen nor followers.
    pub(crate) fn free(&self) -> Vec<usize> {
        (0..self.size()).filter(|&index| !self.is_frozen(index) && !self.follows(index)).collect()
    }

    /// Returns the lower and the upper bound.
    pub(crate) fn bounds(&self, index: usize) -> (f64, f64) {
        (self.lower[index], self.upper[index])
    }

    /// Checks that a fit may begin at `start`.
    ///
    /// # Errors
    /// If the start or the limits have the wrong size, if the start is outside of the limits or not finite, or if it
    /// differs between tied parameters. Frozen parameters may be outside of their bounds.
    pub(super) fn check_start(&self, objective: &Objective<'_>, start: &[f64]) -> Result<()> {
        let expected = objective.parameters();
        for (which, found) in [("start has", start.len()), ("limits have", self.size())] {
            ensure!(found == expected, "optimise: {which} {found} parameters, expected {expected}");
        }
        for (index, &value) in start.iter().enumerate() {
            let ((lower, upper), leader) = (self.bounds(index), self.leaders[index]);
            ensure!(
                value.is_finite() && (self.frozen[index] || (lower..=upper).contains(&value)),
                "optimise: parameter {index} starts at {value}, outside of its bounds {lower}..={upper}"
            );
            ensure!(
                value == start[leader],
                "optimise: parameter {index} starts at {value}, but parameter {leader}, which it is tied to, at {}",
                start[leader]
            );
        }
        Ok(())
    }

    /// Returns true if a parameter follows another.
    pub(super) fn follows(&self, index: usize) -> bool {
        self.leaders[index] != index
    }

    /// Sets followers to the values of their leaders.
    pub(super) fn align(&self, theta: &mut [f64]) {
        for (index, &leader) in self.leaders.iter().enumerate() {
            theta[index] = theta[leader];
        }
    }

    /// Adds the derivatives of followers to those of their leaders, and sets them to 0.
    pub(crate) fn gather(&self, slopes: &mut [f64]) {
        for (index, &leader) in self.leaders.iter().enumerate() {
            if index != leader {
                slopes[leader] += std::mem::take(&mut slopes[index]);
            }
        }
    }

    /// Returns true if a parameter at `value` with derivative `slope` must not move: if it is frozen, follows another,
    /// or is at a bound that its descent direction leaves.
    pub(super) fn holds(&self, index: usize, value: f64, slope: f64) -> bool {
        let below = value <= self.lower[index] && slope >= 0.0;
        let above = value >= self.upper[index] && slope <= 0.0;
        self.frozen[index] || below || above || self.follows(index)
    }

    /// Clamps a value to the bounds of a parameter that is not frozen.
    pub(super) fn clamp(&self, index: usize, value: f64) -> f64 {
        value.clamp(self.lower[index], self.upper[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn occurrences_of_tied_parameters_are_added_up() {
        let mut limits = Limits::none(4);
        limits.tie(&[1, 3]);
        let limits = limits.without_rare(&[9, 6, 10, 4], 10);
        assert_eq!([0, 1, 2, 3].map(|index| limits.is_frozen(index)), [true, false, false, false]);
    }

    #[test]
    fn ties_intersect_their_bounds_and_are_frozen_together() {
        let mut limits = Limits::new(vec![0.0, -10.0, 5.0, -90.0], vec![50.0, 40.0, 90.0, 90.0]);
        limits.tie(&[0, 1, 2]);
        assert_eq!((limits.leaders(), limits.tied_to(2)), (&[0, 0, 0, 3][..], vec![0, 1, 2]));
        (0..3).for_each(|j| assert_eq!(limits.bounds(j), (5.0, 40.0)));
        limits.freeze(1);
        assert!((0..3).all(|j| limits.is_frozen(j)) && !limits.is_frozen(3));
    }
}
