//! Storage of packed positions, in columns that may be in mapped files.

use std::ops::Range;

use engine::chess::{Move, Position};
use serde::Serialize;

use super::label::{GAME, Label};
use super::outcome::ResultLabel;
use super::packed::{Packed, outcome_of, pack, position_of, score_of};
use super::result_runs::result_runs;
use crate::io::{Column, ColumnWriter, Storage, StorageError};
use crate::processes;

/// The criterion by which positions stay together when data are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Grouping {
    /// The game, which every line names, or which the format keeps together.
    Games,
    /// Runs of lines that end where the result changes, and so at the end of a game. Games have no names, but
    /// neighbours share results far more often than by chance.
    ResultRuns,
    /// Identity of the position, clocks aside.
    Positions,
    /// The game, if it has a name. The other positions are grouped by runs of results or by identity, as without the
    /// named games.
    Mixed,
}

/// The number of positions that are processed before their pages of a mapped file are released.
const BLOCK: usize = 1 << 16;

/// The positions of one chunk of a file, before they are appended to the others.
#[derive(Default)]
pub(super) struct ChunkStore {
    packed: Vec<Packed>,
    groups: Vec<u32>,
    /// Index of each record in the chunk.
    records: Vec<u32>,
    /// The move after each position, encoded by [`bits_of`]; empty if moves are not kept.
    moves: Vec<u16>,
}

impl ChunkStore {
    pub(super) fn push(&mut self, record: u32, position: &Position, label: &Label) {
        self.packed.push(pack(position, label));
        self.groups.push(label.group);
        self.records.push(record);
    }

    /// Adds the move of the position that was added last. Either all positions have a move added, or none.
    pub(super) fn push_move(&mut self, mv: Option<Move>) {
        self.moves.push(bits_of(mv));
    }

    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    /// Returns packed position, group and record of each position, and its encoded move if moves are kept.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Packed, u32, u32, Option<u16>)> {
        let rows = self.packed.iter().zip(&self.groups).zip(&self.records).enumerate();
        rows.map(|(at, ((&packed, &group), &record))| (packed, group, record, self.moves.get(at).copied()))
    }

    /// Keeps the positions with a true entry in `is_kept`, by index.
    pub(super) fn retain(&mut self, is_kept: &[bool]) {
        fn keep<T>(column: &mut Vec<T>, is_kept: &[bool]) {
            let mut next = is_kept.iter();
            column.retain(|_| next.next().is_none_or(|is_kept| *is_kept));
        }
        keep(&mut self.packed, is_kept);
        keep(&mut self.groups, is_kept);
        keep(&mut self.records, is_kept);
        keep(&mut self.moves, is_kept);
    }
}

/// A writer of the positions of all chunks: in memory up to their share of it, then in temporary files.
#[derive(Default)]
pub(super) struct StoreWriter {
    limit: Option<Storage>,
    packed: ColumnWriter<Packed>,
    groups: ColumnWriter<u32>,
    records: ColumnWriter<u32>,
    /// The encoded moves; empty if moves are not kept.
    moves: ColumnWriter<u16>,
    /// True if there are positions of games that can be distinguished.
    has_named: bool,
    /// True if there are positions of unknown games.
    has_nameless: bool,
}

impl StoreWriter {
    pub(super) fn new(storage: &Storage) -> Self {
        StoreWriter { limit: Some(storage.clone()), ..StoreWriter::default() }
    }

    /// Appends a chunk; `records` is the number of records of its file before the chunk.
    pub(super) fn append(&mut self, chunk: &ChunkStore, records: u64) -> Result<(), StorageError> {
        self.packed.extend(&chunk.packed)?;
        self.groups.extend(&chunk.groups)?;
        chunk.groups.iter().for_each(|&group| self.note(group));
        self.records.extend_each(chunk.records.iter().map(|&record| record_of_file(records, record)))?;
        self.moves.extend(&chunk.moves)?;
        let columns = [self.packed.bytes_in_memory(), self.groups.bytes_in_memory(), self.records.bytes_in_memory()];
        let bytes = columns.iter().sum::<usize>() + self.moves.bytes_in_memory();
        // Each of several processes has the positions of all: they are on the disk, which leaves the memory to rows.
        let most = |limit: &Storage| if processes::is_alone() { limit.share() } else { 0 };
        if let Some(storage) = self.limit.take_if(|limit| bytes > most(limit)) {
            self.packed.spill(&storage.folder)?;
            self.groups.spill(&storage.folder)?;
            self.records.spill(&storage.folder)?;
            if !self.moves.is_empty() {
                self.moves.spill(&storage.folder)?;
            }
        }
        Ok(())
    }

