//! Formulas of scores, as engine authors write them, checked and compiled to a [`Tape`].
//!
//! A [`Formula`] takes, in order, the declarations of sums, facts and common totals, then the definitions (`let`), then
//! the score. Names are visible from the line after their own on, so recursion is impossible. Expressions are evaluated
//! symbolically as they are read, component by component: an expression of sided sums is sided, and an expression of
//! pairs is a pair. Operations are checked by interval arithmetic: no division by an operand that can be 0, and no
//! logarithm or root of an operand that can be 0 or less.

mod graph;
mod interval;
mod lexer;
mod parser;
#[cfg(test)]
pub(in crate::model) mod tests;
mod value;

use std::fmt::Display;
use std::sync::Arc;

use anyhow::{Error, Result, anyhow};

use super::layout::{Layout, SumKind};
use super::tape::{Op, Tape};
use graph::Graph;
pub(crate) use interval::Interval;
use lexer::is_identifier;
pub(super) use lexer::{Word, brief, expected};
use value::{BUILTINS, Origin, PARTS, Value};

/// Maximum number of names of a formula.
const MOST_NAMES: usize = 1024;

/// Maximum depth of function calls.
const MOST_CALLS: usize = 32;

/// The first slot of common totals in a formula. In a layout they follow the slots of the sums.
pub(super) const COMMON: u32 = 1 << 16;

/// Reserved names: the columns of rows.
pub(super) const RESERVED: [&str; 5] = ["result", "group", "search", "score", "constant"];

/// Name of the fact that is added to every score.
pub(crate) const CONSTANT: &str = "constant";

/// A position in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FormulaPosition {
    /// Number of the line, 1 for the first.
    pub(crate) line: u64,
    /// Number of the character, 1 for the first of its line.
    pub(crate) column: usize,
}

impl FormulaPosition {
    /// Returns an error there: its description, and a correction.
    pub(crate) fn error(self, message: impl Display) -> Error {
        anyhow!("{}:{}: {message}", self.line, self.column)
    }
}

/// The meaning of a name.
#[derive(Clone, Debug)]
enum Meaning {
    Value(Value),
    Function(Arc<Function>),
}

/// A function that is defined in a formula. Its text is parsed again in each call, with the values of its arguments.
#[derive(Debug)]
struct Function {
    arguments: Vec<String>,
    /// The definition, which begins with the name, and its position.
    text: String,
    start: FormulaPosition,
    /// Depth of its calls, including its own.
    calls: usize,
}

/// A formula under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Formula {
    names: Vec<(String, Meaning)>,
    graph: Graph,
    /// Slot, name and position of the declaration of each total.
    totals: Vec<(u32, String, FormulaPosition)>,
    /// Number of slots of the sums.
    slots: usize,
    score: Option<(Value, FormulaPosition)>,
}

impl Formula {
    /// Declares the next sum of the layout.
    pub(crate) fn sum(&mut self, (name, place): Word, kind: SumKind, is_sided: bool) -> Result<()> {
        self.check_new(name, place)?;
        let origin = Origin { name: self.names.len(), place };
        let mut nodes = [0; 4];
        for (index, node) in nodes.iter_mut().enumerate() {
            let (side, half) = (index / 2 * usize::from(is_sided), index % kind.width());
            let slot = (self.slots + side * kind.width() + half) as u32;
            *node = self.graph.push(Op::Slot(slot), Interval::ANY);
            if self.totals.iter().all(|total| total.0 != slot) {
                let side = if is_sided { [".white", ".black"][side] } else { "" };
                let half = if kind == SumKind::Pair { [".mg", ".eg"][half] } else { "" };
                self.totals.push((slot, format!("{name}{side}{half}"), place));
            }
        }
        self.slots += kind.width() * if is_sided { 2 } else { 1 };
        let (sided, pair) = (is_sided.then_some(origin), (kind == SumKind::Pair).then_some(origin));
        self.insert(name, Meaning::Value(Value { nodes, sided, pair }));
        Ok(())
    }

