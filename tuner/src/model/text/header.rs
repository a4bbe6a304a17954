//! The header of a text: the declarations before the rows.

use std::collections::HashSet;

use super::lines::{LineReader, Words};
use super::{Parameter, Start, TextError, VERSION};
use crate::model::Model;
use crate::model::formula::{CONSTANT, Formula, FormulaError, FormulaPosition, Interval, RESERVED, brief};
use crate::model::layout::{Layout, Leaf, Sum, SumKind};
use crate::model::rows::MOST_LEAVES;

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
    formula: Formula,
    /// Lines of the formula: facts, definitions and the score.
    pub(super) text: String,
    pub(super) sums: Vec<Sum>,
    /// Position of the declaration by sum.
    sum_places: Vec<FormulaPosition>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) start: Vec<f64>,
    names: HashSet<String>,
    /// Facts without the constant, with their ranges.
    pub(super) facts: Vec<(String, Interval)>,
    common: Vec<Vec<(usize, f64)>>,
    /// The columns of the rows.
    pub(super) columns: Vec<RowColumn>,
    /// The line that names them.
    column_line: String,
    /// True for the output of an engine, which has no labels and may declare parameters late.
    pub(super) is_of_engine: bool,
}

impl Header {
    /// Reads the declarations of a text and returns the model.
    pub(super) fn open(&mut self, lines: &mut LineReader) -> Result<Model, TextError> {
        self.begin(lines)?;
        while lines.advance()? {
            let (line, place) = lines.text()?;
            // The comment is cut off.
            let line = line.find(" #").or(line.find("\t#")).map_or(line, |end| line[..end].trim_ascii_end());
            match self.declare(line, place) {
                Ok(None) => {}
                Ok(Some(model)) => return Ok(model),
                Err(error) => return Err(lines.fault_in_header(error)),
            }
        }
        Err(lines.fault("the text ends before its rows: a line `rows` names their columns".to_owned()))
    }

    /// Reads the version line. An engine may write other lines before it.
    fn begin(&self, lines: &mut LineReader) -> Result<(), TextError> {
        lines.advance()?;
        let number = lines.number;
        let first = brief(&String::from_utf8_lossy(lines.bytes())).escape_debug().to_string();
        let mut greetings = if self.is_of_engine { GREETINGS } else { 0 };
        loop {
            if lines.bytes() == VERSION.as_bytes() {
                return Ok(());
            }
            let silent = |error| TextError::Refused(format!("{error}; it has said `{first}`"));
            if greetings == 0 || !lines.advance().map_err(silent)? {
                let said = if first.is_empty() { String::new() } else { format!("; it says `{first}`") };
                let fault = format!("expected `{VERSION}`: not a file of rows{said}");
                return Err(lines.fault_at(number, fault));
            }
            greetings -= 1;
        }
    }

    /// Returns the lines that declare the sums, the first `parameters` parameters, the formula and the columns.
    pub(super) fn lines(&self, parameters: usize) -> Vec<String> {
        let parameters = self.parameters[..parameters].iter().map(|parameter| parameter.line(&self.sums));
        let formula = self.text.lines().chain([&self.column_line[..]]).map(str::to_owned);
        self.sums.iter().map(sum_line).chain(parameters).chain(formula).collect()
    }

    /// Describes the first difference from another header: this one's declaration and the other's. Only a column of
    /// scores makes a difference.
    pub(super) fn difference(&self, other: &Header) -> Option<(String, String)> {
        let [has_scores, others_have] = [self, other].map(|header| header.columns.contains(&RowColumn::Score));
        if has_scores != others_have {
            let has = |has: bool| format!("has {} column `score`", if has { "a" } else { "no" });
            return Some((has(has_scores), has(others_have)));
        }
        let [own, others] = [self, other].map(|header| {
            let mut lines = header.lines(header.parameters.len());
            lines.pop();
            lines
        });
        let describe = |lines: &[String], at: usize| match lines.get(at) {
            Some(line) => format!("declares `{}`", brief(line)),
            None => "declares nothing more".to_owned(),
        };
        let at = (0..own.len().max(others.len())).find(|&at| own.get(at) != others.get(at))?;
        Some((describe(&own, at), describe(&others, at)))
    }

