//! Chunks of a file.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::ReadOptions;
use super::filter::Filter;
use super::formats::{Reader, Sample, Sink};
use super::judge::Evidence;
use super::left_out::{LeftOut, LeftOutCounts};
use super::record_error::RecordError;
use super::store::StoredRow;

/// The content of one chunk of a file.
#[derive(Default)]
pub(super) struct Chunk {
    /// The usable positions, with the index of their record within the chunk.
    pub(super) rows: Vec<StoredRow>,
    /// Key of each position, if duplicates are to be found.
    keys: Vec<u64>,
    pub(super) left_out: LeftOutCounts,
    pub(super) evidence: Evidence,
    pub(super) records: u32,
    /// Bad records: index within the chunk, error.
    pub(super) bad: Vec<(u32, RecordError)>,
}

impl Chunk {
    /// Reads a whole chunk.
    pub(super) fn read(reader: &dyn Reader, bytes: &[u8], filter: Filter<'_>, options: &ReadOptions) -> Self {
        let mut reading = Reading { chunk: Chunk::default(), filter, options };
        reading.chunk.records = reader.read(bytes, &mut reading);
        reading.chunk
    }

    /// Removes the positions with keys that occurred before, and adds the other keys, if keys are kept.
    pub(super) fn leave_out_duplicates(&mut self, keys: &mut HashSet<u64>) {
        let (before, mut own) = (self.rows.len(), self.keys.iter());
        self.rows.retain(|_| own.next().is_none_or(|&key| keys.insert(key)));
        self.left_out.add_several(LeftOut::Duplicate, (before - self.rows.len()) as u64);
    }
}

/// A chunk that is being read.
struct Reading<'r> {
    chunk: Chunk,
    filter: Filter<'r>,
    options: &'r ReadOptions,
}

impl Sink for Reading<'_> {
    fn sample(&mut self, record: u32, sample: &Sample) {
        let chunk = &mut self.chunk;
        if let Some(reason) = self.filter.refuses(sample) {
            return chunk.left_out.add(reason);
        }
        chunk.evidence.add(&sample.position, &sample.label);
        let row = StoredRow::new(record, &sample.position, &sample.label);
        chunk.rows.push(if self.options.moves { row.with_move(sample.best) } else { row });
        if self.options.filters.unique {
            chunk.keys.push(sample.position.key());
        }
    }

    fn leave_out(&mut self, reason: LeftOut) {
        self.chunk.left_out.add(reason);
    }

    fn fault(&mut self, record: u32, error: RecordError) -> ControlFlow<()> {
        self.chunk.bad.push((record, error));
        // The data set is refused beyond this number, so the rest of the chunk is not needed.
        if self.chunk.bad.len() > self.options.skip_bad { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
