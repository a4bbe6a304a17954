//! Rows as text, for engines in any language.
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
//! Before the rows, a line declares something:
//! * `sum NAME pair|single [sided]`: a sum of pairs or single numbers; one total for both sides, or one a side.
//! * `fact NAME [LOW HIGH]`: a number of a row, and the range it is in.
//! * `param NAME START`: a number that the formula uses by its name.
//! * `let NAME = …`, `let NAME(A, B) = …` and `score = …`: the formula; the module `formula` reads it.
//! * `pair SUM NAME MIDGAME ENDGAME [unit U]`, `single SUM NAME START [unit U]`: a parameter of a sum, where it starts
//!   (centipawns), and what its counts are multiples of (1 if nothing is said).
//! * `rows COLUMN …`: the columns of the rows that follow: `result` (0 to 1, White's view), `group` (a number, or `-` if
//!   it is unknown), `search` (the score of a search that the data give, centipawns, White's view, or `-`), `score` (the engine's own, centipawns, White's view) or `constant` (added to the formula,
//!   centipawns, White's view), and every fact.
//!
//! Behind its columns a row has entries, `index:count`: the index of a pair, single or param in the order of their
//! declarations from 0 on, and how often it counts. `w` and `b` stand before the entries of sided sums that are White's
//! and Black's; entries of other sums stand before both, positive for White. A line `data NAME` among the rows begins
//! another set of data, whose scores of a search have a scale of their own. Blank lines and what follows a `#` at the
//! start of a line or after a blank mean nothing.

pub(crate) mod answers;
mod gather;
mod header;
mod lines;
mod row;
#[cfg(test)]
mod tests;
mod write;

use std::io::{self, BufRead};

use thiserror::Error;

use super::Model;
use super::layout::SumKind;
use super::rows::{Rows, RowsError};
use crate::io::Storage;
use gather::Gather;
use header::Header;
use lines::LineReader;
pub use lines::RowLines;
use row::RowFormat;

/// The first line.
pub(crate) const VERSION: &str = "merino-rows 2";

/// What a line begins with behind which the rows of another set of data follow.
pub(crate) const DATA: &str = "data ";

/// Where a parameter starts, in what its sum adds up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// A single number.
    Single(f64),
    /// A midgame and an endgame number.
    Pair([f64; 2]),
}

impl Start {
    /// The one number, or both.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Start::Single(number) => std::slice::from_ref(number),
            Start::Pair(pair) => pair,
        }
    }

    fn kind(self) -> SumKind {
        match self {
            Start::Single(_) => SumKind::Single,
            Start::Pair(_) => SumKind::Pair,
        }
    }
}

/// A parameter of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name, of which there is no other.
    pub name: String,
    /// The sum it counts in; none of a free number, which the formula has by its name.
    pub sum: Option<usize>,
    /// Where it starts.
    pub start: Start,
    /// What a count of one in [`Rows`] is worth.
    pub unit: f64,
    /// Digits behind the decimal point that it is written with.
    pub decimals: usize,
}

/// Everything that a text of rows says.
#[derive(Clone, Debug, PartialEq)]
pub struct TextRows {
    /// In the order of their declaration, by which entries of rows number them.
    pub parameters: Vec<Parameter>,
    /// The facts, definitions and the score, line by line, as they were written.
    pub formula: String,
    /// The score (centipawns, White's view), to which the first fact, the constant, is added.
    pub model: Model,
    /// The rows. Without a column `constant`, the constant is 0 in all of them.
    pub rows: Rows,
    /// By row: the group it must not be parted from when rows are divided, such as its game, if that is known. Groups of
    /// different texts have different numbers.
    pub groups: Vec<Option<u32>>,
    /// By row: the score of a search that the data give (centipawns, White's view), from -32,000 to 32,000, where there is
    /// one; empty if no row has one.
    pub searches: Vec<Option<i16>>,
    /// By row: the engine's own score (centipawns, White's view), if there is such a column.
    pub scores: Option<Vec<f32>>,
    /// By row: the line it was read from.
    pub lines: RowLines,
    /// The texts: what each is called, and its first row.
    pub files: Vec<(String, usize)>,
    /// The first row of each set of data: of each text, and behind each line `data`.
    pub sets: Vec<usize>,
}

