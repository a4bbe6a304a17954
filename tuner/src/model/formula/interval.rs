//! What an operation can result in.

use crate::model::tape::{Node, Op};

/// All numbers from one to another; an end that is infinite stands for any finite number on that side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    /// Any finite number.
    pub(crate) const ANY: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// One number.
    pub(super) fn point(number: f64) -> Self {
        Interval { low: number, high: number }
    }

    /// Ends of which nothing is known, such as ∞ − ∞, become infinite.
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

    /// Whether a number is one of them.
    pub(crate) fn contains(self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    /// The results of an operation that is defined for all its operands can have, but for totals and facts.
    pub(super) fn of(op: Op, operand: impl Fn(Node) -> Interval) -> Self {
        let each = |a: Node| {
            let Interval { low, high } = operand(a);
            Interval::hull(&[compute(op, low, 0.0), compute(op, high, 0.0)])
        };
        match op {
            Op::Constant(number) => Interval::point(number),
            Op::Slot(_) | Op::Fact(_) => Interval::ANY,
            Op::Add(a, b) => {
                let (a, b) = (operand(a), operand(b));
                Interval::new(a.low + b.low, a.high + b.high)
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
            Op::Min(a, b) => {
                let (a, b) = (operand(a), operand(b));
                Interval::new(a.low.min(b.low), a.high.min(b.high))
            }
            Op::Max(a, b) => {
                let (a, b) = (operand(a), operand(b));
                Interval::new(a.low.max(b.low), a.high.max(b.high))
            }
            Op::Abs(a) => operand(a).absolute(),
            Op::Power(a, power) if power > 0.0 && power % 2.0 == 0.0 => {
                let Interval { low, high } = operand(a).absolute();
                Interval::new(low.powf(power), high.powf(power))
            }
            Op::Sign(a) | Op::Power(a, _) | Op::Exp(a) | Op::Log(a) | Op::Logistic(a) => each(a),
        }
    }

    fn absolute(self) -> Self {
        let (low, high) = (self.low.abs(), self.high.abs());
        Interval::new(if self.contains(0.0) { 0.0 } else { low.min(high) }, low.max(high))
    }

    fn times(self, other: Interval) -> Self {
        // An infinite end stands for finite numbers.
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

/// The result of an operation on numbers, whatever its operands are called.
pub(super) fn compute(op: Op, a: f64, b: f64) -> f64 {
    match op {
        Op::Constant(number) => number,
        Op::Slot(_) | Op::Fact(_) => f64::NAN,
        Op::Add(..) => a + b,
        Op::Sub(..) => a - b,
        Op::Mul(..) => a * b,
        Op::Div(..) => a / b,
        Op::Min(..) => a.min(b),
        Op::Max(..) => a.max(b),
        Op::Abs(_) => a.abs(),
        Op::Sign(_) => f64::from(i8::from(a > 0.0) - i8::from(a < 0.0)),
        Op::Power(_, power) => a.powf(power),
        Op::Exp(_) => a.exp(),
        Op::Log(_) => a.ln(),
        Op::Logistic(_) => 1.0 / (1.0 + (-a).exp()),
    }
}
