//! Columns of numbers, in memory or on the disk.

mod column;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

pub(crate) use column::{Column, ColumnWriter};

/// An error of storage on the disk: a file or folder, and its fault.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct StorageError(String);

impl StorageError {
    /// Returns the error of a file or folder, or of the folder of a temporary file.
    pub(crate) fn of(path: &Path, what: impl fmt::Display) -> Self {
        StorageError(format!("{}: {what}", path.display()))
    }
}

/// The limit of memory, and the folder of the data beyond it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The approximate number of bytes of memory for everything together.
    pub memory: u64,
    /// The folder that determines the disk of temporary files.
    pub folder: PathBuf,
}

/// True if positions are kept on the disk even if they fit into memory.
static POSITIONS_ON_DISK: AtomicBool = AtomicBool::new(false);

impl Storage {
    /// The default number of bytes of memory.
    pub const MEMORY: u64 = 4 << 30;

    /// The number of structures that grow with the data, some of them copies, which share the memory.
    const SHARES: u64 = 8;

    /// Returns the number of bytes of memory for one structure that grows with the data.
    pub fn share(&self) -> usize {
        usize::try_from(self.memory / Self::SHARES).unwrap_or(usize::MAX)
    }

    /// Keeps positions on the disk from now on: each of several processes has the positions of all, and leaves the
    /// memory to rows.
    pub fn keep_positions_on_disk() {
        POSITIONS_ON_DISK.store(true, Ordering::Relaxed);
    }

    /// Returns the number of bytes of memory for the positions of a data set.
    pub(crate) fn of_positions(&self) -> usize {
        if POSITIONS_ON_DISK.load(Ordering::Relaxed) { 0 } else { self.share() }
    }
}

impl Default for Storage {
    fn default() -> Self {
        Storage { memory: Self::MEMORY, folder: std::env::temp_dir() }
    }
}
