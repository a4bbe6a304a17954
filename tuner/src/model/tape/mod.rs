//! Tapes: scores as lists of operations on the totals of a row, evaluated and differentiated for many rows at once.
//!
//! A tape is created by hand ([`Tape::push`]), by a formula, or by a generic evaluation whose number type records
//! operations. Derivatives by the totals are exact; they use the reverse mode of algorithmic differentiation.
//! See Griewank and Walther, Evaluating Derivatives, 2nd edition, chapter 3.

pub(crate) mod exponential;

use exponential::exponential;

/// Number of rows that are evaluated at once.
pub const LANES: usize = 64;

/// The values of a number, one per row.
pub type Lanes = [f64; LANES];

const ZERO: Lanes = [0.0; LANES];

/// Relative difference up to which operands of minimum and maximum count as equal. The second operand is chosen then.
const TIE: f64 = 1e-14;

/// Index of an operation on a tape.
pub type Node = u32;

/// An operation on the results of earlier operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// A constant.
    Constant(f64),
    /// The total of a slot.
    Slot(u32),
    /// A fact of the row.
    Fact(u32),
    /// `a + b`
    Add(Node, Node),
    /// `a − b`
    Sub(Node, Node),
    /// `a · b`
    Mul(Node, Node),
    /// `a / b`
    Div(Node, Node),
    /// The smaller one; its derivative is that of `b` where both are equal.
    Min(Node, Node),
    /// The larger one; its derivative is that of `b` where both are equal.
    Max(Node, Node),
    /// `|a|`, with the derivative 0 where `a` is 0.
    Abs(Node),
    /// −1, 0 or 1, with the derivative 0 everywhere.
    Sign(Node),
    /// `a` to a power.
    Power(Node, f64),
    /// `e` to the power of `a`. Its derivative is 0 on overflow, which is possible only in operands that a minimum or
    /// maximum does not choose.
    Exp(Node),
    /// The natural logarithm of `a`.
    Log(Node),
    /// `1 / (1 + e^−a)`
    Logistic(Node),
}

impl Op {
    /// Iterates over the operands.
    pub fn operands(self) -> impl Iterator<Item = Node> {
        let (mut operands, mut count) = ([None; 2], 0);
        self.with_operands(|operand| {
            operands[count] = Some(operand);
            count += 1;
            operand
        });
        operands.into_iter().flatten()
    }

    /// Returns the same operation on other operands.
    pub(super) fn with_operands(self, mut of: impl FnMut(Node) -> Node) -> Self {
        match self {
            Op::Constant(_) | Op::Slot(_) | Op::Fact(_) => self,
            Op::Add(a, b) => Op::Add(of(a), of(b)),
            Op::Sub(a, b) => Op::Sub(of(a), of(b)),
            Op::Mul(a, b) => Op::Mul(of(a), of(b)),
            Op::Div(a, b) => Op::Div(of(a), of(b)),
            Op::Min(a, b) => Op::Min(of(a), of(b)),
            Op::Max(a, b) => Op::Max(of(a), of(b)),
            Op::Abs(a) => Op::Abs(of(a)),
            Op::Sign(a) => Op::Sign(of(a)),
            Op::Power(a, power) => Op::Power(of(a), power),
            Op::Exp(a) => Op::Exp(of(a)),
            Op::Log(a) => Op::Log(of(a)),
            Op::Logistic(a) => Op::Logistic(of(a)),
        }
    }

    /// Returns the result of the operation on one or two numbers.
    pub(super) fn of_numbers(self, a: f64, b: f64) -> f64 {
        let mut result = ZERO;
        let mut places = 0..;
        let op = self.with_operands(|_| places.next().unwrap_or_default());
        evaluate(op, &[[a; LANES], [b; LANES]], &[], &[], &mut result);
        result[0]
    }
}

/// A list of operations, of which the last one is the score.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    ops: Vec<Op>,
    /// Flag per operation: true if its result depends on a total.
    varies: Vec<bool>,
}

/// The inputs of a tape, totals and facts by row, with buffers for results and derivatives.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Totals by slot.
    pub totals: Vec<Lanes>,
    /// Facts by fact.
    pub facts: Vec<Lanes>,
    /// Derivative of the score by the total of each slot, set by [`Tape::differentiate`].
    pub slopes: Vec<Lanes>,
    values: Vec<Lanes>,
    adjoints: Vec<Lanes>,
}

