//! What a match has come to, kept so that it can go on after whatever ended it: JSON lines, the first of which says what
//! match it is, each other one holding a finished game.
//!
//! A line is on the disk before its game counts. A last line without its end was cut short by a kill: it is cut off, and
//! its game is played again. Anything else that cannot be read is an error, and the file stays as it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::chess::Position;
use serde_json::{Value, json};
use thiserror::Error;

use super::Match;
use crate::game::{Ending, Fault, GameRecord, Note, Outcome, PlayedMove};
use crate::uci_client::Score;

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
    /// Whether a last line was cut off.
    pub was_torn: bool,
}

impl Journal {
    /// Begins a journal for the match that `identity`, an object, describes.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(path: &Path, identity: &Value) -> Result<Self, JournalError> {
        let refused = |error| JournalError::Refused { path: path.to_owned(), error };
        let file = OpenOptions::new().create_new(true).append(true).open(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists(path.to_owned()),
            _ => refused(error),
        })?;
        lock(path, &file)?;
        let mut journal = Journal { path: path.to_owned(), file, length: 0 };
        journal.append(&json!({ "match": identity })).map_err(refused)?;
        Ok(journal)
    }

    /// Reads a journal and goes on with it. Who plays its games and from where, the match says.
    ///
    /// # Errors
    /// If the file cannot be read or written, belongs to another match, or has a line that cannot be read.
    pub fn resume(path: &Path, identity: &Value, plan: &Match) -> Result<(Self, Found), JournalError> {
        let refused = |error| JournalError::Refused { path: path.to_owned(), error };
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(refused)?;
        lock(path, &file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refused)?;
        let length = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let text = String::from_utf8_lossy(&bytes[..length]);
        let fault = |line: usize, fault: String| JournalError::Line { path: path.to_owned(), line, fault };
        let mut found = Found { games: Vec::new(), elapsed: Duration::ZERO, was_torn: length < bytes.len() };
        let mut lines = text.lines().enumerate().map(|(index, line)| {
            let value = serde_json::from_str::<Value>(line).map_err(|error| fault(index + 1, error.to_string()));
            value.map(|value| (index + 1, value))
        });
        let Some(head) = lines.next() else {
            // It was cut short before it said what match it is.
            file.set_len(0).map_err(refused)?;
            let mut journal = Journal { path: path.to_owned(), file, length: 0 };
            journal.append(&json!({ "match": identity })).map_err(refused)?;
            return Ok((journal, found));
        };
        if let Some((key, theirs, ours)) = difference("", &head?.1["match"], identity) {
            return Err(JournalError::OtherMatch { path: path.to_owned(), key, theirs, ours });
        }
        for line in lines {
            let (number, value) = line?;
            let (game, at) = from_json(&value, plan).map_err(|missing| fault(number, missing))?;
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
        let line = to_json(game, elapsed);
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
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => JournalError::InUse(path.to_owned()),
        TryLockError::Error(error) => JournalError::Refused { path: path.to_owned(), error },
    })
}

