//! The data of a fit: one sparse row of coefficients per position, packed end to end.
//!
//! A row says how a position's score depends on the parameters: which pair features it has and how often, the piece
//! counts that taper the pairs, a part that depends on no parameter, and the target its score is compared with.
//! Rows are immutable once packed. A [`RowsBuilder`] checks what it is given, so everything else can rely on it:
//! the entries of a row are sorted by index without repetition, no count is zero, every index is in range.

mod stored;
mod writer;

use super::forest::Forest;
use crate::storage::{Column, StorageError};
use engine::eval::taper::PhaseCounts;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

pub use writer::{RowsBuilder, RowsWriter};

/// Why a row was refused or rows could not be joined.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RowsError {
    /// More pair features than a 16-bit index can name.
    #[error("rows: {0} pair features, at most 65536 can be told apart")]
    TooManyFeatures(usize),
    /// An entry names a feature that does not exist.
    #[error("rows: entry {position} of row {row} names feature {index} of {features}")]
    UnknownFeature {
        /// Row, counted in this builder.
        row: usize,
        /// Entry within the row.
        position: usize,
        /// The feature named.
        index: u16,
        /// Number of pair features there are.
        features: usize,
    },
    /// The entries of a row are not sorted by index, repeat one, or contain a zero count.
    #[error("rows: entry {position} of row {row} is out of order, repeated or zero")]
    Disorder {
        /// Row, counted in this builder.
        row: usize,
        /// Entry within the row.
        position: usize,
    },
    /// A target outside of 0..=1.
    #[error("rows: target {target} of row {row} is not in 0..=1")]
    Target {
        /// Row, counted in this builder.
        row: usize,
        /// The target given.
        target: f32,
    },
    /// A constant that is not a finite number.
    #[error("rows: constant {constant} of row {row} is not finite")]
    Constant {
        /// Row, counted in this builder.
        row: usize,
        /// The constant given.
        constant: f32,
    },
    /// More rows than 32 bits can number.
    #[error("rows: more than 4294967296 rows")]
    TooLarge,
    /// A file of rows cannot be written or mapped.
    #[error("rows: {0}")]
    Storage(#[from] StorageError),
    /// Parts built for different numbers of pair features cannot be joined.
    #[error("rows: cannot join rows of {0} and of {1} pair features")]
    Mismatch(usize, usize),
}

/// One entry of a row: index of a pair feature, and how often white has it more than black.
pub type Entry = (u16, i8);

/// Rows of a span, whose first entry has its place written down in full.
const SPAN: usize = 1 << 16;

/// Mapped rows are given back to the system so many at a time.
const RELEASED: usize = 1 << 16;

/// Sparse rows, packed, in memory or in mapped files; see the module's description. About 13 bytes a row and 3 an entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    pub(super) features: usize,
    /// Feature of every entry, row after row.
    pub(super) index: Column<u16>,
    /// Coefficient of every entry.
    pub(super) count: Column<i8>,
    /// Where the entries of a row end, modulo 2^32; they start where those of the row before end.
    pub(super) end: Column<u32>,
    /// By span: where the entries of its first row start.
    pub(super) span: Column<u64>,
    pub(super) phase: Column<PhaseCounts>,
    pub(super) target: Column<f32>,
    /// The rows whose constants are not zero, ascending: few positions have one.
    pub(super) constant_row: Column<u32>,
    pub(super) constant: Column<f32>,
    forest: Grown,
}

/// What passes over rows make of them, once: it follows from the entries and piece counts, and has no part in what
/// makes rows the same.
#[derive(Debug, Clone, Default)]
struct Grown(OnceLock<Option<Arc<Forest>>>);

impl PartialEq for Grown {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether there is no row at all.
    pub fn is_empty(&self) -> bool {
        self.end.is_empty()
    }

    /// Number of pair features `P`; the parameter vector has `2 P + 5` components.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Number of entries in all rows together.
    pub fn entries(&self) -> usize {
        self.index.len()
    }

