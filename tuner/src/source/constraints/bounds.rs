//! Bounds of single numbers: their declared ranges, narrowed by the settings of a run.

use anyhow::{Context, Result, bail};

use crate::optimize::Limits;
use crate::source::numbers::{Number, Numbers};

/// An end of the range of a number, and the bound that set it; none for the declared range.
type RangeEnd<'t> = (f64, Option<&'t str>);

/// The bounds of all numbers.
pub(super) struct Bounds<'t>(Vec<[RangeEnd<'t>; 2]>);

impl<'t> Bounds<'t> {
    /// Narrows the declared ranges by all of `texts`.
    pub(super) fn new(numbers: &Numbers, texts: &'t [String]) -> Result<Self> {
        let mut bounds: Vec<[RangeEnd<'_>; 2]> =
            numbers.iter().map(|number| number.range.map(|end| (end, None))).collect();
        for text in texts {
            let (pattern, [lower, upper]) = parse(text)
                .with_context(|| format!("bound {text}: expected PATTERN=LOWER..UPPER, such as psqt.*=-200..200"))?;
            if let (Some(lower), Some(upper)) = (lower, upper)
                && lower > upper
            {
                bail!("bound {text}: {lower} is above {upper}");
            }
            for (index, _) in numbers.matching(pattern)? {
                let Number { name, decimals, .. } = &numbers[index];
                if [lower, upper].into_iter().flatten().any(|end| !has_decimals(end, *decimals)) {
                    bail!(
                        "bound {text}: {name} is written with {decimals} digits behind the decimal point, so are its \
                         bounds"
                    );
                }
                let [least, greatest] = &mut bounds[index];
                if let Some(lower) = lower.filter(|&lower| lower > least.0) {
                    *least = (lower, Some(text));
                }
                if let Some(upper) = upper.filter(|&upper| upper < greatest.0) {
                    *greatest = (upper, Some(text));
                }
                if least.0 > greatest.0 {
                    let describe = |&(end, by): &RangeEnd<'_>| match by {
                        Some(text) => format!("bound {text}"),
                        None => format!("its range, which ends at {end}"),
                    };
                    bail!("{name} cannot keep to both {} and {}", describe(least), describe(greatest));
                }
            }
        }
        Ok(Bounds(bounds))
    }

    /// Checks that all values lie within their bounds. The reader of the parameters has checked the declared ranges.
    pub(super) fn check(&self, numbers: &Numbers, values: &[f64]) -> Result<()> {
        for (index, (&[least, greatest], &value)) in self.0.iter().zip(values).enumerate() {
            let broken = [least.1.filter(|_| value < least.0), greatest.1.filter(|_| value > greatest.0)];
            if let Some(bound) = broken.into_iter().flatten().next() {
                bail!("bound {bound}: excludes the start: {} is {value}", numbers[index].name);
            }
        }
        Ok(())
    }

    /// Returns the common bounds of the numbers of a group.
    pub(super) fn common(&self, numbers: &Numbers, group: &[usize]) -> Result<(f64, f64)> {
        let of = |index: usize| self.0[index].map(|end| end.0);
        let by = |end: usize| move |a: &usize, b: &usize| of(*a)[end].total_cmp(&of(*b)[end]);
        let highest = group.iter().copied().max_by(by(0)).expect("a group has members");
        let lowest = group.iter().copied().min_by(by(1)).expect("a group has members");
        let (lower, upper) = (of(highest)[0], of(lowest)[1]);
        if lower > upper {
            let [first, second] = [highest, lowest].map(|index| {
                let [lower, upper] = of(index);
                format!("{} within {lower}..{upper}", numbers[index].name)
            });
            bail!("{first} and {second} cannot be tied");
        }
        Ok((lower, upper))
    }

    /// Returns the bounds as limits for an optimiser.
    pub(super) fn limits(&self) -> Limits {
        let (lower, upper) = self.0.iter().map(|[least, greatest]| (least.0, greatest.0)).unzip();
        Limits::new(lower, upper)
    }
}

/// Returns true if a value has at most `decimals` digits behind the decimal point.
fn has_decimals(value: f64, decimals: usize) -> bool {
    let parts = value * 10_f64.powi(decimals as i32);
    (parts - parts.round()).abs() < 1e-6
}

/// Parses `PATTERN=LOWER..UPPER` into the pattern and the two ends, one of which may be missing.
fn parse(text: &str) -> Option<(&str, [Option<f64>; 2])> {
    let (pattern, range) = text.split_once('=')?;
    let (lower, upper) = range.split_once("..")?;
    let end = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse().ok().filter(|end: &f64| end.is_finite()).map(Some),
    };
    let (pattern, ends) = (pattern.trim(), [end(lower)?, end(upper)?]);
    (!pattern.is_empty() && ends != [None, None]).then_some((pattern, ends))
}
