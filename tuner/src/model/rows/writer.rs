//! Where rows come from: one by one from a builder, or copied from others.

use super::{BLOCK, RELEASED, Rows, RowsError, Shape};
use crate::io::{ColumnWriter, Storage};

/// The largest count of a leaf in a row.
pub(super) const MOST_COUNT: i64 = 1 << 20;

/// A row that is put together entry by entry.
#[derive(Clone, Debug, Default)]
pub struct RowBuilder {
    /// Segment, leaf and count, in any order.
    entries: Vec<(u32, u32, i64)>,
    facts: Vec<f32>,
}

impl RowBuilder {
    /// An empty row.
    pub fn new() -> Self {
        Self::default()
    }

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
pub struct RowsWriter {
    shape: Shape,
    leaf: ColumnWriter<u16>,
    count: ColumnWriter<i8>,
    length: ColumnWriter<u16>,
    block: ColumnWriter<u64>,
    fact: ColumnWriter<f32>,
    target: ColumnWriter<f32>,
    /// How much may be in memory, and where the rest goes; none for rows that stay in memory.
    storage: Option<Storage>,
}

impl RowsWriter {
    /// A writer whose rows stay in memory as long as that is enough.
    pub fn new(shape: Shape, storage: &Storage) -> Self {
        RowsWriter { storage: Some(storage.clone()), ..Self::in_memory(shape) }
    }

    /// A writer whose rows stay in memory.
    pub fn in_memory(shape: Shape) -> Self {
        RowsWriter {
            shape,
            leaf: ColumnWriter::new(),
            count: ColumnWriter::new(),
            length: ColumnWriter::new(),
            block: ColumnWriter::new(),
            fact: ColumnWriter::new(),
            target: ColumnWriter::new(),
            storage: None,
        }
    }

    /// Number of rows so far.
    pub fn len(&self) -> usize {
        self.target.len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.target.is_empty()
    }

    /// Adds a row; the builder's entries are sorted by that.
    ///
    /// # Errors
    /// If a leaf does not exist, a count is too large, a fact not finite or the target not in 0..=1; if a file cannot be
    /// written. Then the row is not added.
    pub fn push(&mut self, row: &mut RowBuilder, target: f32) -> Result<(), RowsError> {
        if !(0.0..=1.0).contains(&target) {
            return Err(RowsError::Target(target));
        }
        if let Some(fact) = row.facts.iter().position(|fact| !fact.is_finite()) {
            return Err(RowsError::Fact { fact, value: row.facts[fact] });
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
                    return Err(RowsError::UnknownLeaf { leaf, leaves });
                }
                if count.abs() > MOST_COUNT {
                    return Err(RowsError::Count { leaf, count });
                }
                sum += count.unsigned_abs().div_ceil(127) as usize;
            }
            *length = u16::try_from(sum).map_err(|_| RowsError::TooManyEntries(sum))?;
            entries = &entries[own..];
        }
        assert!(entries.is_empty(), "a segment of the shape");
        self.begin_row()?;
        self.length.extend(lengths)?;
        for &(_, leaf, mut count) in &row.entries {
            while count != 0 {
                let part = count.clamp(-127, 127);
                self.leaf.push(leaf as u16)?;
                self.count.push(part as i8)?;
                count -= part;
            }
        }
        self.fact.extend(&row.facts)?;
        self.target.push(target).map_err(RowsError::from)
    }

    /// Copies rows of the given numbers, ascending.
    ///
    /// # Errors
    /// If a file cannot be written, or there are too many rows.
    pub fn pick(&mut self, rows: &Rows, numbers: impl IntoIterator<Item = usize>) -> Result<(), RowsError> {
        let segments = self.shape.leaves.len();
        let mut released = 0;
        let mut at = (usize::MAX, 0, 0);
        for number in numbers {
            let block = number / BLOCK;
            if at.0 != block || at.1 > number % BLOCK {
                at = (block, 0, rows.entry_start(block));
                if block >= released + RELEASED {
                    rows.release(released..block);
                    released = block;
                }
            }
            let entries_of = |row: usize| -> usize {
                let row = block * BLOCK + row;
                rows.length[row * segments..(row + 1) * segments].iter().map(|&length| usize::from(length)).sum()
            };
            while at.1 < number % BLOCK {
                at = (block, at.1 + 1, at.2 + entries_of(at.1));
            }
            let entries = at.2..at.2 + entries_of(at.1);
            self.begin_row()?;
            self.leaf.extend(&rows.leaf[entries.clone()])?;
            self.count.extend(&rows.count[entries])?;
            self.length.extend(&rows.length[number * segments..(number + 1) * segments])?;
            self.fact.extend(rows.facts(number))?;
            self.target.push(rows.target[number])?;
        }
        Ok(())
    }

    /// Appends all rows of others.
    ///
    /// # Errors
    /// If a file cannot be written, or there are too many rows.
    pub fn append(&mut self, rows: &Rows) -> Result<(), RowsError> {
        if !self.len().is_multiple_of(BLOCK) {
            return self.pick(rows, 0..rows.len());
        }
        let before = self.leaf.len() as u64;
        self.check_room(rows.len())?;
        self.block.extend(&rows.block.iter().map(|start| before + start).collect::<Vec<u64>>())?;
        self.leaf.extend(&rows.leaf)?;
        self.count.extend(&rows.count)?;
        self.length.extend(&rows.length)?;
        self.fact.extend(&rows.fact)?;
        self.target.extend(&rows.target)?;
        self.spill()
    }

    /// The rows.
    ///
    /// # Errors
    /// If a file cannot be written or mapped.
    pub fn finish(self) -> Result<Rows, RowsError> {
        Ok(Rows {
            shape: self.shape,
            leaf: self.leaf.finish()?,
            count: self.count.finish()?,
            length: self.length.finish()?,
            block: self.block.finish()?,
            fact: self.fact.finish()?,
            target: self.target.finish()?,
        })
    }

    fn begin_row(&mut self) -> Result<(), RowsError> {
        if self.len().is_multiple_of(BLOCK) {
            self.check_room(1)?;
            self.spill()?;
            self.block.push(self.leaf.len() as u64)?;
        }
        Ok(())
    }

    fn check_room(&self, rows: usize) -> Result<(), RowsError> {
        if self.len() + rows > u32::MAX as usize { Err(RowsError::TooLarge) } else { Ok(()) }
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
