//! Rows of Arrow's own files and streams.
//!
//! A file is a stream between a beginning and an index of its parts, which is not needed to read all of it in order.
//! Messages are taken apart here, and looked at before the library decodes them: it trusts what they say about where
//! their buffers lie and how long these are once unpacked.
//
// See <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>.

use std::collections::HashMap;
use std::fmt::Display;
use std::io::{BufRead, Read};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::RecordBatchDecoder;
use arrow_ipc::{FieldNode, Message, root_as_message};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::{Columns, ColumnsError, HEADER, header};
use crate::fit::gather::Gather;
use crate::fit::{FitError, Problem};
use crate::storage::Storage;

/// What a message begins with, before the length of its description.
const MESSAGE: [u8; 4] = [0xFF; 4];

/// The longest description of a message in bytes: a schema with 65536 parameters fits.
const LONGEST: u64 = 1 << 26;

/// What a file ends with.
const END: &[u8] = b"ARROW1";

/// What a file begins with before its stream, in bytes, and zeros that may follow for the sake of alignment.
const BEGINNING: (u64, usize) = (8, 56);

/// Rows of a column that may be spoken of at most; beyond it, sizes in bytes overflow.
const MOST: i64 = 1 << 40;

/// Reads the rows of a file or a stream.
pub(in crate::fit) fn read_arrow(
    file: &str,
    bytes: &mut dyn BufRead,
    is_file: bool,
    storage: &Storage,
) -> Result<Problem, FitError> {
    let mut messages = Messages { file, bytes, memory: storage.memory, number: 0, description: Vec::new() };
    if is_file {
        messages.begin()?;
    }
    let schema = messages.schema()?;
    let mut columns = Columns::of(file, schema.fields())?;
    let mut gather = Gather::new(header(file, schema.metadata().get(HEADER).map(String::as_str))?, storage)?;
    while let Some(batch) = messages.batch(&schema)? {
        columns.add(&batch, &mut gather)?;
    }
    if is_file {
        messages.end()?;
    }
    gather.finish(file)
}

/// The messages of a stream.
struct Messages<'r> {
    file: &'r str,
    bytes: &'r mut dyn BufRead,
    /// Bytes that the body of a message may take.
    memory: u64,
    /// Of the present message, 1 for the first.
    number: usize,
    description: Vec<u8>,
}

