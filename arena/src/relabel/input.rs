//! The lines to be scored.

use std::fs::File;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use common::lines::{LONGEST, Lines};
use sha2::{Digest, Sha256};
use thiserror::Error;
use tools::compression::decode_shared_text;

use super::BLOCK;
use super::line::{Line, LineFault};
use crate::game::castles_as_in_standard_chess;

/// Why lines cannot be scored.
#[derive(Debug, Error)]
pub enum InputError {
    /// The file cannot be read or unpacked.
    #[error("{}: cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A line is none.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The fault.
        fault: LineFault,
    },
    /// There is no line.
    #[error("{}: has no positions", .0.display())]
    Empty(PathBuf),
}

/// A file of lines that were read once. Blank lines and lines that begin with `#` say nothing.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    lines: u64,
    sha256: String,
    is_chess960: bool,
}

impl Input {
    /// Reads a file, plain or compressed, to its end.
    ///
    /// # Errors
    /// If it cannot be read, if a line has no position that can be scored, or, where `needs_results`, no result.
    pub fn read(path: &Path, needs_results: bool) -> Result<Self, InputError> {
        let (mut hash, mut lines, mut is_chess960) = (Sha256::new(), 0, false);
        let mut texts = Texts::open(path)?;
        while let Some((number, text)) = texts.next()? {
            let fault = |fault| InputError::Line { path: path.to_owned(), line: number, fault };
            let line = Line::parse(&text).map_err(fault)?;
            if needs_results && line.outcome().is_none() {
                return Err(fault(LineFault::NoResult));
            }
            is_chess960 |= !castles_as_in_standard_chess(&line.position);
            hash.update(&text);
            hash.update("\n");
            lines += 1;
        }
        if lines == 0 {
            return Err(InputError::Empty(path.to_owned()));
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Input { path: path.to_owned(), lines, sha256, is_chess960 })
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// SHA-256 of the lines, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns true if a position castles as in Chess960 only.
    pub fn is_chess960(&self) -> bool {
        self.is_chess960
    }

    /// The blocks from a number on.
    pub(super) fn blocks(&self, first: u32) -> Result<Blocks, InputError> {
        let mut texts = Texts::open(&self.path)?;
        for _ in 0..u64::from(first) * BLOCK as u64 {
            texts.next()?;
        }
        Ok(Blocks { texts: Some(texts) })
    }
}

/// Blocks of lines. A file that cannot be read any more ends them with its error.
pub(super) struct Blocks {
    texts: Option<Texts>,
}

impl Iterator for Blocks {
    type Item = Result<Vec<String>, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut block = Vec::new();
        while block.len() < BLOCK
            && let Some(texts) = &mut self.texts
        {
            match texts.next() {
                Ok(Some((_, text))) => block.push(text),
                Ok(None) => self.texts = None,
                Err(error) => {
                    self.texts = None;
                    return Some(Err(error));
                }
            }
        }
        (!block.is_empty()).then_some(Ok(block))
    }
}

/// The lines that say something.
struct Texts {
    path: PathBuf,
    lines: Lines<Box<dyn BufRead + Send>>,
    bytes: Vec<u8>,
}

impl Texts {
    fn open(path: &Path) -> Result<Self, InputError> {
        let text = File::open(path).and_then(decode_shared_text);
        let text = text.map_err(|error| InputError::Unreadable { path: path.to_owned(), error })?;
        Ok(Texts { path: path.to_owned(), lines: Lines::new(text, LONGEST), bytes: Vec::new() })
    }

    /// The next line with its number, from 1.
    fn next(&mut self) -> Result<Option<(u64, String)>, InputError> {
        let unreadable = |error| InputError::Unreadable { path: self.path.clone(), error };
        while self.lines.read(&mut self.bytes).map_err(unreadable)? {
            let text = std::str::from_utf8(&self.bytes)
                .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error)))?
                .trim_ascii();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(Some((self.lines.number(), text.to_owned())));
            }
        }
        Ok(None)
    }
}
