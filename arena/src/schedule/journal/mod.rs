//! What a match has come to, kept so that it can go on after whatever ended it: JSON lines, the first of which says what
//! match it is, each other one holding a finished game.
//!
//! The first line also tells the circumstances, and every other where its game began, so that a journal can be understood
//! without the engines and openings it was played with.
//!
//! A line is on the disk before its game counts. A last line without its end was cut short by a kill: it is cut off, and
//! its game is played again. Anything else that cannot be read is an error, and the file stays as it is.

mod line;
mod read;

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use read::{Recorded, read_journal};
use serde_json::{Value, json};
use thiserror::Error;

use super::{Match, about, identity};
use crate::files;
use crate::game::GameRecord;
use crate::stats::Sprt;

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("{}: {error}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is one, and it was not asked to go on with it.
    #[error("{}: exists; --resume goes on with it", .0.display())]
    Exists(PathBuf),
    /// Another program writes to it.
    #[error("{}: is in use", .0.display())]
    InUse(PathBuf),
    /// A line cannot be read.
    #[error("{}:{line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: String,
    },
    /// It belongs to another match.
    #[error("{}:1: is of another match: {key} is {theirs} there, {ours} here", path.display())]
    OtherMatch {
        /// The file.
        path: PathBuf,
        /// What differs.
        key: String,
        /// What it says.
        theirs: String,
        /// What was asked for.
        ours: String,
    },
}

/// What the first line of a journal says.
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
}

/// A journal that is written to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Up to here all lines are whole.
    length: u64,
}

/// What was found in a journal.
#[derive(Debug)]
pub struct Found {
    /// The games, in the order they ended.
    pub games: Vec<GameRecord>,
    /// How long the match had taken.
    pub elapsed: Duration,
    /// When it began, in seconds of Unix; null if that is not told.
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
        let mut journal = Journal { path: path.to_owned(), file, length: 0 };
        journal.append(&head.to_json()).map_err(refused)?;
        Ok(journal)
    }

    /// Reads a journal and goes on with it. Who plays its games and from where, the match says.
    ///
    /// # Errors
    /// If the file cannot be read or written, belongs to another match, or has a line that cannot be read.
    pub fn resume(path: &Path, head: &Head, plan: &Match) -> Result<(Self, Found), JournalError> {
        let refused = |error| JournalError::Refused { path: path.to_owned(), error };
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(refused)?;
        lock(path, &file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refused)?;
        let length = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let text = String::from_utf8_lossy(&bytes[..length]);
        let fault = |line: usize, fault: String| JournalError::Line { path: path.to_owned(), line, fault };
        let mut found =
            Found { games: Vec::new(), elapsed: Duration::ZERO, began: Value::Null, was_torn: length < bytes.len() };
        let mut lines = text.lines().enumerate().map(|(index, line)| {
            let value = serde_json::from_str::<Value>(line).map_err(|error| fault(index + 1, error.to_string()));
            value.map(|value| (index + 1, value))
        });
        let Some(first) = lines.next() else {
            // It was cut short before it said what match it is.
            file.set_len(0).map_err(refused)?;
            let mut journal = Journal { path: path.to_owned(), file, length: 0 };
            journal.append(&head.to_json()).map_err(refused)?;
            return Ok((journal, found));
        };
        let first = first?.1;
        if let Some((key, theirs, ours)) = difference("", &first["match"], &head.identity) {
            return Err(JournalError::OtherMatch { path: path.to_owned(), key, theirs, ours });
        }
        found.began = first["about"]["began"].clone();
        for line in lines {
            let (number, value) = line?;
            let (game, at) = line::from_json(&value, plan).map_err(|missing| fault(number, missing))?;
            if found.games.iter().any(|earlier| earlier.number == game.number) {
                return Err(fault(number, format!("game {} is there twice", game.number)));
            }
            found.games.push(game);
            found.elapsed = found.elapsed.max(at);
        }
        let length = length as u64;
        file.set_len(length).map_err(refused)?;
        Ok((Journal { path: path.to_owned(), file, length }, found))
    }

    /// Adds a game that ended when the match had taken `elapsed`. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk. The file is as before, and the game can be added again.
    pub fn add(&mut self, game: &GameRecord, elapsed: Duration) -> Result<(), JournalError> {
        let line = line::to_json(game, elapsed);
        self.append(&line).map_err(|error| JournalError::Refused { path: self.path.clone(), error })
    }

    fn append(&mut self, line: &Value) -> io::Result<()> {
        let text = format!("{line}\n");
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length += text.len() as u64,
            Err(_) => self.file.set_len(self.length)?,
        }
        written
    }
}

/// Two matches at once would spoil a journal.
fn lock(path: &Path, file: &File) -> Result<(), JournalError> {
    match files::lock(file) {
        Ok(true) => Ok(()),
        Ok(false) => Err(JournalError::InUse(path.to_owned())),
        Err(error) => Err(JournalError::Refused { path: path.to_owned(), error }),
    }
}

/// Where two descriptions differ first, and what stands there.
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