impl Work {
    /// Returns the result of an operation after [`Tape::scores`].
    pub(super) fn value(&self, node: Node) -> &Lanes {
        &self.values[node as usize]
    }

    /// Creates buffers for a number of slots and of facts.
    pub fn new(slots: usize, facts: usize) -> Self {
        Work { totals: vec![ZERO; slots], facts: vec![ZERO; facts], slopes: vec![ZERO; slots], ..Work::default() }
    }
}

impl Tape {
    /// Appends an operation, unless the tape contains it already, and returns its node.
    ///
    /// # Panics
    /// If an operand does not exist.
    pub fn push(&mut self, op: Op) -> Node {
        if let Some(place) = self.ops.iter().position(|other| *other == op) {
            return place as Node;
        }
        let varies = matches!(op, Op::Slot(_)) || op.operands().any(|operand| self.varies[operand as usize]);
        self.ops.push(op);
        self.varies.push(varies && !matches!(op, Op::Sign(_)));
        (self.ops.len() - 1) as Node
    }

    /// Truncates the tape behind a node, which becomes the result.
    pub fn ending(mut self, result: Node) -> Self {
        self.ops.truncate(result as usize + 1);
        self.varies.truncate(result as usize + 1);
        self
    }

    /// Returns the operations.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Computes the scores of all lanes.
    ///
    /// # Panics
    /// Here and below: if the tape is empty, or reads slots or facts that `work` does not have.
    pub fn scores<'w>(&self, work: &'w mut Work) -> &'w Lanes {
        let Work { totals, facts, values, .. } = work;
        values.resize(self.ops.len(), ZERO);
        for (place, &op) in self.ops.iter().enumerate() {
            let (before, rest) = values.split_at_mut(place);
            evaluate(op, before, totals, facts, &mut rest[0]);
        }
        values.last().expect("a tape that is not empty")
    }

    /// Computes the derivatives of the scores by all totals into `slopes`. [`Tape::scores`] must be called first.
    pub fn differentiate(&self, work: &mut Work) {
        let Work { slopes, values, adjoints, .. } = work;
        adjoints.clear();
        adjoints.resize(self.ops.len(), ZERO);
        slopes.fill(ZERO);
        *adjoints.last_mut().expect("a tape that is not empty") = [1.0; LANES];
        for (place, &op) in self.ops.iter().enumerate().rev() {
            if !self.varies[place] {
                continue;
            }
            let (before, rest) = adjoints.split_at_mut(place);
            let adjoint = &rest[0];
            if let Op::Slot(slot) = op {
                add(&mut slopes[slot as usize], adjoint);
            }
            each_partial(op, values, place, |node, partial| {
                if self.varies[node as usize] {
                    add_product(&mut before[node as usize], adjoint, partial);
                }
            });
        }
    }
}

/// Calls `take` with every operand of an operation and the derivative by it.
#[inline]
fn each_partial(op: Op, values: &[Lanes], place: usize, mut take: impl FnMut(Node, &Lanes)) {
    let of = |node: Node| &values[node as usize];
    let value = &values[place];
    let lanes = |number: &dyn Fn(usize) -> f64| -> Lanes { std::array::from_fn(number) };
    const ONE: Lanes = [1.0; LANES];
    match op {
        Op::Constant(_) | Op::Slot(_) | Op::Fact(_) | Op::Sign(_) => {}
        Op::Add(a, b) => {
            take(a, &ONE);
            take(b, &ONE);
        }
        Op::Sub(a, b) => {
            take(a, &ONE);
            take(b, &[-1.0; LANES]);
        }
        Op::Mul(a, b) => {
            take(a, of(b));
            take(b, of(a));
        }
        Op::Div(a, b) => {
            let divisor = of(b);
            take(a, &lanes(&|lane| 1.0 / divisor[lane]));
            take(b, &lanes(&|lane| -value[lane] / divisor[lane]));
        }
        Op::Min(a, b) | Op::Max(a, b) => {
            let first = picks_first(op, of(a), of(b));
            take(a, &first);
            take(b, &lanes(&|lane| 1.0 - first[lane]));
        }
        Op::Abs(a) => take(a, &lanes(&|lane| sign(of(a)[lane]))),
        Op::Power(a, power) => take(a, &lanes(&|lane| raise_slope(of(a)[lane], power))),
        Op::Exp(a) => take(a, &lanes(&|lane| finite(value[lane]))),
        Op::Log(a) => take(a, &lanes(&|lane| 1.0 / of(a)[lane])),
        Op::Logistic(a) => take(a, &lanes(&|lane| value[lane] * (1.0 - value[lane]))),
    }
}