    /// Declares a fact or a common total, which is its slot behind [`COMMON`], with its range.
    pub(crate) fn number(&mut self, (name, place): Word, op: Op, range: Interval) -> Result<()> {
        self.check_new(name, place)?;
        if let Op::Slot(slot) = op {
            self.totals.push((slot, name.to_owned(), place));
        }
        let node = self.graph.push(op, range);
        self.insert(name, Meaning::Value(Value::number(node)));
        Ok(())
    }

    /// Adds a definition, the text behind `let`: `name = …` or `name(a, b) = …`.
    pub(crate) fn define(&mut self, definition: Word) -> Result<()> {
        let ((name, place), meaning) = parser::definition(self, definition)?;
        self.check_new(name, place)?;
        if matches!(&meaning, Meaning::Function(function) if function.calls > MOST_CALLS) {
            return Err(place.error(format!("more than {MOST_CALLS} functions that call one another")));
        }
        self.insert(name, meaning);
        Ok(())
    }

    /// Sets the score from a line `score = …`.
    pub(crate) fn score(&mut self, line: Word) -> Result<()> {
        let ((_, place), meaning) = parser::definition(self, line)?;
        let Meaning::Value(value) = meaning else {
            return Err(place.error("the score takes no arguments: write `score = …`"));
        };
        if self.score.is_some() {
            return Err(place.error("there are two scores: one line `score = …` says it all"));
        }
        for (origin, is, [one, other]) in
            [(value.sided, "sided", ["white", "black"]), (value.pair, "a pair", ["mg", "eg"])]
        {
            if let Some(Origin { name, place }) = origin {
                let name = &self.names[name].0;
                return Err(place.error(format!("`{name}` is {is}: write `{name}.{one}` or `{name}.{other}`")));
            }
        }
        self.score = Some((value, place));
        Ok(())
    }

    /// Returns the tape of the score plus the constant. The layout has the declared sums, facts (after the constant)
    /// and common totals.
    ///
    /// # Errors
    /// If there is no score (the error is at `end`), or the score has no parameter in it; the first total without
    /// influence on the score, at its declaration.
    pub(crate) fn tape(&self, layout: &Layout, end: FormulaPosition) -> Result<Tape> {
        let Some((Value { nodes: [score, ..], .. }, place)) = self.score else {
            return Err(end.error("there is no score: a line `score = …` says what the sums come to"));
        };
        let used = self.graph.slots(score);
        if used.is_empty() {
            return Err(place.error("the score has no parameter in it: no sum has part in it"));
        }
        if let Some((_, name, place)) = self.totals.iter().find(|(slot, ..)| !used.contains(slot)) {
            let message = format!("`{name}` has no part in the score: use it in the formula, or leave it out");
            return Err(place.error(message));
        }
        let of_layout = |slot| if slot < COMMON { slot } else { layout.row_slots() as u32 + slot - COMMON };
        let mut tape = self.graph.needed(score, of_layout);
        let score = (tape.ops().len() - 1) as u32;
        let constant = tape.push(Op::Fact(0));
        tape.push(Op::Add(score, constant));
        Ok(tape)
    }

    fn find(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|(known, _)| known == name)
    }

    /// Checks that a name can be declared.
    fn check_new(&self, name: &str, place: FormulaPosition) -> Result<()> {
        self.check_free(name, place)?;
        if self.names.len() == MOST_NAMES {
            return Err(place.error(format!("more than {MOST_NAMES} names")));
        }
        Ok(())
    }

    fn check_free(&self, name: &str, place: FormulaPosition) -> Result<()> {
        let shown = brief(name);
        if !is_identifier(name) {
            return Err(place.error(format!(
                "`{shown}` cannot be a name in a formula: letters (a to z), digits and `_` can, not beginning with a \
                 digit"
            )));
        }
        let mut taken = RESERVED.into_iter().chain(BUILTINS.map(|builtin| builtin.0)).chain(PARTS.map(|part| part.0));
        if taken.any(|taken| taken == name) {
            return Err(place.error(format!("`{shown}` means something already: choose another name")));
        }
        if self.find(name).is_some() {
            return Err(place.error(format!("`{shown}` is declared twice: choose another name")));
        }
        Ok(())
    }

    fn insert(&mut self, name: &str, meaning: Meaning) {
        self.names.push((name.to_owned(), meaning));
    }
}