    /// Bytes the rows take, in memory or in files, without what passes make of them.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.index[..])
            + size_of_val(&self.count[..])
            + size_of_val(&self.end[..])
            + size_of_val(&self.phase[..])
            + size_of_val(&self.target[..])
            + size_of_val(&self.constant_row[..])
            + size_of_val(&self.constant[..])
    }

    /// Whether the rows lie in mapped files, at least the most of them.
    pub fn is_mapped(&self) -> bool {
        self.index.is_mapped() || self.end.is_mapped()
    }

    /// Entries of one row: features, ascending, and their coefficients.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u16], &[i8]) {
        let range = self.entry_range(row..row + 1);
        (&self.index[range.clone()], &self.count[range])
    }

    /// Targets of all rows, 0..=1, white's view.
    pub fn targets(&self) -> &[f32] {
        &self.target
    }

    /// Piece counts of all rows.
    pub fn phases(&self) -> &[PhaseCounts] {
        &self.phase
    }

    /// The constants that are not zero, as (row, centipawns in white's view), by ascending row.
    pub fn constants(&self, rows: Range<usize>) -> impl ExactSizeIterator<Item = (u32, f32)> + Clone {
        let at = |bound: usize| self.constant_row.partition_point(|&row| (row as usize) < bound);
        let range = at(rows.start)..at(rows.end);
        self.constant_row[range.clone()].iter().copied().zip(self.constant[range].iter().copied())
    }

    /// For every pair feature, the number of rows it occurs in.
    pub fn occurrences(&self) -> Vec<u32> {
        let mut occurrences = vec![0; self.features];
        for start in (0..self.len()).step_by(RELEASED) {
            let rows = start..(start + RELEASED).min(self.len());
            for &index in &self.index[self.entry_range(rows.clone())] {
                occurrences[usize::from(index)] += 1;
            }
            self.release(rows);
        }
        occurrences
    }

    /// A copy of every `stride`-th row, the first included, in memory.
    ///
    /// # Panics
    /// If `stride` is 0.
    pub fn every(&self, stride: usize) -> Rows {
        self.stripe(0, stride)
    }

    /// A copy of every `stride`-th row, from the row `first` on, in memory.
    ///
    /// # Panics
    /// If `stride` is 0.
    pub fn stripe(&self, first: usize, stride: usize) -> Rows {
        self.pick((first..self.len()).step_by(stride))
    }

    /// A copy of the rows of the given numbers, in their order and in memory; a number may come several times.
    ///
    /// # Panics
    /// If there is no such row, or if they are more than can be counted.
    pub fn pick(&self, rows: impl Iterator<Item = usize> + Clone) -> Rows {
        let entries = rows.clone().map(|row| self.entry_range(row..row + 1).len()).sum();
        let mut picked = RowsWriter::in_memory(self.features);
        picked.reserve(rows.clone().count(), entries);
        picked.pick(self, rows).and_then(|()| picked.finish()).expect("no more rows than can be counted, in memory")
    }

    /// The same rows with other targets, 0..=1, white's view, one a row.
    ///
    /// # Errors
    /// The first target out of range.
    ///
    /// # Panics
    /// If there are more or fewer targets than rows.
    pub fn with_targets(mut self, targets: &[f32]) -> Result<Rows, RowsError> {
        assert_eq!(targets.len(), self.len(), "number of targets");
        if let Some(row) = targets.iter().position(|target| !(0.0..=1.0).contains(target)) {
            return Err(RowsError::Target { row, target: targets[row] });
        }
        if self.target[..] != *targets {
            self.target = targets.to_vec().into();
        }
        self.target.release(0..self.target.len());
        Ok(self)
    }

    /// The rows as sums that share their parts, if they can be; made at the first call. Takes about as much memory as
    /// the rows: there is none of mapped ones.
    pub(super) fn forest(&self) -> Option<&Forest> {
        if self.is_mapped() {
            return None;
        }
        self.forest.0.get_or_init(|| Forest::new(self).map(Arc::new)).as_deref()
    }

    /// Where the entries of consecutive rows stand.
    pub(super) fn entry_range(&self, rows: Range<usize>) -> Range<usize> {
        self.entry_start(rows.start)..self.entry_start(rows.end)
    }

    /// Where the entries of a row start, or end behind the last.
    fn entry_start(&self, row: usize) -> usize {
        if row == self.len() {
            return self.entries();
        }
        let start = self.span[row / SPAN];
        let within = if row.is_multiple_of(SPAN) { 0 } else { self.end[row - 1].wrapping_sub(start as u32) };
        start as usize + within as usize
    }

    /// Features and coefficients of all entries of consecutive rows, and the number of entries of each row.
    pub(super) fn slices(&self, rows: Range<usize>) -> RowSlices<'_> {
        let entries = self.entry_range(rows.clone());
        RowSlices {
            start: entries.start as u32,
            end: &self.end[rows],
            index: &self.index[entries.clone()],
            count: &self.count[entries],
        }
    }

    /// Tells that consecutive rows have been looked at, in a pass from the first to the last: what a mapped file had to
    /// be read for goes back to the system, now and then, so that a pass takes no more memory than it must.
    pub(super) fn passed(&self, rows: Range<usize>) {
        if self.is_mapped() && rows.end / RELEASED != rows.start / RELEASED {
            self.release(rows.start / RELEASED * RELEASED..rows.end);
        }
    }

    /// Gives back what mapped files had to be read for.
    pub(super) fn release(&self, rows: Range<usize>) {
        if self.is_mapped() {
            let entries = self.entry_range(rows.clone());
            self.index.release(entries.clone());
            self.count.release(entries);
            self.end.release(rows.clone());
            self.phase.release(rows.clone());
            self.target.release(rows);
        }
    }
}

