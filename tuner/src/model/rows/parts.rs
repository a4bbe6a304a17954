//! Computations over the parts of the rows, shared among processes.
//!
//! A part does not depend on the number of threads or processes, and results are combined in the order of the parts. So
//! any number of threads or processes computes the same bits.

use std::borrow::Cow;

use bytemuck::Pod;

use super::{Block, PARTS, Rows, RowsWriter};
use crate::processes::{self, Shared};

/// A part of the rows: every [`PARTS`]-th chunk.
pub(crate) struct Part<'r> {
    rows: &'r Rows,
    number: usize,
}

impl<'r> Part<'r> {
    fn chunks(&self) -> impl Iterator<Item = usize> + use<'r> {
        (self.number..self.rows.chunk_count()).step_by(PARTS)
    }

    /// Iterates over the blocks in order.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'r>> {
        self.chunks().flat_map(move |chunk| self.rows.blocks_of(chunk))
    }

    /// Returns the number of entries.
    fn entries(self) -> u64 {
        let start = |chunk: usize| self.rows.entry_start(self.rows.chunks[chunk].block);
        self.chunks().map(|chunk| (start(chunk + 1) - start(chunk)) as u64).sum()
    }
}

impl Rows {
    /// Computes the result of every part and returns them in order.
    pub(crate) fn each_part<T: Shared>(&self, work: impl Fn(Part<'_>) -> T + Send + Sync) -> Vec<T> {
        processes::each(PARTS.min(self.chunk_count()), |number| work(Part { rows: self, number }))
    }

    /// Computes a result per row and returns them in order; `work` computes the results of the rows of a part.
    pub(crate) fn by_row<T: Pod + Send>(&self, work: impl Fn(Part<'_>) -> Vec<T> + Send + Sync) -> Vec<T> {
        let parts = self.each_part(work);
        let mut rest: Vec<&[T]> = parts.iter().map(Vec::as_slice).collect();
        let mut all = Vec::with_capacity(self.len());
        for chunk in 0..self.chunk_count() {
            let rest = &mut rest[chunk % PARTS];
            let (own, others) = rest.split_at(self.chunk_len(chunk));
            all.extend_from_slice(own);
            *rest = others;
        }
        all
    }

    /// Returns true if rows of any process are in mapped files.
    pub(crate) fn are_mapped(&self) -> bool {
        processes::any(self.is_mapped())
    }

    /// Returns the number of entries of all rows, local or not.
    pub(crate) fn entries_of_all(&self) -> usize {
        self.each_part(|part| vec![part.entries()]).iter().map(|entries| entries[0] as usize).sum()
    }

    /// Returns all rows, including copies of those of other processes.
    pub(crate) fn whole(&self) -> Cow<'_, Rows> {
        if !processes::any((0..self.chunk_count()).any(|chunk| !self.is_here(chunk))) {
            return Cow::Borrowed(self);
        }
        let all = processes::from_each(self);
        let mut whole = RowsWriter::in_memory(self.shape.clone());
        for chunk in 0..self.chunk_count() {
            let keeper = all.iter().find(|rows| rows.is_here(chunk)).expect("every chunk is kept by a process");
            whole.append_chunk(keeper, chunk).expect("no more rows than before, in memory");
        }
        let whole = whole.finish().expect("no more rows than before, in memory");
        Cow::Owned(whole.with_weights(self.weight.clone()))
    }
}