    /// Adds a position with the index of its record in its file, and its encoded move if moves are kept.
    pub(super) fn push(
        &mut self,
        packed: Packed,
        group: u32,
        record: u32,
        mv: Option<u16>,
    ) -> Result<(), StorageError> {
        self.packed.push(packed)?;
        self.groups.push(group)?;
        self.note(group);
        self.records.push(record)?;
        self.moves.extend(mv.as_slice())
    }

    fn note(&mut self, group: u32) {
        let is_named = group & GAME != 0;
        self.has_named |= is_named;
        self.has_nameless |= !is_named;
    }

    /// Returns the store of all positions, and their grouping.
    pub(super) fn finish(self) -> Result<(Store, Grouping), StorageError> {
        let (packed, groups) = (self.packed.finish()?, self.groups.finish()?);
        let mut store = Store { packed, groups, records: self.records.finish()?, moves: self.moves.finish()? };
        let result_runs = if self.has_nameless { store.result_runs() } else { None };
        let grouping = match (self.has_named, self.has_nameless) {
            (true, false) => Grouping::Games,
            (true, true) => Grouping::Mixed,
            _ if result_runs.is_some() => Grouping::ResultRuns,
            _ => Grouping::Positions,
        };
        store.groups = result_runs.unwrap_or(store.groups);
        Ok((store, grouping))
    }
}

/// Packed positions with their labels.
pub(super) struct Store {
    packed: Column<Packed>,
    groups: Column<u32>,
    records: Column<u32>,
    /// The encoded moves; empty if moves are not kept.
    moves: Column<u16>,
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    pub(super) fn position(&self, index: usize) -> Position {
        position_of(&self.packed[index])
    }

    pub(super) fn label(&self, index: usize) -> Label {
        label_of(&self.packed[index], self.groups[index])
    }

    /// Returns the move after a position, if moves are kept and there is one.
    pub(super) fn best(&self, index: usize) -> Option<Move> {
        Move::from_bits(*self.moves.get(index)?)
    }

    /// Returns true if a stored position is equal to `position`, clocks included.
    pub(super) fn holds(&self, index: usize, position: &Position) -> bool {
        pack(position, &self.label(index)) == self.packed[index]
    }

    pub(super) fn samples(&self, range: Range<usize>) -> impl Iterator<Item = (Position, Label)> {
        range.map(|index| (self.position(index), self.label(index)))
    }

    /// Releases the pages of mapped files.
    pub(super) fn release(&self, range: Range<usize>) {
        self.packed.release(range.clone());
        self.groups.release(range.clone());
        self.records.release(range.clone());
        if !self.moves.is_empty() {
            self.moves.release(range);
        }
    }

    /// Returns the index in its file of the record of a position.
    pub(super) fn record(&self, index: usize) -> u32 {
        self.records[index]
    }

    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Returns groups and results.
    fn results(&self) -> impl Iterator<Item = (u32, ResultLabel)> {
        self.packed.chunks(BLOCK).zip(self.groups.chunks(BLOCK)).enumerate().flat_map(|(block, (packed, groups))| {
            // The block before this one is no longer needed.
            let before = block.saturating_sub(1) * BLOCK..block * BLOCK;
            self.packed.release(before.clone());
            self.groups.release(before);
            groups.iter().copied().zip(packed.iter().map(outcome_of))
        })
    }

    /// Returns the group of each position: its game, or its run of results among the positions without a game. Returns
    /// `None` if neighbours among the latter share results hardly more often than by chance.
    fn result_runs(&self) -> Option<Column<u32>> {
        let named = |(group, outcome): (u32, ResultLabel)| ((group & GAME != 0).then_some(group), outcome);
        result_runs(|| self.results().map(named)).map(Column::from)
    }
}

/// Returns the index of a record in its file, from its index in a chunk and the number of records before the chunk.
/// Saturates at the largest index.
pub(super) fn record_of_file(before: u64, record: u32) -> u32 {
    u32::try_from(before + u64::from(record)).unwrap_or(u32::MAX)
}

/// Encodes a move or its absence.
fn bits_of(mv: Option<Move>) -> u16 {
    mv.map_or(0, Move::to_bits)
}

fn label_of(packed: &Packed, group: u32) -> Label {
    Label { outcome: outcome_of(packed), score: score_of(packed), group }
}

#[cfg(test)]
mod tests;
