//! Interval arithmetic of the results of operations.

use crate::model::tape::{Node, Op};

/// An interval of numbers. An infinite end means that finite numbers are unbounded on that side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// All finite numbers.
    pub(crate) const ANY: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Creates the interval of one number.
    pub(super) fn point(number: f64) -> Self {
        Interval { low: number, high: number }
    }

    /// Creates the interval of results at the ends of operands. Infinite ends stand for finite numbers, so undefined
    /// results, as of 0 · ∞, count as 0; ∞ − ∞ is among results without bounds.
    fn hull(results: &[f64]) -> Self {
        let defined = || results.iter().map(|result| if result.is_nan() { 0.0 } else { *result });
        Interval { low: defined().fold(f64::MAX, f64::min), high: defined().fold(f64::MIN, f64::max) }
    }

    /// Returns true if a number is in the interval.
    pub(crate) fn contains(self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    /// Returns the interval of the results of an operation that is defined for all values of its operands. Totals and
    /// facts have any value.
    pub(super) fn of(op: Op, operand: impl Fn(Node) -> Interval) -> Self {
        let ends = |of: Interval| Interval::hull(&[of.low, of.high].map(|end| op.of_numbers(end, 0.0)));
        match op {
            Op::Constant(number) => Interval::point(number),
            Op::Slot(_) | Op::Fact(_) => Interval::ANY,
            Op::Mul(a, b) if a == b => Interval::of(Op::Power(a, 2.0), operand),
            Op::Add(a, b) | Op::Sub(a, b) | Op::Mul(a, b) | Op::Div(a, b) | Op::Min(a, b) | Op::Max(a, b) => {
                let (a, b) = (operand(a), operand(b));
                let ends = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
                Interval::hull(&ends.map(|(a, b)| op.of_numbers(a, b)))
            }
            Op::Abs(a) => ends(operand(a).absolute()),
            Op::Power(a, power) if power > 0.0 && power % 2.0 == 0.0 => ends(operand(a).absolute()),
            // The computed result is never 0, but its derivatives are too large there for a logarithm or a division.
            Op::Logistic(a) if operand(a).low < -700.0 => Interval { low: 0.0, ..ends(operand(a)) },
            Op::Sign(a) | Op::Power(a, _) | Op::Exp(a) | Op::Log(a) | Op::Logistic(a) => ends(operand(a)),
        }
    }

    fn absolute(self) -> Self {
        let (low, high) = (self.low.abs(), self.high.abs());
        Interval { low: if self.contains(0.0) { 0.0 } else { low.min(high) }, high: low.max(high) }
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.low.is_finite() && self.low > f64::MIN, self.high.is_finite() && self.high < f64::MAX) {
            (false, false) => write!(f, "any number"),
            (false, true) => write!(f, "{} or less", self.high),
            (true, false) => write!(f, "{} or more", self.low),
            (true, true) if self.low == self.high => write!(f, "{}", self.low),
            (true, true) => write!(f, "{} to {}", self.low, self.high),
        }
    }
}
