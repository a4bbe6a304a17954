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

    /// Creates an interval. Undefined ends, such as ∞ − ∞, become infinite.
    fn new(low: f64, high: f64) -> Self {
        Interval {
            low: if low.is_nan() { f64::NEG_INFINITY } else { low.min(f64::MAX) },
            high: if high.is_nan() { f64::INFINITY } else { high.max(f64::MIN) },
        }
    }

    fn hull(ends: &[f64]) -> Self {
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        Interval::new(low, ends.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    }

    /// Returns true if a number is in the interval.
    pub(crate) fn contains(self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    /// Returns the interval of the results of an operation that is defined for all values of its operands. Totals and
    /// facts have any value.
    pub(super) fn of(op: Op, operand: impl Fn(Node) -> Interval) -> Self {
        let each = |a: Node| {
            let Interval { low, high } = operand(a);
            Interval::hull(&[low, high].map(|end| op.of_numbers(end, 0.0)))
        };
        match op {
            Op::Constant(number) => Interval::point(number),
            Op::Slot(_) | Op::Fact(_) => Interval::ANY,
            Op::Add(a, b) | Op::Min(a, b) | Op::Max(a, b) => {
                let (a, b) = (operand(a), operand(b));
                Interval::new(op.of_numbers(a.low, b.low), op.of_numbers(a.high, b.high))
            }
            Op::Sub(a, b) => {
                let (a, b) = (operand(a), operand(b));
                Interval::new(a.low - b.high, a.high - b.low)
            }
            Op::Mul(a, b) if a == b => operand(a).absolute().times(operand(a).absolute()),
            Op::Mul(a, b) => operand(a).times(operand(b)),
            Op::Div(a, b) => {
                let divisor = operand(b);
                operand(a).times(Interval::new(1.0 / divisor.high, 1.0 / divisor.low))
            }
            Op::Abs(a) => operand(a).absolute(),
            Op::Power(a, power) if power > 0.0 && power % 2.0 == 0.0 => {
                let Interval { low, high } = operand(a).absolute();
                Interval::new(low.powf(power), high.powf(power))
            }
            // The computed result is never 0, but its derivatives are too large there for a logarithm or a division.
            Op::Logistic(a) if operand(a).low < -700.0 => Interval::new(0.0, each(a).high),
            Op::Sign(a) | Op::Power(a, _) | Op::Exp(a) | Op::Log(a) | Op::Logistic(a) => each(a),
        }
    }

    fn absolute(self) -> Self {
        let (low, high) = (self.low.abs(), self.high.abs());
        Interval::new(if self.contains(0.0) { 0.0 } else { low.min(high) }, low.max(high))
    }

    fn times(self, other: Interval) -> Self {
        // Infinite ends stand for finite numbers, so 0 · ∞ is 0.
        let times = |a: f64, b: f64| if a == 0.0 || b == 0.0 { 0.0 } else { a * b };
        Interval::hull(&[
            times(self.low, other.low),
            times(self.low, other.high),
            times(self.high, other.low),
            times(self.high, other.high),
        ])
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
