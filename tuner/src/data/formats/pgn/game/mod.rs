//! A game and its positions.

use clap::Args;
use common::lines::Lines;
use engine::chess::{GameResult, Move, Position, SanError};
use tools::pgn::{PgnGame, PgnMove, PgnReader};

use super::LONGEST;
use super::evaluation::{after_move, before_move};
use crate::data::formats::{RecordError, Sample};
use crate::data::label::{Label, group_of_game};
use crate::data::left_out::LeftOut;
use crate::data::outcome::ResultLabel;

/// More plies than any game has: the longest by the rules has 17,697.
const MOST_PLIES: usize = 1 << 16;

/// The range of positions read from a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Args)]
#[command(next_help_heading = "Filters")]
pub struct Plies {
    /// Leave out the first N plies of every game in PGN.
    #[arg(long = "skip-plies", value_name = "N", default_value_t = Plies::default().skip_first)]
    pub skip_first: u16,

    /// Leave out the last N plies of every game in PGN. The final position is never read.
    #[arg(long, value_name = "N", default_value_t = Plies::default().skip_last)]
    pub skip_last: u16,
}

impl Default for Plies {
    /// Returns the default range: openings are mostly book moves, and ends are often played out after the game is
    /// decided.
    fn default() -> Self {
        Plies { skip_first: 8, skip_last: 4 }
    }
}

/// A move with the scores that comments give for the positions around it, centipawns, White's view.
struct Played {
    mv: Move,
    before: Option<i16>,
    after: Option<i16>,
}

/// An error with its line in the text, from 1.
type Fault = (u64, RecordError);

/// Reads the game of a text, and passes the positions of a range with their moves to `show`. Returns the reason why the
/// game, or its rest, is left out, if there is one.
///
/// # Errors
/// The error of the game and its line in the text, from 1; no position has been shown then.
pub(super) fn read_game(text: &[u8], plies: Plies, mut show: impl FnMut(&Sample)) -> Result<Option<LeftOut>, Fault> {
    let Some(game) = whole_game(text)? else { return Ok(Some(LeftOut::NoResult)) };
    if game.other_variant().is_some() {
        return Ok(Some(LeftOut::Variant));
    }
    let tags = Tags::of(&game)?;
    let end = game.end.as_deref().and_then(outcome);
    let result = match (tags.outcome, end) {
        (Some((line, tag)), Some(end)) if tag != end => {
            let message = format!("the tag says {tag}, the end of the moves {end}");
            return Err((line, RecordError::new("contradicting results", message)));
        }
        (tag, end) => tag.map(|(_, outcome)| outcome).or(end),
    };
    if let Some((line, fault)) = game.fault {
        return Err((line, malformed(&fault)));
    }
    let start = tags.start.unwrap_or_else(Position::start);
    let length = game.moves.iter().position(PgnMove::is_null);
    let moves = play(&start, &game.moves[..length.unwrap_or(game.moves.len())])?;
    let Some(outcome) = result else { return Ok(Some(LeftOut::NoResult)) };
    show_all(start, &moves, outcome, plies, &mut show);
    Ok(length.map(|_| LeftOut::NullMove))
}

fn show_all(start: Position, moves: &[Played], outcome: ResultLabel, plies: Plies, show: &mut impl FnMut(&Sample)) {
    // Copies of a game share a group.
    let mut name = start.key().to_le_bytes().to_vec();
    name.extend(moves.iter().flat_map(|played| played.mv.to_bits().to_le_bytes()));
    let group = group_of_game(&name);
    let wanted = usize::from(plies.skip_first)..moves.len().saturating_sub(plies.skip_last.into());
    let mut sample = Sample { position: start, label: Label { outcome, score: None, group }, best: None };
    let mut known = None;
    for (ply, played) in moves.iter().enumerate().take(wanted.end) {
        if ply >= wanted.start {
            sample.label.score = played.before.or(known);
            sample.best = Some(played.mv);
            show(&sample);
        }
        known = played.after;
        sample.position.play(played.mv);
    }
}

fn malformed(fault: &impl ToString) -> RecordError {
    RecordError::new("malformed game", fault.to_string())
}

