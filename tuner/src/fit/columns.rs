//! Rows as columns, for engines whose rows are made in Python or in the tools of data science: Arrow (files and streams)
//! and Parquet. They mean what they mean as text.
//!
//! The metadata of the schema have the parameters under `merino.parameters`: what the text has before its rows, from
//! `merino-rows 1` to `rows`. The columns, a value a row and none missing, in any order:
//!
//! | column | numbers | what |
//! |---|---|---|
//! | `result` | 0 to 1 | what White got or is expected to get |
//! | `constant` | finite | what does not depend on any parameter, in centipawns and White's view |
//! | `pawns`, `knights`, `bishops`, `rooks`, `queens` | 0 to 255 | on the board, both colours together |
//! | `group` | 0 to 4294967295 | rows that belong together, such as a game |
//! | `index` | lists, 0 to 65535 | the parameters that count |
//! | `count` | lists of the same lengths, −127 to 127 | how often each counts, positive for White |
//!
//! Numbers are integers or floats of 32 or 64 bits, whatever the writer likes best; what is to be whole must be. A column
//! of another name is refused, as it may be a misspelt one. Rows are numbered from 0 on, as Python does.

mod ipc;
mod parquet;
#[cfg(test)]
mod tests;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, OffsetSizeTrait, RecordBatch};
use arrow_schema::{DataType, Fields};
use thiserror::Error;

use super::gather::{GATHERED, Gather};
use super::text::{self, Fault};
use super::{FitError, Problem};
pub(super) use ipc::read_arrow;
pub(super) use parquet::read_parquet;

/// Where the metadata of the schema have the parameters.
const HEADER: &str = "merino.parameters";

/// Columns of numbers.
const NUMBERS: [&str; 8] = ["result", "constant", "pawns", "knights", "bishops", "rooks", "queens", "group"];

/// Columns of lists of numbers.
const LISTS: [&str; 2] = ["index", "count"];

/// Why columns are no rows.
#[derive(Debug, Error)]
pub enum ColumnsError {
    /// The file is damaged, truncated, or uses what is not known here.
    #[error("{file}: {place}: {error}")]
    Damaged {
        /// The file.
        file: String,
        /// Where in it.
        place: String,
        /// What is wrong.
        error: String,
    },
    /// A part of the file takes more memory than there may be.
    #[error("{file}: {place} takes {bytes} bytes, more than --memory; write fewer rows at a time")]
    Large {
        /// The file.
        file: String,
        /// The part.
        place: String,
        /// What it takes.
        bytes: u64,
    },
    /// The parameters are missing.
    #[error("{file}: the schema has no metadata `{HEADER}`")]
    Header {
        /// The file.
        file: String,
    },
    /// A column is missing, or there are several of its name.
    #[error("{file}: {count} columns `{column}`, expected one")]
    Number {
        /// The file.
        file: String,
        /// The column.
        column: &'static str,
        /// How many there are.
        count: usize,
    },
    /// A column that rows do not have.
    #[error("{file}: column `{column}`: expected none but {}, {}", NUMBERS.join(", "), LISTS.join(", "))]
    Unknown {
        /// The file.
        file: String,
        /// The column.
        column: String,
    },
    /// A column of another type.
    #[error("{file}: column `{column}`: expected {expected}, found {found}")]
    Type {
        /// The file.
        file: String,
        /// The column.
        column: &'static str,
        /// What it should hold.
        expected: &'static str,
        /// What it holds.
        found: String,
    },
    /// A row has a fault.
    #[error("{file}: row {row}: {fault}")]
    Row {
        /// The file.
        file: String,
        /// The row, 0 for the first.
        row: u64,
        /// What is wrong with it.
        fault: RowFault,
    },
}

