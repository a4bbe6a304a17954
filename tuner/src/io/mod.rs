//! Columns of numbers, in memory or on the disk.

mod column;

use std::fmt;
use std::path::{Path, PathBuf};

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

impl Storage {
    /// The default number of bytes of memory.
    pub const MEMORY: u64 = 4 << 30;

    /// The number of structures that grow with the data, some of them copies, which share the memory.
    const SHARES: u64 = 8;

    /// Returns the number of bytes of memory for one structure that grows with the data.
    pub fn share(&self) -> usize {
        usize::try_from(self.memory / Self::SHARES).unwrap_or(usize::MAX)
    }
}

impl Default for Storage {
    fn default() -> Self {
        Storage { memory: Self::MEMORY, folder: std::env::temp_dir() }
    }
}
