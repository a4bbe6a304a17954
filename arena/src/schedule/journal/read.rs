//! Reading a journal without playing on: nothing is locked or written, and neither engines nor openings need be there.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::{Head, JournalError, line};
use crate::schedule::{Setup, Tally};

/// What a journal tells of its match.
#[derive(Debug)]
pub struct Recorded {
    /// What match it is.
    pub head: Head,
    /// The same, understood.
    pub setup: Setup,
    /// The games, counted in the order they ended.
    pub tally: Tally,
    /// How long the match had taken.
    pub elapsed: Duration,
}

/// Reads a journal, of a match that is over or still goes on. A last line without its end is not looked at.
///
/// # Errors
/// If it cannot be read, or has a line that cannot be.
pub fn read_journal(path: &Path) -> Result<Recorded, JournalError> {
    let refused = |error| JournalError::Refused { path: path.to_owned(), error };
    let fault = |line: usize, fault: String| JournalError::Line { path: path.to_owned(), line, fault };
    let mut text = BufReader::new(File::open(path).map_err(refused)?);
    let mut next = || -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        text.read_until(b'\n', &mut bytes)?;
        Ok(bytes.ends_with(b"\n").then_some(bytes))
    };
    let parse = |number: usize, bytes: &[u8]| {
        serde_json::from_slice::<Value>(bytes).map_err(|error| fault(number, error.to_string()))
    };
    let first = next().map_err(refused)?.ok_or_else(|| fault(1, "no match is described".to_owned()))?;
    let first = parse(1, &first)?;
    let head = Head { identity: first["match"].clone(), about: first["about"].clone() };
    let setup = Setup::of(&head).map_err(|missing| fault(1, missing))?;
    let mut tally = Tally::new(setup.pairing);
    let mut elapsed = Duration::ZERO;
    for number in 2.. {
        let Some(bytes) = next().map_err(refused)? else { break };
        let value = parse(number, &bytes)?;
        let (game, at) = line::summary_from_json(&value, setup.pairing).map_err(|missing| fault(number, missing))?;
        if tally.has(game.number) {
            return Err(fault(number, format!("game {} is there twice", game.number)));
        }
        tally.add(&game);
        elapsed = elapsed.max(at);
    }
    Ok(Recorded { head, setup, tally, elapsed })
}
