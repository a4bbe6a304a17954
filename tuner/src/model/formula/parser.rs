//! The parser of formulas, which compiles tokens to instructions of a stack machine.

use super::lexer::{FormulaToken, FormulaTokenKind, brief, tokens};
use super::{Formula, FormulaError, FormulaPosition, Meaning};

/// Maximum nesting depth of parentheses, signs and exponents.
const MOST_DEPTH: usize = 64;

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    Min,
    Max,
    Abs,
    Sign,
    Clamp,
    Sqrt,
    Exp,
    Log,
    Logistic,
    Taper,
}

/// The built-in functions: names and arguments.
pub(super) const BUILTINS: [(&str, Builtin, &str); 10] = [
    ("min", Builtin::Min, "a, b, …"),
    ("max", Builtin::Max, "a, b, …"),
    ("abs", Builtin::Abs, "x"),
    ("sign", Builtin::Sign, "x"),
    ("clamp", Builtin::Clamp, "x, low, high"),
    ("sqrt", Builtin::Sqrt, "x"),
    ("exp", Builtin::Exp, "x"),
    ("log", Builtin::Log, "x"),
    ("logistic", Builtin::Logistic, "x"),
    ("taper", Builtin::Taper, "mg, eg, fraction"),
];

/// A component of a sided value or a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueComponent {
    White,
    Black,
    Midgame,
    Endgame,
}

/// The names of the components.
pub(super) const PARTS: [(&str, ValueComponent); 4] = [
    ("white", ValueComponent::White),
    ("black", ValueComponent::Black),
    ("mg", ValueComponent::Midgame),
    ("eg", ValueComponent::Endgame),
];

/// The operation of an instruction on the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    Number(f64),
    /// The value of a name.
    Name(usize),
    /// An argument of the function.
    Argument(usize),
    Part(ValueComponent),
    Negate,
    /// One of `+ - * / ^`.
    Operator(char),
    /// A call of a defined function, with the number of its arguments.
    Call(usize, usize),
    Builtin(Builtin, usize),
}

/// An instruction of the stack machine: an action with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct StackInstruction {
    pub(super) action: Action,
    pub(super) place: FormulaPosition,
}

/// The definition of a line.
pub(super) struct Definition<'t> {
    pub(super) name: FormulaToken<'t>,
    /// Number of arguments of a function.
    pub(super) arguments: Option<usize>,
    pub(super) steps: Vec<StackInstruction>,
}

/// Parses a definition, which begins with its name.
pub(super) fn definition<'t>(
    formula: &Formula,
    text: &'t str,
    start: FormulaPosition,
) -> Result<Definition<'t>, FormulaError> {
    let tokens = tokens(text, start)?;
    let mut parser = Parser { formula, tokens: &tokens, arguments: Vec::new(), steps: Vec::new(), depth: 0 };
    let name = parser.name()?;
    let mut arguments = None;
    if parser.take('(') {
        loop {
            let argument = parser.name()?;
            formula.check_free(argument.text, argument.place)?;
            if parser.arguments.contains(&argument.text) {
                return Err(argument.place.error(format!("`{}` is the name of two arguments", brief(argument.text))));
            }
            parser.arguments.push(argument.text);
            if !parser.take(',') {
                break;
            }
        }
        parser.expect(')', "`,` or `)`")?;
        arguments = Some(parser.arguments.len());
    }
    parser.expect('=', if arguments.is_some() { "`=`" } else { "`=`, or `(` and names of arguments" })?;
    parser.sum()?;
    match parser.tokens[0].kind {
        FormulaTokenKind::End => Ok(Definition { name, arguments, steps: parser.steps }),
        _ => Err(parser.expected("an operator or the end of the line")),
    }
}

struct Parser<'p, 't> {
    formula: &'p Formula,
    /// Remaining tokens, at least the end.
    tokens: &'p [FormulaToken<'t>],
    arguments: Vec<&'t str>,
    steps: Vec<StackInstruction>,
    depth: usize,
}

