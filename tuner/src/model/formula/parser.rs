//! From the words of a formula to steps of a machine that has a stack: nothing of it is deeper than its stack.

use super::lexer::{Kind, Token, brief, tokens};
use super::{Formula, FormulaError, Meaning, Place};

/// Parentheses, signs and exponents within one another.
const MOST_DEPTH: usize = 64;

/// A function that every formula has.
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

/// What each is called, and what it is given.
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

/// One part of what is sided or a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    White,
    Black,
    Midgame,
    Endgame,
}

/// What the parts are called.
pub(super) const PARTS: [(&str, Part); 4] =
    [("white", Part::White), ("black", Part::Black), ("mg", Part::Midgame), ("eg", Part::Endgame)];

/// Something done to what lies on the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    Number(f64),
    /// What a name stands for.
    Name(usize),
    /// What the function was given.
    Argument(usize),
    Part(Part),
    Negate,
    /// One of `+ - * / ^`.
    Operator(char),
    /// A function of the formula, and how much it is given.
    Call(usize, usize),
    Builtin(Builtin, usize),
}

/// An action and where it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) place: Place,
}

/// What a line defines.
pub(super) struct Definition<'t> {
    pub(super) name: Token<'t>,
    /// Of a function.
    pub(super) arguments: Option<usize>,
    pub(super) steps: Vec<Step>,
}

/// A definition, from its name on.
pub(super) fn definition<'t>(formula: &Formula, text: &'t str, start: Place) -> Result<Definition<'t>, FormulaError> {
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
        Kind::End => Ok(Definition { name, arguments, steps: parser.steps }),
        _ => Err(parser.expected("an operator or the end of the line")),
    }
}

struct Parser<'p, 't> {
    formula: &'p Formula,
    /// Those that are left, the end at least.
    tokens: &'p [Token<'t>],
    arguments: Vec<&'t str>,
    steps: Vec<Step>,
    depth: usize,
}

impl<'t> Parser<'_, 't> {
    fn next(&mut self) -> Token<'t> {
        let token = self.tokens[0];
        if token.kind != Kind::End {
            self.tokens = &self.tokens[1..];
        }
        token
    }

    /// Takes a symbol if it is the next one.
    fn take(&mut self, symbol: char) -> bool {
        let is_next = self.tokens[0].kind == Kind::Symbol(symbol);
        if is_next {
            self.next();
        }
        is_next
    }

    fn expect(&mut self, symbol: char, expected: &str) -> Result<(), FormulaError> {
        if self.take(symbol) { Ok(()) } else { Err(self.expected(expected)) }
    }

    fn name(&mut self) -> Result<Token<'t>, FormulaError> {
        match self.tokens[0].kind {
            Kind::Name(_) => Ok(self.next()),
            _ => Err(self.expected("a name")),
        }
    }

    fn expected(&self, expected: &str) -> FormulaError {
        let Token { kind, place, text } = self.tokens[0];
        match kind {
            Kind::End => place.error(format!("expected {expected}, found the end of the line")),
            _ => place.error(format!("expected {expected}, found `{}`", brief(text))),
        }
    }

    fn step(&mut self, place: Place, action: Action) {
        self.steps.push(Step { action, place });
    }

    /// Terms with `+` or `-` between them.
    fn sum(&mut self) -> Result<(), FormulaError> {
        self.product()?;
        while let Token { kind: Kind::Symbol(operator @ ('+' | '-')), place, .. } = self.tokens[0] {
            self.next();
            self.product()?;
            self.step(place, Action::Operator(operator));
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), FormulaError> {
        self.factor()?;
        while let Token { kind: Kind::Symbol(operator @ ('*' | '/')), place, .. } = self.tokens[0] {
            self.next();
            self.factor()?;
            self.step(place, Action::Operator(operator));
        }
        Ok(())
    }

    /// What may have a sign before it: `-a ^ b` is `-(a ^ b)`.
    fn factor(&mut self) -> Result<(), FormulaError> {
        let place = self.tokens[0].place;
        if self.depth == MOST_DEPTH {
            return Err(place.error(format!(
                "more than {MOST_DEPTH} parentheses, signs and exponents within one another: give parts names with `let`"
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

    /// `a ^ b ^ c` is `a ^ (b ^ c)`.
    fn power(&mut self) -> Result<(), FormulaError> {
        self.primary()?;
        while self.take('.') {
            let place = self.tokens[0].place;
            let part = PARTS.iter().find(|part| self.tokens[0].kind == Kind::Name(part.0));
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
            Kind::Number(number) => {
                self.next();
                self.step(token.place, Action::Number(number));
                Ok(())
            }
            Kind::Name(name) => {
                self.next();
                self.named(name, token.place)
            }
            Kind::Symbol('(') => {
                self.next();
                self.sum()?;
                self.expect(')', "an operator or `)`")
            }
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    fn named(&mut self, name: &str, place: Place) -> Result<(), FormulaError> {
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

    /// How many arguments a function is given, after its `(`.
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
            Token { kind: Kind::Symbol('('), place, .. } => {
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
