//! The stack machine that evaluates a formula symbolically and records its operations.

use super::graph::Graph;
use super::parser::{Action, Builtin, StackInstruction, ValueComponent};
use super::{Formula, FormulaError, FormulaPosition, Function, Meaning};
use crate::model::tape::{Node, Op};

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

    /// Returns a component of the value.
    fn part(self, part: ValueComponent) -> Result<Value, String> {
        let [a, b, c, d] = self.nodes;
        let (nodes, is_there) = match part {
            ValueComponent::White => ([a, b, a, b], self.sided.is_some()),
            ValueComponent::Black => ([c, d, c, d], self.sided.is_some()),
            ValueComponent::Midgame => ([a, a, c, c], self.pair.is_some()),
            ValueComponent::Endgame => ([b, b, d, d], self.pair.is_some()),
        };
        match part {
            ValueComponent::White | ValueComponent::Black if is_there => Ok(Value { nodes, sided: None, ..self }),
            ValueComponent::Midgame | ValueComponent::Endgame if is_there => Ok(Value { nodes, pair: None, ..self }),
            ValueComponent::White | ValueComponent::Black => {
                Err("what is before the `.` is not sided: leave the side out".to_owned())
            }
            ValueComponent::Midgame | ValueComponent::Endgame => {
                Err("what is before the `.` is not a pair: leave the half out".to_owned())
            }
        }
    }

    /// Applies an operation to values, component by component.
    fn each(values: &[Value], mut act: impl FnMut(&[Node]) -> Result<Node, String>) -> Result<Value, String> {
        let sided = values.iter().find_map(|value| value.sided);
        let pair = values.iter().find_map(|value| value.pair);
        let mut nodes = [0; 4];
        for index in 0..4 {
            let same = match index {
                1 if pair.is_none() => Some(0),
                2 if sided.is_none() => Some(0),
                3 if sided.is_none() => Some(1),
                3 if pair.is_none() => Some(2),
                _ => None,
            };
            nodes[index] = match same {
                Some(same) => nodes[same],
                None => act(&values.iter().map(|value| value.nodes[index]).collect::<Vec<Node>>())?,
            };
        }
        Ok(Value { nodes, sided, pair })
    }
}

impl Formula {
    /// Executes instructions and returns the value on the stack.
    pub(super) fn run(&mut self, steps: &[StackInstruction], arguments: &[Value]) -> Result<Value, FormulaError> {
        let mut stack: Vec<Value> = Vec::new();
        for &StackInstruction { action, place } in steps {
            let takes = match action {
                Action::Number(_) | Action::Name(_) | Action::Argument(_) => 0,
                Action::Part(_) | Action::Negate => 1,
                Action::Operator(_) => 2,
                Action::Call(_, count) | Action::Builtin(_, count) => count,
            };
            let given = stack.split_off(stack.len() - takes);
            let graph = &mut self.graph;
            let result = match action {
                Action::Number(number) => Ok(Value::number(graph.number(number))),
                Action::Name(name) => Ok(self.load(Origin { name, place })),
                Action::Argument(argument) => Ok(arguments[argument]),
                Action::Part(part) => given[0].part(part),
                Action::Negate => Value::each(&given, |of| {
                    let zero = graph.number(0.0);
                    graph.add(Op::Sub(zero, of[0]))
                }),
                Action::Operator('^') => power(graph, &given),
                Action::Operator(operator) => Value::each(&given, |of| {
                    graph.add(match operator {
                        '+' => Op::Add(of[0], of[1]),
                        '-' => Op::Sub(of[0], of[1]),
                        '*' => Op::Mul(of[0], of[1]),
                        _ => Op::Div(of[0], of[1]),
                    })
                }),
                Action::Builtin(builtin, _) => Value::each(&given, |of| apply(graph, builtin, of)),
                Action::Call(name, _) => {
                    let Meaning::Function(Function { steps, .. }) = &self.names[name].1 else { unreachable!() };
                    let steps = steps.clone();
                    let FormulaPosition { line, column } = place;
                    let called = |error: FormulaError| error.with(&format!(", as it is called at {line}:{column}"));
                    stack.push(self.run(&steps, &given).map_err(called)?);
                    continue;
                }
            };
            stack.push(result.map_err(|message| place.error(message))?);
        }
        Ok(stack[0])
    }

    fn load(&self, origin: Origin) -> Value {
        let Meaning::Value(value) = &self.names[origin.name].1 else {
            unreachable!("the parser compiles functions to calls")
        };
        Value { nodes: value.nodes, sided: value.sided.map(|_| origin), pair: value.pair.map(|_| origin) }
    }
}

fn power(graph: &mut Graph, given: &[Value]) -> Result<Value, String> {
    let exponent = given[1];
    match graph.constant(exponent.nodes[0]) {
        Some(power) if exponent.nodes == [exponent.nodes[0]; 4] => {
            Value::each(&given[..1], |of| graph.add(Op::Power(of[0], power)))
        }
        _ => Err("the exponent is not constant: write exp(b * log(a)) for a ^ b".to_owned()),
    }
}

fn apply(graph: &mut Graph, builtin: Builtin, of: &[Node]) -> Result<Node, String> {
    match builtin {
        Builtin::Min => of[1..].iter().try_fold(of[0], |least, &next| graph.add(Op::Min(least, next))),
        Builtin::Max => of[1..].iter().try_fold(of[0], |largest, &next| graph.add(Op::Max(largest, next))),
        Builtin::Abs => graph.add(Op::Abs(of[0])),
        Builtin::Sign => graph.add(Op::Sign(of[0])),
        Builtin::Clamp => {
            if let (Some(low), Some(high)) = (graph.constant(of[1]), graph.constant(of[2]))
                && low > high
            {
                return Err(format!("nothing lies between {low} and {high}: write clamp(x, low, high)"));
            }
            let floored = graph.add(Op::Max(of[0], of[1]))?;
            graph.add(Op::Min(floored, of[2]))
        }
        Builtin::Sqrt => graph.add(Op::Power(of[0], 0.5)),
        Builtin::Exp => graph.add(Op::Exp(of[0])),
        Builtin::Log => graph.add(Op::Log(of[0])),
        Builtin::Logistic => graph.add(Op::Logistic(of[0])),
        Builtin::Taper => {
            let midgame = graph.add(Op::Mul(of[2], of[0]))?;
            let one = graph.number(1.0);
            let rest = graph.add(Op::Sub(one, of[2]))?;
            let endgame = graph.add(Op::Mul(rest, of[1]))?;
            graph.add(Op::Add(midgame, endgame))
        }
    }
}
