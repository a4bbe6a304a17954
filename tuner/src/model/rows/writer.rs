//! The writer of rows, which takes them from a builder or copies them from other rows.

use super::{BLOCK, CHUNK, Chunk, Rows, RowsError, Shape};
use crate::io::{ColumnWriter, Storage};
use crate::processes;

/// The largest count of a leaf in a row.
const MOST_COUNT: i64 = 1 << 20;

/// A builder of a row, entry by entry.
#[derive(Clone, Debug, Default)]
pub struct RowBuilder {
    /// Entries in any order: segment, leaf and count.
    entries: Vec<(u32, u32, i64)>,
    facts: Vec<f32>,
    /// Leaves in storage format. Writing a row at once is far faster than entry by entry.
    leaves: Vec<u16>,
    /// Counts in storage format.
    counts: Vec<i8>,
}

impl RowBuilder {
    /// Clears the row and sets a number of facts to 0.
    pub fn clear(&mut self, facts: usize) {
        self.entries.clear();
        self.facts.clear();
        self.facts.resize(facts, 0.0);
    }

    /// Adds a count to a leaf of a segment. Several counts of one leaf add up.
    #[inline]
    pub fn add(&mut self, segment: usize, leaf: usize, count: i32) {
        self.entries.push((segment as u32, leaf as u32, i64::from(count)));
    }

    /// Sets a fact.
    ///
    /// # Panics
    /// If there is no such fact.
    pub fn set_fact(&mut self, fact: usize, value: f32) {
        self.facts[fact] = value;
    }
}

/// A writer that appends rows to memory or, if they are too many, to temporary files.
#[derive(Default)]
pub struct RowsWriter {
    shape: Shape,
    leaf: ColumnWriter<u16>,
    count: ColumnWriter<i8>,
    length: ColumnWriter<u16>,
    block: ColumnWriter<u64>,
    fact: ColumnWriter<f32>,
    target: ColumnWriter<f32>,
    /// Weights of rows that were copied from rows with weights.
    weight: Vec<f32>,
    /// Start of every chunk.
    chunks: Vec<Chunk>,
    /// Number of local rows so far.
    here: usize,
    /// True if rows of other processes are left out.
    is_divided: bool,
    /// True if rows of the last chunk are local.
    is_kept: bool,
    /// The limit of memory, and the folder of the files; none for rows that stay in memory.
    storage: Option<Storage>,
}

impl RowsWriter {
    /// Creates a writer that uses files if memory does not suffice. Each of several processes keeps its own rows.
    pub fn new(shape: Shape, storage: &Storage) -> Self {
        RowsWriter { storage: Some(storage.clone()), ..Self::divided(shape) }
    }

    /// Creates a writer whose rows stay in memory. Each of several processes keeps its own rows.
    pub(super) fn divided(shape: Shape) -> Self {
        RowsWriter { is_divided: true, ..Self::in_memory(shape) }
    }

    /// Creates a writer that keeps all rows in the memory of this process.
    pub fn in_memory(shape: Shape) -> Self {
        RowsWriter { shape, is_kept: true, ..Self::default() }
    }

    /// Returns the number of rows so far.
    pub(crate) fn len(&self) -> usize {
        self.target.len()
    }

    /// Adds a row. Sorts and merges the builder's entries.
    ///
    /// # Errors
    /// If a leaf does not exist, a count is too large, a fact is not finite, the target is not in 0..=1, or a file
    /// cannot be written. The row is not added then.
    pub fn push(&mut self, row: &mut RowBuilder, target: f32) -> Result<(), RowsError> {
        if !(0.0..=1.0).contains(&target) {
            return Err(RowsError::target(target));
        }
        if let Some(fact) = row.facts.iter().position(|fact| !fact.is_finite()) {
            return Err(RowsError::fact(fact, row.facts[fact]));
        }
        assert_eq!(row.facts.len(), self.shape.facts, "facts of a row");
        merge(&mut row.entries);
        let mut entries = &row.entries[..];
        let mut of_segment = [0_u16; 64];
        let lengths = &mut of_segment[..self.shape.leaves.len()];
        for (segment, (length, &leaves)) in lengths.iter_mut().zip(&self.shape.leaves).enumerate() {
            let own = entries.iter().take_while(|entry| entry.0 as usize == segment).count();
            let mut sum = 0;
            for &(_, leaf, count) in &entries[..own] {
                let leaf = leaf as usize;
                if leaf >= leaves {
                    return Err(RowsError::Refused(format!("no parameter {leaf} among the {leaves} of a sum")));
                }
                if count.abs() > MOST_COUNT {
                    let message = format!("parameter {leaf} counts {count} times, more than {MOST_COUNT}");
                    return Err(RowsError::Refused(message));
                }
                sum += count.unsigned_abs().div_ceil(127) as usize;
            }
            *length = u16::try_from(sum).map_err(|_| {
                RowsError::Refused(format!("{sum} entries in one sum of a row, at most 65535 can be kept"))
            })?;
            entries = &entries[own..];
        }
        assert!(entries.is_empty(), "a segment of the shape");
        if !self.begin_row(target)? {
            return Ok(());
        }
        self.length.extend(lengths)?;
        row.leaves.clear();
        row.counts.clear();
        for &(_, leaf, mut count) in &row.entries {
            while count != 0 {
                let part = count.clamp(-127, 127);
                row.leaves.push(leaf as u16);
                row.counts.push(part as i8);
                count -= part;
            }
        }
        self.leaf.extend(&row.leaves)?;
        self.count.extend(&row.counts)?;
        Ok(self.fact.extend(&row.facts)?)
    }

