//! The parser of rows, which collects them.

use std::str::{FromStr, SplitAsciiWhitespace};

use anyhow::{Error, Result, anyhow, bail};

use super::header::{Header, RowColumn};
use super::lines::LineReader;
use super::{Parameter, TextRows};
use crate::data::io::{Storage, StorageError};
use crate::model::Model;
use crate::model::formula::brief;
use crate::model::rows::{Block, RowBuilder, RowsWriter, Shape};

/// The labels of a row: those of the position that an engine is asked for, else the columns of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowLabels {
    /// The result, 0 to 1, White's view.
    pub(crate) result: f32,
    pub(crate) group: Option<u32>,
    /// The search score in the data, in centipawns and White's view.
    pub(crate) search: Option<i16>,
}

/// The largest count of a parameter.
const MOST_COUNT: f64 = (1 << 20) as f64;

/// The largest search score, that of a mate, in centipawns.
const MOST_SEARCH: f32 = 32_000.0;

/// Tolerance of the distance between a count and a whole number of units, in units.
const SLACK: f64 = 1e-6;

/// The place of the counts of a parameter of a sum.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    /// Segment, White's of a sided sum.
    pub(super) segment: usize,
    pub(super) leaf: usize,
    pub(super) is_sided: bool,
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
    /// Makes a collector of rows, which several processes share.
    pub(super) fn new(header: &Header, model: Model, storage: &Storage) -> Self {
        Self::with_writer(RowsWriter::new(Shape::from(&model.layout), storage), header, model)
    }

    /// Makes a collector that keeps all rows in this process.
    pub(super) fn undivided(header: &Header, model: Model, storage: &Storage) -> Self {
        Self::with_writer(RowsWriter::undivided(Shape::from(&model.layout), storage), header, model)
    }

    fn with_writer(writer: RowsWriter, header: &Header, model: Model) -> Self {
        Gather {
            counted: places(&header.parameters, &model),
            writer,
            row: RowBuilder::default(),
            salt: 0,
            text: TextRows { parameters: header.parameters.clone(), model, ..TextRows::default() },
        }
    }

    /// Takes in parameters that were declared after the first row.
    pub(super) fn extend(&mut self, header: &Header, model: Model) {
        self.counted = places(&header.parameters, &model);
        self.writer.extend_shape(Shape::from(&model.layout));
        self.text.parameters.clone_from(&header.parameters);
        self.text.model = model;
    }

    /// Returns the number of rows so far.
    pub(super) fn len(&self) -> usize {
        self.text.groups.len()
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

    /// Parses a row of a text and adds it.
    pub(super) fn read(&mut self, header: &Header, row: &str, reader: &LineReader) -> Result<()> {
        self.read_labelled(header, row, Some(RowLabels::default()), reader)?;
        self.text.lines.push(reader.number as u32);
        Ok(())
    }

    /// Parses a row, but does not add it. Returns its labels, those given or those of its columns, and the engine's own
    /// score.
    fn parse(&mut self, header: &Header, row: &str, mut labels: RowLabels) -> Result<(RowLabels, Option<f32>)> {
        let (mut words, mut own) = (row.split_ascii_whitespace(), None);
        self.row.clear(self.text.model.layout.facts.len());
        for &column in &header.columns {
            let word = words.next().unwrap_or_default();
            match column {
                RowColumn::Result => labels.result = number("a result from 0 to 1", word)?,
                RowColumn::Group | RowColumn::Search if word == "-" => {}
                RowColumn::Group => labels.group = Some(number::<u32>("the number of a group", word)? ^ self.salt),
                RowColumn::Search => labels.search = Some(search_score(word)?),
                RowColumn::Score => own = Some(finite("the engine's score", word)?),
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
        Ok((labels, own))
    }

    /// Parses a row, and adds it if the `labels` of its position are given. Returns the engine's own score.
    pub(super) fn read_labelled(
        &mut self,
        header: &Header,
        row: &str,
        labels: Option<RowLabels>,
        reader: &LineReader,
    ) -> Result<Option<f32>> {
        let parsed = self.parse(header, row, labels.unwrap_or_default());
        let added = parsed.and_then(|(known, score)| {
            labels.map_or(Ok(()), |_| self.add(known, score))?;
            Ok(score)
        });
        added.map_err(|error| if error.is::<StorageError>() { error } else { reader.fault(error) })
    }

    /// Adds a copy of a row whose leaves have other numbers here, given by segment.
    pub(super) fn copy(
        &mut self,
        row: Block<'_>,
        leaves: &[Vec<usize>],
        labels: RowLabels,
        score: Option<f32>,
    ) -> Result<()> {
        self.row.clear(self.text.model.layout.facts.len());
        for (segment, entries) in row.segments().enumerate() {
            for (&leaf, &count) in entries.leaves.iter().zip(entries.counts) {
                self.row.add(segment, leaves[segment][usize::from(leaf)], count.into());
            }
        }
        let facts = row.facts().flatten().enumerate();
        facts.for_each(|(fact, &value)| self.row.set_fact(fact, value));
        self.add(labels, score)
    }

    /// Adds the row that was parsed or copied last.
    fn add(&mut self, labels: RowLabels, score: Option<f32>) -> Result<()> {
        self.writer.push(&mut self.row, labels.result)?;
        self.text.add_labels(labels, score);
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

    /// Returns the places of the counts of the parameters.
    pub(super) fn counted(&self) -> &[Option<Counted>] {
        &self.counted
    }
}

/// Returns the place of the counts of each parameter; none of a free number.
fn places(parameters: &[Parameter], model: &Model) -> Vec<Option<Counted>> {
    let layout = &model.layout;
    let mut leaves = vec![0..; layout.sums.len()];
    let place = |parameter: &Parameter| {
        let (sum, unit) = (parameter.sum?, parameter.unit);
        let (segment, is_sided) = (layout.segment_of(sum), layout.sums[sum].is_sided);
        Some(Counted { segment, leaf: leaves[sum].next()?, is_sided, unit })
    };
    parameters.iter().map(place).collect()
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
