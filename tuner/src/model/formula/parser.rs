//! The parser of formulas, which evaluates expressions symbolically as it reads them.

use anyhow::{Result, anyhow};

use super::graph::Graph;
use super::lexer::{Word, brief, expected, is_identifier, tokens};
use super::value::{BUILTINS, Origin, PARTS, Value, power};
use super::{Formula, FormulaPosition, Function, Meaning};
use crate::model::tape::{Node, Op};

/// Maximum nesting depth of parentheses, signs and exponents, including those of called functions.
const MOST_DEPTH: usize = 64;

/// The value of an argument before it is known.
const UNKNOWN: Value = Value { nodes: [0; 4], sided: None, pair: None };

/// Parses a definition, which begins with its name. Returns the name and its meaning.
pub(super) fn definition<'t>(formula: &mut Formula, line: Word<'t>) -> Result<(Word<'t>, Meaning)> {
    let tokens = tokens(line)?;
    let mut parser = Parser::new(formula, &tokens);
    let name = parser.name()?;
    parser.is_dry = parser.take("(");
    if parser.is_dry {
        loop {
            let (text, place) = parser.name()?;
            parser.formula.check_free(text, place)?;
            if parser.arguments.iter().any(|argument| argument.0 == text) {
                return Err(place.error(format!("`{}` is the name of two arguments", brief(text))));
            }
            parser.arguments.push((text, UNKNOWN));
            if !parser.take(",") {
                break;
            }
        }
        parser.expect(")", "`,` or `)`")?;
    }
    parser.expect("=", if parser.is_dry { "`=`" } else { "`=`, or `(` and names of arguments" })?;
    let value = parser.sum()?;
    if parser.tokens.len() > 1 {
        return Err(expected("an operator or the end of the line", parser.tokens[0]));
    }
    if !parser.is_dry {
        return Ok((name, Meaning::Value(value)));
    }
    let arguments = parser.arguments.iter().map(|argument| argument.0.to_owned()).collect();
    let function = Function { arguments, text: line.0.to_owned(), start: line.1, calls: 1 + parser.calls };
    Ok((name, Meaning::Function(function.into())))
}

/// Evaluates a function with arguments, at a nesting depth.
fn call(formula: &mut Formula, function: &Function, given: Vec<Value>, depth: usize) -> Result<Value> {
    let tokens = tokens((&function.text, function.start))?;
    let body = 1 + tokens.iter().position(|token| token.0 == "=").expect("a definition");
    let arguments = function.arguments.iter().map(String::as_str).zip(given).collect();
    Parser { arguments, depth, ..Parser::new(formula, &tokens[body..]) }.sum()
}

struct Parser<'p, 't> {
    formula: &'p mut Formula,
    /// Remaining tokens, at least the end.
    tokens: &'p [Word<'t>],
    /// Names and values of the function's arguments.
    arguments: Vec<(&'t str, Value)>,
    /// True in the definition of a function, of which nothing is evaluated.
    is_dry: bool,
    depth: usize,
    /// Depth of the function calls in a definition.
    calls: usize,
}

impl<'p, 't> Parser<'p, 't> {
    fn new(formula: &'p mut Formula, tokens: &'p [Word<'t>]) -> Self {
        Parser { formula, tokens, arguments: Vec::new(), is_dry: false, depth: 0, calls: 0 }
    }

    /// Consumes a token that is not the end if it satisfies a condition, and returns it.
    fn take_if(&mut self, is_wanted: impl Fn(&str) -> bool) -> Option<Word<'t>> {
        let token = self.tokens[0];
        let is_next = is_wanted(token.0);
        self.tokens = &self.tokens[usize::from(is_next)..];
        is_next.then_some(token)
    }

    /// Consumes a symbol if it is the next one; returns true if it was.
    fn take(&mut self, symbol: &str) -> bool {
        self.take_if(|token| token == symbol).is_some()
    }

    fn expect(&mut self, symbol: &str, what: &str) -> Result<()> {
        if self.take(symbol) { Ok(()) } else { Err(expected(what, self.tokens[0])) }
    }

