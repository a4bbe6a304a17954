//! Columns of numbers, in memory or on the disk.

mod column;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
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
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct Storage {
    /// Memory for what grows with the data, about: 4GiB, 512MiB; at least 1MiB, bytes without a unit. Beyond it,
    /// positions and rows lie in temporary files (in the folder that TMPDIR names), which are mapped.
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = bytes, help_heading = "Data")]
    pub memory: u64,

    /// The folder that determines the disk of temporary files.
    #[arg(skip = std::env::temp_dir())]
    pub folder: PathBuf,
}

/// The smallest limit of memory, in bytes. Below it nearly everything is in files, and a missing unit is more likely.
const LEAST_MEMORY: u64 = 1 << 20;

/// Parses a number of bytes, with or without a binary unit.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit {
        "" => Some(0),
        "K" | "KiB" => Some(10),
        "M" | "MiB" => Some(20),
        "G" | "GiB" => Some(30),
        "T" | "TiB" => Some(40),
        _ => None,
    };
    let size = number.parse::<u64>().ok().zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
    match size {
        Some(size) if size >= LEAST_MEMORY => Ok(size),
        Some(size) => Err(format!("{size} bytes are too few: at least 1MiB; a size has a unit, such as 512MiB or 4G")),
        None => Err("expected a number of bytes such as 512MiB or 4G".to_owned()),
    }
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

    /// Returns the storage of one of several structures that take the share of one.
    pub(crate) fn divided(&self, structures: usize) -> Storage {
        Storage { memory: self.memory / structures.max(1) as u64, ..self.clone() }
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