    /// Copies local rows, given by ascending numbers, without their weights.
    pub(crate) fn pick(&mut self, rows: &Rows, numbers: impl IntoIterator<Item = usize>) -> Result<(), RowsError> {
        let mut source = RowCursor::new(rows);
        numbers.into_iter().try_for_each(|number| {
            source.seek(number);
            if self.begin_row(rows.target[number])? { self.copy(&source) } else { Ok(()) }
        })
    }

    /// Copies rows, given by ascending numbers, each into the chunk of its number, and returns them.
    pub(super) fn picked(mut self, rows: &Rows, numbers: impl IntoIterator<Item = usize>) -> Result<Rows, RowsError> {
        let mut source = RowCursor::new(rows);
        for number in numbers {
            source.seek(number);
            (self.chunks.len()..=source.chunk).for_each(|_| self.begin_chunk());
            self.weight.extend(rows.weight.get(number));
            if self.add_row(rows.target[number])? {
                self.copy(&source)?;
            }
        }
        (self.chunks.len()..rows.chunk_count()).for_each(|_| self.begin_chunk());
        self.finish()
    }

    /// Copies the entries and facts of a row.
    fn copy(&mut self, source: &RowCursor<'_>) -> Result<(), RowsError> {
        let &RowCursor { rows, here, entry, .. } = source;
        let entries = entry..entry + source.entries(here);
        let (segments, facts) = (rows.shape.leaves.len(), rows.shape.facts);
        self.leaf.extend(&rows.leaf[entries.clone()])?;
        self.count.extend(&rows.count[entries])?;
        self.length.extend(&rows.length[here * segments..(here + 1) * segments])?;
        Ok(self.fact.extend(&rows.fact[here * facts..(here + 1) * facts])?)
    }

    /// Appends other rows, which are all local.
    pub(crate) fn append(&mut self, rows: &Rows) -> Result<(), RowsError> {
        if self.len().is_multiple_of(CHUNK) && rows.chunk_count() == 1 && rows.len() <= CHUNK {
            self.append_chunk(rows, 0)
        } else {
            self.pick(rows, 0..rows.len())
        }
    }

    /// Begins a chunk with copies of the rows of a local chunk.
    pub(super) fn append_chunk(&mut self, rows: &Rows, chunk: usize) -> Result<(), RowsError> {
        let (begin, end) = (rows.chunks[chunk], rows.chunks[chunk + 1]);
        self.begin_chunk();
        self.check_room(end.row - begin.row)?;
        self.target.extend(&rows.target[begin.row..end.row])?;
        if self.is_kept {
            assert!(rows.is_here(chunk), "rows that are here");
            let (first, last) = (rows.entry_start(begin.block), rows.entry_start(end.block));
            let (before, segments, facts) = (self.leaf.len(), rows.shape.leaves.len(), rows.shape.facts);
            let starts = rows.block[begin.block..end.block].iter().map(|&start| start - first as u64 + before as u64);
            self.block.extend(&starts.collect::<Vec<u64>>())?;
            self.leaf.extend(&rows.leaf[first..last])?;
            self.count.extend(&rows.count[first..last])?;
            self.length.extend(&rows.length[begin.here * segments..end.here * segments])?;
            self.fact.extend(&rows.fact[begin.here * facts..end.here * facts])?;
            self.here += end.here - begin.here;
        }
        self.spill()
    }

    /// Begins a chunk of rows of another process, of which only the targets are kept.
    pub(crate) fn skip_chunk(&mut self, targets: &[f32]) -> Result<(), RowsError> {
        self.begin_chunk();
        assert!(!self.is_kept, "rows of another process");
        self.check_room(targets.len())?;
        Ok(self.target.extend(targets)?)
    }