/// What is wrong with a row of columns.
#[derive(Debug, Error)]
pub enum RowFault {
    /// There is no value, or one of a list is missing.
    #[error("column `{0}` is null")]
    Null(&'static str),
    /// A value is not one of the column.
    #[error("column `{column}`: expected {expected}, found {found}")]
    Value {
        /// The column.
        column: &'static str,
        /// What was expected.
        expected: &'static str,
        /// What stands there.
        found: f64,
    },
    /// Indices and counts do not belong together.
    #[error("{indices} values in `index`, {counts} in `count`")]
    Lengths {
        /// Number of indices.
        indices: usize,
        /// Number of counts.
        counts: usize,
    },
    /// What they say together.
    #[error(transparent)]
    Row(#[from] Fault),
}

/// What names and errors of others are told as: in one line that is not long.
fn shown(text: &str) -> String {
    text.chars().take(200).map(|char| if char.is_control() { ' ' } else { char }).collect()
}

/// Parameters of the schema's metadata, without any row.
fn header(file: &str, text: Option<&str>) -> Result<Problem, FitError> {
    let text = text.ok_or_else(|| ColumnsError::Header { file: file.to_owned() })?;
    text::read_header(&format!("{file}: {HEADER}"), text)
}

/// The columns of a file, found by their names.
struct Columns<'n> {
    file: &'n str,
    numbers: [usize; NUMBERS.len()],
    lists: [usize; LISTS.len()],
    /// Rows that were read.
    rows: u64,
}

impl<'n> Columns<'n> {
    fn of(file: &'n str, fields: &Fields) -> Result<Self, ColumnsError> {
        if let Some(field) = fields.iter().find(|field| NUMBERS.iter().chain(&LISTS).all(|name| name != field.name())) {
            return Err(ColumnsError::Unknown { file: file.to_owned(), column: shown(field.name()) });
        }
        let find = |column: &'static str, expected: &'static str, is_good: fn(&DataType) -> bool| {
            let mut found = fields.iter().enumerate().filter(|(_, field)| field.name() == column);
            let (Some((at, field)), None) = (found.next(), found.next()) else {
                let count = fields.iter().filter(|field| field.name() == column).count();
                return Err(ColumnsError::Number { file: file.to_owned(), column, count });
            };
            if is_good(field.data_type()) {
                return Ok(at);
            }
            let found = shown(&field.data_type().to_string());
            Err(ColumnsError::Type { file: file.to_owned(), column, expected, found })
        };
        let (mut numbers, mut lists) = ([0; NUMBERS.len()], [0; LISTS.len()]);
        for (at, column) in numbers.iter_mut().zip(NUMBERS) {
            *at = find(column, "numbers", is_number)?;
        }
        for (at, column) in lists.iter_mut().zip(LISTS) {
            *at = find(column, "lists of numbers", is_list)?;
        }
        Ok(Columns { file, numbers, lists, rows: 0 })
    }

    /// Adds the rows of a batch that has these columns.
    fn add(&mut self, batch: &RecordBatch, gather: &mut Gather) -> Result<(), FitError> {
        for start in (0..batch.num_rows()).step_by(GATHERED) {
            let part = batch.slice(start, GATHERED.min(batch.num_rows() - start));
            let (file, before) = (self.file, self.rows);
            let fault = |(row, fault): (usize, RowFault)| ColumnsError::Row {
                file: file.to_owned(),
                row: before + row as u64,
                fault,
            };
            let part = self.part(&part).map_err(fault)?;
            for row in 0..part.rows {
                part.add(row, gather).map_err(|error| fault((row, error)))?;
                gather.settle()?;
            }
            self.rows += part.rows as u64;
        }
        Ok(())
    }

