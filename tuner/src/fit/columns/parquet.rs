//! Rows of Parquet.

use std::fmt::Display;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::{Columns, ColumnsError, HEADER, header};
use crate::fit::gather::Gather;
use crate::fit::{FitError, Problem, TextError};
use crate::progress::{Progress, Unit};
use crate::storage::Storage;

/// Rows that are read as one; few, as a row can have 65536 entries.
const BATCH: usize = 1 << 10;

/// What a value takes while it is read: eight bytes, where it belongs, and where its copy goes.
const VALUE_BYTES: u64 = 32;

/// Exit status of a program that has to end in here.
#[cfg(panic = "abort")]
const FAILURE: i32 = 2;

/// What is said of a file at which the library gives up.
const HOPELESS: &str = "damaged beyond what its reader can tell";

/// Reads the rows of a file.
pub(in crate::fit) fn read_parquet(
    file: &str,
    path: &Path,
    storage: &Storage,
    progress: &dyn Progress,
) -> Result<Problem, FitError> {
    guarded(file, || read(file, path, storage, progress))?
}

/// Does something in which the library may panic: release 60.1 does where bits of nulls are fewer than they should be.
fn guarded<T>(file: &str, act: impl FnOnce() -> T) -> Result<T, ColumnsError> {
    // Where a panic ends the program, it can do so with the message and the status of any other fault.
    #[cfg(panic = "abort")]
    let before = {
        let message = damaged(file, "pages", HOPELESS).to_string();
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |_| {
            eprintln!("error: {message}");
            std::process::exit(FAILURE);
        }));
        before
    };
    let done = panic::catch_unwind(AssertUnwindSafe(act));
    #[cfg(panic = "abort")]
    panic::set_hook(before);
    done.map_err(|_| damaged(file, "pages", HOPELESS))
}

fn read(file: &str, path: &Path, storage: &Storage, progress: &dyn Progress) -> Result<Problem, FitError> {
    let unreadable = |error| TextError::Unreadable { file: file.to_owned(), error };
    let opened = File::open(path).map_err(unreadable)?;
    let pages = opened.try_clone().map_err(unreadable)?;
    // The types of Parquet itself say enough; a copy of Arrow's schema beside them need not agree.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(opened, options);
    let builder = builder.map_err(|error| damaged(file, "end of the file", error))?;
    let promised = most_promised(pages, builder.metadata()).map_err(|error| damaged(file, "pages", error))?;
    if let Some((place, bytes)) = promised.filter(|&(_, bytes)| bytes > storage.memory) {
        return Err(ColumnsError::Large { file: file.to_owned(), place, bytes }.into());
    }
    let metadata = builder.metadata().file_metadata().clone();
    let mut columns = Columns::of(file, builder.schema().fields())?;
    let pairs = metadata.key_value_metadata().into_iter().flatten();
    let text = pairs.filter(|pair| pair.key == HEADER).find_map(|pair| pair.value.as_deref());
    let mut gather = Gather::new(header(file, text)?, storage)?;
    let total = u64::try_from(metadata.num_rows()).unwrap_or(0);
    progress.end();
    progress.begin("reading", total, Unit::Positions);
    let place = |row: u64| format!("behind row {row}");
    let batches = builder.with_batch_size(BATCH).build().map_err(|error| damaged(file, "end of the file", error))?;
    for batch in batches {
        let batch = batch.map_err(|error| damaged(file, &place(columns.rows), error))?;
        columns.add(&batch, &mut gather)?;
        progress.advance(batch.num_rows() as u64);
    }
    if columns.rows != total {
        return Err(damaged(file, "end of the file", format_args!("{} rows, expected {total}", columns.rows)).into());
    }
    gather.finish(file)
}

/// The column of a group of rows that takes the most memory if all its pages hold what they promise: a few bytes may
/// stand for so many values in a single row.
fn most_promised(file: File, metadata: &ParquetMetaData) -> Result<Option<(String, u64)>, ParquetError> {
    let file = Arc::new(file);
    let mut most = None;
    for (number, group) in metadata.row_groups().iter().enumerate() {
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        for column in group.columns() {
            let mut pages = SerializedPageReader::new(Arc::clone(&file), column, rows, None)?;
            let mut values = 0_u64;
            while let Some(page) = pages.peek_next_page()? {
                values = values.saturating_add(page.num_levels.unwrap_or(0) as u64);
                pages.skip_next_page()?;
            }
            let bytes = values.saturating_mul(VALUE_BYTES);
            if most.as_ref().is_none_or(|&(_, least)| bytes > least) {
                let name = super::shown(column.column_path().parts().first().map_or("", String::as_str));
                most = Some((format!("row group {number}, column `{name}`,"), bytes));
            }
        }
    }
    Ok(most)
}

fn damaged(file: &str, place: &str, error: impl Display) -> ColumnsError {
    ColumnsError::Damaged { file: file.to_owned(), place: place.to_owned(), error: super::shown(&error.to_string()) }
}
