//! The output file of a run, and the state to resume it.
//!
//! The file grows by whole chunks. Beside it stands its state, `FILE.state.json`: the settings, the counts, the next task
//! and the length up to which the file is whole. A chunk counts once the state says so; what stands behind it when the
//! run goes on was cut short by a kill and is cut off.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use common::files::{WriteError, write_whole};
use common::input;
use serde_json::{Value as Json, json};
use thiserror::Error;

use super::Counts;
use crate::lock::lock_file;
use crate::schedule::difference;

/// The level of zstd. Compressing a chunk takes milliseconds, playing its games takes seconds.
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
        fault: String,
    },
}

/// A file that is written to.
#[derive(Debug)]
pub(crate) struct Store<C> {
    path: PathBuf,
    /// Locked for as long as it is open.
    file: File,
    identity: Json,
    /// The length up to which it is whole.
    bytes: u64,
    next: u32,
    counts: C,
}

/// The path of the state of an output file.
pub fn state_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".state.json");
    name.into()
}

impl<C: Counts> Store<C> {
    /// Begins a file; one that is there already is overwritten only by `force`.
    ///
    /// # Errors
    /// If it is there or cannot be written.
    pub(crate) fn create(path: &Path, identity: Json, force: bool) -> Result<Self, StoreError> {
        let refused = |error| StoreError::Refused { path: path.to_owned(), error };
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
        let store = Store { path: path.to_owned(), file, identity, bytes: 0, next: 0, counts: C::default() };
        store.write_state()?;
        Ok(store)
    }

    /// Goes on with a file, or begins it if there is none. `read` gets what is whole of it.
    ///
    /// # Errors
    /// If it was written with other settings, is damaged, or cannot be written.
    pub(crate) fn resume<E: ToString>(
        path: &Path,
        identity: Json,
        read: impl FnOnce(BufReader<io::Take<&File>>) -> Result<(), E>,
    ) -> Result<Self, StoreError> {
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
                return Self::create(path, identity, true);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(StoreError::NoState(state)),
            Err(error) => return Err(StoreError::Refused { path: state, error }),
        };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(refused)?;
        lock(path, &file)?;
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
        let next = u32::try_from(number(&next_key::<C>())?).map_err(|error| fault(error.to_string()))?;
        let counts = C::from_json(&found["counts"]).map_err(fault)?;
        if counts.tasks() != u64::from(next) {
            return Err(fault(format!("`next_{0}` is {next}, but other {0}s are counted", C::TASK)));
        }
        let damaged = |fault: E| StoreError::Damaged { path: path.to_owned(), fault: fault.to_string() };
        read(BufReader::new((&file).take(bytes))).map_err(damaged)?;
        file.set_len(bytes).map_err(refused)?;
        Ok(Store { path: path.to_owned(), file, identity, bytes, next, counts })
    }

    /// The next task to write.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// The counts of the tasks that are written.
    pub(crate) fn counts(&self) -> &C {
        &self.counts
    }

    /// Writes what the tasks before `next` have added. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk; the run can then go on from where it last was.
    pub(crate) fn commit(&mut self, chunk: &[u8], is_packed: bool, next: u32, counts: &C) -> Result<(), StoreError> {
        let written = self.append(chunk, is_packed);
        if written.is_err() {
            // The rest is truncated when the run is resumed.
            let _ = self.file.set_len(self.bytes);
        }
        self.bytes += written.map_err(|error| StoreError::Refused { path: self.path.clone(), error })?;
        self.next = next;
        self.counts = counts.clone();
        self.write_state()
    }

    fn append(&mut self, chunk: &[u8], is_packed: bool) -> io::Result<u64> {
        if chunk.is_empty() {
            return Ok(0);
        }
        let packed;
        let bytes = if is_packed {
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
            (next_key::<C>()): self.next,
            "bytes": self.bytes,
            "counts": self.counts.to_json(),
        });
        let path = state_path(&self.path);
        Ok(write_whole(path, format!("{state:#}\n"))?)
    }
}

impl<C> Drop for Store<C> {
    /// Closing the file is not enough while a child that another thread is starting still has it open too.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// The key of the next task.
fn next_key<C: Counts>() -> String {
    format!("next_{}", C::TASK)
}

fn lock(path: &Path, file: &File) -> Result<(), StoreError> {
    match lock_file(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::InUse(path.to_owned())),
        Err(error) => Err(StoreError::Refused { path: path.to_owned(), error }),
    }
}
