//! The writer of rows, which takes them from a builder or copies them from other rows.

use anyhow::{Result, anyhow, ensure};

use super::parts::{are_divided, is_dealt_here};
use super::{BLOCK, Block, CHUNK, Place, Rows, Shape, check_fact, check_target};
use crate::data::io::{ColumnWriter, Storage};

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
    chunks: Vec<Place>,
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
        RowsWriter { storage: Some(storage.clone()), is_divided: are_divided(), ..Self::in_memory(shape) }
    }

    /// Creates a writer that uses files if memory does not suffice, and keeps all rows in this process.
    pub(crate) fn undivided(shape: Shape, storage: &Storage) -> Self {
        RowsWriter { is_divided: false, ..Self::new(shape, storage) }
    }

    /// Adds leaves to the segments of the rows to come.
    pub(crate) fn extend_shape(&mut self, shape: Shape) {
        assert!(shape.facts == self.shape.facts && shape.leaves.len() == self.shape.leaves.len(), "the same segments");
        self.shape = shape;
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
    pub fn push(&mut self, row: &mut RowBuilder, target: f32) -> Result<()> {
        check_target(target)?;
        row.facts.iter().enumerate().try_for_each(|(fact, &value)| check_fact(fact, value))?;
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
                ensure!(leaf < leaves, "rows: no parameter {leaf} among the {leaves} of a sum");
                let is_small = count.abs() <= MOST_COUNT;
                ensure!(is_small, "rows: parameter {leaf} counts {count} times, more than {MOST_COUNT}");
                sum += count.unsigned_abs().div_ceil(127) as usize;
            }
            let fitting = u16::try_from(sum);
            *length =
                fitting.map_err(|_| anyhow!("rows: {sum} entries in one sum of a row, at most 65535 can be kept"))?;
            entries = &entries[own..];
        }
        assert!(entries.is_empty(), "a segment of the shape");
        if self.len().is_multiple_of(CHUNK) {
            self.begin_chunk();
        }
        if !self.add_row(target)? {
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

    /// Copies rows, given by numbers that ascend from chunk to chunk, each into its chunk, and returns them.
    pub(super) fn picked(mut self, rows: &Rows, numbers: impl IntoIterator<Item = usize>) -> Result<Rows> {
        self.is_divided = rows.is_divided;
        let mut numbers = numbers.into_iter().peekable();
        for chunk in 0..rows.chunk_count() {
            self.begin_chunk();
            let all = || rows.blocks_of(chunk, 0..usize::MAX).flat_map(Block::rows);
            let (mut local, mut row): (_, Option<Block<'_>>) = (all(), None);
            while let Some(number) = numbers.next_if(|&number| number < rows.chunks[chunk + 1].row) {
                self.weight.extend(rows.weight.get(number));
                if self.add_row(rows.target[number])? {
                    if row.is_some_and(|row| row.first > number) {
                        local = all();
                    }
                    if row.is_none_or(|row| row.first != number) {
                        row = local.find(|row| row.first == number);
                    }
                    self.copy(&row.expect("a local row"))?;
                }
            }
            rows.release(chunk);
        }
        assert!(numbers.next().is_none(), "a row that exists");
        self.finish()
    }

    /// Copies the entries and facts of rows.
    fn copy(&mut self, rows: &Block<'_>) -> Result<()> {
        self.leaf.extend(rows.leaf)?;
        self.count.extend(rows.count)?;
        self.length.extend(rows.length)?;
        Ok(self.fact.extend(rows.fact)?)
    }

    /// Appends the chunks of other rows, which are all local, without their weights.
    pub(crate) fn append(&mut self, rows: &Rows) -> Result<()> {
        (0..rows.chunk_count()).try_for_each(|chunk| self.append_chunk(&rows.chunk(chunk)))
    }

    /// Begins a chunk with copies of rows. Of rows that another process keeps, only the targets are copied.
    pub(super) fn append_chunk(&mut self, rows: &Block<'_>) -> Result<()> {
        self.skip_chunk(rows.target)?;
        if self.is_kept {
            let mut start = self.leaf.len();
            for first in (0..rows.len()).step_by(BLOCK) {
                let lengths = &rows.length[first * rows.segments..rows.len().min(first + BLOCK) * rows.segments];
                self.block.push(start as u64)?;
                start += lengths.iter().map(|&length| usize::from(length)).sum::<usize>();
            }
            self.copy(rows)?;
            self.here += rows.len();
        }
        self.spill()
    }

    /// Begins a chunk with the targets of its rows, which are all that is kept of rows of another process.
    pub(crate) fn skip_chunk(&mut self, targets: &[f32]) -> Result<()> {
        self.begin_chunk();
        self.check_room(targets.len())?;
        Ok(self.target.extend(targets)?)
    }

    /// Returns the rows.
    ///
    /// # Errors
    /// If a file cannot be written or mapped.
    pub fn finish(mut self) -> Result<Rows> {
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
            is_divided: self.is_divided,
        })
    }

    /// Returns the start of the next chunk.
    fn end(&self) -> Place {
        Place { row: self.len(), here: self.here, block: self.block.len() }
    }

    fn begin_chunk(&mut self) {
        self.is_kept = !self.is_divided || is_dealt_here(self.chunks.len());
        self.chunks.push(self.end());
    }

    /// Begins a row of the last chunk. Returns true if the row is local.
    fn add_row(&mut self, target: f32) -> Result<bool> {
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

    fn check_room(&self, rows: usize) -> Result<()> {
        ensure!(self.len() + rows <= u32::MAX as usize, "rows: more than 4294967296 rows");
        Ok(())
    }

    /// Moves the data to files if the limit of memory is exceeded.
    fn spill(&mut self) -> Result<()> {
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
