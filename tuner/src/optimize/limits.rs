//! Limits on parameters: bounds, frozen parameters and ties.

use super::OptimizeError;
use crate::objective::Objective;

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
    ///
    /// # Errors
    /// If the slices differ in length, or a lower bound is not at most its upper bound.
    pub(crate) fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, OptimizeError> {
        let sizes = (lower.len(), upper.len());
        if sizes.0 != sizes.1 {
            return Err(OptimizeError(format!("limits: {} lower bounds, but {} upper bounds", sizes.0, sizes.1)));
        }
        for (index, (&lower, &upper)) in lower.iter().zip(&upper).enumerate() {
            let possible = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
            if !possible {
                return Err(OptimizeError(format!("limits: bounds {lower}..={upper} of parameter {index}")));
            }
        }
        let none = Self::none(lower.len());
        Ok(Self { lower, upper, ..none })
    }

    /// Freezes parameter `index`, and those it is tied to, at the start.
    pub(crate) fn freeze(&mut self, index: usize) -> Result<(), OptimizeError> {
        self.check(index)?;
        self.tied_to(index).into_iter().for_each(|member| self.frozen[member] = true);
        Ok(())
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

    /// Ties parameters and all that they are tied to already. They always have one value, within the bounds of all of
    /// them.
    ///
    /// # Errors
    /// If there is no such parameter, if some are frozen and some not, or no value is within all bounds. The limits are
    /// unchanged then.
    pub(crate) fn tie(&mut self, members: &[usize]) -> Result<(), OptimizeError> {
        members.iter().try_for_each(|&member| self.check(member))?;
        let mut group: Vec<usize> = members.iter().flat_map(|&member| self.tied_to(member)).collect();
        group.sort_unstable();
        group.dedup();
        let Some(&leader) = group.first() else { return Ok(()) };
        if let Some(&other) = group.iter().find(|&&member| self.frozen[member] != self.frozen[leader]) {
            let (frozen, free) = if self.frozen[leader] { (leader, other) } else { (other, leader) };
            let message = format!("limits: parameter {free} is tied to parameter {frozen}, which is frozen");
            return Err(OptimizeError(message));
        }
        let (mut lower, mut upper) = self.bounds(leader);
        for &index in &group {
            let own = self.bounds(index);
            (lower, upper) = (lower.max(own.0), upper.min(own.1));
            if lower > upper {
                return Err(OptimizeError(format!(
                    "limits: parameter {index} is tied to others, but none of its values {}..={} is allowed for all",
                    own.0, own.1
                )));
            }
        }
        for member in group {
            (self.lower[member], self.upper[member], self.leaders[member]) = (lower, upper, leader);
        }
        Ok(())
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

    fn check(&self, index: usize) -> Result<(), OptimizeError> {
        let size = self.size();
        if index < size { Ok(()) } else { Err(OptimizeError(format!("limits: no parameter {index} among {size}"))) }
    }

    /// Checks that a fit may begin at `start`.
    ///
    /// # Errors
    /// If the start or the limits have the wrong size, if the start is outside of the limits or not finite, or if it
    /// differs between tied parameters. Frozen parameters may be outside of their bounds.
    pub(super) fn check_start(&self, objective: &Objective<'_>, start: &[f64]) -> Result<(), OptimizeError> {
        let expected = objective.parameters();
        for (which, found) in [("start has", start.len()), ("limits have", self.size())] {
            if found != expected {
                return Err(OptimizeError(format!("optimise: {which} {found} parameters, expected {expected}")));
            }
        }
        for (index, &value) in start.iter().enumerate() {
            if !self.allows(index, value) {
                let (lower, upper) = self.bounds(index);
                return Err(OptimizeError(format!(
                    "optimise: parameter {index} starts at {value}, outside of its bounds {lower}..={upper}"
                )));
            }
            let leader = self.leaders[index];
            if value != start[leader] {
                let leads = start[leader];
                return Err(OptimizeError(format!(
                    "optimise: parameter {index} starts at {value}, but parameter {leader}, which it is tied to, at \
                     {leads}"
                )));
            }
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

    /// Returns true if a parameter may have a value; a frozen one may have any finite value.
    pub(super) fn allows(&self, index: usize, value: f64) -> bool {
        value.is_finite() && (self.frozen[index] || (self.lower[index]..=self.upper[index]).contains(&value))
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
        limits.tie(&[1, 3]).unwrap();
        let limits = limits.without_rare(&[9, 6, 10, 4], 10);
        assert_eq!([0, 1, 2, 3].map(|index| limits.is_frozen(index)), [true, false, false, false]);
    }

    #[test]
    fn ties_are_merged_and_intersect_their_bounds() {
        let mut limits = Limits::new(vec![0.0, -10.0, 5.0, -90.0, -90.0], vec![50.0, 40.0, 90.0, 90.0, 4.0]).unwrap();
        limits.tie(&[1, 3]).unwrap();
        limits.tie(&[2, 0]).unwrap();
        assert_eq!(limits.leaders(), [0, 1, 0, 1, 4]);
        limits.tie(&[2, 3]).unwrap();
        limits.tie(&[3, 2, 3]).unwrap();
        assert_eq!((limits.leaders(), limits.tied_to(2)), (&[0, 0, 0, 0, 4][..], vec![0, 1, 2, 3]));
        (0..4).for_each(|j| assert_eq!(limits.bounds(j), (5.0, 40.0)));

        let before = limits.clone();
        let refusal = |limits: &mut Limits, members: &[usize]| limits.tie(members).unwrap_err().to_string();
        let bounds = "limits: parameter 4 is tied to others, but none of its values -90..=4 is allowed for all";
        assert_eq!(refusal(&mut limits, &[4, 0]), bounds);
        assert_eq!(refusal(&mut limits, &[0, 5]), "limits: no parameter 5 among 5");
        assert_eq!(limits, before);
        assert_eq!((limits.tie(&[]), limits.tie(&[4])), (Ok(()), Ok(())));

        limits.freeze(3).unwrap();
        assert!((0..4).all(|j| limits.is_frozen(j)) && !limits.is_frozen(4));
        assert_eq!(refusal(&mut limits, &[4, 1]), "limits: parameter 4 is tied to parameter 0, which is frozen");
    }
}
