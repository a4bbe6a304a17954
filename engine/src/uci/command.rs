//! Reading commands: positions and limits from the words that a GUI sends.

use std::str::SplitAsciiWhitespace;
use std::time::Duration;

use crate::chess::{Color, Game, Position};
use crate::search::{Clock, Limits};

/// Reads what follows `position`.
///
/// # Errors
/// The invalid part of the position.
pub(super) fn position(rest: &str) -> Result<Game, String> {
    let (place, moves) = match rest.split_once("moves") {
        Some((place, moves)) => (place.trim(), moves),
        None => (rest.trim(), ""),
    };
    let start = match place.split_once(char::is_whitespace).map_or((place, ""), |(word, rest)| (word, rest.trim())) {
        ("startpos", _) => Position::start(),
        ("fen", fen) => Position::from_fen(fen).map_err(|error| format!("position fen `{fen}`: {error}"))?,
        (word, _) => return Err(format!("position: expected `startpos` or `fen`, found `{word}`")),
    };
    let mut game = Game::new(start);
    for (i, text) in moves.split_ascii_whitespace().enumerate() {
        let mv = game.position().parse_move(text);
        game.play(mv.map_err(|error| format!("position: move {}: {error}", i + 1))?);
    }
    Ok(game)
}

/// Words of `go` that begin something new.
const KEYWORDS: [&str; 13] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "perft",
];

/// Parses the arguments of `go`; the notes list words that were not understood.
pub(super) fn limits(rest: &str, position: &Position) -> (Limits, Vec<String>) {
    let mut limits = Limits::default();
    let mut notes = Vec::new();
    let mut clocks = [None::<i64>; 2];
    let mut increments = [0_i64; 2];
    let mut moves_to_go = None;
    let mut words = rest.split_ascii_whitespace();
    let mut pending = words.next();
    while let Some(word) = pending {
        pending = None;
        let mut number = || number(word, &mut words, &mut notes);
        match word {
            "wtime" => clocks[0] = number().or(clocks[0]),
            "btime" => clocks[1] = number().or(clocks[1]),
            "winc" => increments[0] = number().unwrap_or(0),
            "binc" => increments[1] = number().unwrap_or(0),
            "movestogo" => moves_to_go = number().filter(|&moves| moves > 0).map(|moves| moves.min(1000) as u32),
            "depth" => limits.depth = number().map(|depth| depth.clamp(1, 10_000) as i32),
            "nodes" => limits.nodes = number().map(|nodes| nodes.max(1) as u64),
            "mate" => limits.mate = number().map(|moves| moves.clamp(1, 10_000) as u32),
            "movetime" => limits.move_time = number().map(milliseconds),
            "infinite" => limits.infinite = true,
            "ponder" => limits.ponder = true,
            "searchmoves" => pending = search_moves(&mut words, position, &mut limits, &mut notes),
            _ => notes.push(format!("go: `{word}` is not understood")),
        }
        pending = pending.or_else(|| words.next());
    }
    let us = position.side_to_move() as usize;
    debug_assert!(Color::White as usize == 0);
    // A GUI that sends one clock only means both.
    limits.clock = clocks[us].or(clocks[1 - us]).map(|time| Clock {
        time: milliseconds(time),
        increment: milliseconds(increments[us]),
        moves_to_go,
    });
    (limits, notes)
}

/// Parses moves up to the next keyword, which is returned.
fn search_moves<'a>(
    words: &mut SplitAsciiWhitespace<'a>,
    position: &Position,
    limits: &mut Limits,
    notes: &mut Vec<String>,
) -> Option<&'a str> {
    for word in words {
        if KEYWORDS.contains(&word) {
            return Some(word);
        }
        match position.parse_move(word) {
            Ok(mv) => limits.search_moves.push(mv),
            // python-chess writes "no move at all" so.
            Err(_) if word == "0000" => {}
            Err(error) => notes.push(format!("go searchmoves: {error}")),
        }
    }
    None
}

/// The number that follows a word; beyond what 64 bits hold, the nearest that they do.
fn number(word: &str, words: &mut SplitAsciiWhitespace<'_>, notes: &mut Vec<String>) -> Option<i64> {
    let text = words.next().unwrap_or("");
    let number = text.parse::<i128>().ok().map(|number| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
    if number.is_none() {
        notes.push(format!("go {word}: `{text}` is not a whole number"));
    }
    number
}

/// A time as GUIs send it: a fallen flag may be negative.
fn milliseconds(number: i64) -> Duration {
    // A year is more than any clock holds, and leaves room to reckon with.
    const MOST: i64 = 365 * 24 * 3600 * 1000;
    Duration::from_millis(number.clamp(0, MOST) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_with_their_moves() {
        let game = position("startpos moves e2e4 c7c5").unwrap();
        assert!(game.position().to_fen().starts_with("rnbqkbnr/pp1ppppp/8/2p5/4P3"));
        let four = position("fen 4k3/8/8/8/8/8/8/4K2R w K -").unwrap();
        assert!(four.position().to_fen().starts_with("4k3/8/8/8/8/8/8/4K2R w K -"));
        assert!(position("startpos moves e2e5").unwrap_err().contains("move 1: `e2e5` is not a legal move"));
        assert!(position("fen 8/8").is_err() && position("").is_err() && position("nowhere").is_err());
    }

    #[test]
    fn moves_are_taken_as_other_programs_write_them() {
        let fen = "fen 1n2k2r/P7/8/8/8/8/8/4K3 w k - moves";
        for moves in ["a7a8Q e8g8", "a7xb8=Q e8f7", "a7-a8=Q Ke8-g8", "a8=Q O-O", "a7a8q e8h8"] {
            assert!(position(&format!("{fen} {moves}")).is_ok(), "{moves}");
        }
        assert_eq!(limits("searchmoves e2-e4 Nf3", &Position::start()).0.search_moves.len(), 2);
    }

    #[test]
    fn limits_are_read_in_any_order() {
        let start = Position::start();
        let (read, notes) = limits("searchmoves e2e4 d2d4 0000 depth 5 wtime -3 binc 7 winc 20 btime 1000", &start);
        assert!(notes.is_empty());
        assert_eq!((read.search_moves.len(), read.depth), (2, Some(5)));
        let clock = read.clock.unwrap();
        assert_eq!((clock.time.as_millis(), clock.increment.as_millis()), (0, 20));
        for own_or_other in ["wtime 100", "btime 100"] {
            assert_eq!(limits(own_or_other, &start).0.clock.unwrap().time.as_millis(), 100);
        }
        assert_eq!(limits("", &start).0, Limits::default());
    }

    #[test]
    fn nonsense_is_noted_and_passed_over() {
        let start = Position::start();
        let (read, notes) =
            limits("depth x frob nodes 99999999999999999999999 searchmoves e9e9 infinite movetime", &start);
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert!(read.infinite && read.depth.is_none() && read.nodes == Some(i64::MAX as u64));
    }
}
