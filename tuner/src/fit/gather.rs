//! Rows of files, of whatever kind.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use super::text::{self, Fault, TextError};
use super::{FitError, Problem, Row};
use crate::objective::{Entry, RowsBuilder, RowsError, RowsWriter};
use crate::progress::{Progress, Unit};
use crate::storage::Storage;

/// Rows that are gathered before they join the others.
pub(super) const GATHERED: usize = 1 << 14;

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

impl Problem {
    /// Reads rows as text, plain or compressed with zstd. The module `text` has the format.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub fn read_rows(path: &Path, storage: &Storage, progress: &dyn Progress) -> Result<Self, FitError> {
        let name = path.display().to_string();
        let unreadable = |error| TextError::Unreadable { file: name.clone(), error };
        let file = File::open(path).map_err(unreadable)?;
        let size = file.metadata().map_err(unreadable)?.len();
        progress.begin("reading", size, Unit::Bytes);
        let mut file = BufReader::with_capacity(BUFFER, Counted { file, progress });
        let is_packed = file.fill_buf().map_err(unreadable)?.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]);
        let mut bytes: Box<dyn BufRead> = if is_packed {
            Box::new(BufReader::with_capacity(BUFFER, zstd::Decoder::with_buffer(file).map_err(unreadable)?))
        } else {
            Box::new(file)
        };
        let problem = text::read(&name, &mut *bytes, storage)?;
        progress.end();
        Ok(problem)
    }
}

/// Tells how much of a file has been read.
struct Counted<'p> {
    file: File,
    progress: &'p dyn Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// Puts rows together, one by one.
pub(super) struct Gather {
    problem: Problem,
    whole: RowsWriter,
    rows: RowsBuilder,
    row: Row,
    entries: Vec<Entry>,
}

impl Gather {
    /// For the parameters of a problem without rows.
    pub(super) fn new(problem: Problem, storage: &Storage) -> Result<Self, FitError> {
        let features = problem.parameters.len();
        let (whole, rows) = (RowsWriter::new(features, storage), RowsBuilder::new(features)?);
        Ok(Gather { problem, whole, rows, row: Row::default(), entries: Vec::new() })
    }

    /// The next row, empty, to be filled.
    pub(super) fn row(&mut self) -> &mut Row {
        self.row.clear();
        &mut self.row
    }

    /// Adds the row that was filled, with its result and its group.
    pub(super) fn push(&mut self, target: f32, group: u32) -> Result<(), Fault> {
        self.row.entries(self.rows.features(), &mut self.entries)?;
        self.rows.push(&self.entries, self.row.pieces, target, self.row.constant)?;
        self.problem.groups.push(group);
        Ok(())
    }

    /// Moves rows where the others are, now and then.
    pub(super) fn settle(&mut self) -> Result<(), RowsError> {
        if self.rows.len() < GATHERED {
            return Ok(());
        }
        let next = RowsBuilder::new(self.rows.features())?;
        self.whole.append(&std::mem::replace(&mut self.rows, next).finish())
    }

    /// The problem with its rows.
    pub(super) fn finish(mut self, file: &str) -> Result<Problem, FitError> {
        self.whole.append(&self.rows.finish())?;
        self.problem.rows = self.whole.finish()?;
        if self.problem.rows.is_empty() {
            return Err(TextError::Empty(file.to_owned()).into());
        }
        Ok(self.problem)
    }
}
