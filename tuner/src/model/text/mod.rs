//! The text format of rows, for engines in any language.
//!
//! ```text
//! merino-rows 2
//! sum main pair
//! sum power single sided
//! sum mod single sided
//! fact phase 0 1
//! let danger = power * mod / 128
//! score = taper(main.mg + danger.white - danger.black, main.eg, phase)
//! pair main PawnDoubled -13 -42
//! pair main Space 1 0 unit 0.125
//! single power AttackPower[0] 35
//! single mod CountModifier[2] 64
//! rows result score group phase
//! 0.5 -31 17 0.75 0:1 1:-2.125 w 2:3 3:1 b 2:1 3:1
//! ```
//!
//! Lines before the rows are declarations:
//! * `sum NAME pair|single [sided]`: a sum of pairs or single numbers; one total for both sides, or one per side.
//! * `fact NAME [LOW HIGH]`: a number of a row, and its range.
//! * `param NAME START`: a number that the formula uses by its name.
//! * `let NAME = …`, `let NAME(A, B) = …` and `score = …`: the formula, which the module `formula` parses.
//! * `pair SUM NAME MIDGAME ENDGAME [unit U]`, `single SUM NAME START [unit U]`: a parameter of a sum, its start
//!   (centipawns), and the unit of its counts (1 by default).
//! * `rows COLUMN …`: the columns of the following rows: `result` (0 to 1, White's view), `group` (a number, or `-` if
//!   unknown), `search` (the score of a search in the data, centipawns, White's view, or `-`), `score` (the engine's
//!   own, centipawns, White's view) or `constant` (added to the formula, centipawns, White's view), and every fact.
//!
//! Behind its columns a row has entries `index:count`: the index of a pair, single or param in the order of their
//! declarations, from 0, and its count. `w` and `b` precede White's and Black's entries of sided sums. Entries of other
//! sums precede both, and are positive for White. A line `data NAME` among the rows begins another set of data, whose
//! search scores have their own scale. Blank lines are ignored, and so is a comment, from a `#` at the start of a line
//! or after a blank to the end of the line.

pub(crate) mod answers;
mod gather;
mod header;
mod lines;
pub(crate) mod merge;
#[cfg(test)]
mod tests;
mod write;

use std::io::BufRead;

use anyhow::{Result, bail};

use super::Model;
use super::layout::SumKind;
use super::rows::Rows;
use crate::data::io::Storage;
use gather::Gather;
pub(crate) use gather::RowLabels;
use header::Header;
use lines::LineReader;
pub(crate) use lines::unreadable;

/// The first line of the text.
pub(crate) const VERSION: &str = "merino-rows 2";

/// Prefix of a line that begins another set of data.
pub(crate) const DATA: &str = "data ";

/// A parameter of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The unique name.
    pub name: String,
    /// Index of its sum; none for a free number, which the formula uses by its name.
    pub sum: Option<usize>,
    /// The start: a single number, or a midgame and an endgame number.
    pub start: Vec<f64>,
    /// Unit of its counts in [`Rows`].
    pub unit: f64,
    /// Number of digits behind the decimal point in written files.
    pub decimals: usize,
}

impl Parameter {
    /// Returns true if the parameter is a midgame and an endgame number.
    pub fn is_pair(&self) -> bool {
        self.start.len() == SumKind::Pair.width()
    }
}

/// The contents of one or more texts of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextRows {
    /// The parameters in the order of their declarations, which is the index in entries of rows.
    pub parameters: Vec<Parameter>,
    /// The model of the score (centipawns, White's view), to which the first fact, the constant, is added.
    pub model: Model,
    /// The rows. Without a column `constant`, their constants are 0.
    pub rows: Rows,
    /// Group of each row, such as its game, if known. Folds and samples do not divide a group. Groups of different
    /// texts have different numbers.
    pub groups: Vec<Option<u32>>,
    /// Search score of each row in the data (centipawns, White's view), from -32,000 to 32,000, if it has one; empty if
    /// no row has one.
    pub searches: Vec<Option<i16>>,
    /// The engine's own score of each row (centipawns, White's view), if there is such a column.
    pub scores: Option<Vec<f32>>,
    /// Line number of each row; empty if an engine answered them.
    pub lines: Vec<u32>,
    /// Name and first row of each text.
    pub files: Vec<(String, usize)>,
    /// Number of rows of each set of data. Sets begin with each text and behind each line `data`.
    pub sets: Vec<usize>,
}

