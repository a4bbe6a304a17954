//! The data of a fit: one sparse row per position, packed end to end.
//!
//! A row says how a position's score depends on the parameters: for every segment of the [`Layout`] which leaves count
//! and how often; the facts, numbers that no parameter has part in; and the target its score is compared with. Rows are
//! immutable once packed. Writers check what they are given, so everything else can rely on it: every leaf exists, no
//! count is 0, all numbers are finite.
//!
//! Rows come in chunks, and every so-many-th chunk is of one part ([`PARTS`]): sums are taken part by part. Of several
//! processes each keeps the rows of its own parts only, and all targets. Rows that are picked stay in the chunks of the
//! rows that they are picked from.
//!
//! Rows are read block by block (`Rows::blocks`), which is where mapped files are given back to the system.

mod parts;
mod stored;
mod writer;

use std::ops::Range;

use thiserror::Error;

use super::layout::Layout;
use super::tape::LANES;
use crate::io::{Column, Storage, StorageError};
pub(crate) use parts::Part;
pub use writer::{RowBuilder, RowsWriter};

/// Rows of a block: what a tape works on at once.
pub const BLOCK: usize = LANES;

/// Rows of a chunk, where rows were not picked from others.
pub const CHUNK: usize = 64 * BLOCK;

/// Parts that chunks are dealt out to, in turn; bounds the threads and processes that can share a pass.
pub const PARTS: usize = 64;

/// Leaves that a segment may have.
pub const MOST_LEAVES: usize = 1 << 16;

/// Why a row was refused or rows could not be joined.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RowsError {
    /// A row, or all of them together, cannot be kept.
    #[error("rows: {0}")]
    Refused(String),
    /// A file of rows cannot be written or mapped.
    #[error("rows: {0}")]
    Storage(#[from] StorageError),
}

impl RowsError {
    /// A target outside of 0..=1.
    fn target(target: f32) -> Self {
        RowsError::Refused(format!("target {target} is not in 0..=1"))
    }

    /// A fact that is not a finite number.
    fn fact(fact: usize, value: f32) -> Self {
        RowsError::Refused(format!("fact {fact} is {value}, which is not finite"))
    }
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
        Shape { leaves: layout.segments.iter().map(|segment| segment.leaves).collect(), facts: layout.facts.len() }
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
    /// Of all rows, here or not.
    target: Column<f32>,
    /// Of all rows, here or not: how many rows each counts as. Empty if each counts as one.
    weight: Vec<f32>,
    /// Where chunks begin, and where the last one ends.
    chunks: Vec<Chunk>,
}

