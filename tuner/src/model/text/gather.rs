//! The parser of rows, which collects them.

use std::str::{FromStr, SplitAsciiWhitespace};

use anyhow::{Error, Result, anyhow, bail};

use super::TextRows;
use super::header::{Header, RowColumn};
use super::lines::LineReader;
use crate::data::io::{Storage, StorageError};
use crate::model::Model;
use crate::model::formula::brief;
use crate::model::rows::{RowBuilder, RowsWriter, Shape};

/// The largest count of a parameter.
const MOST_COUNT: f64 = (1 << 20) as f64;

/// The largest search score, that of a mate, in centipawns.
const MOST_SEARCH: f32 = 32_000.0;

/// Tolerance of the distance between a count and a whole number of units, in units.
const SLACK: f64 = 1e-6;

/// The place of the counts of a parameter of a sum.
#[derive(Clone, Copy)]
struct Counted {
    /// Segment, White's of a sided sum.
    segment: usize,
    leaf: usize,
    is_sided: bool,
    unit: f64,
}

/// A collector of rows.
pub(super) struct Gather {
    /// The rows so far, except for the entries, facts and results.
    pub(super) text: TextRows,
    writer: RowsWriter,
    row: RowBuilder,
    /// Place of the counts by parameter; none for a free number, which has no counts.
    counted: Vec<Option<Counted>>,
    /// Distinguishes groups of different texts.
    salt: u32,
}

impl Gather {
    pub(super) fn new(header: &Header, model: Model, storage: &Storage) -> Self {
        let layout = &model.layout;
        let mut leaves = vec![0..; layout.sums.len()];
        let counted = header.parameters.iter().map(|parameter| {
            let (sum, unit) = (parameter.sum?, parameter.unit);
            let (segment, is_sided) = (layout.segment_of(sum), layout.sums[sum].is_sided);
            Some(Counted { segment, leaf: leaves[sum].next()?, is_sided, unit })
        });
        Gather {
            counted: counted.collect(),
            writer: RowsWriter::new(Shape::from(layout), storage),
            row: RowBuilder::default(),
            salt: 0,
            text: TextRows { parameters: header.parameters.clone(), model, ..TextRows::default() },
        }
    }

    /// Returns the number of rows so far.
    pub(super) fn len(&self) -> usize {
        self.text.lines.len()
    }

    /// Returns the engine's own score of the last row, if rows have it.
    pub(super) fn last_score(&self) -> Option<f32> {
        self.text.scores.as_ref()?.last().copied()
    }

    /// Begins a text, whose groups differ from those of the others.
    pub(super) fn begin_text(&mut self, file: &str) {
        self.text.files.push((file.to_owned(), self.len()));
        if let number @ 2.. = self.text.files.len() {
            self.salt = (number as u32).wrapping_mul(0x9E37_79B9);
        }
        self.begin_set();
    }

    /// Begins the next set of data, unless the last one has no rows.
    pub(super) fn begin_set(&mut self) {
        if self.text.sets.last() != Some(&0) {
            self.text.sets.push(0);
        }
    }

    /// Parses a row and adds it.
    pub(super) fn read(&mut self, header: &Header, row: &str, reader: &LineReader) -> Result<()> {
        self.parse(header, row).map_err(|error| match error.is::<StorageError>() {
            true => error,
            false => reader.fault(error),
        })?;
        self.text.lines.push(reader.number as u32);
        self.text.sets.last_mut().into_iter().for_each(|set| *set += 1);
        Ok(())
    }

    fn parse(&mut self, header: &Header, row: &str) -> Result<()> {
        let mut words = row.split_ascii_whitespace();
        let (mut result, mut group, mut search) = (0.0, None, None);
        self.row.clear(self.text.model.layout.facts.len());
        for &column in &header.columns {
            let word = words.next().unwrap_or_default();
            match column {
                RowColumn::Result => result = number("a result from 0 to 1", word)?,
                RowColumn::Group | RowColumn::Search if word == "-" => {}
                RowColumn::Group => group = Some(number::<u32>("the number of a group", word)? ^ self.salt),
                RowColumn::Search => search = Some(search_score(word)?),
                RowColumn::Score => {
                    let score = finite("the engine's score", word)?;
                    self.text.scores.get_or_insert_default().push(score);
                }
                RowColumn::Constant => self.row.set_fact(0, finite("a constant", word)?),
                RowColumn::Fact(fact) => {
                    let (name, range) = &header.facts[fact - 1];
                    let value = finite("the number of a fact", word);
                    let value = value.map_err(|error| anyhow!("`{name}`: {error}"))?;
                    // The ends of a range are rounded to the precision of facts.
                    if !(range.low as f32..=range.high as f32).contains(&value) {
                        bail!("`{name}` is {value}, but was declared to be {range}");
                    }
                    self.row.set_fact(fact, value);
                }
            }
        }
        self.entries(header, words)?;
        self.writer.push(&mut self.row, result)?;
        self.text.groups.push(group);
        if search.is_some() {
            // Earlier rows have no search score.
            self.text.searches.resize(self.len(), None);
            self.text.searches.push(search);
        }
        Ok(())
    }

