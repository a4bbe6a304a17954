//! Journals of whatever kind: a first line that says of what, and lines that are on the disk before they count.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::checksum::{ChecksummedLines, with_checksum};
use super::{JournalError, difference};
use crate::lock::lock_file;

/// A journal that is written to. One that was begun and has nothing but its first line when this is dropped is removed: it
/// would be in the way of the next attempt.
#[derive(Debug)]
pub(crate) struct JournalFile {
    path: PathBuf,
    file: File,
    /// Up to here all lines are whole.
    length: u64,
    /// It was not there before, and has nothing but its first line.
    is_unused: bool,
}

/// A journal that goes on.
#[derive(Debug)]
pub(crate) struct Resumed {
    pub(crate) file: JournalFile,
    /// Its first line; null if that was not whole.
    pub(crate) head: Value,
    /// True if a last line was cut off.
    pub(crate) was_torn: bool,
}

impl JournalFile {
    /// Begins a journal.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub(crate) fn create(path: &Path, head: &Value) -> Result<Self, JournalError> {
        let refused = |error| JournalError::Refused { path: path.to_owned(), error };
        let file = OpenOptions::new().create_new(true).append(true).open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists(path.to_owned()),
            _ => refused(error),
        })?;
        lock(path, &file)?;
        let mut journal = JournalFile { path: path.to_owned(), file, length: 0, is_unused: true };
        journal.write(head).map_err(refused)?;
        Ok(journal)
    }

    /// Goes on with a journal whose first line says under `key` what `head` says there; `take` reads every other line.
    ///
    /// # Errors
    /// If the file cannot be read or written, is no such journal, or has a line that cannot be read or that `take` refuses.
    pub(crate) fn resume(
        path: &Path,
        key: &str,
        head: &Value,
        take: &mut dyn FnMut(&Value) -> Result<(), String>,
    ) -> Result<Resumed, JournalError> {
        let refused = |error| JournalError::Refused { path: path.to_owned(), error };
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(refused)?;
        lock(path, &file)?;
        let mut lines = ChecksummedLines::new(path, &file);
        let mut found = Value::Null;
        match lines.next()? {
            Some(first) => {
                if let Some((key, theirs, ours)) = difference("", &first[key], &head[key]) {
                    return Err(JournalError::OtherMatch { path: path.to_owned(), key, theirs, ours });
                }
                found = first;
                while let Some(value) = lines.next()? {
                    take(&value).map_err(|fault| lines.fault(fault))?;
                }
            }
            None => {
                // The beginning of such a first line, whatever the circumstances that it ends with.
                let beginning = format!("{{\"{key}\":{}", head[key]);
                if !lines.torn().iter().zip(beginning.as_bytes()).all(|(byte, expected)| byte == expected) {
                    return Err(JournalError::Foreign(path.to_owned()));
                }
            }
        }
        let was_torn = !lines.torn().is_empty();
        let length = lines.length();
        file.set_len(length).map_err(refused)?;
        let mut journal = JournalFile { path: path.to_owned(), file, length, is_unused: false };
        if length == 0 {
            // It was truncated before its first line was complete.
            journal.write(head).map_err(refused)?;
        }
        Ok(Resumed { file: journal, head: found, was_torn })
    }

    /// Adds a line, which is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk. The file is as before, and the line can be added again.
    pub(crate) fn append(&mut self, line: &Value) -> Result<(), JournalError> {
        self.write(line).map_err(|error| JournalError::Refused { path: self.path.clone(), error })?;
        self.is_unused = false;
        Ok(())
    }

    fn write(&mut self, line: &Value) -> io::Result<()> {
        let text = with_checksum(line);
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length += text.len() as u64,
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }
}

impl Drop for JournalFile {
    fn drop(&mut self) {
        if self.is_unused {
            // If it cannot be removed, the next attempt reports it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Two programs at once would spoil a journal.
fn lock(path: &Path, file: &File) -> Result<(), JournalError> {
    match lock_file(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err(JournalError::InUse(path.to_owned())),
        Err(error) => Err(JournalError::Refused { path: path.to_owned(), error }),
    }
}
