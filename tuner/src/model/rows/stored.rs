//! Rows as other processes and later runs get them.

use super::{BLOCK, CHUNK, Chunk, Rows, Shape};
use crate::io::{Loader, Saver, StorageError};
use crate::parallel;
use crate::processes::{Shared, pack_records};

impl Shared for Rows {
    fn pack(&self, bytes: &mut Vec<u8>) {
        pack_records(&self.shape.leaves, bytes);
        pack_records(&[self.shape.facts], bytes);
        pack_records(&self.leaf, bytes);
        pack_records(&self.count, bytes);
        pack_records(&self.length, bytes);
        pack_records(&self.block, bytes);
        pack_records(&self.fact, bytes);
        pack_records(&self.target, bytes);
        let numbers = self.chunks.iter().flat_map(|chunk| [chunk.row, chunk.here, chunk.block]);
        pack_records(&numbers.collect::<Vec<usize>>(), bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        Rows {
            shape: Shape { leaves: Vec::unpack(bytes), facts: Vec::unpack(bytes)[0] },
            leaf: Vec::unpack(bytes).into(),
            count: Vec::unpack(bytes).into(),
            length: Vec::unpack(bytes).into(),
            block: Vec::unpack(bytes).into(),
            fact: Vec::unpack(bytes).into(),
            target: Vec::unpack(bytes).into(),
            weight: Vec::new(),
            chunks: Vec::<usize>::unpack(bytes)
                .chunks_exact(3)
                .map(|numbers| Chunk { row: numbers[0], here: numbers[1], block: numbers[2] })
                .collect(),
        }
    }
}

impl Rows {
    /// Writes the rows, which are all here and not picked from others, to an entry of a cache.
    pub(crate) fn save(&self, saver: &mut Saver<'_>) -> Result<(), StorageError> {
        saver.column("leaf", &self.leaf)?;
        saver.column("count", &self.count)?;
        saver.column("length", &self.length)?;
        saver.column("block", &self.block)?;
        saver.column("fact", &self.fact)?;
        saver.column("target", &self.target)?;
        self.blocks().for_each(drop);
        Ok(())
    }

    /// Maps the rows of an entry of a cache.
    ///
    /// # Errors
    /// If a file is missing, or what is in it cannot be rows of this shape, whatever its checksum says.
    pub(crate) fn load(loader: &mut Loader<'_>, shape: Shape) -> Result<Self, StorageError> {
        let mut rows = Rows {
            shape,
            leaf: loader.column("leaf")?,
            count: loader.column("count")?,
            length: loader.column("length")?,
            block: loader.column("block")?,
            fact: loader.column("fact")?,
            target: loader.column("target")?,
            weight: Vec::new(),
            chunks: Vec::new(),
        };
        let chunk = |row: usize| Chunk { row, here: row, block: row.div_ceil(BLOCK) };
        rows.chunks = (0..rows.len()).step_by(CHUNK).chain([rows.len()]).map(chunk).collect();
        match rows.fault() {
            Some(fault) => Err(loader.damage(fault)),
            None => Ok(rows),
        }
    }

    /// What of the columns cannot be.
    pub(super) fn fault(&self) -> Option<String> {
        let (rows, entries) = (self.len(), self.entries());
        let lengths = [self.count.len(), self.length.len(), self.fact.len(), self.block.len()];
        let expected = [entries, rows * self.shape.leaves.len(), rows * self.shape.facts, rows.div_ceil(BLOCK)];
        if lengths != expected {
            return Some("columns of rows differ in length".to_owned());
        }
        if !self.block.is_sorted() || self.block.first().is_some_and(|&start| start != 0) {
            return Some("block is out of order".to_owned());
        }
        if self.block.last().is_some_and(|&start| start > entries as u64) {
            return Some("block is beyond the entries".to_owned());
        }
        parallel::map(0..self.block.len(), |block| self.fault_of_block(block)).into_iter().flatten().next()
    }

    fn fault_of_block(&self, number: usize) -> Option<String> {
        let segments = self.shape.leaves.len();
        let rows = number * BLOCK..((number + 1) * BLOCK).min(self.len());
        let sum: usize =
            self.length[rows.start * segments..rows.end * segments].iter().map(|&length| usize::from(length)).sum();
        let entries = self.entry_start(number)..self.entry_start(number + 1);
        if sum != entries.len() {
            return Some(format!("length of rows {rows:?} is not that of their block"));
        }
        let block = self.block(number / (CHUNK / BLOCK), number % (CHUNK / BLOCK));
        for (place, segment) in block.segments().enumerate() {
            let leaves = self.shape.leaves[place % segments];
            let is_known = segment.leaves.last().is_none_or(|&leaf| usize::from(leaf) < leaves);
            if !is_known || !segment.leaves.is_sorted() {
                return Some(format!("leaf of row {} is out of order or range", rows.start + place / segments));
            }
        }
        let fault = if self.count[entries].contains(&0) {
            Some("count")
        } else if !block.target.iter().all(|target| (0.0..=1.0).contains(target)) {
            Some("target")
        } else if !block.fact.iter().all(|fact| fact.is_finite()) {
            Some("fact")
        } else {
            None
        };
        fault.map(|column| format!("{column} of rows {rows:?} is out of range"))
    }
}
