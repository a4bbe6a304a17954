//! Parallel work on the positions of a data set, chunk by chunk.

use std::ops::Range;

use super::{BLOCK, CHUNK, Dataset};
use crate::parallel;
use crate::progress::{Progress, Unit};

impl Dataset {
    /// Divides the positions into chunks, processes several in parallel, and passes the results to `collect` in order.
    /// A chunk is of one file; chunks do not depend on the number of threads.
    pub(crate) fn each_chunk<T: Send>(
        &self,
        step: &'static str,
        work: impl Fn(Range<usize>) -> T + Sync,
        collect: impl FnMut(T),
        progress: &dyn Progress,
    ) {
        let work = |chunks: &[Range<usize>]| parallel::map(chunks.iter().cloned(), &work);
        self.each_of(&self.chunks(), step, work, collect, progress);
    }

    /// Works as [`Dataset::each_chunk`], with chunks of a given size that may span files, and a function of several
    /// chunks.
    pub(crate) fn each_block<T>(
        &self,
        step: &'static str,
        size: usize,
        work: impl Fn(&[Range<usize>]) -> Vec<T>,
        collect: impl FnMut(T),
        progress: &dyn Progress,
    ) {
        let chunks: Vec<_> = (0..self.len()).step_by(size).map(|start| start..(start + size).min(self.len())).collect();
        self.each_of(&chunks, step, work, collect, progress);
    }

    fn each_of<T>(
        &self,
        chunks: &[Range<usize>],
        step: &'static str,
        work: impl Fn(&[Range<usize>]) -> Vec<T>,
        mut collect: impl FnMut(T),
        progress: &dyn Progress,
    ) {
        progress.begin(step, self.len() as u64, Unit::Positions);
        for block in chunks.chunks(BLOCK) {
            work(block).into_iter().for_each(&mut collect);
            let range = block[0].start..block[block.len() - 1].end;
            progress.advance(range.len() as u64);
            self.release(range);
        }
        progress.end();
    }

    fn chunks(&self) -> Vec<Range<usize>> {
        let (mut chunks, mut start) = (Vec::new(), 0);
        for file in self.files() {
            let end = start + file.positions as usize;
            chunks.extend((start..end).step_by(CHUNK).map(|start| start..(start + CHUNK).min(end)));
            start = end;
        }
        chunks
    }
}
