//! Columns of numbers in memory or, if they are many, in mapped files.
//!
//! A [`Column`] reads like a slice in either place. A [`ColumnWriter`] appends to one: in memory, in a temporary file
//! that nobody else sees and that vanishes with the program, or first in memory and from some size on in a file. Files
//! hold the plain bytes of the numbers, in the memory layout of this machine.

use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;

use super::StorageError;

/// The number of bytes that a writer buffers before it writes them to its file.
const BUFFER: usize = 1 << 18;

/// The granularity of released ranges: an upper bound of the page size, or a divisor of it, which does no harm.
#[cfg(unix)]
const PAGE: usize = 1 << 16;

/// A column of numbers, or of records without padding: read like a slice, kept in memory or in a mapped file. A clone
/// is another view of the same numbers.
#[derive(Clone)]
pub(crate) enum Column<T> {
    /// Numbers in memory.
    Memory(Arc<Vec<T>>),
    /// A map of a file that is not empty.
    Mapped(Arc<Mmap>),
}

impl<T: Pod> Column<T> {
    /// Returns true if the column is in a mapped file.
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self, Column::Mapped(_))
    }

    /// Releases the memory of a range of a mapped column; the system reads it again on the next access. Does nothing
    /// for a column in memory, and on systems without such a call.
    pub(crate) fn release(&self, range: Range<usize>) {
        assert!(range.start <= range.end && range.end <= self.len(), "a range of the column");
        #[cfg(unix)]
        if let Column::Mapped(map) = self {
            let start = range.start * size_of::<T>() / PAGE * PAGE;
            let end = range.end * size_of::<T>();
            // SAFETY: the pages are of a shared map of a file that nobody changes: read again, they hold the same
            // bytes.
            #[allow(unsafe_code, reason = "giving pages back cannot be had without")]
            let released = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, end - start) };
            // The call is only advice: a system that ignores it keeps the pages.
            drop(released);
        }
    }
}

impl<T: Pod> Deref for Column<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Column::Memory(numbers) => numbers,
            // Maps are aligned to pages, and their files hold whole records.
            Column::Mapped(map) => bytemuck::cast_slice(map),
        }
    }
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column::Memory(Arc::default())
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(numbers: Vec<T>) -> Self {
        Column::Memory(Arc::new(numbers))
    }
}

/// Columns are equal if their numbers are, in memory or in files.
impl<T: Pod + PartialEq> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Pod> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("length", &self.len()).field("is_mapped", &self.is_mapped()).finish()
    }
}

/// A writer that appends to a column; see the description of the module.
pub(crate) struct ColumnWriter<T> {
    target: Target<T>,
    length: usize,
}

enum Target<T> {
    Memory(Vec<T>),
    File { file: BufWriter<File>, path: PathBuf },
}

/// The default is a writer to memory.
impl<T: Pod> Default for ColumnWriter<T> {
    fn default() -> Self {
        Self { target: Target::Memory(Vec::new()), length: 0 }
    }
}

impl<T: Pod> ColumnWriter<T> {
    /// Returns a writer to a temporary file without a name, on the disk of a folder.
    pub(crate) fn temporary(folder: &Path) -> Result<Self, StorageError> {
        let file = tempfile::tempfile_in(folder).map_err(|error| StorageError::of(folder, error))?;
        let target = Target::File { file: BufWriter::with_capacity(BUFFER, file), path: folder.to_owned() };
        Ok(Self { target, length: 0 })
    }

    /// Moves the records written so far from memory to a temporary file on the disk of a folder; further records go
    /// there, too. Does nothing for a writer to a file.
    pub(crate) fn spill(&mut self, folder: &Path) -> Result<(), StorageError> {
        if let Target::Memory(numbers) = &mut self.target {
            let numbers = std::mem::take(numbers);
            *self = Self::temporary(folder)?;
            self.extend(&numbers)?;
        }
        Ok(())
    }

    /// Returns the number of records written so far.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns the number of bytes of memory that the records take.
    pub(crate) fn bytes_in_memory(&self) -> usize {
        match &self.target {
            Target::Memory(numbers) => numbers.capacity() * size_of::<T>(),
            Target::File { .. } => BUFFER,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: T) -> Result<(), StorageError> {
        self.extend(&[record])
    }

    #[inline]
    pub(crate) fn extend(&mut self, records: &[T]) -> Result<(), StorageError> {
        self.length += records.len();
        match &mut self.target {
            Target::Memory(numbers) => numbers.extend_from_slice(records),
            Target::File { file, path } => {
                let written = file.write_all(bytemuck::cast_slice(records));
                written.map_err(|error| StorageError::of(path, error))?;
            }
        }
        Ok(())
    }

    /// Returns the column, without spare capacity.
    pub(crate) fn finish(self) -> Result<Column<T>, StorageError> {
        match self.target {
            Target::Memory(mut numbers) => {
                numbers.shrink_to_fit();
                Ok(numbers.into())
            }
            Target::File { file, path } => {
                let file = file.into_inner().map_err(|error| StorageError::of(&path, error.into_error()))?;
                if self.length == 0 {
                    return Ok(Column::default());
                }
                // SAFETY: the map is only read. The file is this program's own, a temporary one without a name.
                #[allow(unsafe_code, reason = "mapping a file cannot be had without")]
                let map = unsafe { Mmap::map(&file) }.map_err(|error| StorageError::of(&path, error))?;
                Ok(Column::Mapped(Arc::new(map)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_round_trip_in_memory_and_in_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let numbers: Vec<u32> = (0..200_000).map(|i| i * 7919).collect();
        let mut spilt = ColumnWriter::default();
        spilt.extend(&numbers[..1000]).expect("room in memory");
        spilt.spill(folder.path()).expect("a temporary file");
        numbers[1000..].iter().for_each(|&number| spilt.push(number).expect("room on the disk"));
        assert_eq!(spilt.len(), numbers.len());
        let column = spilt.finish().expect("a column");
        assert!(column.is_mapped() && column[..] == numbers[..]);
        // Released pages are read again on access.
        column.release(3..numbers.len() - 5);
        assert_eq!(column, Column::from(numbers));
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0);
        let empty = ColumnWriter::<u64>::temporary(folder.path()).expect("a file").finish().expect("a column");
        assert!(empty.is_empty());
    }
}