    /// Returns the rows.
    ///
    /// # Errors
    /// If a file cannot be written or mapped.
    pub fn finish(mut self) -> Result<Rows, RowsError> {
        self.chunks.push(self.end());
        Ok(Rows {
            shape: self.shape,
            leaf: self.leaf.finish()?,
            count: self.count.finish()?,
            length: self.length.finish()?,
            block: self.block.finish()?,
            fact: self.fact.finish()?,
            target: self.target.finish()?,
            weight: self.weight,
            chunks: self.chunks,
        })
    }

    /// Returns the start of the next chunk.
    fn end(&self) -> Chunk {
        Chunk { row: self.len(), here: self.here, block: self.block.len() }
    }

    fn begin_chunk(&mut self) {
        self.is_kept = !self.is_divided || processes::is_own(self.chunks.len());
        self.chunks.push(self.end());
    }

    /// Begins a row, and a new chunk if the last one is full. Returns true if the row is local.
    fn begin_row(&mut self, target: f32) -> Result<bool, RowsError> {
        if self.len().is_multiple_of(CHUNK) {
            self.begin_chunk();
        }
        self.add_row(target)
    }

    /// Begins a row of the last chunk. Returns true if the row is local.
    fn add_row(&mut self, target: f32) -> Result<bool, RowsError> {
        let of_chunk = self.here - self.chunks[self.chunks.len() - 1].here;
        if of_chunk.is_multiple_of(BLOCK) {
            self.check_room(1)?;
            self.spill()?;
            if self.is_kept {
                self.block.push(self.leaf.len() as u64)?;
            }
        }
        self.target.push(target)?;
        self.here += usize::from(self.is_kept);
        Ok(self.is_kept)
    }

    fn check_room(&self, rows: usize) -> Result<(), RowsError> {
        let message = || "more than 4294967296 rows".to_owned();
        if self.len() + rows > u32::MAX as usize { Err(RowsError::Refused(message())) } else { Ok(()) }
    }

    /// Moves the data to files if the limit of memory is exceeded.
    fn spill(&mut self) -> Result<(), RowsError> {
        let Some(storage) = &self.storage else { return Ok(()) };
        let bytes = self.leaf.bytes_in_memory() + self.count.bytes_in_memory() + self.length.bytes_in_memory();
        if bytes + self.fact.bytes_in_memory() + self.target.bytes_in_memory() > storage.share() {
            let folder = &storage.folder;
            self.leaf.spill(folder)?;
            self.count.spill(folder)?;
            self.length.spill(folder)?;
            self.fact.spill(folder)?;
            self.target.spill(folder)?;
            self.storage = None;
        }
        Ok(())
    }
}

/// A cursor that points to a row of other rows.
struct RowCursor<'r> {
    rows: &'r Rows,
    chunk: usize,
    /// Index among the local rows.
    here: usize,
    /// Index of the row's first entry.
    entry: usize,
}

impl<'r> RowCursor<'r> {
    fn new(rows: &'r Rows) -> Self {
        RowCursor { rows, chunk: 0, here: 0, entry: 0 }
    }

    /// Moves forward to a row.
    fn seek(&mut self, number: usize) {
        let rows = self.rows;
        while rows.chunks[self.chunk + 1].row <= number {
            rows.release(self.chunk);
            self.chunk += 1;
        }
        if !rows.is_here(self.chunk) {
            return;
        }
        let begin = rows.chunks[self.chunk];
        let (place, here) = (number - begin.row, begin.here + number - begin.row);
        let block = here - place % BLOCK;
        if self.here < block || self.here > here {
            (self.here, self.entry) = (block, rows.entry_start(begin.block + place / BLOCK));
        }
        while self.here < here {
            self.entry += self.entries(self.here);
            self.here += 1;
        }
    }

    /// Returns the number of entries of a row.
    fn entries(&self, here: usize) -> usize {
        let segments = self.rows.shape.leaves.len();
        let lengths = &self.rows.length[here * segments..(here + 1) * segments];
        lengths.iter().map(|&length| usize::from(length)).sum()
    }
}

/// Sorts entries by segment and leaf, merges those of one leaf, and drops counts of 0.
fn merge(entries: &mut Vec<(u32, u32, i64)>) {
    if !entries.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)) {
        entries.sort_unstable_by_key(|&(segment, leaf, _)| (segment, leaf));
        entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2 += next.2;
            }
            same
        });
    }
    entries.retain(|entry| entry.2 != 0);
}
