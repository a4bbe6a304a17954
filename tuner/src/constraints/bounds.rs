//! Bounds of single numbers: their declared ranges, narrowed by the settings of a run.

use super::ConstraintError;
use crate::numbers::{Number, Numbers};
use crate::optimize::{Limits, OptimizeError};

/// An end of the range of a number.
#[derive(Clone, Copy)]
struct RangeEnd<'t> {
    value: f64,
    /// The bound that set it; none for the declared range.
    by: Option<&'t str>,
}

/// The bounds of all numbers.
pub(super) struct Bounds<'t>(Vec<[RangeEnd<'t>; 2]>);

impl<'t> Bounds<'t> {
    /// Narrows the declared ranges by all of `texts`.
    pub(super) fn new(numbers: &Numbers, texts: &'t [String]) -> Result<Self, ConstraintError> {
        let declared = |value| RangeEnd { value, by: None };
        let mut bounds = Bounds(numbers.iter().map(|number| number.range.map(declared)).collect());
        for text in texts {
            let (pattern, lower, upper) = parse(text)?;
            for (index, _) in numbers.matching(pattern)? {
                let Number { name, decimals, .. } = numbers.get(index);
                if [lower, upper].into_iter().flatten().any(|end| !has_decimals(end, *decimals)) {
                    return Err(ConstraintError::Refused(format!(
                        "bound {text}: {name} is written with {decimals} digits behind the decimal point, so are its \
                         bounds"
                    )));
                }
                bounds.narrow(numbers, index, [lower, upper], text)?;
            }
        }
        Ok(bounds)
    }

    fn narrow(
        &mut self,
        numbers: &Numbers,
        index: usize,
        [lower, upper]: [Option<f64>; 2],
        text: &'t str,
    ) -> Result<(), ConstraintError> {
        let [least, greatest] = &mut self.0[index];
        if let Some(value) = lower.filter(|&lower| lower > least.value) {
            *least = RangeEnd { value, by: Some(text) };
        }
        if let Some(value) = upper.filter(|&upper| upper < greatest.value) {
            *greatest = RangeEnd { value, by: Some(text) };
        }
        if least.value <= greatest.value {
            return Ok(());
        }
        let describe = |end: &RangeEnd| match end.by {
            Some(text) => format!("bound {text}"),
            None => format!("its range, which ends at {}", end.value),
        };
        let (number, first, second) = (numbers.name(index), describe(least), describe(greatest));
        Err(ConstraintError::Refused(format!("{number} cannot keep to both {first} and {second}")))
    }

    /// Checks that all values lie within their bounds.
    pub(super) fn check(&self, numbers: &Numbers, values: &[f64]) -> Result<(), ConstraintError> {
        for (index, (&[least, greatest], &value)) in self.0.iter().zip(values).enumerate() {
            let broken = [(least, value < least.value), (greatest, value > greatest.value)];
            // The reader of the parameters has checked the declared range.
            if let Some(bound) = broken.into_iter().filter(|&(_, broken)| broken).find_map(|(end, _)| end.by) {
                let number = numbers.name(index);
                let message = format!("bound {bound}: excludes the start: {number} is {value}");
                return Err(ConstraintError::Refused(message));
            }
        }
        Ok(())
    }

    /// Returns the common bounds of the numbers of a group.
    pub(super) fn common(&self, numbers: &Numbers, group: &[usize]) -> Result<(f64, f64), ConstraintError> {
        let of = |index: usize| self.0[index].map(|end| end.value);
        let by = |end: usize| move |a: &usize, b: &usize| of(*a)[end].total_cmp(&of(*b)[end]);
        let highest = group.iter().copied().max_by(by(0)).expect("a group has members");
        let lowest = group.iter().copied().min_by(by(1)).expect("a group has members");
        let (lower, upper) = (of(highest)[0], of(lowest)[1]);
        if lower <= upper {
            return Ok((lower, upper));
        }
        let [first, second] = [highest, lowest].map(|index| {
            let [lower, upper] = of(index);
            format!("{} within {lower}..{upper}", numbers.name(index))
        });
        Err(ConstraintError::Refused(format!("{first} and {second} cannot be tied")))
    }

    /// Returns the bounds as limits for an optimiser.
    pub(super) fn limits(&self) -> Result<Limits, OptimizeError> {
        let (lower, upper) =
            self.0.iter().map(|ends| ends.map(|end| end.value)).map(|[lower, upper]| (lower, upper)).unzip();
        Limits::new(lower, upper)
    }
}

/// Returns true if a value has at most `decimals` digits behind the decimal point.
fn has_decimals(value: f64, decimals: usize) -> bool {
    let parts = value * 10_f64.powi(decimals as i32);
    (parts - parts.round()).abs() < 1e-6
}

/// Parses `PATTERN=LOWER..UPPER` into the pattern and the two ends.
fn parse(text: &str) -> Result<(&str, Option<f64>, Option<f64>), ConstraintError> {
    let malformed =
        || ConstraintError::Refused(format!("bound {text}: expected PATTERN=LOWER..UPPER, such as psqt.*=-200..200"));
    let (pattern, range) = text.split_once('=').ok_or_else(malformed)?;
    let (lower, upper) = range.split_once("..").ok_or_else(malformed)?;
    let end = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse().ok().filter(|end: &f64| end.is_finite()).map(Some).ok_or_else(malformed),
    };
    let (pattern, lower, upper) = (pattern.trim(), end(lower)?, end(upper)?);
    match (lower, upper) {
        _ if pattern.is_empty() => Err(malformed()),
        (None, None) => Err(malformed()),
        (Some(lower), Some(upper)) if lower > upper => {
            Err(ConstraintError::Refused(format!("bound {text}: {lower} is above {upper}")))
        }
        _ => Ok((pattern, lower, upper)),
    }
}
