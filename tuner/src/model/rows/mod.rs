//! The data of a fit: one sparse row per position, stored contiguously.
//!
//! A row describes the dependence of a position's score on the parameters: the leaves of every segment of the
//! [`Layout`] with their counts; the facts, which do not depend on parameters; and the target of the score. Rows are
//! immutable once packed. Writers validate rows, so readers rely on their invariants: every leaf exists, no count is 0,
//! and all numbers are finite.
//!
//! Rows are stored in chunks. The chunks are dealt out in turn to the parts ([`PARTS`]), over which sums are computed.
//! Each of several processes keeps the rows of its own parts only, but all targets. Selected rows stay in the chunks of
//! the original rows.
//!
//! Rows are read block by block (`Rows::blocks`), which releases the pages of mapped files.

mod parts;
mod weighted;
mod writer;

use std::ops::Range;

use anyhow::{Result, ensure};

use super::layout::Layout;
use super::tape::LANES;
use crate::data::io::{Column, Storage};
pub(crate) use parts::{Part, is_dealt_here};
pub use weighted::Weighted;
pub use writer::{RowBuilder, RowsWriter};

/// Number of rows of a block, which a tape evaluates at once.
pub const BLOCK: usize = LANES;

/// Number of rows of a chunk, unless rows were selected from others.
pub const CHUNK: usize = 64 * BLOCK;

/// Number of parts that chunks are dealt out to; limits the threads and processes that can share a pass.
pub const PARTS: usize = 64;

/// Maximum number of leaves of a segment.
pub const MOST_LEAVES: usize = 1 << 16;

/// The shape of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Number of leaves by segment.
    pub leaves: Vec<usize>,
    /// Number of facts of a row.
    pub facts: usize,
}

impl From<&Layout> for Shape {
    fn from(layout: &Layout) -> Self {
        Shape { leaves: layout.segments.iter().map(|segment| segment.leaves).collect(), facts: layout.facts.len() }
    }
}

/// Packed sparse rows in memory or in mapped files; see the module's description. A row takes three bytes per entry,
/// two per segment, four per fact, and four for the target.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    shape: Shape,
    /// Leaf of every entry, by row and segment.
    leaf: Column<u16>,
    /// Count of every entry. Larger counts are stored as several entries of one leaf.
    count: Column<i8>,
    /// Number of entries of every segment of every row.
    length: Column<u16>,
    /// Index of the first entry by block.
    block: Column<u64>,
    /// Facts by row.
    fact: Column<f32>,
    /// Target of every row, local or not.
    target: Column<f32>,
    /// Weight of every row, local or not; empty if each counts as one.
    weight: Vec<f32>,
    /// Start of every chunk, and the end of the last one.
    chunks: Vec<Place>,
    /// True if each of several processes keeps the rows of its own chunks only.
    is_divided: bool,
}

/// The place between two chunks or blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Place {
    /// Number of rows before it.
    row: usize,
    /// Number of local rows before it.
    here: usize,
    /// Number of local blocks before it.
    block: usize,
}

