//! Rows of Parquet.

use std::fmt::Display;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::{Columns, ColumnsError, HEADER, header};
use crate::fit::gather::Gather;
use crate::fit::{FitError, Problem, TextError};
use crate::progress::{Progress, Unit};
use crate::storage::Storage;

/// Rows that are read as one; few, as a row can have 65536 entries.
const BATCH: usize = 1 << 10;

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
    let opened = File::open(path).map_err(|error| TextError::Unreadable { file: file.to_owned(), error })?;
    // The types of Parquet itself say enough; a copy of Arrow's schema beside them need not agree.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(opened, options);
    let builder = builder.map_err(|error| damaged(file, "end of the file", error))?;
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

fn damaged(file: &str, place: &str, error: impl Display) -> ColumnsError {
    ColumnsError::Damaged { file: file.to_owned(), place: place.to_owned(), error: super::shown(&error.to_string()) }
}
