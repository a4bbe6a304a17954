//! The output of a run, with the keys of what it holds.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value as Json;

use super::{Format, FormatError, Settings, Tally};
use crate::chunks::{self, StoreError};

/// A file that is written to, chunk by chunk, with its state beside it.
#[derive(Debug)]
pub struct Store {
    file: chunks::Store<Tally>,
    format: Format,
    /// The keys of all that was kept.
    seen: HashSet<u64>,
}

impl Store {
    /// Begins a file; one that is there already is overwritten only by `force`.
    ///
    /// # Errors
    /// If it is there or cannot be written.
    pub fn create(path: &Path, settings: &Settings, force: bool) -> Result<Self, StoreError> {
        let identity = Self::identity(path, settings)?;
        let file = chunks::Store::create(path, identity, force)?;
        Ok(Store { file, format: settings.format, seen: HashSet::new() })
    }

    /// Goes on with a file, or begins it if there is none.
    ///
    /// # Errors
    /// If it was written with other settings, is damaged, or cannot be written.
    pub fn resume(path: &Path, settings: &Settings) -> Result<Self, StoreError> {
        let mut seen = HashSet::new();
        let file = chunks::Store::resume(path, Self::identity(path, settings)?, |whole| {
            seen.extend(settings.format.keys(whole)?);
            Ok::<_, FormatError>(())
        })?;
        Ok(Store { file, format: settings.format, seen })
    }

    fn identity(path: &Path, settings: &Settings) -> Result<Json, StoreError> {
        settings.identity().map_err(|error| StoreError::Refused { path: path.to_owned(), error })
    }

    /// The next game to write.
    pub fn next_game(&self) -> u32 {
        self.file.next()
    }

    /// The counts of the games that were written.
    pub fn tally(&self) -> &Tally {
        self.file.counts()
    }

    /// Tells whether an earlier position or game has this key.
    pub(super) fn has(&self, key: u64) -> bool {
        self.seen.contains(&key)
    }

    /// Adds a key; returns false if it was there.
    pub(super) fn is_new(&mut self, key: u64) -> bool {
        self.seen.insert(key)
    }

    /// Writes what the games before `next_game` have added. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk; the run can then go on from where it last was.
    pub(super) fn commit(&mut self, chunk: &[u8], next_game: u32, tally: &Tally) -> Result<(), StoreError> {
        self.file.commit(chunk, self.format == Format::EpdZstd, next_game, tally)
    }
}
