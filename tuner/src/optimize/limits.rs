//! Where parameters may go: bounds, and parameters that may not move at all.

use super::OptimizeError;
use crate::objective::{Objective, PHASE_PIECES};
use thiserror::Error;

/// Why limits cannot be.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// The slices differ in length.
    #[error("limits: {lower} lower bounds, but {upper} upper bounds")]
    Length {
        /// Number of lower bounds.
        lower: usize,
        /// Number of upper bounds.
        upper: usize,
    },
    /// A lower bound above the upper one, or one that is not a number.
    #[error("limits: bounds {lower}..={upper} of parameter {index}")]
    Bounds {
        /// The parameter.
        index: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A parameter that does not exist.
    #[error("limits: no parameter {index} among {size}")]
    Unknown {
        /// The parameter.
        index: usize,
        /// Number of parameters.
        size: usize,
    },
}

/// Lower and upper bounds of all parameters, in their units, and which of them are frozen.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    lower: Vec<f64>,
    upper: Vec<f64>,
    frozen: Vec<bool>,
}

impl Limits {
    /// No limits for `size` parameters.
    pub fn none(size: usize) -> Self {
        Self { lower: vec![f64::NEG_INFINITY; size], upper: vec![f64::INFINITY; size], frozen: vec![false; size] }
    }

    /// Bounds, inclusive, by parameter; may be infinite.
    ///
    /// # Errors
    /// If the slices differ in length, or a lower bound is not at most its upper bound.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>) -> Result<Self, LimitsError> {
        if lower.len() != upper.len() {
            return Err(LimitsError::Length { lower: lower.len(), upper: upper.len() });
        }
        for (index, (&lower, &upper)) in lower.iter().zip(&upper).enumerate() {
            let possible = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
            if !possible {
                return Err(LimitsError::Bounds { index, lower, upper });
            }
        }
        let frozen = vec![false; lower.len()];
        Ok(Self { lower, upper, frozen })
    }

    /// Keeps parameter `index` at its start exactly.
    ///
    /// # Errors
    /// If there is no such parameter.
    pub fn freeze(&mut self, index: usize) -> Result<(), LimitsError> {
        let size = self.frozen.len();
        *self.frozen.get_mut(index).ok_or(LimitsError::Unknown { index, size })? = true;
        Ok(())
    }

    /// Number of parameters.
    pub fn size(&self) -> usize {
        self.lower.len()
    }

    /// Whether parameter `index` is frozen.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn is_frozen(&self, index: usize) -> bool {
        self.frozen[index]
    }

    /// Lower and upper bound of parameter `index`.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn bounds(&self, index: usize) -> (f64, f64) {
        (self.lower[index], self.upper[index])
    }

    /// The same limits with phase weights that are not negative, once nothing stands against beginning at `start`.
    ///
    /// # Errors
    /// If start or limits have the wrong size, or the start is outside of the limits or not a number. Frozen parameters
    /// may be anywhere.
    pub(super) fn for_start(&self, objective: &Objective<'_>, start: &[f64]) -> Result<Self, OptimizeError> {
        let expected = objective.parameters();
        if start.len() != expected {
            return Err(OptimizeError::StartSize { expected, found: start.len() });
        }
        if self.size() != expected {
            return Err(OptimizeError::LimitsSize { expected, found: self.size() });
        }
        let mut limits = self.clone();
        for lower in &mut limits.lower[expected - PHASE_PIECES..] {
            *lower = lower.max(0.0);
        }
        for (index, &value) in start.iter().enumerate() {
            if !limits.allows(index, value) {
                let (lower, upper) = limits.bounds(index);
                return Err(OptimizeError::StartOutside { index, value, lower, upper });
            }
        }
        Ok(limits)
    }

    /// Whether a parameter at `value` whose loss has the given `slope` must stay: frozen, or pulled out of a bound.
    pub(super) fn holds(&self, index: usize, value: f64, slope: f64) -> bool {
        let below = value <= self.lower[index] && slope >= 0.0;
        let above = value >= self.upper[index] && slope <= 0.0;
        self.frozen[index] || below || above
    }

    /// Whether a parameter may be at `value`; one that is frozen may be anywhere.
    pub(super) fn allows(&self, index: usize, value: f64) -> bool {
        value.is_finite() && (self.frozen[index] || (self.lower[index]..=self.upper[index]).contains(&value))
    }

    /// The nearest allowed value of a parameter that is not frozen.
    pub(super) fn clamp(&self, index: usize, value: f64) -> f64 {
        value.clamp(self.lower[index], self.upper[index])
    }
}