    /// Reads a declaration. Returns the model if the line is the last one, `rows`.
    pub(super) fn declare(&mut self, line: &str, start: FormulaPosition) -> Result<Option<Model>, FormulaError> {
        let mut words = Words::new(line, start);
        let (keyword, _) = words.next();
        match keyword {
            "let" => {
                let (text, place) = words.rest();
                self.formula.define(text, place)?;
                self.keep(line);
            }
            // The line may also be `score=…` without blanks.
            _ if line.strip_prefix("score").is_some_and(|rest| rest.trim_start().starts_with(['=', '('])) => {
                self.formula.score(line, start)?;
                self.keep(line);
            }
            "sum" => self.sum(words)?,
            "fact" => {
                self.fact(words)?;
                self.keep(line);
            }
            "param" => self.free_number(words)?,
            "pair" | "single" => self.leaf(keyword, words)?,
            "rows" => {
                self.read_columns(words, start)?;
                return self.model(start).map(Some);
            }
            _ => {
                let known = "sum, fact, param, let, score =, pair, single or rows";
                return Err(expected(known, (keyword, start)));
            }
        }
        Ok(None)
    }

    /// Checks all declarations, the last of which is at `end`, and returns the model.
    pub(super) fn model(&self, end: FormulaPosition) -> Result<Model, FormulaError> {
        let empty = self.sums.iter().zip(&self.sum_places).find(|(sum, _)| sum.leaves.is_empty());
        if let (Some((Sum { name, .. }, place)), false) = (empty, self.is_of_engine) {
            let message = format!("the sum `{name}` has no parameters: declare some, or leave it out");
            return Err(place.error(message));
        }
        let facts = std::iter::once(CONSTANT).chain(self.facts.iter().map(|fact| &fact.0[..]));
        let facts = facts.map(str::to_owned).collect();
        let layout = Layout::new(self.start.len(), self.sums.clone(), facts, self.common.clone());
        let tape = self.formula.tape(&layout, end)?;
        self.formula.check_used()?;
        Ok(Model { layout, tape })
    }