    /// Parses the entries of a row up to a comment.
    fn entries(&mut self, header: &Header, words: SplitAsciiWhitespace<'_>) -> Result<()> {
        let mut side = None;
        for word in words.take_while(|word| !word.starts_with('#')) {
            if let "w" | "b" = word {
                side = Some(usize::from(word == "b"));
                continue;
            }
            let (index, count) = entry(word).ok_or_else(|| expected("index:count", word))?;
            let listed = self.counted.len();
            let Some(&counted) = self.counted.get(index) else {
                bail!("{}: parameter {index} is not one of the {listed} there are", shown(word));
            };
            let counted = counted.filter(|counted| counted.is_sided == side.is_some());
            let Some(Counted { segment, leaf, unit, .. }) = counted else {
                bail!(wrong_side(header, word, index));
            };
            let units = (count / unit).round();
            if (count / unit - units).abs() > SLACK {
                bail!(fraction(&header.parameters[index].name, word, count, unit));
            }
            if units.abs() > MOST_COUNT {
                let unit = if unit == 1.0 { "" } else { " its unit" };
                bail!("{}: more than {MOST_COUNT} times{unit}", shown(word));
            }
            self.row.add(segment + side.unwrap_or_default(), leaf, units as i32);
        }
        Ok(())
    }

    /// Returns all rows.
    pub(super) fn finish(mut self) -> Result<TextRows> {
        if !self.text.searches.is_empty() {
            self.text.searches.resize(self.len(), None);
        }
        Ok(TextRows { rows: self.writer.finish()?, ..self.text })
    }
}

/// Describes an entry on the wrong side, or of a parameter that rows do not count.
fn wrong_side(header: &Header, word: &str, parameter: usize) -> String {
    let parameter = &header.parameters[parameter];
    let (word, name) = (shown(word), &parameter.name);
    let Some(sum) = parameter.sum.map(|sum| &header.sums[sum]) else {
        return format!("{word}: `{name}` is a free number (param): the formula has it, rows do not count it");
    };
    let which = match sum.is_sided {
        true => "sided: write `w` before White's entries, `b` before Black's",
        false => "not sided: write its entries before `w` and `b`",
    };
    format!("{word}: `{name}` counts in `{}`, which is {which}", sum.name)
}

/// Describes a count of a parameter that is no multiple of its unit, and a unit that fits, if there is a plain one.
fn fraction(name: &str, word: &str, count: f64, unit: f64) -> String {
    const PARTS: [f64; 16] = [2., 4., 5., 8., 10., 16., 20., 25., 32., 50., 64., 100., 128., 256., 1000., 10_000.];
    let is_whole = |number: f64| (number - number.round()).abs() <= SLACK;
    let advice = match PARTS.iter().find(|&parts| is_whole(count / unit * parts)) {
        Some(parts) => format!("`unit {}`", unit / parts),
        None => "a unit of which all its counts are multiples, and round them to it".to_owned(),
    };
    format!("{}: the count is not a multiple of {unit}: declare `{name}` with {advice}", shown(word))
}

/// Parses the index and count of an entry.
fn entry(word: &str) -> Option<(usize, f64)> {
    let (index, count) = word.split_once(':')?;
    // Nearly all counts are whole, and whole numbers are parsed faster.
    let count = match count.parse::<i32>() {
        Ok(count) => count.into(),
        Err(_) => count.parse().ok().filter(|count: &f64| count.is_finite())?,
    };
    Some((index.parse().ok()?, count))
}

fn number<T: FromStr>(what: &str, word: &str) -> Result<T> {
    word.parse().map_err(|_| expected(what, word))
}

fn finite(what: &str, word: &str) -> Result<f32> {
    match number(what, word)? {
        number if f32::is_finite(number) => Ok(number),
        number => bail!("expected {what}, found {number}, which is not finite"),
    }
}

fn expected(what: &str, word: &str) -> Error {
    let found = if word.is_empty() { "the end of the line".to_owned() } else { shown(word) };
    anyhow!("expected {what}, found {found}")
}

/// Parses a search score and rounds it.
fn search_score(word: &str) -> Result<i16> {
    match finite("the score of a search", word)? {
        score if score.abs() <= MOST_SEARCH => Ok(score.round() as i16),
        _ => bail!("expected the score of a search, -{MOST_SEARCH} to {MOST_SEARCH} centipawns, found {}", shown(word)),
    }
}

/// Formats a word for a message.
fn shown(word: &str) -> String {
    format!("`{}`", brief(word).escape_debug())
}
