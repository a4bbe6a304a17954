//! How rows come to be: checked, packed, and put together.

use super::{Entry, Grown, Rows, RowsError, SPAN};
use crate::storage::{ColumnWriter, Storage};
use engine::eval::taper::PhaseCounts;

/// Rows that are picked before it is looked at how much memory they take.
const WATCHED: usize = 1 << 12;

/// Writes rows that have been checked, to memory or, beyond a limit, to files.
pub struct RowsWriter {
    features: usize,
    limit: Option<Storage>,
    index: ColumnWriter<u16>,
    count: ColumnWriter<i8>,
    end: ColumnWriter<u32>,
    span: ColumnWriter<u64>,
    phase: ColumnWriter<PhaseCounts>,
    target: ColumnWriter<f32>,
    constant_row: ColumnWriter<u32>,
    constant: ColumnWriter<f32>,
}

impl RowsWriter {
    /// Writes to memory as long as the rows take no more than their share of it, then to temporary files.
    pub fn new(features: usize, storage: &Storage) -> Self {
        Self { limit: Some(storage.clone()), ..Self::in_memory(features) }
    }

    /// Writes to memory, however many there are.
    pub(super) fn in_memory(features: usize) -> Self {
        Self {
            features,
            limit: None,
            index: ColumnWriter::new(),
            count: ColumnWriter::new(),
            end: ColumnWriter::new(),
            span: ColumnWriter::new(),
            phase: ColumnWriter::new(),
            target: ColumnWriter::new(),
            constant_row: ColumnWriter::new(),
            constant: ColumnWriter::new(),
        }
    }

    /// Number of rows so far.
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.end.is_empty()
    }

    /// Bytes of memory that the rows take.
    pub fn bytes_in_memory(&self) -> usize {
        self.index.bytes_in_memory()
            + self.count.bytes_in_memory()
            + self.end.bytes_in_memory()
            + self.phase.bytes_in_memory()
            + self.target.bytes_in_memory()
            + self.constant_row.bytes_in_memory()
            + self.constant.bytes_in_memory()
    }

    /// Moves all rows so far to temporary files if they take too much memory; those to come go there too.
    fn keep_within_limit(&mut self) -> Result<(), RowsError> {
        let bytes = self.bytes_in_memory();
        let Some(storage) = self.limit.take_if(|limit| bytes > limit.share()) else { return Ok(()) };
        let folder = &storage.folder;
        self.index.spill(folder)?;
        self.count.spill(folder)?;
        self.end.spill(folder)?;
        self.span.spill(folder)?;
        self.phase.spill(folder)?;
        self.target.spill(folder)?;
        self.constant_row.spill(folder)?;
        Ok(self.constant.spill(folder)?)
    }

    pub(super) fn reserve(&mut self, rows: usize, entries: usize) {
        self.index.reserve(entries);
        self.count.reserve(entries);
        self.end.reserve(rows);
        self.phase.reserve(rows);
        self.target.reserve(rows);
    }

    /// Adds a row that is sound.
    fn push(
        &mut self,
        index: impl ExactSizeIterator<Item = u16>,
        count: impl ExactSizeIterator<Item = i8>,
        phase: PhaseCounts,
        target: f32,
        constant: f32,
    ) -> Result<(), RowsError> {
        let number = number(self.len())?;
        if self.len().is_multiple_of(SPAN) {
            self.span.push(self.index.len() as u64)?;
        }
        self.index.extend_each(index)?;
        self.count.extend_each(count)?;
        self.end.push(self.index.len() as u32)?;
        self.phase.push(phase)?;
        self.target.push(target)?;
        if constant != 0.0 {
            self.constant_row.push(number)?;
            self.constant.push(constant)?;
        }
        Ok(())
    }

    /// Adds other rows after its own.
    ///
    /// # Errors
    /// [`RowsError::Mismatch`] if the numbers of features differ, [`RowsError::TooLarge`], nothing being added then;
    /// if a file cannot be written.
    pub fn append(&mut self, rows: &Rows) -> Result<(), RowsError> {
        if self.features != rows.features {
            return Err(RowsError::Mismatch(self.features, rows.features));
        }
        number((self.len() + rows.len()).saturating_sub(1))?;
        let (first_entry, first_row) = (self.index.len(), self.len());
        for start in (first_row.next_multiple_of(SPAN)..first_row + rows.len()).step_by(SPAN) {
            self.span.push((first_entry + rows.entry_start(start - first_row)) as u64)?;
        }
        self.index.extend(&rows.index)?;
        self.count.extend(&rows.count)?;
        self.end.extend_each(rows.end.iter().map(|end| end.wrapping_add(first_entry as u32)))?;
        self.phase.extend(&rows.phase)?;
        self.target.extend(&rows.target)?;
        self.constant_row.extend_each(rows.constant_row.iter().map(|row| row + first_row as u32))?;
        self.constant.extend(&rows.constant)?;
        self.keep_within_limit()
    }

    /// Adds the rows of the given numbers of others, in their order; a number may come several times.
    ///
    /// # Errors
    /// [`RowsError::TooLarge`]; if a file cannot be written.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn pick(&mut self, rows: &Rows, numbers: impl Iterator<Item = usize>) -> Result<(), RowsError> {
        let mut last = 0;
        for row in numbers {
            let (index, count) = rows.row(row);
            let constant = rows.constants(row..row + 1).next().map_or(0.0, |(_, constant)| constant);
            let (phase, target) = (rows.phase[row], rows.target[row]);
            self.push(index.iter().copied(), count.iter().copied(), phase, target, constant)?;
            if row > last {
                rows.passed(last..row);
            }
            last = row;
            if self.len().is_multiple_of(WATCHED) {
                self.keep_within_limit()?;
            }
        }
        self.keep_within_limit()
    }

    /// The packed rows, with room for nothing more.
    ///
    /// # Errors
    /// If a file cannot be written or mapped.
    pub fn finish(self) -> Result<Rows, RowsError> {
        Ok(Rows {
            features: self.features,
            index: self.index.finish()?,
            count: self.count.finish()?,
            end: self.end.finish()?,
            span: self.span.finish()?,
            phase: self.phase.finish()?,
            target: self.target.finish()?,
            constant_row: self.constant_row.finish()?,
            constant: self.constant.finish()?,
            forest: Grown::default(),
        })
    }
}