/// Where a chunk begins.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Chunk {
    /// The number of its first row.
    row: usize,
    /// Rows here before it.
    here: usize,
    /// Blocks here before it.
    block: usize,
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

    /// Number of entries in the rows that are here.
    pub fn entries(&self) -> usize {
        self.leaf.len()
    }

    /// Bytes the rows that are here take, in memory or in files.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.leaf[..])
            + size_of_val(&self.count[..])
            + size_of_val(&self.length[..])
            + size_of_val(&self.block[..])
            + size_of_val(&self.fact[..])
            + size_of_val(&self.target[..])
            + size_of_val(&self.weight[..])
    }

    /// Whether the rows lie in mapped files, at least the most of them.
    pub fn is_mapped(&self) -> bool {
        self.leaf.is_mapped() || self.length.is_mapped()
    }

    /// Targets of all rows, 0..=1, White's view.
    pub fn targets(&self) -> &[f32] {
        &self.target
    }

    /// What scores are held against, and how many rows each counts as.
    pub(crate) fn weighted(&self) -> Weighted<'_> {
        Weighted { targets: &self.target, weights: &self.weight }
    }

    /// The same rows with weights, positive and finite, one a row or none.
    pub(crate) fn with_weights(mut self, weights: Vec<f32>) -> Rows {
        assert!(weights.is_empty() || weights.len() == self.len(), "number of weights");
        self.weight = weights;
        self
    }

    /// How many rows every `stride`-th row counts as, all of them together.
    pub(crate) fn weight(&self, stride: usize) -> f64 {
        match self.weight.is_empty() {
            true => self.len().div_ceil(stride) as f64,
            false => self.weight.iter().step_by(stride).copied().map(f64::from).sum(),
        }
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
            return Err(RowsError::target(target));
        }
        if self.target[..] != *targets {
            self.target = targets.to_vec().into();
        }
        self.target.release(0..self.target.len());
        Ok(self)
    }

    /// The same rows with another fact, one number a row; an error for the first that is not finite.
    pub(crate) fn with_fact(mut self, fact: usize, values: &[f32]) -> Result<Rows, RowsError> {
        assert!(values.len() == self.len() && fact < self.shape.facts, "a number a row");
        if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
            return Err(RowsError::fact(fact, value));
        }
        let (of_row, mut facts) = (self.shape.facts, self.fact.to_vec());
        for chunk in self.chunks.windows(2) {
            for (here, &value) in (chunk[0].here..chunk[1].here).zip(&values[chunk[0].row..]) {
                facts[here * of_row + fact] = value;
            }
        }
        self.fact = facts.into();
        Ok(self)
    }

    /// Number of chunks.
    pub(crate) fn chunk_count(&self) -> usize {
        self.chunks.len().saturating_sub(1)
    }

    /// Number of rows of a chunk, here or not.
    pub(crate) fn chunk_len(&self, chunk: usize) -> usize {
        self.chunks[chunk + 1].row - self.chunks[chunk].row
    }

    /// Whether the rows of a chunk are here.
    fn is_here(&self, chunk: usize) -> bool {
        self.chunks[chunk + 1].here - self.chunks[chunk].here == self.chunk_len(chunk)
    }

    /// Consecutive blocks of rows that are here, from the first to the last: what a mapped file had to be read for goes
    /// back to the system on the way, so that a pass takes no more memory than it must.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        (0..self.chunk_count()).flat_map(|chunk| self.blocks_of(chunk))
    }

    /// The blocks of a chunk that is here; what a mapped file had to be read for goes back at the end.
    pub(crate) fn blocks_of(&self, chunk: usize) -> impl Iterator<Item = Block<'_>> {
        let blocks = self.chunks[chunk + 1].block - self.chunks[chunk].block;
        let release = move || {
            self.release(chunk);
            None
        };
        (0..blocks).map(move |number| self.block(chunk, number)).chain(std::iter::from_fn(release))
    }

    /// Gives back what mapped files had to be read for to see a chunk.
    pub(crate) fn release(&self, chunk: usize) {
        if self.is_mapped() {
            let (begin, end) = (self.chunks[chunk], self.chunks[chunk + 1]);
            let entries = self.entry_start(begin.block)..self.entry_start(end.block);
            let (segments, facts) = (self.shape.leaves.len(), self.shape.facts);
            self.leaf.release(entries.clone());
            self.count.release(entries);
            self.length.release(begin.here * segments..end.here * segments);
            self.fact.release(begin.here * facts..end.here * facts);
            self.target.release(begin.row..end.row);
        }
    }

    /// A block of a chunk that is here.
    ///
    /// # Panics
    /// If there is no such block.
    pub(crate) fn block(&self, chunk: usize, number: usize) -> Block<'_> {
        let (begin, end) = (self.chunks[chunk], self.chunks[chunk + 1]);
        let block = begin.block + number;
        assert!(block < end.block, "a block of the chunk");
        let here = begin.here + number * BLOCK..(begin.here + (number + 1) * BLOCK).min(end.here);
        let entries = self.entry_start(block)..self.entry_start(block + 1);
        let (segments, facts) = (self.shape.leaves.len(), self.shape.facts);
        let first = begin.row + number * BLOCK;
        Block {
            first,
            segments,
            facts,
            leaf: &self.leaf[entries.clone()],
            count: &self.count[entries],
            length: &self.length[here.start * segments..here.end * segments],
            fact: &self.fact[here.start * facts..here.end * facts],
            target: &self.target[first..first + here.len()],
            weight: self.weight.get(first..first + here.len()).unwrap_or(&[]),
        }
    }

    /// The chunk of a row, and the place of the row there.
    fn place(&self, row: usize) -> (usize, usize) {
        let chunk = self.chunks.partition_point(|chunk| chunk.row <= row) - 1;
        assert!(row < self.len() && self.is_here(chunk), "row {row} is here");
        (chunk, row - self.chunks[chunk].row)
    }

    /// A row by its number: the entries of each segment.
    ///
    /// # Panics
    /// If there is no such row here.
    pub fn row(&self, row: usize) -> Vec<Segment<'_>> {
        let (chunk, place) = self.place(row);
        let segments = self.shape.leaves.len();
        let mut all = self.block(chunk, place / BLOCK).segments();
        all.by_ref().take(place % BLOCK * segments).for_each(drop);
        all.take(segments).collect()
    }

    /// The facts of a row.
    ///
    /// # Panics
    /// If there is no such row here.
    pub fn facts(&self, row: usize) -> &[f32] {
        let (chunk, place) = self.place(row);
        let here = self.chunks[chunk].here + place;
        &self.fact[here * self.shape.facts..(here + 1) * self.shape.facts]
    }

    /// A copy of the rows of the given numbers, ascending, in memory; each stays in its chunk.
    ///
    /// # Panics
    /// If there is no such row, or if they are more than can be counted.
    pub fn pick(&self, rows: impl IntoIterator<Item = usize>) -> Rows {
        RowsWriter::divided(self.shape.clone()).picked(self, rows).expect("no more rows than can be counted, in memory")
    }

    /// The same, in files if they are too many for memory.
    pub(crate) fn pick_to(&self, storage: &Storage, rows: impl IntoIterator<Item = usize>) -> Result<Rows, RowsError> {
        RowsWriter::new(self.shape.clone(), storage).picked(self, rows)
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
    /// By row: how many rows it counts as; empty if each counts as one.
    weight: &'r [f32],
}

