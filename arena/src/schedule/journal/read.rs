//! Reading a journal without playing on: nothing is locked or written, and neither engines nor openings need be there.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::checksum::ChecksummedLines;
use super::{Head, JournalError, line};
use crate::schedule::{Setup, Tally};

/// The content of a journal.
#[derive(Debug)]
pub struct Recorded {
    /// The identity of the match.
    pub head: Head,
    /// The same, understood.
    pub setup: Setup,
    /// The games, counted in the order they ended.
    pub tally: Tally,
    /// The time that the match had taken.
    pub elapsed: Duration,
}

/// Reads a journal, of a match that is over or still goes on. A last line without its end is not looked at.
///
/// # Errors
/// If it cannot be read, or has a line that cannot be.
pub fn read_journal(path: &Path) -> Result<Recorded, JournalError> {
    let file = File::open(path).map_err(|error| JournalError::Refused { path: path.to_owned(), error })?;
    let mut lines = ChecksummedLines::new(path, &file);
    let first = lines.next()?.ok_or_else(|| lines.fault("no match is described".to_owned()))?;
    let head = Head { identity: first["match"].clone(), about: first["about"].clone() };
    let setup = Setup::of(&head).map_err(|missing| lines.fault(missing))?;
    let mut tally = Tally::new(setup.schedule);
    let mut elapsed = Duration::ZERO;
    while let Some(value) = lines.next()? {
        let read = line::summary_from_json(&value, setup.schedule);
        let (game, at) = read.map_err(|missing| lines.fault(missing))?;
        if tally.has(game.number) {
            return Err(lines.fault(format!("game {} occurs twice", game.number)));
        }
        tally.add(&game);
        elapsed = elapsed.max(at);
    }
    Ok(Recorded { head, setup, tally, elapsed })
}
