//! Lines of a text, and their words.

use std::io::{BufRead, Read};

use anyhow::{Error, Result, anyhow};

use crate::model::formula::{FormulaPosition, Word, expected};

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
    pub(super) fn advance(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let read = (&mut *self.text).take(LONGEST + 1).read_until(b'\n', &mut self.line);
            if read.map_err(|error| unreadable(self.file, &error))? == 0 {
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
    pub(super) fn bytes(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    /// Returns the line without blanks around it and without a comment, and the position of its beginning.
    pub(super) fn text(&self) -> Result<Word<'_>> {
        let column = 1 + self.line.len() - self.line.trim_ascii_start().len();
        let line = std::str::from_utf8(self.bytes()).map_err(|_| self.fault("is not text"))?;
        let line = line.find(" #").or(line.find("\t#")).map_or(line, |end| line[..end].trim_ascii_end());
        Ok((line, FormulaPosition { line: self.number, column }))
    }

    /// Returns an error in the current line, or in the text if it has no line.
    pub(super) fn fault(&self, message: impl std::fmt::Display) -> Error {
        match self.number {
            0 => anyhow!("{}: {message}", self.file),
            number => anyhow!("{}:{number}: {message}", self.file),
        }
    }

    /// Returns an error in a declaration.
    pub(super) fn fault_in_header(&self, error: Error) -> Error {
        anyhow!("{}:{error}", self.file)
    }
}

/// Returns the error of a file that the system cannot read.
pub(crate) fn unreadable(file: &str, error: &std::io::Error) -> Error {
    anyhow!("{file}: cannot be read: {error}")
}

/// The words of a line, or of its rest, with their positions.
pub(super) struct Words<'t>(pub(super) Word<'t>);

impl<'t> Words<'t> {
    /// Returns the next word.
    pub(super) fn next(&mut self) -> Word<'t> {
        let (rest, place) = self.rest();
        let (word, behind) = rest.split_at(rest.find(|char: char| char.is_ascii_whitespace()).unwrap_or(rest.len()));
        self.0 = (behind, FormulaPosition { column: place.column + word.chars().count(), ..place });
        (word, place)
    }

    /// Returns the rest of the line.
    pub(super) fn rest(&self) -> Word<'t> {
        let (text, place) = self.0;
        let rest = text.trim_ascii_start();
        (rest, FormulaPosition { column: place.column + text.len() - rest.len(), ..place })
    }

    /// Checks that no words follow.
    pub(super) fn end(mut self) -> Result<()> {
        match self.next() {
            ("", _) => Ok(()),
            more => Err(expected("the end of the line", more)),
        }
    }
}