/// What scores are held against.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'w> {
    /// By score: the result that is expected, 0..=1, White's view.
    pub targets: &'w [f32],
    /// By score: how many it counts as. Empty if each counts as one.
    pub weights: &'w [f32],
}

/// Each counts as one.
impl<'w, T: AsRef<[f32]> + ?Sized> From<&'w T> for Weighted<'w> {
    fn from(targets: &'w T) -> Self {
        Weighted { targets: targets.as_ref(), weights: &[] }
    }
}

impl Weighted<'_> {
    /// How many a score counts as.
    pub(crate) fn weight(&self, score: usize) -> f64 {
        self.weights.get(score).copied().map_or(1.0, f64::from)
    }

    /// How many the scores of a range count as together.
    pub(crate) fn total(&self, range: Range<usize>) -> f64 {
        if self.weights.is_empty() { range.len() as f64 } else { range.map(|score| self.weight(score)).sum() }
    }

    /// Multiplies numbers, one a score from `first` on, by what each counts as.
    #[inline]
    pub(crate) fn weigh(&self, first: usize, numbers: &mut [f64]) {
        if let Some(weights) = self.weights.get(first..) {
            numbers.iter_mut().zip(weights).for_each(|(number, &weight)| *number *= f64::from(weight));
        }
    }
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
    pub(crate) fn len(&self) -> usize {
        self.target.len()
    }

    /// Targets and weights of the rows.
    pub(crate) fn weighted(&self) -> Weighted<'r> {
        Weighted { targets: self.target, weights: self.weight }
    }

    /// The segments of the first row, those of the second, and so on.
    #[inline(always)]
    pub(crate) fn segments(self) -> impl Iterator<Item = Segment<'r>> {
        let (mut leaf, mut count) = (self.leaf, self.count);
        self.length.iter().map(move |&length| {
            let (leaves, counts);
            (leaves, leaf) = leaf.split_at(usize::from(length));
            (counts, count) = count.split_at(usize::from(length));
            Segment { leaves, counts }
        })
    }

    /// Segments of a row.
    pub(crate) fn segments_a_row(&self) -> usize {
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
