//! The header of a text: the declarations before the rows.

use std::collections::HashSet;

use anyhow::{Result, anyhow};

use super::lines::{LineReader, Words};
use super::{Parameter, VERSION};
use crate::model::Model;
use crate::model::formula::{COMMON, CONSTANT, Formula, FormulaPosition, Interval, RESERVED, Word, brief, expected};
use crate::model::layout::{Layout, Leaf, Sum, SumKind};
use crate::model::rows::MOST_LEAVES;
use crate::model::tape::Op;

/// Maximum number of lines that an engine may write before the version.
const GREETINGS: usize = 100;

/// Maximum number of sums.
const MOST_SUMS: usize = 32;

/// Maximum number of facts, and of common totals.
const MOST_FACTS: usize = 64;

/// Maximum number of digits behind the decimal point of a parameter.
const MOST_DECIMALS: usize = 9;

/// A column of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowColumn {
    Result,
    Group,
    /// The search score in the data.
    Search,
    Score,
    Constant,
    /// A fact by its number, from 1; the constant is fact 0.
    Fact(usize),
}

/// The columns of labels, which the data provide for the rows of an engine.
const LABELS: [RowColumn; 3] = [RowColumn::Result, RowColumn::Group, RowColumn::Search];

/// The columns with reserved names, in the order of these.
const COLUMNS: [RowColumn; RESERVED.len()] =
    [RowColumn::Result, RowColumn::Group, RowColumn::Search, RowColumn::Score, RowColumn::Constant];

/// The declarations so far, read line by line.
#[derive(Default)]
pub(super) struct Header {
    /// The lines, with one blank between words.
    pub(super) lines: Vec<String>,
    formula: Formula,
    pub(super) sums: Vec<Sum>,
    /// Position of the declaration by sum.
    sum_places: Vec<FormulaPosition>,
    pub(super) parameters: Vec<Parameter>,
    /// Number of numbers of the parameters.
    numbers: usize,
    names: HashSet<String>,
    /// Facts without the constant, with their ranges.
    pub(super) facts: Vec<(String, Interval)>,
    common: Vec<Vec<(usize, f64)>>,
    /// The columns of the rows.
    pub(super) columns: Vec<RowColumn>,
    /// True for the output of an engine, which has no labels and may declare parameters late.
    pub(super) is_of_engine: bool,
}

impl Header {
    /// Reads the declarations of a text and returns the model.
    pub(super) fn open(&mut self, lines: &mut LineReader) -> Result<Model> {
        self.begin(lines).map_err(|error| match self.is_of_engine {
            true => anyhow!(
                "{error}; an engine that is asked begins with `{VERSION}`, its sums and its formula, unasked, and \
                 flushes its output"
            ),
            false => error,
        })?;
        while lines.advance()? {
            let line = lines.text()?;
            let declared = self.declare(line).and_then(|is_last| is_last.then(|| self.model(line.1)).transpose());
            if let Some(model) = declared.map_err(|error| lines.fault_in_header(error))? {
                return Ok(model);
            }
        }
        Err(lines.fault("the text ends before its rows: a line `rows` names their columns"))
    }

    /// Reads the version line. An engine may write other lines before it.
    fn begin(&self, lines: &mut LineReader) -> Result<()> {
        lines.advance()?;
        let first = brief(&String::from_utf8_lossy(lines.bytes())).escape_debug().to_string();
        let said = if first.is_empty() { "; it says nothing".to_owned() } else { format!("; it says `{first}`") };
        let unexpected = lines.fault(format!("expected `{VERSION}`: not a file of rows{said}"));
        let mut greetings = if self.is_of_engine { GREETINGS } else { 0 };
        while lines.bytes() != VERSION.as_bytes() {
            let silent = |error| anyhow!("{error}; it has said `{first}`");
            if greetings == 0 || !lines.advance().map_err(silent)? {
                return Err(unexpected);
            }
            greetings -= 1;
        }
        Ok(())
    }

    /// Describes the first difference from another header: this one's declaration and the other's. Only a column of
    /// scores makes a difference.
    pub(super) fn difference(&self, other: &Header) -> Option<(String, String)> {
        let [has_scores, others_have] = [self, other].map(|header| header.columns.contains(&RowColumn::Score));
        if has_scores != others_have {
            let has = |has: bool| format!("has {} column `score`", if has { "a" } else { "no" });
            return Some((has(has_scores), has(others_have)));
        }
        let [own, others] = [self, other].map(|header| header.lines.split_last().map_or(&[][..], |lines| lines.1));
        let describe = |lines: &[String], at: usize| match lines.get(at) {
            Some(line) => format!("declares `{}`", brief(line)),
            None => "declares nothing more".to_owned(),
        };
        let at = (0..own.len().max(others.len())).find(|&at| own.get(at) != others.get(at))?;
        Some((describe(own, at), describe(others, at)))
    }

