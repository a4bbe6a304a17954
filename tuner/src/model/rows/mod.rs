//! The data of a fit: one sparse row per position, packed end to end.
//!
//! A row says how a position's score depends on the parameters: for every segment of the [`Layout`] which leaves count
//! and how often; the facts, numbers that no parameter has part in; and the target its score is compared with. Rows are
//! immutable once packed. Writers check what they are given, so everything else can rely on it: every leaf exists, no
//! count is 0, all numbers are finite.
//!
//! Rows are read block by block ([`Rows::blocks`]), which is where mapped files are given back to the system.

mod stored;
mod writer;

use std::ops::Range;

use thiserror::Error;

use super::layout::Layout;
use super::tape::LANES;
use crate::io::{Column, StorageError};
pub use writer::{RowBuilder, RowsWriter};

/// Rows of a block: what a tape works on at once.
pub const BLOCK: usize = LANES;

/// Mapped rows are given back to the system so many blocks at a time.
const RELEASED: usize = (1 << 16) / BLOCK;

/// Leaves that a segment may have.
pub const MOST_LEAVES: usize = 1 << 16;

/// Why a row was refused or rows could not be joined.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RowsError {
    /// More leaves than a 16-bit index can name.
    #[error("rows: {0} parameters in one sum, at most {MOST_LEAVES} can be told apart")]
    TooManyLeaves(usize),
    /// An entry names a leaf that does not exist.
    #[error("rows: no parameter {leaf} among the {leaves} of a sum")]
    UnknownLeaf {
        /// The leaf named.
        leaf: usize,
        /// Leaves of the sum.
        leaves: usize,
    },
    /// A count that no position can have.
    #[error("rows: parameter {leaf} counts {count} times, more than {}", writer::MOST_COUNT)]
    Count {
        /// The leaf.
        leaf: usize,
        /// How often it counts.
        count: i64,
    },
    /// More entries in one segment of a row than can be counted.
    #[error("rows: {0} entries in one sum of a row, at most 65535 can be kept")]
    TooManyEntries(usize),
    /// A target outside of 0..=1.
    #[error("rows: target {0} is not in 0..=1")]
    Target(f32),
    /// A fact that is not a finite number.
    #[error("rows: fact {fact} is {value}, which is not finite")]
    Fact {
        /// The fact.
        fact: usize,
        /// The value given.
        value: f32,
    },
    /// More rows than 32 bits can number.
    #[error("rows: more than 4294967296 rows")]
    TooLarge,
    /// A file of rows cannot be written or mapped.
    #[error("rows: {0}")]
    Storage(#[from] StorageError),
}

/// What rows are shaped by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// By segment: the leaves there are.
    pub leaves: Vec<usize>,
    /// Facts of a row.
    pub facts: usize,
}

impl From<&Layout> for Shape {
    fn from(layout: &Layout) -> Self {
        Shape { leaves: layout.segments().iter().map(|segment| segment.leaves).collect(), facts: layout.facts().len() }
    }
}