/// Packs rows in memory. Chunks of the data can be built in parallel, each with its own builder, and
/// [appended](Self::append) in order.
pub struct RowsBuilder {
    rows: RowsWriter,
}

impl RowsBuilder {
    /// Starts with no row, for rows of `features` pair features.
    ///
    /// # Errors
    /// [`RowsError::TooManyFeatures`] above 65536.
    pub fn new(features: usize) -> Result<Self, RowsError> {
        if features > usize::from(u16::MAX) + 1 {
            return Err(RowsError::TooManyFeatures(features));
        }
        Ok(Self { rows: RowsWriter::in_memory(features) })
    }

    /// Makes room for `rows` more rows of `entries` entries in all.
    pub fn reserve(&mut self, rows: usize, entries: usize) {
        self.rows.reserve(rows, entries);
    }

    /// Number of pair features of the rows.
    pub fn features(&self) -> usize {
        self.rows.features
    }

    /// Number of rows so far.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a row: `entries` sorted by feature, cancelled between the colours so that no feature is repeated and no
    /// count zero; `target` in 0..=1; `constant` in centipawns. Target and constant are in white's view.
    ///
    /// # Errors
    /// Whatever is wrong with the row; it is not added then.
    pub fn push(&mut self, entries: &[Entry], phase: PhaseCounts, target: f32, constant: f32) -> Result<(), RowsError> {
        let row = self.rows.len();
        self.check(entries, row)?;
        if !(0.0..=1.0).contains(&target) {
            return Err(RowsError::Target { row, target });
        }
        if !constant.is_finite() {
            return Err(RowsError::Constant { row, constant });
        }
        let (index, count) = (entries.iter().map(|entry| entry.0), entries.iter().map(|entry| entry.1));
        self.rows.push(index, count, phase, target, constant)
    }

    fn check(&self, entries: &[Entry], row: usize) -> Result<(), RowsError> {
        let features = self.rows.features;
        let mut next = 0;
        for (position, &(index, count)) in entries.iter().enumerate() {
            if usize::from(index) >= features {
                return Err(RowsError::UnknownFeature { row, position, index, features });
            }
            if usize::from(index) < next || count == 0 {
                return Err(RowsError::Disorder { row, position });
            }
            next = usize::from(index) + 1;
        }
        Ok(())
    }

    /// Adds other rows after its own.
    ///
    /// # Errors
    /// [`RowsError::Mismatch`] if the numbers of features differ, [`RowsError::TooLarge`]; nothing is added then.
    pub fn append(&mut self, rows: &Rows) -> Result<(), RowsError> {
        self.rows.append(rows)
    }

    /// The packed rows, with room for nothing more.
    pub fn finish(self) -> Rows {
        self.rows.finish().expect("memory needs no file")
    }
}

/// The number of a row, in 32 bits.
fn number(row: usize) -> Result<u32, RowsError> {
    u32::try_from(row).map_err(|_| RowsError::TooLarge)
}