    /// The numbers of rows, or the first of them that is missing.
    fn part(&self, batch: &RecordBatch) -> Result<Part, (usize, RowFault)> {
        let mut numbers: [Vec<f64>; NUMBERS.len()] = Default::default();
        for ((values, &at), column) in numbers.iter_mut().zip(&self.numbers).zip(NUMBERS) {
            let array = batch.column(at);
            if let Some(row) = first_null(array) {
                return Err((row, RowFault::Null(column)));
            }
            *values = widened(array);
        }
        let [index, count] = self.lists.map(|at| batch.column(at));
        let (index, count) = (Lists::of(index, LISTS[0])?, Lists::of(count, LISTS[1])?);
        Ok(Part { rows: batch.num_rows(), numbers, index, count })
    }
}

/// Rows of a batch as numbers.
struct Part {
    rows: usize,
    numbers: [Vec<f64>; NUMBERS.len()],
    index: Lists,
    count: Lists,
}

impl Part {
    fn add(&self, row: usize, gather: &mut Gather) -> Result<(), RowFault> {
        let columns: [(&'static str, f64); NUMBERS.len()] =
            std::array::from_fn(|column| (NUMBERS[column], self.numbers[column][row]));
        let [target, constant, pieces @ .., group] = columns;
        let target = within(target, "a result from 0 to 1", 0.0..=1.0)? as f32;
        let group = whole(group, "the number of a group, 0 to 4294967295", 0.0..=f64::from(u32::MAX))? as u32;
        let filled = gather.row();
        filled.constant = within(constant, "a finite number", f64::from(f32::MIN)..=f64::from(f32::MAX))? as f32;
        for (count, number) in filled.pieces.iter_mut().zip(pieces) {
            *count = whole(number, "a count of pieces from 0 to 255", 0.0..=255.0)? as u8;
        }
        let (indices, counts) = (self.index.row(row), self.count.row(row));
        if indices.len() != counts.len() {
            return Err(RowFault::Lengths { indices: indices.len(), counts: counts.len() });
        }
        for (&index, &count) in indices.iter().zip(counts) {
            let index = whole((LISTS[0], index), "an index from 0 to 65535", 0.0..=65535.0)? as usize;
            filled.add(index, whole((LISTS[1], count), "a count from -127 to 127", -127.0..=127.0)? as i32);
        }
        Ok(gather.push(target, group)?)
    }
}

/// Lists of numbers, one after the other.
struct Lists {
    /// Where each begins, and where the last ends.
    bounds: Vec<usize>,
    values: Vec<f64>,
}

impl Lists {
    fn of(array: &dyn Array, column: &'static str) -> Result<Self, (usize, RowFault)> {
        let lists = match array.data_type() {
            DataType::LargeList(_) => Self::of_size::<i64>(array),
            _ => Self::of_size::<i32>(array),
        };
        lists.map_err(|row| (row, RowFault::Null(column)))
    }

    /// The lists of an array, or the first of them that is null or has a null in it.
    fn of_size<Offset: OffsetSizeTrait>(array: &dyn Array) -> Result<Self, usize> {
        if let Some(row) = first_null(array) {
            return Err(row);
        }
        let lists = array.as_list::<Offset>();
        let offsets = lists.value_offsets();
        let start = offsets[0].as_usize();
        let bounds: Vec<usize> = offsets.iter().map(|offset| offset.as_usize() - start).collect();
        let values = lists.values().slice(start, bounds[bounds.len() - 1]);
        match first_null(&values) {
            Some(at) => Err(bounds.partition_point(|&bound| bound <= at) - 1),
            None => Ok(Lists { bounds, values: widened(&values) }),
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[self.bounds[row]..self.bounds[row + 1]]
    }
}

fn is_number(kind: &DataType) -> bool {
    kind.is_integer() || matches!(kind, DataType::Float32 | DataType::Float64)
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(field) | DataType::LargeList(field) if is_number(field.data_type()))
}

fn first_null(array: &dyn Array) -> Option<usize> {
    (array.null_count() > 0).then(|| (0..array.len()).find(|&at| array.is_null(at)))?
}

/// The numbers of an array whose type was seen to be one of numbers. Those of more than 53 bits lose some, but are far
/// from any that is allowed.
fn widened(array: &dyn Array) -> Vec<f64> {
    macro_rules! of {
        ($($kind:ident $type:ty,)*) => {
            match array.data_type() {
                $(DataType::$kind => array.as_primitive::<$type>().values().iter().map(|&value| value as f64).collect(),)*
                _ => unreachable!("columns of other types are refused"),
            }
        };
    }
    of!(
        Int8 Int8Type, Int16 Int16Type, Int32 Int32Type, Int64 Int64Type, UInt8 UInt8Type, UInt16 UInt16Type,
        UInt32 UInt32Type, UInt64 UInt64Type, Float32 Float32Type, Float64 Float64Type,
    )
}

type Range = std::ops::RangeInclusive<f64>;

fn within((column, found): (&'static str, f64), expected: &'static str, range: Range) -> Result<f64, RowFault> {
    if range.contains(&found) { Ok(found) } else { Err(RowFault::Value { column, expected, found }) }
}

fn whole((column, found): (&'static str, f64), expected: &'static str, range: Range) -> Result<f64, RowFault> {
    match within((column, found), expected, range) {
        Ok(number) if number.fract() != 0.0 => Err(RowFault::Value { column, expected, found }),
        checked => checked,
    }
}