/// Sparse rows, packed, in memory or in mapped files; see the module's description. Three bytes an entry, two a segment
/// of a row, four a fact, and four for the target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    shape: Shape,
    /// Leaf of every entry, segment after segment, row after row.
    leaf: Column<u16>,
    /// Count of every entry. Larger counts are several entries of one leaf.
    count: Column<i8>,
    /// Entries of every segment of every row.
    length: Column<u16>,
    /// By block: where its entries begin.
    block: Column<u64>,
    /// Row after row.
    fact: Column<f32>,
    target: Column<f32>,
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Whether there is no row at all.
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }

    /// What the rows are shaped by.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of entries in all rows together.
    pub fn entries(&self) -> usize {
        self.leaf.len()
    }

    /// Bytes the rows take, in memory or in files.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.leaf[..])
            + size_of_val(&self.count[..])
            + size_of_val(&self.length[..])
            + size_of_val(&self.block[..])
            + size_of_val(&self.fact[..])
            + size_of_val(&self.target[..])
    }

    /// Whether the rows lie in mapped files, at least the most of them.
    pub fn is_mapped(&self) -> bool {
        self.leaf.is_mapped() || self.length.is_mapped()
    }

    /// Targets of all rows, 0..=1, White's view.
    pub fn targets(&self) -> &[f32] {
        &self.target
    }

    /// The same rows with other targets, 0..=1, White's view, one a row.
    ///
    /// # Errors
    /// The first target out of range.
    ///
    /// # Panics
    /// If there are more or fewer targets than rows.
    pub fn with_targets(mut self, targets: &[f32]) -> Result<Rows, RowsError> {
        assert_eq!(targets.len(), self.len(), "number of targets");
        if let Some(&target) = targets.iter().find(|target| !(0.0..=1.0).contains(*target)) {
            return Err(RowsError::Target(target));
        }
        if self.target[..] != *targets {
            self.target = targets.to_vec().into();
        }
        self.target.release(0..self.target.len());
        Ok(self)
    }

    /// The same rows with another fact, one number a row.
    ///
    /// # Errors
    /// The first number that is not finite.
    ///
    /// # Panics
    /// If there are more or fewer numbers than rows, or no such fact.
    pub fn with_fact(mut self, fact: usize, values: &[f32]) -> Result<Rows, RowsError> {
        assert!(values.len() == self.len() && fact < self.shape.facts, "a number a row");
        if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
            return Err(RowsError::Fact { fact, value });
        }
        let mut facts = self.fact.to_vec();
        facts.chunks_exact_mut(self.shape.facts).zip(values).for_each(|(facts, &value)| facts[fact] = value);
        self.fact = facts.into();
        Ok(self)
    }

    /// Number of blocks.
    pub fn block_count(&self) -> usize {
        self.block.len()
    }

    /// Consecutive blocks, from the first to the last: what a mapped file had to be read for goes back to the system on
    /// the way, so that a pass takes no more memory than it must.
    pub fn blocks(&self, blocks: Range<usize>) -> impl Iterator<Item = Block<'_>> {
        let mut begun = blocks.start;
        blocks.map(move |number| {
            if self.is_mapped() && number - begun == RELEASED {
                self.release(begun..number);
                begun = number;
            }
            self.block(number)
        })
    }

    /// Gives back what mapped files had to be read for.
    pub fn release(&self, blocks: Range<usize>) {
        if self.is_mapped() {
            let (start, end) = (self.entry_start(blocks.start), self.entry_start(blocks.end));
            let rows = blocks.start * BLOCK..(blocks.end * BLOCK).min(self.len());
            let segments = self.shape.leaves.len();
            self.leaf.release(start..end);
            self.count.release(start..end);
            self.length.release(rows.start * segments..rows.end * segments);
            self.fact.release(rows.start * self.shape.facts..rows.end * self.shape.facts);
            self.target.release(rows);
        }
    }

    /// A block of rows.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block(&self, number: usize) -> Block<'_> {
        let rows = number * BLOCK..((number + 1) * BLOCK).min(self.len());
        let entries = self.entry_start(number)..self.entry_start(number + 1);
        let segments = self.shape.leaves.len();
        Block {
            first: rows.start,
            segments,
            facts: self.shape.facts,
            leaf: &self.leaf[entries.clone()],
            count: &self.count[entries],
            length: &self.length[rows.start * segments..rows.end * segments],
            fact: &self.fact[rows.start * self.shape.facts..rows.end * self.shape.facts],
            target: &self.target[rows],
        }
    }

    /// A row by its number: the entries of each segment.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> Vec<Segment<'_>> {
        let block = self.block(row / BLOCK);
        let segments = self.shape.leaves.len();
        let mut all = block.segments();
        all.by_ref().take(row % BLOCK * segments).for_each(drop);
        all.take(segments).collect()
    }

    /// The facts of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn facts(&self, row: usize) -> &[f32] {
        &self.fact[row * self.shape.facts..(row + 1) * self.shape.facts]
    }

    /// A copy of the rows of the given numbers, ascending, in memory.
    ///
    /// # Panics
    /// If there is no such row, or if they are more than can be counted.
    pub fn pick(&self, rows: impl IntoIterator<Item = usize>) -> Rows {
        let mut picked = RowsWriter::in_memory(self.shape.clone());
        picked.pick(self, rows).and_then(|()| picked.finish()).expect("no more rows than can be counted, in memory")
    }

    fn entry_start(&self, block: usize) -> usize {
        if block == self.block.len() { self.entries() } else { self.block[block] as usize }
    }
}

/// Consecutive rows.
#[derive(Clone, Copy, Debug)]
pub struct Block<'r> {
    /// Number of the first row.
    pub first: usize,
    segments: usize,
    facts: usize,
    leaf: &'r [u16],
    count: &'r [i8],
    length: &'r [u16],
    fact: &'r [f32],
    /// By row: what its score is compared with.
    pub target: &'r [f32],
}

/// The entries of a segment of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment<'r> {
    /// Ascending; equal ones, if a count is large, side by side.
    pub leaves: &'r [u16],
    /// How often each counts.
    pub counts: &'r [i8],
}

impl<'r> Block<'r> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }

    /// The segments of the first row, those of the second, and so on.
    #[inline(always)]
    pub fn segments(self) -> impl Iterator<Item = Segment<'r>> {
        let (mut leaf, mut count) = (self.leaf, self.count);
        self.length.iter().map(move |&length| {
            let (leaves, counts);
            (leaves, leaf) = leaf.split_at(usize::from(length));
            (counts, count) = count.split_at(usize::from(length));
            Segment { leaves, counts }
        })
    }

    /// Segments of a row.
    pub fn segments_a_row(&self) -> usize {
        self.segments
    }

    /// The facts of each row.
    pub fn facts(self) -> impl Iterator<Item = &'r [f32]> {
        let facts = self.facts;
        (0..self.len()).map(move |row| &self.fact[row * facts..(row + 1) * facts])
    }
}

#[cfg(test)]
mod tests;
