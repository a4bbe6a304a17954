//! Computations over the chunks and parts of the rows, shared among processes.
//!
//! A part does not depend on the number of threads or processes, and results are combined in the order of the parts. So
//! any number of threads or processes computes the same bits.

use std::borrow::Cow;
use std::iter::StepBy;
use std::ops::Range;

use anyhow::Result;

use super::{Block, PARTS, Rows, RowsWriter};
use crate::data::io::Storage;
use crate::parallel;
use crate::processes::{self, Shared};

/// Returns true if rows are divided among several processes.
pub(super) fn are_divided() -> bool {
    processes::are_several()
}

/// Returns true if this process keeps the rows of a chunk of divided rows.
pub(crate) fn is_dealt_here(chunk: usize) -> bool {
    processes::is_own(chunk % PARTS)
}

/// A part of the rows: every [`PARTS`]-th chunk, or a single one.
pub(crate) struct Part<'r> {
    rows: &'r Rows,
    chunks: StepBy<Range<usize>>,
}

impl<'r> Part<'r> {
    /// Iterates over the blocks in order.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'r>> {
        self.chunks.flat_map(move |chunk| self.rows.blocks_of(chunk, 0..usize::MAX))
    }
}

impl Rows {
    /// Computes a result for each of some chunks, which may repeat, and returns them in order. `work` takes the place
    /// of a chunk among the given ones. Every process computes the results of its own chunks.
    pub(crate) fn each_chunk<T: Shared>(&self, chunks: &[usize], work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        if !self.is_divided {
            return parallel::map(0..chunks.len(), work);
        }
        let own = (0..chunks.len()).filter(|&place| is_dealt_here(chunks[place]));
        processes::gather(parallel::map(own, work), chunks.iter().map(|chunk| chunk % PARTS))
    }

    /// Computes the result of every part and returns them in order.
    pub(crate) fn each_part<T: Shared>(&self, work: impl Fn(Part<'_>) -> T + Sync) -> Vec<T> {
        let first: Vec<usize> = (0..PARTS.min(self.chunk_count())).collect();
        self.each_chunk(&first, |first| work(Part { rows: self, chunks: (first..self.chunk_count()).step_by(PARTS) }))
    }

    /// Computes a result per row and returns them in order; `work` computes the results of the rows of a chunk.
    pub(crate) fn by_row<T: Shared + Copy>(&self, work: impl Fn(Part<'_>) -> Vec<T> + Sync) -> Vec<T> {
        let chunks: Vec<usize> = (0..self.chunk_count()).collect();
        self.each_chunk(&chunks, |chunk| work(Part { rows: self, chunks: (chunk..chunk + 1).step_by(1) })).concat()
    }

    /// Returns true if rows of any process are in mapped files.
    pub(crate) fn are_mapped(&self) -> bool {
        processes::any(self.is_mapped())
    }

    /// Returns the number of entries of all rows, local or not.
    pub(crate) fn entries_of_all(&self) -> usize {
        self.each_part(|part| part.chunks.map(|chunk| self.chunk(chunk).leaf.len()).sum::<usize>()).into_iter().sum()
    }

    /// Divides rows, all of which this process has, among several processes, if there are more than one.
    ///
    /// # Errors
    /// If the rows cannot be stored.
    pub(crate) fn divided(self, storage: &Storage) -> Result<Rows> {
        if !are_divided() {
            return Ok(self);
        }
        let mut own = RowsWriter::new(self.shape.clone(), storage);
        own.append(&self)?;
        own.finish()
    }

    /// Returns all rows, including copies of those of other processes.
    pub(crate) fn whole(&self) -> Cow<'_, Rows> {
        if !self.is_divided {
            return Cow::Borrowed(self);
        }
        let chunks: Vec<usize> = (0..self.chunk_count()).collect();
        let mut whole = RowsWriter::in_memory(self.shape.clone());
        let copied = |chunk: usize| {
            let Block { leaf, count, length, fact, .. } = self.chunk(chunk);
            (leaf.to_vec(), count.to_vec(), length.to_vec(), fact.to_vec())
        };
        for (chunk, (leaf, count, length, fact)) in self.each_chunk(&chunks, copied).iter().enumerate() {
            let rows = Block { leaf, count, length, fact, ..self.chunk(chunk) };
            whole.append_chunk(&rows).expect("no more rows than before, in memory");
        }
        let whole = whole.finish().expect("no more rows than before, in memory");
        Cow::Owned(whole.with_weights(self.weight.clone()))
    }
}