impl TextRows {
    /// Returns the start of all numbers of the parameters.
    pub fn start(&self) -> Vec<f64> {
        self.parameters.iter().flat_map(|parameter| &parameter.start).copied().collect()
    }

    /// Returns the file and the line of a row, for messages.
    ///
    /// # Panics
    /// If there is no such row, or an engine answered the rows.
    pub fn place(&self, row: usize) -> String {
        let file = &self.files[self.files.partition_point(|file| file.1 <= row) - 1];
        format!("{}:{}", file.0, self.lines[row])
    }

    /// Adds the labels of the next row, and the engine's own score, if rows have it.
    fn add_labels(&mut self, labels: RowLabels, score: Option<f32>) {
        if labels.search.is_some() {
            // Earlier rows have no search score.
            self.searches.resize(self.groups.len(), None);
            self.searches.push(labels.search);
        }
        self.groups.push(labels.group);
        if let Some(score) = score {
            self.scores.get_or_insert_default().push(score);
        }
        self.sets.last_mut().into_iter().for_each(|set| *set += 1);
    }
}

/// A text with its name in messages.
pub type Text = (String, Box<dyn BufRead>);

/// Reads texts of rows, all with the same declarations. `accept` may refuse them before the first row is read.
///
/// # Errors
/// The first error, with its position.
///
/// # Panics
/// If there is no text.
pub fn read(
    texts: impl IntoIterator<Item = Result<Text>>,
    accept: impl FnOnce(&TextRows) -> Result<()>,
    storage: &Storage,
) -> Result<TextRows> {
    let mut texts = texts.into_iter();
    let (file, mut text) = texts.next().expect("at least one text")?;
    let mut lines = LineReader::new(&file, &mut *text);
    let mut header = Header::default();
    let model = header.open(&mut lines)?;
    let mut rows = Gather::new(&header, model, storage);
    accept(&rows.text)?;
    read_rows(&header, lines, &mut rows)?;
    for next in texts {
        let (other, mut text) = next?;
        let mut lines = LineReader::new(&other, &mut *text);
        let mut again = Header::default();
        again.open(&mut lines)?;
        if let Some((found, expected)) = again.difference(&header) {
            bail!("{other}: {found}, but {file} {expected}: rows that are fitted together have the same declarations");
        }
        read_rows(&again, lines, &mut rows)?;
    }
    rows.finish()
}

/// Reads one text from memory, under the name `rows`.
#[cfg(test)]
pub(crate) fn parse(text: impl AsRef<[u8]>) -> Result<TextRows> {
    let text: Box<dyn BufRead> = Box::new(std::io::Cursor::new(text.as_ref().to_vec()));
    read([Ok(("rows".to_owned(), text))], |_| Ok(()), &Storage::default())
}

/// Writes rows with the declarations of the text that they were read from, and numbers as names of sets.
#[cfg(test)]
pub(crate) fn written(rows: &TextRows, of: impl AsRef<[u8]>) -> String {
    let of = String::from_utf8_lossy(of.as_ref());
    let head = of.lines().skip(1).take_while(|line| line.split_ascii_whitespace().next() != Some("rows"));
    let sets: Vec<String> = (0..rows.sets.len()).map(|set| set.to_string()).collect();
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let mut text = Vec::new();
    rows.write(head, &sets, |rows| vec![String::new(); rows.len()], &mut text).expect("memory");
    String::from_utf8(text).expect("text")
}

fn read_rows(header: &Header, mut lines: LineReader, rows: &mut Gather) -> Result<()> {
    let before = rows.len();
    rows.begin_text(lines.file);
    while lines.advance()? {
        if lines.bytes().starts_with(DATA.as_bytes()) {
            rows.begin_set();
        } else {
            rows.read(header, &String::from_utf8_lossy(lines.bytes()), &lines)?;
        }
    }
    if rows.len() == before {
        bail!("{}: no rows", lines.file);
    }
    Ok(())
}
