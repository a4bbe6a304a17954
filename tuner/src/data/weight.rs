//! Weights of data sets.

use std::fmt;
use std::iter::repeat_n;
use std::str::FromStr;

use serde::Serialize;

/// The weight of a position of a set in sums of losses: the number of positions that it counts as.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Weight(f32);

/// Equality is reflexive: a weight is never NaN.
impl Eq for Weight {}

impl Weight {
    /// Returns the weight of each position of sets (name, weight, positions); empty if every weight is 1.
    pub(crate) fn each<'n>(sets: impl Iterator<Item = (&'n str, Weight, usize)> + Clone) -> Vec<f32> {
        match sets.clone().all(|set| set.1 == Weight::default()) {
            true => Vec::new(),
            false => sets.flat_map(|(_, weight, positions)| repeat_n(weight.0, positions)).collect(),
        }
    }

    /// Returns the weight as a number.
    pub fn get(self) -> f64 {
        self.0.into()
    }

    /// Returns the weight as the end of a description; empty if it is 1.
    pub(crate) fn suffix(self) -> String {
        if self == Weight::default() { String::new() } else { format!(", weight {self}") }
    }
}

impl Default for Weight {
    fn default() -> Self {
        Weight(1.0)
    }
}

impl FromStr for Weight {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(weight) if (1e-6..=1e6).contains(&weight) => Ok(Weight(weight)),
            _ => Err(format!(
                "a weight is a number from 0.000001 to 1000000, not {text}; leave out what is not to count"
            )),
        }
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_finite_positive_weights_only() {
        for text in ["0", "-1", "nan", "inf", "1e-7", "1e300", "", "a"] {
            assert!(text.parse::<Weight>().is_err(), "{text}");
        }
        let [one, half] = ["1.0", "0.5"].map(|text| text.parse::<Weight>().unwrap());
        assert_eq!((one.suffix(), half.suffix()), (String::new(), ", weight 0.5".to_owned()));
        assert_eq!(Weight::each([("a", one, 2), ("b", one, 1)].into_iter()), [0.0; 0]);
        assert_eq!(Weight::each([("a", half, 2), ("b", one, 1)].into_iter()), [0.5, 0.5, 1.0]);
    }
}
