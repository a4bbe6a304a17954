//! A line of a journal: one game.

use std::time::Duration;

use engine::chess::{Color, GameResult, Position};
use serde_json::{Value, json};

use crate::game::{Ending, Fault, Fingerprint, GameRecord, GameSummary, Note, PlayedMove, SearchTotals};
use crate::schedule::{Match, Pairing, Schedule};
use crate::uci_client::Score;

/// The line of a game that ended when the match had taken `elapsed`.
pub(super) fn to_json(game: &GameRecord, elapsed: Duration) -> Value {
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
        game.notes.iter().map(|note| json!([note.color.index(), note.fault.name(), note.text, note.times])).collect();
    json!({
        "game": game.number,
        "outcome": game.outcome.name(),
        "ending": game.ending.name(),
        "start": game.opening.position().to_shredder_fen(),
        "micros": micros(game.duration),
        "at": micros(elapsed),
        "notes": notes,
        "moves": moves,
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The fields of a line other than positions.
struct Frame<'a> {
    number: u32,
    outcome: GameResult,
    ending: Ending,
    notes: Vec<Note>,
    duration: Duration,
    /// When the game ended.
    at: Duration,
    moves: &'a [Value],
}

impl<'a> Frame<'a> {
    fn read(line: &'a Value) -> Result<Self, String> {
        let unsigned = |key: &str| line[key].as_u64().ok_or_else(|| format!("`{key}` is not a number"));
        let list = |key: &str| line[key].as_array().ok_or_else(|| format!("`{key}` is not a list"));
        let named = |key: &str| line[key].as_str().ok_or_else(|| format!("`{key}` is not text"));
        let number = u32::try_from(unsigned("game")?).map_err(|_| "`game` is too large".to_owned())?;
        let mut notes = Vec::new();
        for value in list("notes")? {
            notes.push(note(value).ok_or_else(|| format!("{value} is not a note"))?);
        }
        Ok(Frame {
            number,
            outcome: find(&GameResult::ALL, named("outcome")?, GameResult::name)?,
            ending: find(&Ending::ALL, named("ending")?, Ending::name)?,
            notes,
            duration: Duration::from_micros(unsigned("micros")?),
            at: Duration::from_micros(unsigned("at")?),
            moves: list("moves")?,
        })
    }
}

/// A game and the time of its end.
pub(super) fn from_json(line: &Value, plan: &Match) -> Result<(GameRecord, Duration), String> {
    let Frame { number, outcome, ending, notes, duration, at, moves } = Frame::read(line)?;
    let pairing = plan.pairing(number);
    let opening = plan.book.opening(pairing.opening);
    let mut position = opening.position();
    let moves = moves.iter().map(|value| {
        let fields = MoveFields::read(value)?;
        let mv = position.parse_uci(fields.text).map_err(|error| error.to_string())?;
        position.play(mv);
        Ok(PlayedMove { mv, score: fields.score, depth: fields.depth, nodes: fields.nodes, time: fields.time })
    });
    let moves = moves.collect::<Result<_, String>>()?;
    let players = pairing.players;
    Ok((GameRecord { number, players, opening, moves, outcome, ending, notes, duration, exchange: None }, at))
}

/// The summary of a game and the time of its end, from the line alone.
pub(super) fn summary_from_json(line: &Value, schedule: Schedule) -> Result<(GameSummary, Duration), String> {
    let Frame { number, outcome, ending, notes, at, moves, .. } = Frame::read(line)?;
    let Pairing { players, .. } = schedule.pairing(number);
    let fen = line["start"].as_str().ok_or("`start` is not text")?;
    let start = Position::from_fen(fen).map_err(|error| format!("`start`: {error}"))?;
    let mut color = start.side_to_move();
    let (mut search_totals, mut fingerprint) = ([SearchTotals::default(); 2], Fingerprint::new(players, start.key()));
    for value in moves {
        let fields = MoveFields::read(value)?;
        search_totals[color.index()].add_move(fields.depth, fields.nodes, fields.time);
        fingerprint.add_move(fields.text);
        color = !color;
    }
    let fingerprint = fingerprint.finish();
    Ok((GameSummary { number, players, outcome, ending, notes, search_totals, fingerprint }, at))
}

fn find<T: Copy>(all: &[T], name: &str, name_of: impl Fn(T) -> &'static str) -> Result<T, String> {
    all.iter().copied().find(|&value| name_of(value) == name).ok_or_else(|| format!("`{name}` is not known"))
}

/// A move of a line, with the engine's report.
struct MoveFields<'a> {
    text: &'a str,
    score: Option<Score>,
    depth: Option<u32>,
    nodes: Option<u64>,
    time: Duration,
}

impl<'a> MoveFields<'a> {
    fn read(value: &'a Value) -> Result<Self, String> {
        let fault = || format!("{value} is not a move");
        let text = value[0].as_str().ok_or_else(fault)?;
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
        Ok(MoveFields { text, score, depth, nodes: value[3].as_u64(), time })
    }
}

fn note(value: &Value) -> Option<Note> {
    let color = Color::from_index(usize::try_from(value[0].as_u64()?).ok()?)?;
    let fault = find(&Fault::ALL, value[1].as_str()?, Fault::name).ok()?;
    Some(Note { color, fault, text: value[2].as_str()?.to_owned(), times: value[3].as_u64()? })
}