/// Returns the error of an item that occurs twice with different values.
fn twice(what: &str, first: &str, second: &str) -> RecordError {
    RecordError::new("said twice", format!("two {what}: `{first}` and `{second}`"))
}

/// Parses the only game of a text, with nothing after its result; `None` if the text has no game.
fn whole_game(text: &[u8]) -> Result<Option<PgnGame>, Fault> {
    let mut reader = PgnReader::from_lines(Lines::new(text, LONGEST), MOST_PLIES).with_comments();
    let mut next = || reader.next_game().map_err(|error| (1, malformed(&error)));
    let Some(game) = next()? else { return Ok(None) };
    if game.moves.len() == MOST_PLIES {
        return Err((game.line, malformed(&format!("{MOST_PLIES} moves or more"))));
    }
    while let Some(more) = next()? {
        if let Some(played) = more.moves.first() {
            let message = format!("move `{}` after the result", played.word);
            return Err((played.line, RecordError::new("move after the result", message)));
        }
        if let Some(tag) = more.tags.first() {
            return Err((tag.line, malformed(&"a tag behind the moves")));
        }
        if let Some((line, fault)) = more.fault {
            return Err((line, malformed(&fault)));
        }
        if more.end != game.end {
            let [first, second] = [&game.end, &more.end].map(|end| end.as_deref().unwrap_or_default());
            return Err((more.line, twice("results behind the moves", first, second)));
        }
    }
    Ok(Some(game))
}

/// Parses a result; `None` for `1/2` and `*`.
fn outcome(name: &str) -> Option<ResultLabel> {
    GameResult::from_name(name).and_then(|_| ResultLabel::of_result(name))
}

/// The relevant tags of a game.
#[derive(Default)]
struct Tags {
    start: Option<Position>,
    /// The result with its line.
    outcome: Option<(u64, ResultLabel)>,
}

impl Tags {
    fn of(game: &PgnGame) -> Result<Self, Fault> {
        let mut tags = Tags::default();
        for tag in game.tags.iter().filter(|tag| ["FEN", "Result", "Variant"].contains(&tag.name.as_str())) {
            let (value, at) = (tag.value.as_str(), |error| (tag.line, error));
            if let Some(first) = game.tag(&tag.name).filter(|&first| first != value) {
                return Err(at(twice(&format!("tags {}", tag.name), first, value)));
            }
            match tag.name.as_str() {
                "FEN" => {
                    let start = Position::from_fen(game.fen().unwrap_or(value));
                    let unknown = |error| RecordError::new("unknown start of a game", format!("tag FEN: {error}"));
                    tags.start = Some(start.map_err(|error| at(unknown(error)))?);
                }
                "Result" if !["*", "?", ""].contains(&value) => {
                    let message = || format!("unknown result `{value}`: expected `1-0`, `0-1`, `1/2-1/2` or `*`");
                    let known = outcome(value).ok_or_else(|| at(RecordError::new("unknown result", message())))?;
                    tags.outcome = Some((tag.line, known));
                }
                _ => {}
            }
        }
        Ok(tags)
    }
}

/// Plays the moves, and reads the comments after them.
fn play(start: &Position, words: &[PgnMove]) -> Result<Vec<Played>, Fault> {
    let mut position = start.clone();
    let play = |PgnMove { line, word, comments }: &PgnMove| {
        let mover = position.side_to_move();
        let mv = position.parse_move(word).map_err(|error| {
            let error = match error {
                SanError::Malformed(word) => RecordError::new("unknown move", format!("`{word}` is no move")),
                error => RecordError::new("illegal move", error.to_string()),
            };
            (*line, error)
        })?;
        position.play(mv);
        let mut played = Played { mv, before: None, after: None };
        for comment in comments.split(|&byte| byte == b'}') {
            if let Some(score) = after_move(comment) {
                played.after.get_or_insert(score);
            } else if let Some(score) = before_move(comment) {
                played.before.get_or_insert(mover.choose(score, -score));
            }
        }
        Ok(played)
    };
    words.iter().map(play).collect()
}

#[cfg(test)]
mod tests;
