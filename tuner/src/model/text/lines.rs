//! Lines of a text and their words, and the line numbers of rows.

use std::io::{BufRead, Read};

use super::TextError;
use crate::model::formula::{FormulaError, FormulaPosition};

/// Maximum length of a line in bytes; a row with 65536 parameters fits.
const LONGEST: u64 = 1 << 20;

/// A reader of a text, line by line.
pub(super) struct LineReader<'t> {
    pub(super) file: &'t str,
    text: &'t mut dyn BufRead,
    /// Number of the current line, 1 for the first.
    pub(super) number: u64,
    line: Vec<u8>,
}

impl<'t> LineReader<'t> {
    pub(super) fn new(file: &'t str, text: &'t mut dyn BufRead) -> Self {
        LineReader { file, text, number: 0, line: Vec::new() }
    }

    /// Moves to the next line that is neither blank nor a comment. Returns false at the end of the text.
    pub(super) fn advance(&mut self) -> Result<bool, TextError> {
        loop {
            self.line.clear();
            let read = (&mut *self.text).take(LONGEST + 1).read_until(b'\n', &mut self.line);
            if read.map_err(|error| TextError::unreadable(self.file, &error))? == 0 {
                return Ok(false);
            }
            self.number += 1;
            if self.line.len() as u64 > LONGEST {
                return Err(self.fault(format!("longer than {LONGEST} bytes")));
            }
            if self.line.trim_ascii().first().is_some_and(|&first| first != b'#') {
                return Ok(true);
            }
        }
    }

    /// Returns the line without blanks around it.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    /// Returns the line without blanks around it, and the position of its beginning.
    pub(super) fn text(&self) -> Result<(&str, FormulaPosition), TextError> {
        let column = 1 + self.line.len() - self.line.trim_ascii_start().len();
        match std::str::from_utf8(self.bytes()) {
            Ok(line) => Ok((line, FormulaPosition { line: self.number, column })),
            Err(_) => Err(self.fault("is not text".to_owned())),
        }
    }

    /// Returns an error in the current line.
    pub(super) fn fault(&self, message: String) -> TextError {
        self.fault_at(self.number, message)
    }

    /// Returns an error in a declaration.
    pub(super) fn fault_in_header(&self, error: FormulaError) -> TextError {
        TextError::Refused(format!("{}:{error}", self.file))
    }

    /// Returns an error in a line.
    pub(super) fn fault_at(&self, line: u64, message: String) -> TextError {
        TextError::Refused(format!("{}:{line}: {message}", self.file))
    }
}

/// An iterator over the words of a line with their positions.
pub(super) struct Words<'t> {
    rest: &'t str,
    place: FormulaPosition,
}

impl<'t> Words<'t> {
    pub(super) fn new(line: &'t str, place: FormulaPosition) -> Self {
        Words { rest: line, place }
    }

    /// Returns the next word, empty at the end of the line, and its position.
    pub(super) fn next(&mut self) -> (&'t str, FormulaPosition) {
        self.skip(self.rest.len() - self.rest.trim_ascii_start().len());
        let place = self.place;
        let length = self.rest.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(self.rest.len());
        (self.skip(length), place)
    }

    /// Returns the rest of the line and its position.
    pub(super) fn rest(mut self) -> (&'t str, FormulaPosition) {
        self.skip(self.rest.len() - self.rest.trim_ascii_start().len());
        (self.rest, self.place)
    }

    fn skip(&mut self, bytes: usize) -> &'t str {
        let (skipped, rest) = self.rest.split_at(bytes);
        self.place.column += skipped.chars().count();
        self.rest = rest;
        skipped
    }
}

/// The line numbers of rows, run-length encoded: first row and first line of each run of consecutive lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowLines(Vec<(usize, u64)>);

impl RowLines {
    /// Returns the line number of a row, 1 for the first line.
    ///
    /// # Panics
    /// If no row has a line.
    pub fn of(&self, row: usize) -> u64 {
        let (first, line) = self.0[self.0.partition_point(|run| run.0 <= row) - 1];
        line + (row - first) as u64
    }

    /// Adds the line number of the next row.
    pub(super) fn push(&mut self, row: usize, line: u64) {
        if self.0.is_empty() || self.of(row) != line {
            self.0.push((row, line));
        }
    }
}