    /// Reads a declaration. Returns true if the line is the last one, `rows`.
    pub(super) fn declare(&mut self, line: Word) -> Result<bool> {
        let mut words = Words(line);
        let (keyword, start) = words.next();
        match keyword {
            "let" => self.formula.define(words.rest())?,
            // The line may also be `score=…` without blanks.
            _ if line.0.strip_prefix("score").is_some_and(|rest| rest.trim_start().starts_with(['=', '('])) => {
                self.formula.score(line)?;
            }
            "sum" => self.sum(words)?,
            "fact" => self.fact(words)?,
            "param" | "pair" | "single" => self.parameter(keyword, words)?,
            "rows" => self.read_columns(words, start)?,
            _ => {
                let known = "sum, fact, param, let, score =, pair, single or rows";
                return Err(expected(known, (keyword, start)));
            }
        }
        self.lines.push(line.0.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
        Ok(keyword == "rows")
    }

    /// Checks all declarations, the last of which is at `end`, and returns the model.
    pub(super) fn model(&self, end: FormulaPosition) -> Result<Model> {
        let empty = self.sums.iter().zip(&self.sum_places).find(|(sum, _)| sum.leaves.is_empty());
        if let (Some((Sum { name, .. }, place)), false) = (empty, self.is_of_engine) {
            let message = format!("the sum `{name}` has no parameters: declare some, or leave it out");
            return Err(place.error(message));
        }
        let facts = std::iter::once(CONSTANT).chain(self.facts.iter().map(|fact| &fact.0[..]));
        let facts = facts.map(str::to_owned).collect();
        let layout = Layout::new(self.numbers, self.sums.clone(), facts, self.common.clone());
        let tape = self.formula.tape(&layout, end)?;
        Ok(Model { layout, tape })
    }

    /// Reads a sum: its name, `pair` or `single`, optionally `sided`.
    fn sum(&mut self, mut words: Words) -> Result<()> {
        let (name, place) = words.next();
        let kind = match words.next() {
            ("pair", _) => SumKind::Pair,
            ("single", _) => SumKind::Single,
            other => return Err(expected("pair or single", other)),
        };
        let is_sided = match words.next() {
            ("sided", _) => true,
            ("", _) => false,
            other => return Err(expected("sided or the end of the line", other)),
        };
        words.end()?;
        if self.sums.len() == MOST_SUMS {
            return Err(place.error(format!("more than {MOST_SUMS} sums")));
        }
        self.formula.sum((name, place), kind, is_sided)?;
        self.sums.push(Sum { name: name.to_owned(), kind, is_sided, leaves: Vec::new() });
        self.sum_places.push(place);
        Ok(())
    }

    /// Reads a fact: its name and optionally its range.
    fn fact(&mut self, mut words: Words) -> Result<()> {
        let (name, place) = words.next();
        let range = match words.next() {
            ("", _) => Interval::ANY,
            low => Interval { low: number(low)?, high: number(words.next())? },
        };
        words.end()?;
        if range.low > range.high {
            return Err(place.error(format!("no number is {} to {}", range.low, range.high)));
        }
        if self.facts.len() == MOST_FACTS {
            return Err(place.error(format!("more than {MOST_FACTS} facts")));
        }
        self.facts.push((name.to_owned(), range));
        self.formula.number((name, place), Op::Fact(self.facts.len() as u32), range)?;
        Ok(())
    }

    /// Reads a parameter of a sum, `pair SUM NAME MIDGAME ENDGAME` or `single SUM NAME START`, optionally with `unit U`
    /// behind it, or a free number, `param NAME START`.
    fn parameter(&mut self, keyword: &str, mut words: Words) -> Result<()> {
        let sum = if keyword == "param" { None } else { Some(self.sum_of(keyword, words.next())?) };
        let (name, place) = words.next();
        let (mut start, mut digits) = (Vec::new(), 0);
        for _ in 0..if keyword == "pair" { 2 } else { 1 } {
            let word = words.next();
            start.push(number(word)?);
            digits = digits.max(decimals(word));
        }
        let unit = match words.next() {
            ("", _) => 1.0,
            ("unit", _) if sum.is_some() => {
                let word = words.next();
                let unit = number(word)?;
                if !(1e-9..=1e9).contains(&unit) {
                    return Err(word.1.error(format!("a unit of {unit} is not in 1e-9 to 1e9")));
                }
                unit
            }
            other => {
                let unit = if sum.is_some() { "unit or " } else { "" };
                return Err(expected(&format!("{unit}the end of the line"), other));
            }
        };
        words.end()?;
        if name.is_empty() {
            return Err(expected("the name of a parameter", (name, place)));
        }
        if !self.names.insert(name.to_owned()) {
            return Err(place.error(format!("`{}` is declared twice: choose another name", brief(name))));
        }
        let beyond = match sum {
            Some(sum) => {
                let Sum { name, leaves, .. } = &mut self.sums[sum];
                leaves.push(Leaf { parameter: self.numbers, unit });
                (leaves.len() > MOST_LEAVES).then(|| format!("{MOST_LEAVES} parameters in the sum `{name}`"))
            }
            None => {
                let slot = COMMON + self.common.len() as u32;
                self.formula.number((name, place), Op::Slot(slot), Interval::ANY)?;
                self.common.push(vec![(self.numbers, 1.0)]);
                let is_beyond = self.common.len() > MOST_FACTS;
                is_beyond.then(|| format!("{MOST_FACTS} free numbers: let them be parameters of sums"))
            }
        };
        if let Some(beyond) = beyond {
            return Err(place.error(format!("more than {beyond}")));
        }
        self.numbers += start.len();
        self.parameters.push(Parameter { name: name.to_owned(), sum, start, unit, decimals: digits });
        Ok(())
    }

    /// Finds the sum of a `pair` or `single`.
    fn sum_of(&self, keyword: &str, (sum, place): Word) -> Result<usize> {
        let Some(index) = self.sums.iter().position(|known| known.name == sum) else {
            let known: Vec<&str> = self.sums.iter().map(|sum| &sum.name[..]).collect();
            let sum = brief(sum);
            return Err(place.error(match known.is_empty() {
                true => format!("`{sum}` is not a sum: declare it before, `sum NAME {keyword}`"),
                false => format!("`{sum}` is not a sum: so far there are {}", known.join(", ")),
            }));
        };
        match (self.sums[index].kind, keyword) {
            (SumKind::Pair, "single") => {
                Err(place.error(format!("`{sum}` adds up pairs: write `pair {sum} NAME MIDGAME ENDGAME`")))
            }
            (SumKind::Single, "pair") => {
                Err(place.error(format!("`{sum}` adds up single numbers: write `single {sum} NAME START`")))
            }
            _ => Ok(index),
        }
    }

    /// Reads the names of the columns from the last line.
    fn read_columns(&mut self, mut words: Words, start: FormulaPosition) -> Result<()> {
        let facts = self.facts.iter().enumerate().map(|(fact, (name, _))| (&name[..], RowColumn::Fact(1 + fact)));
        let known: Vec<(&str, RowColumn)> = RESERVED.into_iter().zip(COLUMNS).chain(facts).collect();
        loop {
            let (name, place) = words.next();
            if name.is_empty() {
                break;
            }
            let column = known.iter().find(|known| known.0 == name).map(|known| known.1).ok_or_else(|| {
                let facts: String = self.facts.iter().map(|fact| format!(", {}", fact.0)).collect();
                place.error(format!(
                    "`{}` is no column: there are {} and the facts{}",
                    brief(name),
                    RESERVED.join(", "),
                    if facts.is_empty() { ", of which none is declared" } else { &facts }
                ))
            })?;
            if self.is_of_engine && LABELS.contains(&column) {
                return Err(
                    place.error(format!("a column `{name}` is not for an engine that is asked: the data have it"))
                );
            }
            if self.columns.contains(&column) {
                return Err(place.error(format!("there are two columns `{name}`")));
            }
            self.columns.push(column);
            if [RowColumn::Score, RowColumn::Constant].iter().all(|column| self.columns.contains(column)) {
                return Err(place.error("score and constant exclude one another: the constant follows from the score"));
            }
        }
        let is_needed = |column| match column {
            RowColumn::Result => !self.is_of_engine,
            column => matches!(column, RowColumn::Fact(_)),
        };
        match known.into_iter().find(|&(_, column)| is_needed(column) && !self.columns.contains(&column)) {
            Some((name, _)) => Err(start.error(format!("the column `{name}` is missing"))),
            None => Ok(()),
        }
    }
}

/// Parses a finite number.
fn number((word, place): Word) -> Result<f64> {
    match word.parse() {
        Ok(number) if f64::is_finite(number) => Ok(number),
        Ok(_) => Err(place.error(format!("`{}` is not finite", brief(word)))),
        Err(_) => Err(expected("a number", (word, place))),
    }
}

/// Returns the number of digits behind the decimal point of a number, in its text or in its value, whichever is larger.
fn decimals((word, _): Word) -> usize {
    let behind = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let is_plain = !word.contains(['e', 'E']);
    let value = word.parse::<f64>().map_or(0, |number| behind(&number.to_string()));
    value.max(if is_plain { behind(word) } else { 0 }).min(MOST_DECIMALS)
}