impl Rows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }

    /// Returns the shape of the rows.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the number of entries of the local rows.
    pub fn entries(&self) -> usize {
        self.leaf.len()
    }

    /// Returns the size of the local rows in bytes, in memory or in files.
    pub fn bytes(&self) -> usize {
        let of_rows = 2 * self.length.len() + 4 * (self.fact.len() + self.target.len() + self.weight.len());
        3 * self.entries() + of_rows + 8 * self.block.len()
    }

    /// Returns true if most of the rows' data is in mapped files.
    pub fn is_mapped(&self) -> bool {
        self.leaf.is_mapped() || self.length.is_mapped()
    }

    /// Returns true if each of several processes keeps the rows of its own chunks only.
    pub(crate) fn is_divided(&self) -> bool {
        self.is_divided
    }

    /// Returns the targets of all rows, 0..=1, White's view.
    pub fn targets(&self) -> &[f32] {
        &self.target
    }

    /// Returns the targets and weights of all rows.
    pub(crate) fn weighted(&self) -> Weighted<'_> {
        Weighted { targets: &self.target, weights: &self.weight }
    }

    /// Returns the same rows with weights, positive and finite, one per row or none.
    pub(crate) fn with_weights(mut self, weights: Vec<f32>) -> Rows {
        assert!(weights.is_empty() || weights.len() == self.len(), "number of weights");
        self.weight = weights;
        self
    }

    /// Returns the total weight of every `stride`-th row.
    pub(crate) fn weight(&self, stride: usize) -> f64 {
        self.weighted().total((0..self.len()).step_by(stride))
    }

    /// Returns the same rows with other targets, 0..=1, White's view, one per row.
    ///
    /// # Errors
    /// The first target out of range.
    ///
    /// # Panics
    /// If there are more or fewer targets than rows.
    pub fn with_targets(mut self, targets: &[f32]) -> Result<Rows> {
        assert_eq!(targets.len(), self.len(), "number of targets");
        targets.iter().try_for_each(|&target| check_target(target))?;
        if self.target[..] != *targets {
            self.target = targets.to_vec().into();
        }
        self.target.release(0..self.target.len());
        Ok(self)
    }

    /// Returns the same rows with other values of a fact, one per row; an error for the first that is not finite.
    pub(crate) fn with_fact(mut self, fact: usize, values: &[f32]) -> Result<Rows> {
        assert!(values.len() == self.len() && fact < self.shape.facts, "a number a row");
        values.iter().try_for_each(|&value| check_fact(fact, value))?;
        let (of_row, mut facts) = (self.shape.facts, self.fact.to_vec());
        for chunk in self.chunks.windows(2) {
            for (here, &value) in (chunk[0].here..chunk[1].here).zip(&values[chunk[0].row..]) {
                facts[here * of_row + fact] = value;
            }
        }
        self.fact = facts.into();
        Ok(self)
    }

    /// Returns the number of chunks.
    pub(crate) fn chunk_count(&self) -> usize {
        self.chunks.len().saturating_sub(1)
    }

    /// Returns the number of rows of a chunk, local or not.
    pub(crate) fn chunk_len(&self, chunk: usize) -> usize {
        self.chunks[chunk + 1].row - self.chunks[chunk].row
    }

    /// Iterates over the blocks of local rows. Pages of mapped files are released on the way, so that a pass takes
    /// little memory.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..self.chunk_count()).flat_map(|chunk| self.blocks_of(chunk, 0..usize::MAX))
    }

    /// Iterates over some of the local blocks of a chunk, and releases the chunk's pages of mapped files at the end.
    pub(crate) fn blocks_of(&self, chunk: usize, blocks: Range<usize>) -> impl Iterator<Item = Block<'_>> {
        let (begin, end) = (self.chunks[chunk], self.chunks[chunk + 1]);
        let start = move |number: usize| Place {
            row: (begin.row + number * BLOCK).min(end.row),
            here: (begin.here + number * BLOCK).min(end.here),
            block: begin.block + number,
        };
        let block = move |number: usize| self.between(start(number), start(number + 1));
        let release = move || {
            self.release(chunk);
            None
        };
        (blocks.start..blocks.end.min(end.block - begin.block)).map(block).chain(std::iter::from_fn(release))
    }

    /// Returns the rows of a chunk, without entries and facts if they are not local.
    fn chunk(&self, chunk: usize) -> Block<'_> {
        self.between(self.chunks[chunk], self.chunks[chunk + 1])
    }

    /// Returns the rows between two places.
    fn between(&self, begin: Place, end: Place) -> Block<'_> {
        let [entries, lengths, facts, rows] = self.ranges(begin, end);
        Block {
            first: rows.start,
            segments: self.shape.leaves.len(),
            facts: self.shape.facts,
            leaf: &self.leaf[entries.clone()],
            count: &self.count[entries],
            length: &self.length[lengths],
            fact: &self.fact[facts],
            target: &self.target[rows.clone()],
            weight: self.weight.get(rows).unwrap_or(&[]),
        }
    }

    /// Returns the ranges of entries, lengths, facts and targets between two places.
    fn ranges(&self, begin: Place, end: Place) -> [Range<usize>; 4] {
        let of_rows = |width: usize| begin.here * width..end.here * width;
        let entries = self.entry_start(begin.block)..self.entry_start(end.block);
        [entries, of_rows(self.shape.leaves.len()), of_rows(self.shape.facts), begin.row..end.row]
    }

    /// Releases the pages of mapped files that belong to a chunk.
    fn release(&self, chunk: usize) {
        if self.is_mapped() {
            let [entries, lengths, facts, rows] = self.ranges(self.chunks[chunk], self.chunks[chunk + 1]);
            self.leaf.release(entries.clone());
            self.count.release(entries);
            self.length.release(lengths);
            self.fact.release(facts);
            self.target.release(rows);
        }
    }

    /// Returns the entries of each segment of a row.
    ///
    /// # Panics
    /// If there is no such local row.
    pub fn row(&self, row: usize) -> Vec<SegmentEntries<'_>> {
        self.at(row).segments().collect()
    }

    /// Returns the facts of a row.
    ///
    /// # Panics
    /// If there is no such local row.
    pub fn facts(&self, row: usize) -> &[f32] {
        self.at(row).fact
    }

    fn at(&self, row: usize) -> Block<'_> {
        let chunk = self.chunks.partition_point(|chunk| chunk.row <= row) - 1;
        let place = row - self.chunks[chunk].row;
        let mut rows = self.blocks_of(chunk, place / BLOCK..place / BLOCK + 1).flat_map(Block::rows);
        rows.nth(place % BLOCK).expect("a local row")
    }

    /// Copies rows, given by ascending numbers, to memory. Each stays in its chunk.
    ///
    /// # Panics
    /// If there is no such row, or there are too many rows.
    pub fn pick(&self, rows: impl IntoIterator<Item = usize>) -> Rows {
        let writer = RowsWriter::in_memory(self.shape.clone());
        writer.picked(self, rows).expect("no more rows than can be counted, in memory")
    }

    /// Copies rows, given by ascending numbers, to files if they are too many for memory.
    pub(crate) fn pick_to(&self, storage: &Storage, rows: impl IntoIterator<Item = usize>) -> Result<Rows> {
        RowsWriter::new(self.shape.clone(), storage).picked(self, rows)
    }

    fn entry_start(&self, block: usize) -> usize {
        if block == self.block.len() { self.entries() } else { self.block[block] as usize }
    }
}

