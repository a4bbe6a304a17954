//! Parallel work on the positions of a data set, chunk by chunk.

use std::ops::Range;

use super::{BLOCK, CHUNK, Dataset};
use crate::parallel;
use crate::progress::{Progress, Unit};

impl Dataset {
    /// Divides the positions into chunks, processes several in parallel, and passes the results to `collect` in order.
    /// Chunks may span files, and do not depend on the number of threads.
    pub(crate) fn each_chunk<T: Send>(
        &self,
        step: &'static str,
        work: impl Fn(Range<usize>) -> T + Sync,
        collect: impl FnMut(T),
        progress: &dyn Progress,
    ) {
        let work = |chunks: &[Range<usize>]| parallel::map(chunks.iter().cloned(), &work);
        self.each_block(step, CHUNK, work, collect, progress);
    }

    /// Works as [`Dataset::each_chunk`], with chunks of a given size and a function of several chunks.
    pub(crate) fn each_block<T>(
        &self,
        step: &'static str,
        size: usize,
        work: impl Fn(&[Range<usize>]) -> Vec<T>,
        mut collect: impl FnMut(T),
        progress: &dyn Progress,
    ) {
        let chunks: Vec<_> = (0..self.len()).step_by(size).map(|start| start..(start + size).min(self.len())).collect();
        progress.begin(step, self.len() as u64, Unit::Positions);
        for block in chunks.chunks(BLOCK) {
            work(block).into_iter().for_each(&mut collect);
            let range = block[0].start..block[block.len() - 1].end;
            progress.advance(range.len() as u64);
            self.release(range);
        }
        progress.end();
    }
}
