//! What is kept on the disk: columns of numbers, and folders of columns that later runs read again.

mod column;
mod entry;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use column::{Column, ColumnWriter};
pub(crate) use entry::{ColumnNote, Damage, Loader, Saver};

/// Why a column cannot be written or mapped.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StorageError {
    /// The system refused.
    #[error("{}: {error}", path.display())]
    Refused {
        /// The file, or the folder of a temporary one.
        path: PathBuf,
        /// What the system said.
        error: String,
    },
    /// The file does not have the bytes it should have.
    #[error("{}: {found} bytes, expected {expected}", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Bytes it has.
        found: u64,
        /// Bytes it should have.
        expected: u64,
    },
}

impl StorageError {
    pub(crate) fn refused(path: &Path, error: &io::Error) -> Self {
        StorageError::Refused { path: path.to_owned(), error: error.to_string() }
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

/// Opens what is a file and nothing else: a pipe may have nobody at its other end, a device no end at all.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if path.metadata()?.is_file() { File::open(path) } else { Err(io::Error::other("is not a file")) }
}
