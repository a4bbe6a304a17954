//! Lines of JSON that end with a checksum of themselves: `{…,"crc":"1b2f3c4d"}`, the CRC-32 of all bytes before `,"crc"`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::Value;

use super::JournalError;
use common::lines::Lines;

/// The longest line, in bytes: no game is as long, and no description of a match.
const LONGEST: usize = 1 << 24;
/// The text before and after the checksum.
const OPENING: &str = ",\"crc\":\"";
const CLOSING: &str = "\"}";

/// The line of an object that is not empty.
pub(super) fn with_checksum(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    let checksum = checksum(text.as_bytes());
    text + OPENING + &checksum + CLOSING + "\n"
}

/// Parses a line without its end, and verifies its checksum.
fn verify(line: &[u8]) -> Result<Value, String> {
    let parts = || {
        let rest = line.strip_suffix(CLOSING.as_bytes())?;
        let (rest, found) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
        Some((rest.strip_suffix(OPENING.as_bytes())?, found))
    };
    let Some((content, found)) = parts() else {
        return Err("has no checksum: it is of an older arena, or of no journal".to_owned());
    };
    if checksum(content).as_bytes() != found {
        return Err("checksum mismatch: it was damaged or changed".to_owned());
    }
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

fn checksum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Reads the lines of a journal.
pub(super) struct ChecksummedLines<'a> {
    path: &'a Path,
    lines: Lines<BufReader<&'a File>>,
    /// The line that was read last; without its end, it was cut short.
    line: Vec<u8>,
    /// The number of bytes in the whole lines.
    length: u64,
}

impl<'a> ChecksummedLines<'a> {
    pub(super) fn new(path: &'a Path, file: &'a File) -> Self {
        ChecksummedLines { path, lines: Lines::new(BufReader::new(file), LONGEST), line: Vec::new(), length: 0 }
    }

    /// The object of the next whole line, if there is one.
    pub(super) fn next(&mut self) -> Result<Option<Value>, JournalError> {
        let read = self.lines.read(&mut self.line);
        read.map_err(|error| JournalError::Refused { path: self.path.to_owned(), error })?;
        let Some(line) = self.line.strip_suffix(b"\n") else { return Ok(None) };
        let value = verify(line).map_err(|fault| self.fault(fault))?;
        self.length += self.line.len() as u64;
        Ok(Some(value))
    }

    /// An error about the line read last.
    pub(super) fn fault(&self, fault: String) -> JournalError {
        JournalError::Line { path: self.path.to_owned(), line: self.lines.number(), fault }
    }

    /// The truncated last line, once all whole lines are read.
    pub(super) fn torn(&self) -> &[u8] {
        &self.line
    }

    /// Returns the number of bytes in the whole lines.
    pub(super) fn length(&self) -> u64 {
        self.length
    }
}