impl Messages<'_> {
    fn damaged(&self, error: impl Display) -> ColumnsError {
        let place = format!("message {}", self.number);
        ColumnsError::Damaged { file: self.file.to_owned(), place, error: super::shown(&error.to_string()) }
    }

    /// So many bytes. Memory grows with what is there, not with what is promised.
    fn take(&mut self, count: u64) -> Result<Vec<u8>, ColumnsError> {
        let mut bytes = Vec::new();
        let read = (&mut *self.bytes).take(count).read_to_end(&mut bytes);
        match read.map(|read| read as u64 == count) {
            Ok(true) => Ok(bytes),
            Ok(false) => Err(self.damaged("ends too early")),
            Err(error) => Err(self.damaged(error)),
        }
    }

    fn word(&mut self) -> Result<[u8; 4], ColumnsError> {
        let bytes = self.take(4)?;
        Ok([bytes[0], bytes[1], bytes[2], bytes[3]])
    }

    /// Reads the next message's description, unless what comes is the mark of the end.
    fn next(&mut self) -> Result<bool, ColumnsError> {
        self.number += 1;
        if self.word()? != MESSAGE {
            return Err(self.damaged("expected a message or the mark of the end"));
        }
        let length = u32::from_le_bytes(self.word()?);
        if u64::from(length) > LONGEST {
            return Err(self.damaged(format_args!("a description of {length} bytes")));
        }
        self.description = self.take(length.into())?;
        Ok(length > 0)
    }

    fn message(&self) -> Result<Message<'_>, ColumnsError> {
        root_as_message(&self.description).map_err(|error| self.damaged(error))
    }

    /// The body of the present message.
    fn body(&mut self) -> Result<Vec<u8>, ColumnsError> {
        let length = self.message()?.bodyLength();
        let length = u64::try_from(length).map_err(|_| self.damaged("a length below 0"))?;
        self.check_size(length)?;
        self.take(length)
    }

    fn check_size(&self, bytes: u64) -> Result<(), ColumnsError> {
        if bytes <= self.memory {
            return Ok(());
        }
        let place = format!("message {}", self.number);
        Err(ColumnsError::Large { file: self.file.to_owned(), place, bytes })
    }

    /// Passes over what a file has before its stream.
    fn begin(&mut self) -> Result<(), ColumnsError> {
        self.take(BEGINNING.0)?;
        for _ in 0..BEGINNING.1 {
            match self.bytes.fill_buf() {
                Ok([0, ..]) => self.bytes.consume(1),
                Ok(_) => break,
                Err(error) => return Err(self.damaged(error)),
            }
        }
        Ok(())
    }

    fn schema(&mut self) -> Result<SchemaRef, ColumnsError> {
        if !self.next()? {
            return Err(self.damaged("expected a schema"));
        }
        self.body()?;
        let schema = self.message()?.header_as_schema().ok_or_else(|| self.damaged("expected a schema"))?;
        Ok(Arc::new(try_fb_to_schema(schema).map_err(|error| self.damaged(error))?))
    }

    /// The next rows, if any.
    fn batch(&mut self, schema: &SchemaRef) -> Result<Option<RecordBatch>, ColumnsError> {
        if !self.next()? {
            return Ok(None);
        }
        let body = Buffer::from_vec(self.body()?);
        let message = self.message()?;
        let batch = message.header_as_record_batch().ok_or_else(|| self.damaged("expected rows"))?;
        self.check(&body, &batch, schema)?;
        let dictionaries = HashMap::new();
        let version = message.version();
        let decoder = RecordBatchDecoder::try_new(&body, batch, Arc::clone(schema), &dictionaries, &version);
        let decoded = decoder.and_then(RecordBatchDecoder::read_record_batch);
        decoded.map(Some).map_err(|error| self.damaged(error))
    }

    /// Whether what a batch says of itself can be. Numbers as well as lists have two buffers: a bit a value that tells
    /// whether it is there, and the values or where they begin.
    fn check(&self, body: &[u8], batch: &arrow_ipc::RecordBatch<'_>, schema: &Schema) -> Result<(), ColumnsError> {
        let is_packed = batch.compression().is_some();
        let buffers = batch.buffers().into_iter().flatten();
        let sizes = buffers.map(|buffer| size(body, buffer, is_packed)).collect::<Option<Vec<u64>>>();
        let sizes = sizes.ok_or_else(|| self.damaged("a buffer outside of it"))?;
        self.check_size(sizes.iter().copied().fold(0, u64::saturating_add))?;
        let nodes: Vec<_> = batch.nodes().into_iter().flatten().collect();
        let is_count = |count: i64| (0..MOST).contains(&count);
        let is_good = |(node, sizes): (&&FieldNode, &[u64])| {
            let (rows, nulls) = (node.length(), node.null_count());
            is_count(rows) && is_count(nulls) && (nulls == 0 || sizes[0].saturating_mul(8) >= rows as u64)
        };
        let is_whole = is_count(batch.length()) && sizes.len() == 2 * nodes.len();
        if !is_whole || !nodes.iter().zip(sizes.chunks(2)).all(is_good) {
            return Err(self.damaged("an impossible number of rows"));
        }
        let units = schema.fields().iter().flat_map(|field| units(field.data_type()));
        if sizes.chunks(2).zip(units).any(|(sizes, unit)| sizes[1] % unit != 0) {
            return Err(self.damaged("a part of a number"));
        }
        Ok(())
    }

    /// Looks whether the file is whole: its index is passed over, its end is not.
    fn end(&mut self) -> Result<(), ColumnsError> {
        let mut last = Vec::new();
        loop {
            let bytes = match self.bytes.fill_buf() {
                Ok([]) if last == END => return Ok(()),
                Ok([]) => return Err(self.damaged("ends too early")),
                Ok(bytes) => bytes,
                Err(error) => return Err(self.damaged(error)),
            };
            let count = bytes.len();
            last.extend_from_slice(&bytes[count.saturating_sub(END.len())..]);
            last.drain(..last.len().saturating_sub(END.len()));
            self.bytes.consume(count);
        }
    }
}

/// Of each node of a column, what the bytes of its second buffer are a multiple of: the values of numbers, or for lists
/// where they begin and then their values.
fn units(kind: &DataType) -> impl Iterator<Item = u64> {
    let of_number = |kind: &DataType| kind.primitive_width().unwrap_or(1) as u64;
    let (own, values) = match kind {
        DataType::List(field) => (size_of::<i32>() as u64, Some(of_number(field.data_type()))),
        DataType::LargeList(field) => (size_of::<i64>() as u64, Some(of_number(field.data_type()))),
        number => (of_number(number), None),
    };
    std::iter::once(own).chain(values)
}

/// Bytes of a buffer, once it is unpacked; `None` if it is not within the body.
fn size(body: &[u8], buffer: &arrow_ipc::Buffer, is_packed: bool) -> Option<u64> {
    let (start, length) = (usize::try_from(buffer.offset()).ok()?, usize::try_from(buffer.length()).ok()?);
    let bytes = body.get(start..start.checked_add(length)?)?;
    if !is_packed || bytes.is_empty() {
        return Some(bytes.len() as u64);
    }
    // Compressed buffers begin with their length, below 0 for those that turned out not worth it.
    let (unpacked, rest) = bytes.split_first_chunk()?;
    Some(u64::try_from(i64::from_le_bytes(*unpacked)).unwrap_or(rest.len() as u64))
}
