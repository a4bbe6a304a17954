//! Where rows come from: one by one from a builder, or copied from others.

use super::{BLOCK, CHUNK, Chunk, Rows, RowsError, Shape};
use crate::io::{ColumnWriter, Storage};
use crate::processes;

/// The largest count of a leaf in a row.
const MOST_COUNT: i64 = 1 << 20;

/// A row that is put together entry by entry.
#[derive(Clone, Debug, Default)]
pub struct RowBuilder {
    /// Segment, leaf and count, in any order.
    entries: Vec<(u32, u32, i64)>,
    facts: Vec<f32>,
    /// Leaves and counts as they are kept: files take them a row at a time far faster than one by one.
    leaves: Vec<u16>,
    counts: Vec<i8>,
}

impl RowBuilder {
    /// Makes the row empty, with so many facts, all 0.
    pub fn clear(&mut self, facts: usize) {
        self.entries.clear();
        self.facts.clear();
        self.facts.resize(facts, 0.0);
    }

    /// Counts a leaf of a segment; several counts of one leaf add up.
    #[inline]
    pub fn add(&mut self, segment: usize, leaf: usize, count: i32) {
        self.entries.push((segment as u32, leaf as u32, i64::from(count)));
    }

    /// Says what a fact is.
    ///
    /// # Panics
    /// If there is no such fact.
    pub fn set_fact(&mut self, fact: usize, value: f32) {
        self.facts[fact] = value;
    }
}

/// Appends rows, to memory or, if they become many, to temporary files.
#[derive(Default)]
pub struct RowsWriter {
    shape: Shape,
    leaf: ColumnWriter<u16>,
    count: ColumnWriter<i8>,
    length: ColumnWriter<u16>,
    block: ColumnWriter<u64>,
    fact: ColumnWriter<f32>,
    target: ColumnWriter<f32>,
    /// Of rows that were picked from others with weights.
    weight: Vec<f32>,
    /// Where chunks begin.
    chunks: Vec<Chunk>,
    /// Rows that are kept so far.
    here: usize,
    /// Whether rows of other processes are left out.
    is_divided: bool,
    /// Whether rows of the last chunk are kept.
    is_kept: bool,
    /// How much may be in memory, and where the rest goes; none for rows that stay in memory.
    storage: Option<Storage>,
}

impl RowsWriter {
    /// A writer whose rows stay in memory as long as that is enough. Of several processes each keeps its own.
    pub fn new(shape: Shape, storage: &Storage) -> Self {
        RowsWriter { storage: Some(storage.clone()), ..Self::divided(shape) }
    }

    /// A writer whose rows stay in memory; of several processes each keeps its own.
    pub(super) fn divided(shape: Shape) -> Self {
        RowsWriter { is_divided: true, ..Self::in_memory(shape) }
    }

    /// A writer of rows that this process keeps, all of them in memory.
    pub fn in_memory(shape: Shape) -> Self {
        RowsWriter { shape, is_kept: true, ..Self::default() }
    }

    /// Number of rows so far.
    pub(crate) fn len(&self) -> usize {
        self.target.len()
    }

    /// Adds a row; the builder's entries are sorted by that.
    ///
    /// # Errors
    /// If a leaf does not exist, a count is too large, a fact not finite or the target not in 0..=1; if a file cannot be
    /// written. Then the row is not added.
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

    /// Copies rows of the given numbers, ascending, which are here, without their weights.
    pub(crate) fn pick(&mut self, rows: &Rows, numbers: impl IntoIterator<Item = usize>) -> Result<(), RowsError> {
        let mut source = Source::new(rows);
        numbers.into_iter().try_for_each(|number| {
            source.seek(number);
            if self.begin_row(rows.target[number])? { self.copy(&source) } else { Ok(()) }
        })
    }

    /// The rows of the given numbers, ascending, each in the chunk that it is in.
    pub(super) fn picked(mut self, rows: &Rows, numbers: impl IntoIterator<Item = usize>) -> Result<Rows, RowsError> {
        let mut source = Source::new(rows);
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

    /// Copies a row.
    fn copy(&mut self, source: &Source<'_>) -> Result<(), RowsError> {
        let &Source { rows, here, entry, .. } = source;
        let entries = entry..entry + source.entries(here);
        let (segments, facts) = (rows.shape.leaves.len(), rows.shape.facts);
        self.leaf.extend(&rows.leaf[entries.clone()])?;
        self.count.extend(&rows.count[entries])?;
        self.length.extend(&rows.length[here * segments..(here + 1) * segments])?;
        Ok(self.fact.extend(&rows.fact[here * facts..(here + 1) * facts])?)
    }

    /// Appends all rows of others, which are here.
    pub(crate) fn append(&mut self, rows: &Rows) -> Result<(), RowsError> {
        if self.len().is_multiple_of(CHUNK) && rows.chunk_count() == 1 && rows.len() <= CHUNK {
            self.append_chunk(rows, 0)
        } else {
            self.pick(rows, 0..rows.len())
        }
    }

    /// Begins a chunk with the rows of a chunk of others, which is here.
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

    /// Begins a chunk of rows that another process keeps.
    pub(crate) fn skip_chunk(&mut self, targets: &[f32]) -> Result<(), RowsError> {
        self.begin_chunk();
        assert!(!self.is_kept, "rows of another process");
        self.check_room(targets.len())?;
        Ok(self.target.extend(targets)?)
    }

    /// The rows.
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

    /// Where the next chunk begins.
    fn end(&self) -> Chunk {
        Chunk { row: self.len(), here: self.here, block: self.block.len() }
    }

    fn begin_chunk(&mut self) {
        self.is_kept = !self.is_divided || processes::is_own(self.chunks.len());
        self.chunks.push(self.end());
    }

    /// Begins a row, if need be with a chunk; whether it is kept.
    fn begin_row(&mut self, target: f32) -> Result<bool, RowsError> {
        if self.len().is_multiple_of(CHUNK) {
            self.begin_chunk();
        }
        self.add_row(target)
    }

    /// Begins a row of the last chunk; whether it is kept.
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

    /// Moves what is in memory to files, if it has become too much.
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

/// A row of others that is to be copied.
struct Source<'r> {
    rows: &'r Rows,
    chunk: usize,
    /// The row, among those that are here, and its first entry.
    here: usize,
    entry: usize,
}

impl<'r> Source<'r> {
    fn new(rows: &'r Rows) -> Self {
        Source { rows, chunk: 0, here: 0, entry: 0 }
    }

    /// Goes on to a row, or stays where it is.
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

    /// Number of entries of a row.
    fn entries(&self, here: usize) -> usize {
        let segments = self.rows.shape.leaves.len();
        let lengths = &self.rows.length[here * segments..(here + 1) * segments];
        lengths.iter().map(|&length| usize::from(length)).sum()
    }
}

/// Sorts entries by segment and leaf, adds up those of one leaf, and drops what is 0.
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