    fn name(&mut self) -> Result<Word<'t>> {
        self.take_if(is_identifier).ok_or_else(|| expected("a name", self.tokens[0]))
    }

    /// Evaluates an operation, component by component.
    fn apply(
        &mut self,
        place: FormulaPosition,
        of: &[Value],
        act: impl Fn(&mut Graph, &[Node]) -> Result<Node, String>,
    ) -> Result<Value> {
        self.evaluate(place, |graph| Value::each(of, |nodes| act(graph, nodes)))
    }

    /// Evaluates a part of a formula, unless it is the definition of a function.
    fn evaluate(
        &mut self,
        place: FormulaPosition,
        act: impl FnOnce(&mut Graph) -> Result<Value, String>,
    ) -> Result<Value> {
        if self.is_dry {
            return Ok(UNKNOWN);
        }
        act(&mut self.formula.graph).map_err(|message| place.error(message))
    }

    fn sum(&mut self) -> Result<Value> {
        self.chain(["+", "-"], Self::product)
    }

    fn product(&mut self) -> Result<Value> {
        self.chain(["*", "/"], Self::factor)
    }

    /// Parses operands with one of two operators between them.
    fn chain(&mut self, operators: [&str; 2], operand: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        let mut value = operand(self)?;
        loop {
            let place = self.tokens[0].1;
            let Some(operator) = operators.into_iter().find(|operator| self.take(operator)) else { return Ok(value) };
            let operands = [value, operand(self)?];
            value = self.apply(place, &operands, |graph, of| {
                graph.add(match operator {
                    "+" => Op::Add(of[0], of[1]),
                    "-" => Op::Sub(of[0], of[1]),
                    "*" => Op::Mul(of[0], of[1]),
                    _ => Op::Div(of[0], of[1]),
                })
            })?;
        }
    }

    /// Parses a factor with optional signs: `-a ^ b` is `-(a ^ b)`.
    fn factor(&mut self) -> Result<Value> {
        let place = self.tokens[0].1;
        if self.depth >= MOST_DEPTH {
            return Err(place.error(format!(
                "more than {MOST_DEPTH} parentheses, signs and exponents within one another: give parts names with \
                 `let`"
            )));
        }
        self.depth += 1;
        let value = if self.take("-") {
            let value = self.factor()?;
            self.apply(place, &[value], |graph, of| {
                let zero = graph.number(0.0);
                graph.add(Op::Sub(zero, of[0]))
            })
        } else {
            self.power()
        };
        self.depth -= 1;
        value
    }

    /// Parses a power: `a ^ b ^ c` is `a ^ (b ^ c)`.
    fn power(&mut self) -> Result<Value> {
        let mut value = self.primary()?;
        while self.take(".") {
            let place = self.tokens[0].1;
            let part = PARTS.iter().find(|part| self.take(part.0));
            let &(_, places, is_side) = part.ok_or_else(|| expected("mg, eg, white or black", self.tokens[0]))?;
            value = self.evaluate(place, |_| value.part(places, is_side))?;
        }
        if self.take("^") {
            let place = self.tokens[0].1;
            let exponent = self.factor()?;
            value = self.evaluate(place, |graph| power(graph, value, exponent))?;
        }
        Ok(value)
    }

    fn primary(&mut self) -> Result<Value> {
        if self.take("(") {
            let value = self.sum()?;
            self.expect(")", "an operator or `)`")?;
            return Ok(value);
        }
        if let Some((name, place)) = self.take_if(is_identifier) {
            return self.named(name, place);
        }
        let (text, place) = self.tokens[0];
        match text.parse() {
            Ok(number) if f64::is_finite(number) => {
                self.tokens = &self.tokens[1..];
                self.evaluate(place, |graph| Ok(Value::number(graph.number(number))))
            }
            Ok(_) => Err(place.error(format!("{} is too large a number", brief(text)))),
            Err(_) => Err(expected("a number, a name or `(`", (text, place))),
        }
    }

    fn named(&mut self, name: &str, place: FormulaPosition) -> Result<Value> {
        if let Some(&(_, takes, operation)) = BUILTINS.iter().find(|builtin| builtin.0 == name) {
            if !self.take("(") {
                return Err(place.error(format!("`{name}` is a function: write {name}({takes})")));
            }
            let given = self.given()?;
            let (count, wanted) = (given.len(), takes.split(", ").count());
            if !(count == wanted || takes.ends_with('…') && count >= 2) {
                return Err(place.error(format!("arguments of `{name}`: {count}, expected {name}({takes})")));
            }
            return self.apply(place, &given, operation);
        }
        if let Some(&(_, value)) = self.arguments.iter().find(|argument| argument.0 == name) {
            self.refuse_call(name)?;
            return Ok(value);
        }
        let number = self.formula.find(name).ok_or_else(|| place.error(self.unknown(name)))?;
        match self.formula.names[number].1.clone() {
            Meaning::Value(Value { nodes, sided, pair }) => {
                self.refuse_call(name)?;
                let origin = Origin { name: number, place };
                Ok(Value { nodes, sided: sided.map(|_| origin), pair: pair.map(|_| origin) })
            }
            Meaning::Function(function) => {
                if !self.take("(") {
                    return Err(place.error(format!("`{name}` is a function: write {name}(…)")));
                }
                let (given, takes) = (self.given()?, function.arguments.len());
                if given.len() != takes {
                    return Err(place.error(format!("arguments of `{name}`: {}, expected {takes}", given.len())));
                }
                self.calls = self.calls.max(function.calls);
                if self.is_dry {
                    return Ok(UNKNOWN);
                }
                let FormulaPosition { line, column } = place;
                call(self.formula, &function, given, self.depth)
                    .map_err(|error| anyhow!("{error}, as it is called at {line}:{column}"))
            }
        }
    }

    /// Parses the arguments of a call behind its `(`.
    fn given(&mut self) -> Result<Vec<Value>> {
        let mut given = vec![self.sum()?];
        while self.take(",") {
            given.push(self.sum()?);
        }
        self.expect(")", "an operator, `,` or `)`")?;
        Ok(given)
    }

    fn refuse_call(&self, name: &str) -> Result<()> {
        match self.tokens[0] {
            ("(", place) => Err(place.error(format!("`{}` is not a function", brief(name)))),
            _ => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> String {
        const SHOWN: usize = 24;
        let declared = self.formula.names.iter().map(|(name, _)| &name[..]);
        let mut known = self.arguments.iter().map(|argument| argument.0).chain(declared);
        let shown = known.by_ref().take(SHOWN).collect::<Vec<_>>().join(", ");
        let more = if known.next().is_some() { ", …" } else { "" };
        let known =
            if shown.is_empty() { "nothing has been named yet" } else { &format!("so far there are {shown}{more}") };
        format!("unknown name `{}`: {known}", brief(name))
    }
}
