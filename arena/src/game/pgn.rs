//! Writer of PGN, with the engines' scores as comments.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use common::text::escape;
use engine::chess::{Color, Position};

use crate::calendar;
use crate::game::{Ending, Fault, GameRecord, PlayedMove, Variant};
use crate::uci_client::Limit;

/// The tags of a game.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'a> {
    /// The name of the match.
    pub event: &'a str,
    /// The names of the engines, in the order of the match.
    pub names: &'a [&'a str],
    /// The limits of White and Black.
    pub limits: [Limit; 2],
    /// The rules.
    pub variant: Variant,
}

/// The game as PGN, with score, depth, time and nodes after every move.
pub fn to_pgn(game: &GameRecord, headers: &Headers<'_>) -> String {
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    let [white, black] = game.players.map(|player| headers.names[player]);
    tag("Event", headers.event);
    tag("Site", "?");
    tag("Date", &today());
    tag("Round", &format!("{}.{}", game.number / 2 + 1, game.number % 2 + 1));
    tag("White", white);
    tag("Black", black);
    tag("Result", game.outcome.name());
    if headers.variant == Variant::Chess960 {
        tag("Variant", "Chess960");
    }
    game.opening.tags.iter().for_each(|(name, value)| tag(name, value));
    let root = &game.opening.root;
    if *root != Position::start() {
        tag("SetUp", "1");
        let is_chess960 = headers.variant == Variant::Chess960;
        tag("FEN", &if is_chess960 { root.to_shredder_fen() } else { root.to_fen() });
    }
    tag("PlyCount", &(game.opening.moves.len() + game.moves.len()).to_string());
    if headers.limits[0] == headers.limits[1] {
        tag("TimeControl", &time_control(headers.limits[0]));
    } else {
        tag("WhiteTimeControl", &time_control(headers.limits[0]));
        tag("BlackTimeControl", &time_control(headers.limits[1]));
    }
    tag("Termination", termination(game.ending));
    text.push('\n');
    write_moves(&mut text, game);
    text
}

/// The limit as PGN has it: a clock, `-` where there is none, `?` for a time that PGN has no word for.
fn time_control(limit: Limit) -> String {
    match limit {
        Limit::Clock(control) => control.to_string(),
        Limit::MoveTime(_) => "?".to_owned(),
        Limit::Nodes(_) | Limit::Depth(_) => "-".to_owned(),
    }
}

/// The ending in the words of PGN and of other runners, by which programs filter games. Own words are in the last comment.
fn termination(ending: Ending) -> &'static str {
    match ending {
        Ending::Mate | Ending::Stalemate | Ending::Threefold | Ending::FiftyMoves | Ending::InsufficientMaterial => {
            "normal"
        }
        Ending::DrawAgreed | Ending::Resigned | Ending::Tablebase | Ending::MaxPlies => "adjudication",
        Ending::TimeLoss => "time forfeit",
        Ending::Crash => "abandoned",
        Ending::Stall => "stalled connection",
        Ending::IllegalMove => "illegal move",
    }
}

/// The moves and the result, in lines of at most 80 characters where words allow it.
fn write_moves(text: &mut String, game: &GameRecord) {
    let mut position = game.opening.root.clone();
    let mut words = Vec::new();
    let book = game.opening.moves.iter().map(|&mv| (mv, "{book}".to_owned()));
    let moves = book.chain(game.moves.iter().map(|played| (played.mv, comment(played))));
    for (ply, (mv, comment)) in moves.enumerate() {
        let number = position.fullmove_number();
        match position.side_to_move() {
            Color::White => words.push(format!("{number}.")),
            Color::Black if ply == 0 => words.push(format!("{number}...")),
            Color::Black => {}
        }
        words.push(position.to_san(mv));
        words.push(comment);
        position.play(mv);
    }
    words.push(format!("{{{}}}", ending(game)));
    words.push(game.outcome.name().to_owned());
    let mut column = 0;
    for word in words.iter().flat_map(|word| word.split(' ')) {
        if column > 0 && column + 1 + word.len() > 80 {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
    text.push_str("\n\n");
}

/// The end of the game in words, with a move that was not legal.
fn ending(game: &GameRecord) -> String {
    let illegal = game.notes.iter().rfind(|note| note.fault == Fault::IllegalMove);
    // The position stands behind the move.
    let sent = illegal.and_then(|note| note.text.split(" [").next());
    let text = sent.map_or_else(|| game.ending.name().to_owned(), |sent| format!("{}: {sent}", game.ending.name()));
    escape(&text).replace(['{', '}'], "?")
}

fn comment(played: &PlayedMove) -> String {
    let mut text = "{".to_owned();
    if let Some(score) = played.score {
        let _ = write!(text, "{score}/{} ", played.depth.unwrap_or(0));
    }
    let _ = write!(text, "{:.3}s", played.time.as_secs_f64());
    if let Some(nodes) = played.nodes {
        let _ = write!(text, " n={nodes}");
    }
    text.push('}');
    text
}

/// The date in universal time, as PGN has it.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (year, month, day) = calendar::date(seconds / 86_400);
    format!("{year:04}.{month:02}.{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminations_have_the_words_of_the_field() {
        let known = [
            "abandoned",
            "adjudication",
            "death",
            "emergency",
            "normal",
            "rules infraction",
            "time forfeit",
            "unterminated",
            "stalled connection",
            "illegal move",
        ];
        assert!(Ending::ALL.iter().all(|&ending| known.contains(&termination(ending))));
        assert_eq!(
            [Ending::Mate, Ending::MaxPlies, Ending::Crash].map(termination),
            ["normal", "adjudication", "abandoned"]
        );
    }

    #[test]
    fn limits_have_the_words_of_pgn() {
        for (key, value, expected) in
            [("tc", "40/60+0.6", "40/60+0.6"), ("movetime", "500", "?"), ("nodes", "100", "-"), ("depth", "9", "-")]
        {
            assert_eq!(time_control(Limit::parse(key, value).unwrap()), expected);
        }
    }
}