/// Evaluates an operation.
#[inline]
fn evaluate(op: Op, values: &[Lanes], totals: &[Lanes], facts: &[Lanes], result: &mut Lanes) {
    let of = |node: Node| &values[node as usize];
    match op {
        Op::Constant(number) => result.fill(number),
        Op::Slot(slot) => *result = totals[slot as usize],
        Op::Fact(fact) => *result = facts[fact as usize],
        Op::Add(a, b) => with_both(result, of(a), of(b), |a, b| a + b),
        Op::Sub(a, b) => with_both(result, of(a), of(b), |a, b| a - b),
        Op::Mul(a, b) => with_both(result, of(a), of(b), |a, b| a * b),
        Op::Div(a, b) => with_both(result, of(a), of(b), |a, b| a / b),
        // NaN propagates, so that it is detected.
        Op::Min(a, b) => with_both(result, of(a), of(b), |a, b| if a.is_nan() || a < b { a } else { b }),
        Op::Max(a, b) => with_both(result, of(a), of(b), |a, b| if a.is_nan() || a > b { a } else { b }),
        Op::Abs(a) => with_each(result, of(a), f64::abs),
        Op::Sign(a) => with_each(result, of(a), sign),
        Op::Power(a, power) => with_each(result, of(a), |base| raise(base, power)),
        Op::Exp(a) => with_each(result, of(a), f64::exp),
        Op::Log(a) => with_each(result, of(a), f64::ln),
        Op::Logistic(a) => with_each(result, of(a), logistic),
    }
}

#[inline(always)]
fn with_each(result: &mut Lanes, a: &Lanes, act: impl Fn(f64) -> f64) {
    result.iter_mut().zip(a).for_each(|(result, &a)| *result = act(a));
}

#[inline(always)]
fn with_both(result: &mut Lanes, a: &Lanes, b: &Lanes, act: impl Fn(f64, f64) -> f64) {
    result.iter_mut().zip(a.iter().zip(b)).for_each(|(result, (&a, &b))| *result = act(a, b));
}

#[inline(always)]
fn add(sum: &mut Lanes, part: &Lanes) {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}

#[inline(always)]
fn add_product(sum: &mut Lanes, a: &Lanes, b: &Lanes) {
    sum.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
}

/// Returns 1 in each lane in which a minimum or maximum chooses its first operand, else 0.
#[inline(always)]
fn picks_first(op: Op, a: &Lanes, b: &Lanes) -> Lanes {
    let is_min = matches!(op, Op::Min(..));
    std::array::from_fn(|lane| {
        let tie = TIE * b[lane].abs();
        let first = if is_min { a[lane] < b[lane] - tie } else { a[lane] > b[lane] + tie };
        f64::from(u8::from(first))
    })
}

/// Returns the number, or 0 if it is infinite.
#[inline(always)]
fn finite(number: f64) -> f64 {
    if number.is_infinite() { 0.0 } else { number }
}

#[inline(always)]
fn sign(number: f64) -> f64 {
    f64::from(i8::from(number > 0.0) - i8::from(number < 0.0))
}

#[inline(always)]
fn raise(base: f64, power: f64) -> f64 {
    match power {
        0.0 => 1.0,
        1.0 => base,
        2.0 => base * base,
        _ => base.powf(power),
    }
}

/// Returns the derivative of a power by its base.
#[inline(always)]
fn raise_slope(base: f64, power: f64) -> f64 {
    // A power of 0 has no 0 · ∞ at a base of 0.
    if power == 0.0 { 0.0 } else { power * raise(base, power - 1.0) }
}

#[inline(always)]
fn logistic(number: f64) -> f64 {
    // The exponent is never positive, which avoids overflow and cancellation.
    let small = exponential(-number.abs());
    if number >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

#[cfg(test)]
mod tests;
