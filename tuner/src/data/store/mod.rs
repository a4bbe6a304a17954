//! Storage of packed positions, in columns that may be in mapped files.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::label::GAME;
use super::outcome::ResultLabel;
use super::packed::{Packed, outcome_of};
use super::result_runs::result_runs;
use super::{Dataset, FileSummary, Skipped};
use crate::data::io::{Column, ColumnWriter, Storage, StorageError};

/// The criterion by which positions stay together when data are divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Grouping {
    /// The game, which every line names, or which the format keeps together.
    Games,
    /// Runs of lines that end where the result changes, and so at the end of a game. Games have no names, but
    /// neighbours share results far more often than by chance.
    ResultRuns,
    /// Identity of the position, clocks aside.
    #[default]
    Positions,
    /// The game, if it has a name. The other positions are grouped by runs of results or by identity, as without the
    /// named games.
    Mixed,
}

impl fmt::Display for Grouping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Grouping::Games => "positions of a game stay together",
            Grouping::ResultRuns => "no game has a name, but neighbours share results: runs of lines stay together",
            Grouping::Positions => "no game has a name: a position stays together with itself only",
            Grouping::Mixed => "positions of a game stay together where games have names",
        })
    }
}

/// The number of positions that are processed before their pages of a mapped file are released.
const BLOCK: usize = 1 << 16;

/// A position before it is stored.
#[derive(Clone)]
pub(super) struct StoredRow {
    pub(super) packed: Packed,
    pub(super) group: u32,
}

/// A writer of the positions of a data set: in memory up to their share of it, then in temporary files.
pub(super) struct StoreWriter {
    storage: Storage,
    /// The number of bytes of memory beyond which temporary files are used; the largest number once they are.
    limit: usize,
    packed: ColumnWriter<Packed>,
    groups: ColumnWriter<u32>,
}

impl StoreWriter {
    pub(super) fn new(storage: &Storage) -> Self {
        StoreWriter {
            storage: storage.clone(),
            limit: storage.of_positions(),
            packed: ColumnWriter::default(),
            groups: ColumnWriter::default(),
        }
    }

    /// Adds a position.
    pub(super) fn push(&mut self, row: &StoredRow) -> Result<(), StorageError> {
        self.packed.push(row.packed)?;
        self.groups.push(row.group)?;
        if self.packed.bytes_in_memory() + self.groups.bytes_in_memory() > self.limit {
            self.packed.spill(&self.storage.folder)?;
            self.groups.spill(&self.storage.folder)?;
            self.limit = usize::MAX;
        }
        Ok(())
    }

    /// Returns the data set of all positions.
    pub(super) fn finish(
        self,
        files: Vec<FileSummary>,
        skipped: BTreeMap<&'static str, Skipped>,
    ) -> Result<Dataset, StorageError> {
        let (packed, groups) = (self.packed.finish()?, self.groups.finish()?);
        // The group of each position: its game, or its run of results among the positions without a game; none if
        // neighbours among the latter share results hardly more often than by chance.
        let named = |(group, outcome): (u32, ResultLabel)| ((group & GAME != 0).then_some(group), outcome);
        let items = || results(&packed, &groups).map(named);
        let (is_named, is_nameless) = (|&group: &u32| group & GAME != 0, |&group: &u32| group & GAME == 0);
        let runs = result_runs(items);
        let grouping = match (groups.iter().any(is_named), groups.iter().any(is_nameless)) {
            (true, false) => Grouping::Games,
            (true, true) => Grouping::Mixed,
            _ if runs.is_some() => Grouping::ResultRuns,
            _ => Grouping::Positions,
        };
        Ok(Dataset {
            groups: runs.map_or(groups, Column::from),
            packed,
            storage: self.storage,
            grouping,
            files,
            skipped,
        })
    }
}

/// Returns groups and results, and releases the pages of mapped files that are no longer needed.
fn results(packed: &Column<Packed>, groups: &Column<u32>) -> impl Iterator<Item = (u32, ResultLabel)> {
    packed.chunks(BLOCK).zip(groups.chunks(BLOCK)).enumerate().flat_map(|(block, (results, names))| {
        let before = block.saturating_sub(1) * BLOCK..block * BLOCK;
        packed.release(before.clone());
        groups.release(before);
        names.iter().copied().zip(results.iter().map(outcome_of))
    })
}

#[cfg(test)]
mod tests;
