//! What a match has come to, kept so that it can go on after whatever ended it: JSON lines, the first of which says what
//! match it is, each other one holding a finished game.
//!
//! The first line also tells the circumstances, and every other where its game began, so that a journal can be understood
//! without the engines and openings it was played with.
//!
//! A line is on the disk before its game counts, and ends with a checksum. A last line without its end was cut short by a
//! kill: it is cut off, and its game is played again. Anything else that cannot be read is an error, and the file stays as
//! it is.

mod checksum;
mod line;
mod read;

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use checksum::{ChecksummedLines, with_checksum};
pub use read::{Recorded, read_journal};
use serde_json::{Value, json};
use thiserror::Error;

use super::{Match, about, identity};
use crate::game::GameRecord;
use crate::lock::lock_file;
use crate::stats::Sprt;

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// There is one, and it was not asked to go on with it.
    #[error("{}: exists; --resume continues it", .0.display())]
    Exists(PathBuf),
    /// Another program writes to it.
    #[error("{}: is in use", .0.display())]
    InUse(PathBuf),
    /// There is something in it, but no match was ever described.
    #[error("{}: is not a journal of this match; left unchanged", .0.display())]
    Foreign(PathBuf),
    /// A line cannot be read.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// The fault.
        fault: String,
    },
    /// It belongs to another match.
    #[error("{}:1: is of another match: {key} is {theirs} there, {ours} here", path.display())]
    OtherMatch {
        /// The file.
        path: PathBuf,
        /// The key that differs.
        key: String,
        /// What it says.
        theirs: String,
        /// The requested value.
        ours: String,
    },
}

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// What match it is, an object; see [`identity`].
    pub identity: Value,
    /// The circumstances under which it began, an object; see [`about`].
    pub about: Value,
}

impl Head {
    /// That of a match which begins now.
    pub fn of(plan: &Match, sprt: Option<&Sprt>) -> Self {
        Head { identity: identity(plan, sprt), about: about(plan) }
    }

    fn to_json(&self) -> Value {
        json!({ "match": self.identity, "about": self.about })
    }

    /// Whether bytes may be the beginning of a first line of this match, whatever its circumstances.
    fn may_begin_with(&self, bytes: &[u8]) -> bool {
        let beginning = format!("{{\"match\":{},\"about\":", self.identity);
        bytes.iter().zip(beginning.as_bytes()).all(|(byte, expected)| byte == expected)
    }
}

/// A journal that is written to. One that was begun and has no game when this is dropped is removed: it would be in the
/// way of the next attempt.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Up to here all lines are whole.
    length: u64,
    /// It was not there before, and has no game.
    is_unused: bool,
}

/// The games of a resumed journal.
#[derive(Debug)]
pub struct Found {
    /// The games, in the order they ended.
    pub games: Vec<GameRecord>,
    /// How long the match had taken.
    pub elapsed: Duration,
    /// The start of the match in Unix seconds; null if unknown.
    pub began: Value,
    /// Whether a last line was cut off.
    pub was_torn: bool,
}

impl Journal {
    /// Begins a journal.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(path: &Path, head: &Head) -> Result<Self, JournalError> {
        let refused = |error| JournalError::Refused { path: path.to_owned(), error };
        let file = OpenOptions::new().create_new(true).append(true).open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists(path.to_owned()),
            _ => refused(error),
        })?;
        lock(path, &file)?;
        let mut journal = Journal { path: path.to_owned(), file, length: 0, is_unused: true };
        journal.append(&head.to_json()).map_err(refused)?;
        Ok(journal)
    }

    /// Resumes a journal. The match determines players and openings of its games.
    ///
    /// # Errors
    /// If the file cannot be read or written, is no journal, belongs to another match, or has a line that cannot be read or
    /// is of a game that the match does not have.
    pub fn resume(path: &Path, head: &Head, plan: &Match) -> Result<(Self, Found), JournalError> {
        let refused = |error| JournalError::Refused { path: path.to_owned(), error };
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(refused)?;
        lock(path, &file)?;
        let mut lines = ChecksummedLines::new(path, &file);
        let mut found = Found { games: Vec::new(), elapsed: Duration::ZERO, began: Value::Null, was_torn: false };
        match lines.next()? {
            Some(first) => {
                if let Some((key, theirs, ours)) = difference("", &first["match"], &head.identity) {
                    return Err(JournalError::OtherMatch { path: path.to_owned(), key, theirs, ours });
                }
                found.began = first["about"]["began"].clone();
                found.read_games(&mut lines, plan)?;
            }
            None if !head.may_begin_with(lines.torn()) => return Err(JournalError::Foreign(path.to_owned())),
            None => {}
        }
        found.was_torn = !lines.torn().is_empty();
        let length = lines.length();
        file.set_len(length).map_err(refused)?;
        let mut journal = Journal { path: path.to_owned(), file, length, is_unused: false };
        if length == 0 {
            // It was truncated before its first line was complete.
            journal.append(&head.to_json()).map_err(refused)?;
        }
        Ok((journal, found))
    }

    /// Adds a game that ended when the match had taken `elapsed`. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk. The file is as before, and the game can be added again.
    pub fn add(&mut self, game: &GameRecord, elapsed: Duration) -> Result<(), JournalError> {
        let line = line::to_json(game, elapsed);
        self.append(&line).map_err(|error| JournalError::Refused { path: self.path.clone(), error })?;
        self.is_unused = false;
        Ok(())
    }

    fn append(&mut self, line: &Value) -> io::Result<()> {
        let text = with_checksum(line);
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length += text.len() as u64,
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.is_unused {
            // If it cannot be removed, the next attempt reports it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Found {
    /// Reads the games of a match from the lines after the first.
    fn read_games(&mut self, lines: &mut ChecksummedLines<'_>, plan: &Match) -> Result<(), JournalError> {
        let (mut numbers, total) = (HashSet::new(), plan.total_games());
        while let Some(value) = lines.next()? {
            let (game, at) = line::from_json(&value, plan).map_err(|missing| lines.fault(missing))?;
            if game.number >= total {
                return Err(lines.fault(format!("game {} is beyond the {total} games of this match", game.number)));
            }
            if !numbers.insert(game.number) {
                return Err(lines.fault(format!("game {} occurs twice", game.number)));
            }
            self.games.push(game);
            self.elapsed = self.elapsed.max(at);
        }
        Ok(())
    }
}

/// Two matches at once would spoil a journal.
fn lock(path: &Path, file: &File) -> Result<(), JournalError> {
    match lock_file(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err(JournalError::InUse(path.to_owned())),
        Err(error) => Err(JournalError::Refused { path: path.to_owned(), error }),
    }
}

/// The first difference of two descriptions: its key and both values.
pub(crate) fn difference(key: &str, theirs: &Value, ours: &Value) -> Option<(String, String, String)> {
    if theirs == ours {
        return None;
    }
    let below = |part: &str, theirs: &Value, ours: &Value| {
        difference(&format!("{key}{}{part}", if key.is_empty() { "" } else { "." }), theirs, ours)
    };
    let deeper = match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) => {
            a.keys().chain(b.keys()).find_map(|part| below(part, &theirs[part], &ours[part]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|index| below(&(index + 1).to_string(), &a[index], &b[index]))
        }
        _ => None,
    };
    deeper.or_else(|| Some((key.to_owned(), theirs.to_string(), ours.to_string())))
}

#[cfg(test)]
mod tests;