impl<'t> Parser<'_, 't> {
    fn next(&mut self) -> FormulaToken<'t> {
        let token = self.tokens[0];
        if token.kind != FormulaTokenKind::End {
            self.tokens = &self.tokens[1..];
        }
        token
    }

    /// Consumes a symbol if it is the next one; returns true if it was.
    fn take(&mut self, symbol: char) -> bool {
        let is_next = self.tokens[0].kind == FormulaTokenKind::Symbol(symbol);
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect(&mut self, symbol: char, expected: &str) -> Result<(), FormulaError> {
        if self.take(symbol) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn name(&mut self) -> Result<FormulaToken<'t>, FormulaError> {
        match self.tokens[0].kind {
            FormulaTokenKind::Name(_) => Ok(self.next()),
            _ => Err(self.expected("a name")),
        }
    }

    fn expected(&self, expected: &str) -> FormulaError {
        let FormulaToken { kind, place, text } = self.tokens[0];
        match kind {
            FormulaTokenKind::End => place.error(format!("expected {expected}, found the end of the line")),
            _ => place.error(format!("expected {expected}, found `{}`", brief(text))),
        }
    }

    fn step(&mut self, place: FormulaPosition, action: Action) {
        self.steps.push(StackInstruction { action, place });
    }

    /// Parses terms with `+` or `-` between them.
    fn sum(&mut self) -> Result<(), FormulaError> {
        self.product()?;
        while let FormulaToken { kind: FormulaTokenKind::Symbol(operator @ ('+' | '-')), place, .. } = self.tokens[0] {
            self.next();
            self.product()?;
            self.step(place, Action::Operator(operator));
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), FormulaError> {
        self.factor()?;
        while let FormulaToken { kind: FormulaTokenKind::Symbol(operator @ ('*' | '/')), place, .. } = self.tokens[0] {
            self.next();
            self.factor()?;
            self.step(place, Action::Operator(operator));
        }
        Ok(())
    }

    /// Parses a factor with optional signs: `-a ^ b` is `-(a ^ b)`.
    fn factor(&mut self) -> Result<(), FormulaError> {
        let place = self.tokens[0].place;
        if self.depth == MOST_DEPTH {
            return Err(place.error(format!(
                "more than {MOST_DEPTH} parentheses, signs and exponents within one another: give parts names with \
                 `let`"
            )));
        }
        self.depth += 1;
        if self.take('-') {
            self.factor()?;
            self.step(place, Action::Negate);
        } else {
            self.power()?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// Parses a power: `a ^ b ^ c` is `a ^ (b ^ c)`.
    fn power(&mut self) -> Result<(), FormulaError> {
        self.primary()?;
        while self.take('.') {
            let place = self.tokens[0].place;
            let part = PARTS.iter().find(|part| self.tokens[0].kind == FormulaTokenKind::Name(part.0));
            let &(_, part) = part.ok_or_else(|| self.expected("mg, eg, white or black"))?;
            self.next();
            self.step(place, Action::Part(part));
        }
        if self.take('^') {
            let place = self.tokens[0].place;
            self.factor()?;
            self.step(place, Action::Operator('^'));
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<(), FormulaError> {
        let token = self.tokens[0];
        match token.kind {
            FormulaTokenKind::Number(number) => {
                self.next();
                self.step(token.place, Action::Number(number));
                Ok(())
            }
            FormulaTokenKind::Name(name) => {
                self.next();
                self.named(name, token.place)
            }
            FormulaTokenKind::Symbol('(') => {
                self.next();
                self.sum()?;
                self.expect(')', "an operator or `)`")
            }
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    fn named(&mut self, name: &str, place: FormulaPosition) -> Result<(), FormulaError> {
        if let Some(&(_, builtin, takes)) = BUILTINS.iter().find(|builtin| builtin.0 == name) {
            if !self.take('(') {
                return Err(place.error(format!("`{name}` is a function: write {name}({takes})")));
            }
            let given = self.given()?;
            let wanted = takes.split(", ").count();
            let is_right = if takes.ends_with('…') { given >= 2 } else { given == wanted };
            if !is_right {
                return Err(place.error(format!("arguments of `{name}`: {given}, expected {name}({takes})")));
            }
            self.step(place, Action::Builtin(builtin, given));
        } else if let Some(argument) = self.arguments.iter().position(|&argument| argument == name) {
            self.refuse_call(name)?;
            self.step(place, Action::Argument(argument));
        } else {
            let number = self.formula.find(name).ok_or_else(|| place.error(self.unknown(name)))?;
            match &self.formula.names[number].1 {
                Meaning::Function(function) => {
                    if !self.take('(') {
                        return Err(place.error(format!("`{name}` is a function: write {name}(…)")));
                    }
                    let (given, takes) = (self.given()?, function.arguments);
                    if given != takes {
                        return Err(place.error(format!("arguments of `{name}`: {given}, expected {takes}")));
                    }
                    self.step(place, Action::Call(number, given));
                }
                Meaning::Value(_) => {
                    self.refuse_call(name)?;
                    self.step(place, Action::Name(number));
                }
            }
        }
        Ok(())
    }

    /// Parses the arguments of a call behind its `(`, and returns their number.
    fn given(&mut self) -> Result<usize, FormulaError> {
        let mut given = 1;
        self.sum()?;
        while self.take(',') {
            self.sum()?;
            given += 1;
        }
        self.expect(')', "an operator, `,` or `)`")?;
        Ok(given)
    }

    fn refuse_call(&self, name: &str) -> Result<(), FormulaError> {
        match self.tokens[0] {
            FormulaToken { kind: FormulaTokenKind::Symbol('('), place, .. } => {
                Err(place.error(format!("`{}` is not a function", brief(name))))
            }
            _ => Ok(()),
        }
    }

    fn unknown(&self, name: &str) -> String {
        const SHOWN: usize = 24;
        let known: Vec<&str> = self.arguments.iter().copied().chain(self.formula.known()).collect();
        let more = if known.len() > SHOWN { ", …" } else { "" };
        let shown = known[..known.len().min(SHOWN)].join(", ");
        if known.is_empty() {
            return format!("unknown name `{}`: nothing has been named yet", brief(name));
        }
        format!("unknown name `{}`: so far there are {shown}{more}", brief(name))
    }
}
