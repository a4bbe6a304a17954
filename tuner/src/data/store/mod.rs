//! Where positions are kept once they have been read: packed, in columns that may lie in mapped files.

use std::ops::Range;

use engine::chess::{Move, Position};
use serde::Serialize;

use super::label::{GAME, Label};
use super::outcome::Outcome;
use super::packed::{Packed, outcome_of, pack, position_of, score_of};
use super::result_runs::result_runs;
use crate::io::{Column, ColumnWriter, Storage, StorageError};
use crate::processes;

/// What positions stay together by when data are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Grouping {
    /// Their game, which every line names, or which the format keeps together.
    Games,
    /// Runs of lines that end where the result changes, and so at the end of a game: games have no names, but
    /// neighbours share results far more often than by chance.
    ResultRuns,
    /// Nothing but being the same position, clocks aside.
    Positions,
    /// Their game where it has a name; elsewhere runs of results or nothing, as the positions without a game would by
    /// themselves.
    Mixed,
}

/// Positions that are looked at before what a mapped file had to be read for is given back.
const BLOCK: usize = 1 << 16;

/// The positions of one chunk of a file, before they join the others.
#[derive(Default)]
pub(super) struct ChunkStore {
    packed: Vec<Packed>,
    groups: Vec<u32>,
    /// Records of the chunk, the first being 0.
    records: Vec<u32>,
    /// Of each position the move that follows, as [`bits_of`] has it; empty if moves are not kept.
    moves: Vec<u16>,
}

impl ChunkStore {
    pub(super) fn push(&mut self, record: u32, position: &Position, label: &Label) {
        self.packed.push(pack(position, label));
        self.groups.push(label.group);
        self.records.push(record);
    }

    /// Keeps the move of the position that was added last; all positions have one kept, or none has.
    pub(super) fn push_move(&mut self, mv: Option<Move>) {
        self.moves.push(bits_of(mv));
    }

    pub(super) fn len(&self) -> usize {
        self.packed.len()
    }

    /// Packed position, group and record of each, and the bits of its move if moves are kept.
    pub(super) fn rows(&self) -> impl Iterator<Item = (Packed, u32, u32, Option<u16>)> {
        let rows = self.packed.iter().zip(&self.groups).zip(&self.records).enumerate();
        rows.map(|(at, ((&packed, &group), &record))| (packed, group, record, self.moves.get(at).copied()))
    }

    /// Keeps the positions for which the next of `is_kept` is set.
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

/// Puts the positions of all chunks together: in memory as long as they take no more than their share of it, then in
/// temporary files.
#[derive(Default)]
pub(super) struct StoreWriter {
    limit: Option<Storage>,
    packed: ColumnWriter<Packed>,
    groups: ColumnWriter<u32>,
    records: ColumnWriter<u32>,
    /// Empty if moves are not kept.
    moves: ColumnWriter<u16>,
    /// Whether there are positions of games that can be told from others.
    has_named: bool,
    /// Whether there are others.
    has_nameless: bool,
}

impl StoreWriter {
    pub(super) fn new(storage: &Storage) -> Self {
        StoreWriter { limit: Some(storage.clone()), ..StoreWriter::default() }
    }

    /// Adds a chunk that `records` records of its file come before.
    pub(super) fn append(&mut self, chunk: &ChunkStore, records: u64) -> Result<(), StorageError> {
        self.packed.extend(&chunk.packed)?;
        self.groups.extend(&chunk.groups)?;
        chunk.groups.iter().for_each(|&group| self.note(group));
        self.records.extend_each(chunk.records.iter().map(|&record| record_of_file(records, record)))?;
        self.moves.extend(&chunk.moves)?;
        let columns = [self.packed.bytes_in_memory(), self.groups.bytes_in_memory(), self.records.bytes_in_memory()];
        let bytes = columns.iter().sum::<usize>() + self.moves.bytes_in_memory();
        // Of several processes each has the positions of all: they lie on the disk, for rows to have the memory.
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

    /// Adds a position with its record, 0 for the first of its file, and the bits of its move if moves are kept.
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

    /// The store, once everything is there, and what its positions stay together by.
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
    /// Empty if moves are not kept.
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

    /// The move that follows, if moves are kept and there is one.
    pub(super) fn best(&self, index: usize) -> Option<Move> {
        Move::from_bits(*self.moves.get(index)?)
    }

    /// Whether a position is this one, clocks included.
    pub(super) fn holds(&self, index: usize, position: &Position) -> bool {
        pack(position, &self.label(index)) == self.packed[index]
    }

    pub(super) fn samples(&self, range: Range<usize>) -> impl Iterator<Item = (Position, Label)> {
        range.map(|index| (self.position(index), self.label(index)))
    }

    /// Gives back what mapped files had to be read for.
    pub(super) fn release(&self, range: Range<usize>) {
        self.packed.release(range.clone());
        self.groups.release(range.clone());
        self.records.release(range.clone());
        if !self.moves.is_empty() {
            self.moves.release(range);
        }
    }

    /// The record a position came from, within its file, 0 for the first.
    pub(super) fn record(&self, index: usize) -> u32 {
        self.records[index]
    }

    pub(super) fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Groups and outcomes.
    fn results(&self) -> impl Iterator<Item = (u32, Outcome)> {
        self.packed.chunks(BLOCK).zip(self.groups.chunks(BLOCK)).enumerate().flat_map(|(block, (packed, groups))| {
            // The block before this one has been looked at.
            let before = block.saturating_sub(1) * BLOCK..block * BLOCK;
            self.packed.release(before.clone());
            self.groups.release(before);
            groups.iter().copied().zip(packed.iter().map(outcome_of))
        })
    }

    /// By position: its game, or its run of results among the positions without a game; none if neighbours among these have
    /// little to do with one another.
    fn result_runs(&self) -> Option<Column<u32>> {
        let named = |(group, outcome): (u32, Outcome)| ((group & GAME != 0).then_some(group), outcome);
        result_runs(|| self.results().map(named)).map(Column::from)
    }
}

/// A record of a file by its number in a chunk that so many records come before. A place beyond what fits is told as the
/// last that does.
pub(super) fn record_of_file(before: u64, record: u32) -> u32 {
    u32::try_from(before + u64::from(record)).unwrap_or(u32::MAX)
}

/// The bits of a move, or of none.
fn bits_of(mv: Option<Move>) -> u16 {
    mv.map_or(0, Move::to_bits)
}

fn label_of(packed: &Packed, group: u32) -> Label {
    Label { outcome: outcome_of(packed), score: score_of(packed), group }
}

#[cfg(test)]
mod tests;