/// Where two descriptions of matches differ first, and what stands there.
fn difference(key: &str, theirs: &Value, ours: &Value) -> Option<(String, String, String)> {
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

fn to_json(game: &GameRecord, elapsed: Duration) -> Value {
    let moves: Vec<Value> = game
        .moves
        .iter()
        .map(|played| {
            let score = match played.score {
                Some(Score::Centipawns(value)) => json!(value),
                Some(Score::Mate(moves)) => json!(format!("M{moves}")),
                None => Value::Null,
            };
            json!([played.mv.to_uci(true), score, played.depth, played.nodes, micros(played.time)])
        })
        .collect();
    let notes: Vec<Value> =
        game.notes.iter().map(|note| json!([note.color.index(), note.fault.name(), note.text])).collect();
    json!({
        "game": game.number,
        "outcome": game.outcome.name(),
        "ending": game.ending.name(),
        "micros": micros(game.duration),
        "at": micros(elapsed),
        "notes": notes,
        "moves": moves,
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// A game and when it ended, or what is wrong.
fn from_json(line: &Value, plan: &Match) -> Result<(GameRecord, Duration), String> {
    let unsigned = |key: &str| line[key].as_u64().ok_or_else(|| format!("`{key}` is no number"));
    let list = |key: &str| line[key].as_array().ok_or_else(|| format!("`{key}` is no list"));
    let named = |key: &str| line[key].as_str().ok_or_else(|| format!("`{key}` is no text"));
    let number = u32::try_from(unsigned("game")?).map_err(|_| "`game` is too large".to_owned())?;
    let outcome = named("outcome")?;
    let ending = named("ending")?;
    let seating = plan.seating(number);
    let start = plan.book.opening(seating.opening);
    let mut position = start.clone();
    let moves = list("moves")?.iter().map(|value| played_move(value, &mut position));
    let mut notes = Vec::new();
    for value in list("notes")? {
        notes.push(note(value).ok_or_else(|| format!("{value} is no note"))?);
    }
    let game = GameRecord {
        number,
        players: seating.players,
        moves: moves.collect::<Result<_, _>>()?,
        start,
        outcome: find(&Outcome::ALL, outcome, Outcome::name)?,
        ending: find(&Ending::ALL, ending, Ending::name)?,
        notes,
        duration: Duration::from_micros(unsigned("micros")?),
    };
    Ok((game, Duration::from_micros(unsigned("at")?)))
}

fn find<T: Copy>(all: &[T], name: &str, name_of: impl Fn(T) -> &'static str) -> Result<T, String> {
    all.iter().copied().find(|&value| name_of(value) == name).ok_or_else(|| format!("`{name}` is not known"))
}

fn played_move(value: &Value, position: &mut Position) -> Result<PlayedMove, String> {
    let fault = || format!("{value} is no move");
    let mv = position.parse_uci(value[0].as_str().ok_or_else(fault)?).map_err(|error| error.to_string())?;
    let small = |value: &Value| value.as_i64().and_then(|number| i32::try_from(number).ok());
    let score = match &value[1] {
        Value::Null => None,
        Value::String(text) => {
            let moves = text.strip_prefix('M').and_then(|moves| moves.parse().ok());
            Some(Score::Mate(moves.ok_or_else(fault)?))
        }
        number => Some(Score::Centipawns(small(number).ok_or_else(fault)?)),
    };
    let depth = value[2].as_u64().and_then(|depth| u32::try_from(depth).ok());
    let time = Duration::from_micros(value[4].as_u64().ok_or_else(fault)?);
    position.play(mv);
    Ok(PlayedMove { mv, score, depth, nodes: value[3].as_u64(), time })
}

fn note(value: &Value) -> Option<Note> {
    let color = engine::chess::Color::from_index(usize::try_from(value[0].as_u64()?).ok()?)?;
    let fault = find(&Fault::ALL, value[1].as_str()?, Fault::name).ok()?;
    Some(Note { color, fault, text: value[2].as_str()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use engine::chess::Color;

    use super::*;
    use crate::game::{Adjudication, Book, Conditions, Variant};
    use crate::schedule::Format;
    use crate::uci_client::{EngineSpec, Limit, Timeouts};

    fn plan() -> Match {
        let (margin, patience) = (Duration::ZERO, Duration::ZERO);
        let adjudication = Adjudication::default();
        Match {
            engines: vec![EngineSpec::new("a"), EngineSpec::new("b"), EngineSpec::new("c")],
            format: Format::RoundRobin,
            limit: Limit::Nodes(1),
            conditions: Conditions { variant: Variant::Chess960, adjudication, margin, patience },
            book: Book::chess960().shuffled(3),
            games: 100,
            concurrency: 1,
            timeouts: Timeouts::default(),
        }
    }

    fn game(number: u32, plan: &Match) -> GameRecord {
        let seating = plan.seating(number);
        let start = plan.book.opening(seating.opening);
        let mut position = start.clone();
        let scores = [Some(Score::Centipawns(-31)), Some(Score::Mate(-3)), None];
        let moves = scores.map(|score| {
            let mv = position.legal_moves()[number as usize % 7];
            position.play(mv);
            PlayedMove { mv, score, depth: Some(3), nodes: None, time: Duration::from_micros(1234) }
        });
        let note = Note { color: Color::Black, fault: Fault::IllegalPv, text: "a \"line\"\n".to_owned() };
        GameRecord {
            number,
            players: seating.players,
            start,
            moves: moves.to_vec(),
            outcome: Outcome::Black,
            ending: Ending::Mate,
            notes: vec![note],
            duration: Duration::from_millis(9),
        }
    }

    fn message<T: std::fmt::Debug>(result: Result<T, JournalError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn games_are_found_again_and_a_torn_line_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("match.jsonl");
        let plan = plan();
        let identity = json!({ "seed": 3 });
        let mut journal = Journal::create(&path, &identity).unwrap();
        let written: Vec<GameRecord> = [0, 2, 1, 9].map(|number| game(number, &plan)).into();
        for (index, game) in written.iter().enumerate() {
            journal.add(game, Duration::from_secs(index as u64)).unwrap();
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let mut torn = whole.clone();
        torn.extend_from_slice(b"{\"game\":3,\"out");
        std::fs::write(&path, &torn).unwrap();
        let (mut journal, found) = Journal::resume(&path, &identity, &plan).unwrap();
        assert!(found.was_torn);
        assert_eq!(found.elapsed, Duration::from_secs(3));
        assert_eq!(format!("{:?}", found.games), format!("{written:?}"));
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        journal.add(&game(3, &plan), Duration::from_secs(7)).unwrap();
        let in_use = message(Journal::resume(&path, &identity, &plan));
        assert_eq!(in_use, format!("{}: is in use", path.display()));
        drop(journal);
        let (_, found) = Journal::resume(&path, &identity, &plan).unwrap();
        assert_eq!((found.games.len(), found.was_torn, found.elapsed), (5, false, Duration::from_secs(7)));
    }

    #[test]
    fn a_journal_that_was_cut_short_at_once_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("match.jsonl");
        let plan = plan();
        let identity = json!({ "seed": 1 });
        drop(Journal::create(&path, &identity).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 5, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            let (_, found) = Journal::resume(&path, &identity, &plan).unwrap();
            assert!(found.games.is_empty());
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
    }

    #[test]
    fn what_does_not_belong_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("match.jsonl");
        let name = path.display();
        let plan = plan();
        let mut journal = Journal::create(&path, &json!({ "seed": 3, "book": ["x", { "y": 5 }] })).unwrap();
        journal.add(&game(4, &plan), Duration::ZERO).unwrap();
        drop(journal);
        let resume = |identity: Value| Journal::resume(&path, &identity, &plan);
        assert_eq!(message(Journal::create(&path, &json!({}))), format!("{name}: exists; --resume goes on with it"));
        let other = message(resume(json!({ "seed": 3, "book": ["x", { "y": 4 }] })));
        assert_eq!(other, format!("{name}:1: is of another match: book.2.y is 5 there, 4 here"));
        let good = std::fs::read_to_string(&path).unwrap();
        for (bad, expected) in [
            (good.replace("mate", "fate"), ":2: `fate` is not known"),
            (good.replace("\"moves\":[[\"", "\"moves\":[[\"x"), ":2: `x"),
            (format!("{good}{good}"), ":3: `game` is no number"),
            (format!("{good}\n"), ":3: EOF while parsing"),
            (format!("{good}{}\n", good.lines().last().unwrap()), ":3: game 4 is there twice"),
            ("{}\n".to_owned(), ":1: is of another match: "),
        ] {
            std::fs::write(&path, &bad).unwrap();
            let told = message(resume(json!({ "seed": 3, "book": ["x", { "y": 5 }] })));
            assert!(told.starts_with(&format!("{name}{expected}")), "{told}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), bad);
        }
    }
}
