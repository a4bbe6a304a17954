//! The data of a fit: one sparse row of coefficients per position, packed end to end.
//!
//! A row says how a position's score depends on the parameters: which pair features it has and how often, the piece
//! counts that taper the pairs, a part that depends on no parameter, and the target its score is compared with.
//! Rows are immutable once packed. A [`RowsBuilder`] checks what it is given, so everything else can rely on it:
//! the entries of a row are sorted by index without repetition, no count is zero, every index is in range.

use super::forest::Forest;
use engine::eval::taper::PhaseCounts;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use thiserror::Error;

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
    /// More entries or rows than 32-bit offsets can address.
    #[error("rows: more than 4294967295 entries or rows")]
    TooLarge,
    /// Parts built for different numbers of pair features cannot be joined.
    #[error("rows: cannot join rows of {0} and of {1} pair features")]
    Mismatch(usize, usize),
}

/// One entry of a row: index of a pair feature, and how often white has it more than black.
pub type Entry = (u16, i8);

/// Sparse rows, packed; see the module's description. About 13 bytes a row and 3 an entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    features: usize,
    /// Feature of every entry, row after row.
    index: Vec<u16>,
    /// Coefficient of every entry.
    count: Vec<i8>,
    /// Where the entries of a row end; they start where those of the row before end.
    end: Vec<u32>,
    phase: Vec<PhaseCounts>,
    target: Vec<f32>,
    /// The constants that are not zero, by ascending row: few positions have one.
    constants: Vec<(u32, f32)>,
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

    /// Bytes the rows take in memory, without what passes make of them.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.index[..])
            + size_of_val(&self.count[..])
            + size_of_val(&self.end[..])
            + size_of_val(&self.phase[..])
            + size_of_val(&self.target[..])
            + size_of_val(&self.constants[..])
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
    pub fn constants(&self, rows: Range<usize>) -> &[(u32, f32)] {
        let at = |bound: usize| self.constants.partition_point(|&(row, _)| (row as usize) < bound);
        &self.constants[at(rows.start)..at(rows.end)]
    }

    /// For every pair feature, the number of rows it occurs in.
    pub fn occurrences(&self) -> Vec<u32> {
        let mut occurrences = vec![0; self.features];
        for &index in &self.index {
            occurrences[usize::from(index)] += 1;
        }
        occurrences
    }

    /// A copy of every `stride`-th row, the first included.
    ///
    /// # Panics
    /// If `stride` is 0.
    pub fn every(&self, stride: usize) -> Rows {
        self.stripe(0, stride)
    }

    /// A copy of every `stride`-th row, from the row `first` on.
    ///
    /// # Panics
    /// If `stride` is 0.
    pub fn stripe(&self, first: usize, stride: usize) -> Rows {
        self.pick((first..self.len()).step_by(stride))
    }

    /// A copy of the rows of the given numbers, in their order; a number may come several times.
    ///
    /// # Panics
    /// If there is no such row, or if they are more than can be counted.
    pub fn pick(&self, rows: impl Iterator<Item = usize> + Clone) -> Rows {
        let mut picked = RowsBuilder::of(self.features).rows;
        let entries = rows.clone().map(|row| self.entry_range(row..row + 1).len()).sum();
        picked.reserve(rows.clone().count(), entries);
        for row in rows {
            let (index, count) = self.row(row);
            picked.index.extend_from_slice(index);
            picked.count.extend_from_slice(count);
            if let Ok(at) = self.constants.binary_search_by_key(&(row as u32), |&(row, _)| row) {
                picked.constants.push((picked.end.len() as u32, self.constants[at].1));
            }
            picked.end.push(u32::try_from(picked.index.len()).expect("no more entries than there were"));
            picked.phase.push(self.phase[row]);
            picked.target.push(self.target[row]);
        }
        picked
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
        self.target.copy_from_slice(targets);
        Ok(self)
    }

    /// The rows as sums that share their parts, if they can be; made at the first call.
    pub(super) fn forest(&self) -> Option<&Forest> {
        self.forest.0.get_or_init(|| Forest::new(self).map(Arc::new)).as_deref()
    }

    /// Where the entries of consecutive rows stand.
    pub(super) fn entry_range(&self, rows: Range<usize>) -> Range<usize> {
        let start = if rows.start == 0 { 0 } else { self.end[rows.start - 1] as usize };
        let end = if rows.end == 0 { 0 } else { self.end[rows.end - 1] as usize };
        start..end
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

    fn reserve(&mut self, rows: usize, entries: usize) {
        self.index.reserve(entries);
        self.count.reserve(entries);
        self.end.reserve(rows);
        self.phase.reserve(rows);
        self.target.reserve(rows);
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
            let length = (end - start) as usize;
            start = end;
            let row = (&index[..length], &count[..length]);
            (index, count) = (&index[length..], &count[length..]);
            row
        })
    }
}

