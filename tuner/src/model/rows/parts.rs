//! What comes of all rows, part by part; processes share the work.
//!
//! A part does not depend on the number of threads or processes. What comes of parts is put together in their order: the
//! same bits come out of any number of either.

use std::borrow::Cow;

use bytemuck::Pod;

use super::{Block, PARTS, Rows, RowsWriter};
use crate::processes::{self, Shared};

/// The chunks of a part.
pub(crate) struct Part<'r> {
    rows: &'r Rows,
    number: usize,
}

impl<'r> Part<'r> {
    fn chunks(&self) -> impl Iterator<Item = usize> + use<'r> {
        (self.number..self.rows.chunk_count()).step_by(PARTS)
    }

    /// The blocks, in order.
    pub(crate) fn blocks(self) -> impl Iterator<Item = Block<'r>> {
        self.chunks().flat_map(move |chunk| self.rows.blocks_of(chunk))
    }

    /// Number of entries.
    fn entries(self) -> u64 {
        let start = |chunk: usize| self.rows.entry_start(self.rows.chunks[chunk].block);
        self.chunks().map(|chunk| (start(chunk + 1) - start(chunk)) as u64).sum()
    }
}

impl Rows {
    /// What comes of every part, in order.
    pub(crate) fn each_part<T: Shared>(&self, work: impl Fn(Part<'_>) -> T + Send + Sync) -> Vec<T> {
        processes::each(PARTS.min(self.chunk_count()), |number| work(Part { rows: self, number }))
    }

    /// What comes of every row, where work finds it for the rows of a part.
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

    /// Whether rows lie in mapped files, here or in another process.
    pub(crate) fn are_mapped(&self) -> bool {
        processes::any(self.is_mapped())
    }

    /// Number of entries in all rows together, here or not.
    pub(crate) fn entries_of_all(&self) -> usize {
        self.each_part(|part| vec![part.entries()]).iter().map(|entries| entries[0] as usize).sum()
    }

    /// All rows, here.
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