/// Refuses a target outside of 0..=1.
fn check_target(target: f32) -> Result<()> {
    ensure!((0.0..=1.0).contains(&target), "rows: target {target} is not in 0..=1");
    Ok(())
}

/// Refuses a fact that is not finite.
fn check_fact(fact: usize, value: f32) -> Result<()> {
    ensure!(value.is_finite(), "rows: fact {fact} is {value}, which is not finite");
    Ok(())
}

/// A block of consecutive rows.
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
    /// Target of the score by row.
    pub target: &'r [f32],
    /// Weight by row; empty if each counts as one.
    weight: &'r [f32],
}

/// The entries of a segment of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentEntries<'r> {
    /// Leaves, ascending. A large count repeats its leaf.
    pub leaves: &'r [u16],
    /// Count of each leaf.
    pub counts: &'r [i8],
}

impl<'r> Block<'r> {
    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.target.len()
    }

    /// Returns the targets and weights of the rows.
    pub(crate) fn weighted(&self) -> Weighted<'r> {
        Weighted { targets: self.target, weights: self.weight }
    }

    /// Iterates over the segments of all rows, row after row.
    #[inline(always)]
    pub(crate) fn segments(self) -> impl Iterator<Item = SegmentEntries<'r>> {
        let (mut leaf, mut count) = (self.leaf, self.count);
        self.length.iter().map(move |&length| {
            let (leaves, counts);
            (leaves, leaf) = leaf.split_at(usize::from(length));
            (counts, count) = count.split_at(usize::from(length));
            SegmentEntries { leaves, counts }
        })
    }

    /// Iterates over the rows, each as a block.
    pub(crate) fn rows(self) -> impl Iterator<Item = Block<'r>> {
        let (mut leaf, mut count) = (self.leaf, self.count);
        (0..self.len()).map(move |row| {
            let length = &self.length[row * self.segments..(row + 1) * self.segments];
            let entries = length.iter().map(|&length| usize::from(length)).sum();
            let (leaves, counts);
            (leaves, leaf) = leaf.split_at(entries);
            (counts, count) = count.split_at(entries);
            Block {
                first: self.first + row,
                leaf: leaves,
                count: counts,
                length,
                fact: &self.fact[row * self.facts..(row + 1) * self.facts],
                target: &self.target[row..=row],
                weight: self.weight.get(row..=row).unwrap_or(&[]),
                ..self
            }
        })
    }

    /// Returns the number of segments of a row.
    pub(crate) fn segments_a_row(&self) -> usize {
        self.segments
    }

    /// Iterates over the facts of each row.
    pub fn facts(self) -> impl Iterator<Item = &'r [f32]> {
        (0..self.len()).map(move |row| &self.fact[row * self.facts..(row + 1) * self.facts])
    }
}

#[cfg(test)]
mod tests;