/// Packs rows. Chunks of the data can be built in parallel, each with its own builder, and [appended](Self::append) in order.
#[derive(Debug, Clone)]
pub struct RowsBuilder {
    rows: Rows,
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
        Ok(Self::of(features))
    }

    fn of(features: usize) -> Self {
        let rows = Rows {
            features,
            index: Vec::new(),
            count: Vec::new(),
            end: Vec::new(),
            phase: Vec::new(),
            target: Vec::new(),
            constants: Vec::new(),
            forest: Grown::default(),
        };
        Self { rows }
    }

    /// Makes room for `rows` more rows of `entries` entries in all.
    pub fn reserve(&mut self, rows: usize, entries: usize) {
        self.rows.reserve(rows, entries);
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
        let end = offset(self.rows.index.len() + entries.len())?;
        let number = offset(row + 1)? - 1;

        let rows = &mut self.rows;
        rows.index.extend(entries.iter().map(|&(index, _)| index));
        rows.count.extend(entries.iter().map(|&(_, count)| count));
        rows.end.push(end);
        rows.phase.push(phase);
        rows.target.push(target);
        if constant != 0.0 {
            rows.constants.push((number, constant));
        }
        Ok(())
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

    /// Adds the rows of another builder after its own.
    ///
    /// # Errors
    /// [`RowsError::Mismatch`] if the numbers of features differ, [`RowsError::TooLarge`]; nothing is added then.
    pub fn append(&mut self, other: RowsBuilder) -> Result<(), RowsError> {
        let (rows, other) = (&mut self.rows, other.rows);
        if rows.features != other.features {
            return Err(RowsError::Mismatch(rows.features, other.features));
        }
        offset(rows.index.len() + other.index.len())?;
        offset(rows.len() + other.len())?;
        let (first_entry, first_row) = (rows.index.len() as u32, rows.len() as u32);
        rows.index.extend_from_slice(&other.index);
        rows.count.extend_from_slice(&other.count);
        rows.end.extend(other.end.iter().map(|&end| end + first_entry));
        rows.phase.extend_from_slice(&other.phase);
        rows.target.extend_from_slice(&other.target);
        rows.constants.extend(other.constants.iter().map(|&(row, value)| (row + first_row, value)));
        Ok(())
    }

    /// The packed rows, with room for nothing more.
    pub fn finish(mut self) -> Rows {
        let rows = &mut self.rows;
        rows.index.shrink_to_fit();
        rows.count.shrink_to_fit();
        rows.end.shrink_to_fit();
        rows.phase.shrink_to_fit();
        rows.target.shrink_to_fit();
        rows.constants.shrink_to_fit();
        self.rows
    }
}

fn offset(value: usize) -> Result<u32, RowsError> {
    u32::try_from(value).map_err(|_| RowsError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(builder.append(RowsBuilder::new(4).unwrap()), Err(RowsError::Mismatch(3, 4)));
        assert!(matches!(RowsBuilder::new(65_537), Err(RowsError::TooManyFeatures(65_537))));
    }
}
