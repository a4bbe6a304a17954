//! Folders with a file a column, whose lengths and checksums are kept beside them.

use std::fmt;
use std::path::Path;

use bytemuck::Pod;
use serde::{Deserialize, Serialize};

use super::{Column, ColumnWriter, Storage, StorageError};
use crate::progress::{Progress, Unit};

/// Records that are written or checked at a time.
const BLOCK: usize = 1 << 18;

/// A column of an entry.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ColumnNote {
    name: String,
    /// Records.
    length: usize,
    /// Bytes of a record.
    size: usize,
    /// CRC-32 of its bytes.
    checksum: u32,
}

/// Writes the columns of an entry.
pub(crate) struct Saver<'f> {
    folder: &'f Path,
    columns: Vec<ColumnNote>,
}

impl<'f> Saver<'f> {
    /// Writes to an empty folder.
    pub(crate) fn new(folder: &'f Path) -> Self {
        Saver { folder, columns: Vec::new() }
    }

    /// Writes one; the names of all are different.
    pub(crate) fn column<T: Pod>(&mut self, name: &str, records: &[T]) -> Result<(), StorageError> {
        let mut writer = ColumnWriter::<T>::create(&self.folder.join(name))?;
        records.chunks(BLOCK).try_for_each(|block| writer.extend(block))?;
        let (_, checksum) = writer.finish_with_checksum()?;
        self.columns.push(ColumnNote { name: name.to_owned(), length: records.len(), size: size_of::<T>(), checksum });
        Ok(())
    }

    /// What was written.
    pub(crate) fn finish(self) -> Vec<ColumnNote> {
        self.columns
    }
}

/// Reads the columns of an entry.
pub(crate) struct Loader<'f> {
    folder: &'f Path,
    columns: &'f [ColumnNote],
    /// Whether all of them fit into memory.
    is_small: bool,
    progress: &'f dyn Progress,
}

impl<'f> Loader<'f> {
    /// Reads columns that were written to a folder, into memory if all of them together take no more than the storage's
    /// share of it.
    pub(crate) fn new(
        folder: &'f Path,
        columns: &'f [ColumnNote],
        storage: &Storage,
        progress: &'f dyn Progress,
    ) -> Self {
        let sizes = columns.iter().map(|column| column.length.saturating_mul(column.size));
        let bytes = sizes.fold(0, usize::saturating_add);
        progress.begin("checking", bytes as u64, Unit::Bytes);
        Loader { folder, columns, is_small: bytes <= storage.share(), progress }
    }

    /// Ends the step of the progress, once all columns have been read.
    pub(crate) fn finish(self) {
        self.progress.end();
    }

    /// What is wrong with the entry.
    pub(crate) fn damage(&self, what: impl fmt::Display) -> StorageError {
        StorageError::of(self.folder, what)
    }

    /// Reads one, and looks whether it is what was written.
    pub(crate) fn column<T: Pod>(&mut self, name: &str) -> Result<Column<T>, StorageError> {
        let damage = |what: &str| StorageError::of(&self.folder.join(name), what);
        let noted = self.columns.iter().find(|column| column.name == name && column.size == size_of::<T>());
        let noted = noted.ok_or_else(|| damage("is not in the manifest"))?;
        let column = Column::<T>::open(&self.folder.join(name), noted.length)?;
        let mut checksum = crc32fast::Hasher::new();
        for start in (0..column.len()).step_by(BLOCK) {
            let range = start..(start + BLOCK).min(column.len());
            checksum.update(bytemuck::cast_slice(&column[range.clone()]));
            self.progress.advance(size_of_val(&column[range.clone()]) as u64);
            if !self.is_small {
                column.release(range);
            }
        }
        if checksum.finalize() != noted.checksum {
            return Err(damage("is damaged"));
        }
        Ok(if self.is_small { column.to_vec().into() } else { column })
    }
}
