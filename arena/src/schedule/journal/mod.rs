//! The journal of a match, from which the match can go on after any interruption. It consists of JSON lines: the first
//! identifies the match, each other line holds a finished game.
//!
//! The first line also records the circumstances, and every other line the start of its game, so that a journal can be
//! understood without the engines and openings it was played with.
//!
//! A line is on the disk before its game counts, and ends with a checksum. A last line without its end was cut short by a
//! kill: it is cut off, and its game is played again. Anything else that cannot be read is an error, and the file stays as
//! it is.

mod checksum;
mod file;
mod line;
mod read;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use file::JournalFile;
pub use read::{Recorded, read_journal};
use serde_json::{Value, json};
use thiserror::Error;

use super::{Match, about, identity};
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
        /// The value in the file.
        theirs: String,
        /// The requested value.
        ours: String,
    },
}

/// The key of the first line under which it says what match it is.
const MATCH: &str = "match";

/// The first line of a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The identity of the match, an object; see [`identity`].
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
        json!({ MATCH: self.identity, "about": self.about })
    }
}

/// The journal of a match that is written to.
#[derive(Debug)]
pub struct Journal(JournalFile);

/// The games of a resumed journal.
#[derive(Debug)]
pub struct Found {
    /// The games, in the order they ended.
    pub games: Vec<GameRecord>,
    /// The time that the match had taken.
    pub elapsed: Duration,
    /// The start of the match in Unix seconds; null if unknown.
    pub began: Value,
    /// True if a last line was cut off.
    pub was_torn: bool,
}

impl Journal {
    /// Begins a journal.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(path: &Path, head: &Head) -> Result<Self, JournalError> {
        JournalFile::create(path, &head.to_json()).map(Journal)
    }

    /// Resumes a journal. The match determines players and openings of its games.
    ///
    /// # Errors
    /// If the file cannot be read or written, is no journal, belongs to another match, or has a line that cannot be read or
    /// is of a game that the match does not have.
    pub fn resume(path: &Path, head: &Head, plan: &Match) -> Result<(Self, Found), JournalError> {
        let mut found = Found { games: Vec::new(), elapsed: Duration::ZERO, began: Value::Null, was_torn: false };
        let mut numbers = HashSet::new();
        let take = &mut |value: &Value| found.take(value, plan, &mut numbers);
        let resumed = JournalFile::resume(path, MATCH, &head.to_json(), take)?;
        found.began = resumed.head["about"]["began"].clone();
        found.was_torn = resumed.was_torn;
        Ok((Journal(resumed.file), found))
    }

    /// Adds a game that ended when the match had taken `elapsed`. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, as on a full disk. The file is as before, and the game can be added again.
    pub fn add(&mut self, game: &GameRecord, elapsed: Duration) -> Result<(), JournalError> {
        self.0.append(&line::to_json(game, elapsed))
    }
}

impl Found {
    /// Reads a line after the first.
    fn take(&mut self, value: &Value, plan: &Match, numbers: &mut HashSet<u32>) -> Result<(), String> {
        let (game, at) = line::from_json(value, plan)?;
        let total = plan.total_games();
        if game.number >= total {
            return Err(format!("game {} is beyond the {total} games of this match", game.number));
        }
        if !numbers.insert(game.number) {
            return Err(format!("game {} occurs twice", game.number));
        }
        self.games.push(game);
        self.elapsed = self.elapsed.max(at);
        Ok(())
    }
}

/// The first difference of two descriptions: its key and both values.
pub fn difference(key: &str, theirs: &Value, ours: &Value) -> Option<(String, String, String)> {
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