impl TextRows {
    /// All numbers of the parameters, where they start.
    pub fn start(&self) -> Vec<f64> {
        self.parameters.iter().flat_map(|parameter| parameter.start.numbers()).copied().collect()
    }

    /// Where a row was read: file and line.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn place(&self, row: usize) -> String {
        let file = &self.files[self.files.partition_point(|file| file.1 <= row) - 1];
        format!("{}:{}", file.0, self.lines.of(row))
    }
}

/// Why a text of rows is not one.
#[derive(Debug, Error)]
pub enum TextError {
    /// It cannot be read, or has a fault, which is told with its place.
    #[error("{0}")]
    Refused(String),
    /// Rows are too many, or cannot be kept where memory does not suffice.
    #[error(transparent)]
    Rows(#[from] RowsError),
}

impl TextError {
    /// The system refused to read a file.
    pub(crate) fn unreadable(file: &str, error: &io::Error) -> Self {
        TextError::Refused(format!("{file}: cannot be read: {error}"))
    }
}

/// A text, and what messages call it.
pub type Text = (String, Box<dyn BufRead>);

/// Reads texts of rows, all with the same declarations. These (parameters and model) are accepted or refused before the
/// first row is read.
///
/// # Errors
/// The first fault, and where it is.
///
/// # Panics
/// If there is no text.
pub fn read<E: From<TextError>>(
    texts: impl IntoIterator<Item = Result<Text, E>>,
    accept: impl FnOnce(&[Parameter], &Model) -> Result<(), E>,
    storage: &Storage,
) -> Result<TextRows, E> {
    let mut texts = texts.into_iter();
    let (file, mut text) = texts.next().expect("at least one text")?;
    let mut lines = LineReader::new(&file, &mut *text);
    let mut header = Header::default();
    let declared = header.open(&mut lines)?;
    accept(&header.parameters, &declared.model)?;
    let mut rows = Gather::new(&header, &declared, storage);
    let mut files = vec![(file.clone(), 0)];
    read_rows(&header, &declared.columns, lines, &mut rows)?;
    for next in texts {
        let (other, mut text) = next?;
        let mut lines = LineReader::new(&other, &mut *text);
        let mut again = Header::default();
        let declared = again.open(&mut lines)?;
        if let Some((found, expected)) = again.difference(&header, declared.has_scores(), rows.has_scores()) {
            let message = format!(
                "{other}: {found}, but {file} {expected}: rows that are fitted together have the same declarations"
            );
            return Err(TextError::Refused(message).into());
        }
        files.push((other.clone(), rows.len()));
        rows.next_text(files.len());
        read_rows(&again, &declared.columns, lines, &mut rows)?;
    }
    Ok(rows.finish(header, files)?)
}

/// Reads one text, called `rows`, that is at hand.
#[cfg(test)]
pub(crate) fn parse(text: impl AsRef<[u8]>) -> Result<TextRows, TextError> {
    let text: Box<dyn BufRead> = Box::new(io::Cursor::new(text.as_ref().to_vec()));
    read([Ok(("rows".to_owned(), text))], |_, _| Ok(()), &Storage::default())
}

fn read_rows(
    header: &Header,
    columns: &[header::Column],
    mut lines: LineReader,
    rows: &mut Gather,
) -> Result<(), TextError> {
    let format = RowFormat { header, columns };
    let before = rows.len();
    while lines.advance()? {
        if lines.bytes().starts_with(DATA.as_bytes()) {
            rows.begin_set();
        } else {
            format.read(&lines, rows)?;
        }
    }
    rows.check_scores(&lines)?;
    let is_empty = rows.len() == before;
    if is_empty { Err(TextError::Refused(format!("{}: no rows", lines.file))) } else { Ok(()) }
}
