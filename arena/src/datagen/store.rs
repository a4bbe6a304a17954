//! The output file of a run, and the state to resume it.
//!
//! The file grows by whole chunks. Beside it stands its state, `FILE.state.json`: the settings, the counts, the next game
//! and the length up to which the file is whole. A chunk counts once the state says so; what stands behind it when the
//! run goes on was cut short by a kill and is cut off.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use common::files::{WriteError, write_whole};
use common::input;
use serde_json::{Value as Json, json};
use thiserror::Error;

use super::{Format, FormatError, Settings, Tally};
use crate::lock::lock_file;
use crate::schedule::difference;

/// How hard zstd tries: a chunk takes milliseconds, its games seconds.
const ZSTD_LEVEL: i32 = 15;

/// Why a file cannot be written or gone on with.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The state cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// There is one already.
    #[error("{}: exists; --resume continues it, --force overwrites it", .0.display())]
    Exists(PathBuf),
    /// Another program writes to it.
    #[error("{}: is in use", .0.display())]
    InUse(PathBuf),
    /// There is data, but no state.
    #[error("{}: is missing, so its run cannot go on", .0.display())]
    NoState(PathBuf),
    /// The state cannot be read.
    #[error("{}: {fault}", path.display())]
    State {
        /// The file of the state.
        path: PathBuf,
        /// The fault.
        fault: String,
    },
    /// The file was written with other settings.
    #[error("{}: was written with other settings: {key} is {theirs} there, {ours} here", path.display())]
    OtherSettings {
        /// The file of the state.
        path: PathBuf,
        /// The key that differs.
        key: String,
        /// The value of the state.
        theirs: String,
        /// The requested value.
        ours: String,
    },
    /// The file holds less than it did.
    #[error("{}: has {found} bytes, but {expected} were written", path.display())]
    Short {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// The length in the state.
        expected: u64,
    },
    /// The output is damaged.
    #[error("{}: {fault}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        fault: FormatError,
    },
}

/// A file that is written to.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    format: Format,
    identity: Json,
    /// Up to here the file is whole.
    bytes: u64,
    next_game: u32,
    tally: Tally,
    /// The keys of all that was kept.
    seen: HashSet<u64>,
}

/// The file of the state of a file of data.
pub fn state_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".state.json");
    name.into()
}

impl Store {
    /// Begins a file; one that is there already is overwritten only by `force`.
    ///
    /// # Errors
    /// If it is there or cannot be written.
    pub fn create(path: &Path, settings: &Settings, force: bool) -> Result<Self, StoreError> {
        let refused = |error| StoreError::Refused { path: path.to_owned(), error };
        let identity = settings.identity().map_err(refused)?;
        let opened = OpenOptions::new().append(true).create(force).create_new(!force).open(path);
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists(path.to_owned()),
            _ => refused(error),
        })?;
        lock(path, &file)?;
        // A state without the data it speaks of would be worse than none.
        match fs::remove_file(state_path(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(error)),
            _ => file.set_len(0).map_err(refused)?,
        }
        let (bytes, next_game, tally, seen) = (0, 0, Tally::default(), HashSet::new());
        let store =
            Store { path: path.to_owned(), file, format: settings.format, identity, bytes, next_game, tally, seen };
        store.write_state()?;
        Ok(store)
    }

    /// Goes on with a file, or begins it if there is none.
    ///
    /// # Errors
    /// If it was written with other settings, is damaged, or cannot be written.
    pub fn resume(path: &Path, settings: &Settings) -> Result<Self, StoreError> {
        let refused = |error| StoreError::Refused { path: path.to_owned(), error };
        let state = state_path(path);
        let length = match fs::metadata(path) {
            Ok(file) => file.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(refused(error)),
        };
        let text = match input::read_text(&state, input::SETTINGS) {
            Ok(text) => text,
            // It was ended before it wrote anything.
            Err(error) if error.kind() == io::ErrorKind::NotFound && length == 0 => {
                return Self::create(path, settings, true);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(StoreError::NoState(state)),
            Err(error) => return Err(StoreError::Refused { path: state, error }),
        };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(refused)?;
        lock(path, &file)?;
        let identity = settings.identity().map_err(refused)?;
        let fault = |fault| StoreError::State { path: state.clone(), fault };
        let found: Json = serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
        if let Some((key, theirs, ours)) = difference("", &found["settings"], &identity) {
            return Err(StoreError::OtherSettings { path: state, key, theirs, ours });
        }
        let number = |key: &str| found[key].as_u64().ok_or_else(|| fault(format!("`{key}` is not a number")));
        let bytes = number("bytes")?;
        if length < bytes {
            return Err(StoreError::Short { path: path.to_owned(), found: length, expected: bytes });
        }
        let next_game = u32::try_from(number("next_game")?).map_err(|error| fault(error.to_string()))?;
        let tally = Tally::from_json(&found["counts"]).map_err(fault)?;
        if tally.numbers() != u64::from(next_game) {
            return Err(fault(format!("`next_game` is {next_game}, but other games are counted")));
        }
        let whole = BufReader::new((&file).take(bytes));
        let damaged = |fault| StoreError::Damaged { path: path.to_owned(), fault };
        let seen = settings.format.keys(whole).map_err(damaged)?.into_iter().collect();
        file.set_len(bytes).map_err(refused)?;
        Ok(Store { path: path.to_owned(), file, format: settings.format, identity, bytes, next_game, tally, seen })
    }

    /// The next game to write.
    pub fn next_game(&self) -> u32 {
        self.next_game
    }

    /// What was written.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Whether a key is new; it is not from now on.
    pub(super) fn is_new(&mut self, key: u64) -> bool {
        self.seen.insert(key)
    }

    /// Writes what the games before `next_game` have added. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk; the run can then go on from where it last was.
    pub(super) fn commit(&mut self, chunk: &[u8], next_game: u32, tally: &Tally) -> Result<(), StoreError> {
        let written = self.append(chunk);
        if written.is_err() {
            // The rest is truncated when the run is resumed.
            let _ = self.file.set_len(self.bytes);
        }
        self.bytes += written.map_err(|error| StoreError::Refused { path: self.path.clone(), error })?;
        self.next_game = next_game;
        self.tally = tally.clone();
        self.write_state()
    }

    fn append(&mut self, chunk: &[u8]) -> io::Result<u64> {
        if chunk.is_empty() {
            return Ok(0);
        }
        let packed;
        let bytes = if self.format == Format::EpdZstd {
            packed = zstd::encode_all(chunk, ZSTD_LEVEL)?;
            &packed[..]
        } else {
            chunk
        };
        self.file.write_all(bytes)?;
        self.file.sync_data()?;
        Ok(bytes.len() as u64)
    }

    fn write_state(&self) -> Result<(), StoreError> {
        let state = json!({
            "settings": self.identity,
            "next_game": self.next_game,
            "bytes": self.bytes,
            "counts": self.tally.to_json(),
        });
        let path = state_path(&self.path);
        Ok(write_whole(path, format!("{state:#}\n"))?)
    }
}

impl Drop for Store {
    /// Closing the file is not enough while a child that another thread is starting still has it open too.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

fn lock(path: &Path, file: &File) -> Result<(), StoreError> {
    match lock_file(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::InUse(path.to_owned())),
        Err(error) => Err(StoreError::Refused { path: path.to_owned(), error }),
    }
}
