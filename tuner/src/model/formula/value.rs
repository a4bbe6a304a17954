//! Values of expressions, with the operations and functions on them.

use super::FormulaPosition;
use super::graph::Graph;
use crate::model::tape::{Node, Op};

/// An operation on the components of values.
type Operation = fn(&mut Graph, &[Node]) -> Result<Node, String>;

/// The built-in functions: names, arguments and operations.
pub(super) const BUILTINS: [(&str, &str, Operation); 10] = [
    ("min", "a, b, …", |graph, of| of[1..].iter().try_fold(of[0], |least, &next| graph.add(Op::Min(least, next)))),
    ("max", "a, b, …", |graph, of| of[1..].iter().try_fold(of[0], |most, &next| graph.add(Op::Max(most, next)))),
    ("abs", "x", |graph, of| graph.add(Op::Abs(of[0]))),
    ("sign", "x", |graph, of| graph.add(Op::Sign(of[0]))),
    ("clamp", "x, low, high", clamp),
    ("sqrt", "x", |graph, of| graph.add(Op::Power(of[0], 0.5))),
    ("exp", "x", |graph, of| graph.add(Op::Exp(of[0]))),
    ("log", "x", |graph, of| graph.add(Op::Log(of[0]))),
    ("logistic", "x", |graph, of| graph.add(Op::Logistic(of[0]))),
    ("taper", "mg, eg, fraction", taper),
];

/// The components of values: names, the place in the whole value of each place in the component, and true if the
/// component is a side.
pub(super) const PARTS: [(&str, [usize; 4], bool); 4] = [
    ("white", [0, 1, 0, 1], true),
    ("black", [2, 3, 2, 3], true),
    ("mg", [0, 0, 2, 2], false),
    ("eg", [1, 1, 3, 3], false),
];

/// A value: one number, or one per side, one per half of a pair, or both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// White's midgame and endgame number, then Black's. Components that are not distinguished are equal.
    pub(super) nodes: [Node; 4],
    /// The name that makes it sided, if it is.
    pub(super) sided: Option<Origin>,
    /// The name that makes it a pair, if it is.
    pub(super) pair: Option<Origin>,
}

/// An occurrence of a name in a formula.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub(super) name: usize,
    pub(super) place: FormulaPosition,
}

impl Value {
    /// Creates a value of one number.
    pub(super) fn number(node: Node) -> Self {
        Value { nodes: [node; 4], sided: None, pair: None }
    }

    /// Returns a component of the value, one of [`PARTS`].
    pub(super) fn part(self, places: [usize; 4], is_side: bool) -> Result<Value, String> {
        let nodes = places.map(|place| self.nodes[place]);
        match is_side {
            true if self.sided.is_some() => Ok(Value { nodes, sided: None, ..self }),
            false if self.pair.is_some() => Ok(Value { nodes, pair: None, ..self }),
            true => Err("what is before the `.` is not sided: leave the side out".to_owned()),
            false => Err("what is before the `.` is not a pair: leave the half out".to_owned()),
        }
    }

    /// Applies an operation to values, component by component.
    pub(super) fn each(
        values: &[Value],
        mut act: impl FnMut(&[Node]) -> Result<Node, String>,
    ) -> Result<Value, String> {
        let sided = values.iter().find_map(|value| value.sided);
        let pair = values.iter().find_map(|value| value.pair);
        let distinguished = 2 * usize::from(sided.is_some()) + usize::from(pair.is_some());
        let mut nodes = [0; 4];
        for index in 0..4 {
            // Components that are not distinguished are equal to an earlier one.
            let same = index & distinguished;
            nodes[index] = match same < index {
                true => nodes[same],
                false => act(&values.iter().map(|value| value.nodes[index]).collect::<Vec<Node>>())?,
            };
        }
        Ok(Value { nodes, sided, pair })
    }
}

/// Raises a value to a constant power.
pub(super) fn power(graph: &mut Graph, base: Value, exponent: Value) -> Result<Value, String> {
    match graph.constant(exponent.nodes[0]) {
        Some(power) if exponent.nodes == [exponent.nodes[0]; 4] => {
            Value::each(&[base], |of| graph.add(Op::Power(of[0], power)))
        }
        _ => Err("the exponent is not constant: write exp(b * log(a)) for a ^ b".to_owned()),
    }
}

fn clamp(graph: &mut Graph, of: &[Node]) -> Result<Node, String> {
    if let (Some(low), Some(high)) = (graph.constant(of[1]), graph.constant(of[2]))
        && low > high
    {
        return Err(format!("nothing lies between {low} and {high}: write clamp(x, low, high)"));
    }
    let floored = graph.add(Op::Max(of[0], of[1]))?;
    graph.add(Op::Min(floored, of[2]))
}

fn taper(graph: &mut Graph, of: &[Node]) -> Result<Node, String> {
    let midgame = graph.add(Op::Mul(of[2], of[0]))?;
    let one = graph.number(1.0);
    let rest = graph.add(Op::Sub(one, of[2]))?;
    let endgame = graph.add(Op::Mul(rest, of[1]))?;
    graph.add(Op::Add(midgame, endgame))
}
