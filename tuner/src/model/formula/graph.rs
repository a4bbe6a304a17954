//! The graph of a formula's operations, with range checks, constant folding and elimination of common subexpressions.

use super::interval::Interval;
use crate::model::tape::{Node, Op, Tape};

/// Maximum number of operations of a formula.
const MOST_OPERATIONS: usize = 1024;

/// Maximum number of added operations, including repeated ones.
const MOST_STEPS: usize = 20_000;

/// A graph of operations with the ranges of their results.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    tape: Tape,
    ranges: Vec<Interval>,
    steps: usize,
}

impl Graph {
    /// Adds a constant.
    pub(super) fn number(&mut self, number: f64) -> Node {
        self.push(Op::Constant(number), Interval::point(number))
    }

    /// Returns the value of a node if it is constant.
    pub(super) fn constant(&self, node: Node) -> Option<f64> {
        match self.tape.ops()[node as usize] {
            Op::Constant(number) => Some(number),
            _ => None,
        }
    }

    /// Adds an operation.
    ///
    /// # Errors
    /// If the operation may be undefined, with a correction; if there are too many operations.
    pub(super) fn add(&mut self, op: Op) -> Result<Node, String> {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.ranges.len() >= MOST_OPERATIONS {
            return Err(format!(
                "the formula is too long: more than {MOST_OPERATIONS} operations, or {MOST_STEPS} with repeated ones"
            ));
        }
        self.check(op)?;
        let op = match self.simplify(op) {
            Ok(node) => return Ok(node),
            Err(op) => op,
        };
        let mut numbers = op.operands().map(|node| self.constant(node));
        let (a, b) = (numbers.next(), numbers.next());
        if let (Some(Some(a)), None | Some(Some(_))) = (a, b) {
            let number = op.of_numbers(a, b.flatten().unwrap_or_default());
            return if number.is_finite() {
                Ok(self.number(number))
            } else {
                Err(format!("the result is {number}, which is not a finite number"))
            };
        }
        Ok(self.push(op, Interval::of(op, |node| self.ranges[node as usize])))
    }

    /// Returns the tape of the operations that a result depends on, with renumbered slots. The result is the last one.
    pub(super) fn needed(&self, result: Node, slot: impl Fn(u32) -> u32) -> Tape {
        let needed = self.reached(result, |_| true);
        let mut tape = Tape::default();
        let mut places = vec![0; needed.len()];
        for (node, &op) in self.tape.ops().iter().enumerate().filter(|&(node, _)| needed[node]) {
            let at = |node: Node| places[node as usize];
            places[node] = tape.push(match op {
                Op::Slot(source) => Op::Slot(slot(source)),
                _ => op.with_operands(at),
            });
        }
        tape
    }

    /// Returns the slots by which the derivative of a result is not 0 everywhere.
    pub(super) fn slots(&self, result: Node) -> Vec<u32> {
        let reached = self.reached(result, |op| !matches!(op, Op::Sign(_)));
        let ops = self.tape.ops().iter().zip(reached);
        ops.filter_map(|(&op, reached)| if let (Op::Slot(slot), true) = (op, reached) { Some(slot) } else { None })
            .collect()
    }

    /// Returns a flag per operation: true if a result depends on it through operations accepted by `by_way_of`.
    fn reached(&self, result: Node, by_way_of: impl Fn(Op) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.tape.ops().len()];
        reached[result as usize] = true;
        for node in (0..=result as usize).rev() {
            let op = self.tape.ops()[node];
            if reached[node] && by_way_of(op) {
                op.operands().for_each(|operand| reached[operand as usize] = true);
            }
        }
        reached
    }

    /// Adds an operation with the range of its results, such as an input.
    pub(super) fn push(&mut self, op: Op, range: Interval) -> Node {
        let node = self.tape.push(op);
        if node as usize == self.ranges.len() {
            self.ranges.push(range);
        }
        node
    }

    /// Checks that an operation and its derivatives are defined for all values of its operands.
    fn check(&self, op: Op) -> Result<(), String> {
        let range = |node: Node| self.ranges[node as usize];
        let guard = |range: Interval| if range.high <= 0.0 { "min(-1, …)" } else { "max(1, …)" };
        let (node, what, instead) = match op {
            Op::Div(_, b) if range(b).contains(0.0) => {
                (b, "division by what can be 0".to_owned(), format!("divide by {}", guard(range(b))))
            }
            Op::Log(a) if range(a).low <= 0.0 => {
                (a, "logarithm of what can be 0 or less".to_owned(), "write log(max(1, …))".to_owned())
            }
            Op::Power(a, power) if power < 0.0 && power.fract() == 0.0 && range(a).contains(0.0) => {
                (a, format!("power {power} of what can be 0"), format!("write {} ^ {power}", guard(range(a))))
            }
            // Below 2, one of the two derivatives has a pole at 0.
            Op::Power(a, 0.5) if range(a).low <= 0.0 => (
                a,
                "square root of what can be 0 or less, where it has no derivative".to_owned(),
                "write sqrt(max(1, …))".to_owned(),
            ),
            Op::Power(a, power) if power.fract() != 0.0 && power < 2.0 && range(a).low <= 0.0 => (
                a,
                format!("power {power} of what can be 0 or less, where it lacks derivatives"),
                format!("write max(1, …) ^ {power}"),
            ),
            Op::Power(a, power) if power.fract() != 0.0 && range(a).low < 0.0 => {
                (a, format!("power {power} of what can be less than 0"), format!("write max(0, …) ^ {power}"))
            }
            _ => return Ok(()),
        };
        let is_free = |(&op, range): (&Op, &Interval)| matches!(op, Op::Fact(_)) && *range == Interval::ANY;
        let mut reached = self.reached(node, |_| true).into_iter();
        let mut facts = self.tape.ops().iter().zip(&self.ranges).filter(|_| reached.next() == Some(true));
        let or = if facts.any(is_free) { ", or give its facts ranges, as in `fact phase 0 1`" } else { "" };
        Err(format!("{what} (it can be {}): {instead}{or}", range(node)))
    }

    /// Simplifies an operation to an existing node, or to another operation.
    fn simplify(&mut self, op: Op) -> Result<Node, Op> {
        let constant = |node: Node| self.constant(node);
        match op {
            Op::Add(a, b) if constant(a) == Some(0.0) => Ok(b),
            Op::Add(a, b) | Op::Sub(a, b) if constant(b) == Some(0.0) => Ok(a),
            Op::Mul(a, b) if constant(a) == Some(1.0) => Ok(b),
            Op::Mul(a, b) if constant(b) == Some(1.0) => Ok(a),
            Op::Mul(a, b) if constant(a) == Some(0.0) || constant(b) == Some(0.0) => Ok(self.number(0.0)),
            // Operands of commutative operations are sorted.
            Op::Add(a, b) if a > b => Err(Op::Add(b, a)),
            Op::Mul(a, b) if a > b => Err(Op::Mul(b, a)),
            Op::Div(a, b) => match constant(b).map(f64::recip) {
                Some(reciprocal) if reciprocal.is_normal() && constant(a).is_none() => {
                    let reciprocal = self.number(reciprocal);
                    if self.constant(reciprocal) == Some(1.0) {
                        return Ok(a);
                    }
                    Err(Op::Mul(a.min(reciprocal), a.max(reciprocal)))
                }
                _ => Err(op),
            },
            Op::Power(a, 1.0) => Ok(a),
            Op::Power(_, 0.0) => Ok(self.number(1.0)),
            _ => Err(op),
        }
    }
}