/// The entries of consecutive rows.
#[derive(Clone, Copy)]
pub(super) struct RowSlices<'r> {
    start: u32,
    end: &'r [u32],
    index: &'r [u16],
    count: &'r [i8],
}

impl<'r> RowSlices<'r> {
    /// Features and coefficients, row after row.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'r [u16], &'r [i8])> {
        let (mut index, mut count, mut start) = (self.index, self.count, self.start);
        self.end.iter().map(move |&end| {
            let length = end.wrapping_sub(start) as usize;
            start = end;
            let row = (&index[..length], &count[..length]);
            (index, count) = (&index[length..], &count[length..]);
            row
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Storage;

    #[test]
    fn rows_are_refused_for_what_is_wrong_with_them() {
        let mut builder = RowsBuilder::new(3).unwrap();
        let unknown = RowsError::UnknownFeature { row: 0, position: 1, index: 3, features: 3 };
        assert_eq!(builder.push(&[(0, 1), (3, 1)], [0; 5], 0.5, 0.0), Err(unknown));
        let disorder = Err(RowsError::Disorder { row: 0, position: 1 });
        assert_eq!(builder.push(&[(1, 1), (0, 1)], [0; 5], 0.5, 0.0), disorder);
        assert_eq!(builder.push(&[(1, 1), (1, 1)], [0; 5], 0.5, 0.0), disorder);
        assert_eq!(builder.push(&[(1, 1), (2, 0)], [0; 5], 0.5, 0.0), disorder);
        assert_eq!(builder.push(&[], [0; 5], 1.5, 0.0), Err(RowsError::Target { row: 0, target: 1.5 }));
        assert!(matches!(builder.push(&[], [0; 5], f32::NAN, 0.0), Err(RowsError::Target { .. })));
        assert!(matches!(builder.push(&[], [0; 5], 0.5, f32::INFINITY), Err(RowsError::Constant { .. })));
        assert!(builder.is_empty());
        assert_eq!(builder.append(&RowsBuilder::new(4).unwrap().finish()), Err(RowsError::Mismatch(3, 4)));
        assert!(matches!(RowsBuilder::new(65_537), Err(RowsError::TooManyFeatures(65_537))));
    }

    #[test]
    fn rows_are_found_beyond_the_first_span_wherever_they_lie() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage { memory: 8 * 100_000, folder: folder.path().to_owned() };
        let mut writer = RowsWriter::new(9, &storage);
        let row = |i: usize| -> Vec<Entry> { (0..i % 4).map(|j| ((2 * j) as u16, (i % 7) as i8 - 8)).collect() };
        let constant = |i: usize| if i.is_multiple_of(1000) { i as f32 } else { 0.0 };
        let count = 2 * SPAN + 77;
        let mut start = 0;
        // Parts of several lengths, so that spans begin within them and between them.
        for length in [SPAN - 3, 3, 5, SPAN, 72] {
            let mut part = RowsBuilder::new(9).unwrap();
            (start..start + length).for_each(|i| part.push(&row(i), [1; 5], 0.5, constant(i)).unwrap());
            writer.append(&part.finish()).unwrap();
            start += length;
        }
        assert_eq!(start, count);
        let rows = writer.finish().unwrap();
        assert!(rows.is_mapped() && rows.forest().is_none());
        for i in (0..count).rev() {
            let (index, counts) = rows.row(i);
            assert!(row(i).into_iter().eq(index.iter().copied().zip(counts.iter().copied())), "row {i}");
        }
        rows.release(0..count);
        let in_memory = rows.every(1);
        assert!(!in_memory.is_mapped() && in_memory == rows);
        assert!(rows.constants(999..2001).eq([(1000, 1000.0), (2000, 2000.0)]));
    }
}