    /// Keeps a line of the formula.
    fn keep(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Reads a sum: its name, `pair` or `single`, optionally `sided`.
    fn sum(&mut self, mut words: Words) -> Result<(), FormulaError> {
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
        end(words)?;
        if self.sums.len() == MOST_SUMS {
            return Err(place.error(format!("more than {MOST_SUMS} sums")));
        }
        self.formula.sum(name, kind, is_sided, place)?;
        self.sums.push(Sum { name: name.to_owned(), kind, is_sided, leaves: Vec::new() });
        self.sum_places.push(place);
        Ok(())
    }

    /// Reads a fact: its name and optionally its range.
    fn fact(&mut self, mut words: Words) -> Result<(), FormulaError> {
        let (name, place) = words.next();
        let range = match words.next() {
            ("", _) => Interval::ANY,
            low => Interval { low: number(low)?, high: number(words.next())? },
        };
        end(words)?;
        if range.low > range.high {
            return Err(place.error(format!("no number is {} to {}", range.low, range.high)));
        }
        if self.facts.len() == MOST_FACTS {
            return Err(place.error(format!("more than {MOST_FACTS} facts")));
        }
        self.formula.fact(name, range, place)?;
        self.facts.push((name.to_owned(), range));
        Ok(())
    }

    /// Reads a free number: its name and its start.
    fn free_number(&mut self, mut words: Words) -> Result<(), FormulaError> {
        let (name, place) = words.next();
        let word = words.next();
        let start = number(word)?;
        end(words)?;
        self.formula.common(name, place)?;
        if self.common.len() == MOST_FACTS {
            return Err(place.error(format!("more than {MOST_FACTS} free numbers: let them be parameters of sums")));
        }
        self.common.push(vec![(self.start.len(), 1.0)]);
        self.parameter((name, place), None, Start::Single(start), (1.0, decimals(word)))
    }

    /// Adds a parameter, to a sum if it is one's.
    fn parameter(
        &mut self,
        (name, place): Word,
        sum: Option<usize>,
        start: Start,
        (unit, decimals): (f64, usize),
    ) -> Result<(), FormulaError> {
        if name.is_empty() {
            return Err(expected("the name of a parameter", (name, place)));
        }
        if !self.names.insert(name.to_owned()) {
            return Err(place.error(format!("`{}` is declared twice: choose another name", brief(name))));
        }
        if let Some(sum) = sum {
            let Sum { name, leaves, .. } = &mut self.sums[sum];
            if leaves.len() == MOST_LEAVES {
                return Err(place.error(format!("more than {MOST_LEAVES} parameters in the sum `{name}`")));
            }
            leaves.push(Leaf { parameter: self.start.len(), unit });
        }
        self.start.extend(start.numbers());
        self.parameters.push(Parameter { name: name.to_owned(), sum, start, unit, decimals });
        Ok(())
    }

    /// Reads a parameter of a sum: `pair sum name midgame endgame` or `single sum name start`, optionally with `unit
    /// 0.5` behind it.
    fn leaf(&mut self, keyword: &str, mut words: Words) -> Result<(), FormulaError> {
        let (sum, sum_place) = words.next();
        let Some(index) = self.sums.iter().position(|known| known.name == sum) else {
            let known: Vec<&str> = self.sums.iter().map(|sum| &sum.name[..]).collect();
            let sum = brief(sum);
            return Err(sum_place.error(match known.is_empty() {
                true => format!("`{sum}` is not a sum: declare it before, `sum NAME {keyword}`"),
                false => format!("`{sum}` is not a sum: so far there are {}", known.join(", ")),
            }));
        };
        let name = words.next();
        let word = words.next();
        let (mut start, mut digits) = (Start::Single(number(word)?), decimals(word));
        if let (Start::Single(midgame), "pair") = (start, keyword) {
            let word = words.next();
            (start, digits) = (Start::Pair([midgame, number(word)?]), digits.max(decimals(word)));
        }
        let kind = self.sums[index].kind;
        if kind.width() != start.numbers().len() {
            return Err(sum_place.error(match kind {
                SumKind::Pair => format!("`{sum}` adds up pairs: write `pair {sum} NAME MIDGAME ENDGAME`"),
                SumKind::Single => format!("`{sum}` adds up single numbers: write `single {sum} NAME START`"),
            }));
        }
        let unit = match words.next() {
            ("", _) => 1.0,
            ("unit", _) => {
                let word = words.next();
                let unit = number(word)?;
                if !(1e-9..=1e9).contains(&unit) {
                    return Err(word.1.error(format!("a unit of {unit} is not in 1e-9 to 1e9")));
                }
                unit
            }
            other => return Err(expected("unit or the end of the line", other)),
        };
        end(words)?;
        self.parameter(name, Some(index), start, (unit, digits))
    }

    /// Reads the names of the columns from the last line.
    fn read_columns(&mut self, mut words: Words, start: FormulaPosition) -> Result<(), FormulaError> {
        self.column_line = "rows".to_owned();
        if self.is_of_engine {
            self.columns = LABELS.to_vec();
            LABELS.iter().zip(RESERVED).for_each(|(_, name)| self.column_line += &format!(" {name}"));
        }
        loop {
            let (name, place) = words.next();
            if name.is_empty() {
                break;
            }
            let reserved = RESERVED.iter().position(|reserved| *reserved == name).map(|place| COLUMNS[place]);
            let fact = || Some(RowColumn::Fact(1 + self.facts.iter().position(|fact| fact.0 == name)?));
            let column = reserved.or_else(fact).ok_or_else(|| {
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
            self.column_line += &format!(" {name}");
        }
        let facts = self.facts.iter().enumerate().map(|(fact, (name, _))| (RowColumn::Fact(1 + fact), &name[..]));
        for (column, name) in [(RowColumn::Result, "result")].into_iter().chain(facts) {
            if !self.columns.contains(&column) {
                return Err(start.error(format!("the column `{name}` is missing")));
            }
        }
        Ok(())
    }
}

/// Returns the line that declares a sum.
pub(super) fn sum_line(sum: &Sum) -> String {
    let kind = if sum.kind == SumKind::Pair { "pair" } else { "single" };
    format!("sum {} {kind}{}", sum.name, if sum.is_sided { " sided" } else { "" })
}

impl Parameter {
    /// Returns the line that declares the parameter.
    pub(super) fn line(&self, sums: &[Sum]) -> String {
        let Parameter { name, start, decimals, .. } = self;
        let sum = self.sum.map(|sum| &sums[sum].name);
        let mut line = match (sum, start) {
            (Some(sum), Start::Pair(_)) => format!("pair {sum} {name}"),
            (Some(sum), Start::Single(_)) => format!("single {sum} {name}"),
            (None, _) => format!("param {name}"),
        };
        start.numbers().iter().for_each(|number| line += &format!(" {number:.decimals$}"));
        if self.unit != 1.0 {
            line += &format!(" unit {}", self.unit);
        }
        line
    }
}

/// A word of a line with its position.
type Word<'t> = (&'t str, FormulaPosition);

/// Parses a finite number.
fn number((word, place): Word) -> Result<f64, FormulaError> {
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

/// Checks that no words follow.
fn end(mut words: Words) -> Result<(), FormulaError> {
    match words.next() {
        ("", _) => Ok(()),
        more => Err(expected("the end of the line", more)),
    }
}

/// Returns the error of an unexpected word.
fn expected(what: &str, (word, place): Word) -> FormulaError {
    place.error(match word {
        "" => format!("expected {what}, found the end of the line"),
        _ => format!("expected {what}, found `{}`", brief(word)),
    })
}
