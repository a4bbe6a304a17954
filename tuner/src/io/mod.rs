//! Columns of numbers, in memory or on the disk.

mod column;

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) use column::{Column, ColumnWriter};

/// Why something cannot be kept on the disk, or read again: a file or folder, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct StorageError(String);

impl StorageError {
    /// A file or folder, or that of a temporary file, and what is wrong with it.
    pub(crate) fn of(path: &Path, what: impl fmt::Display) -> Self {
        StorageError(format!("{}: {what}", path.display()))
    }
}

/// How much may be kept in memory, and where the rest goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Bytes of memory that all together may take, about.
    pub memory: u64,
    /// The folder on whose disk temporary files are.
    pub folder: PathBuf,
}

impl Storage {
    /// Bytes of memory if nothing else is said.
    pub const MEMORY: u64 = 4 << 30;

    /// Things that grow with the data, copies of some among them, share the memory.
    const SHARES: u64 = 8;

    /// Bytes that one thing that grows with the data may take in memory.
    pub fn share(&self) -> usize {
        usize::try_from(self.memory / Self::SHARES).unwrap_or(usize::MAX)
    }
}

impl Default for Storage {
    fn default() -> Self {
        Storage { memory: Self::MEMORY, folder: std::env::temp_dir() }
    }
}
