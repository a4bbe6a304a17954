//! Writing games, with what the engines said of every move.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::chess::{Color, Position};

use crate::game::{GameRecord, PlayedMove, Variant};
use crate::uci_client::Limit;

/// What a game is called, for PGN.
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
    if game.start != Position::start() {
        tag("SetUp", "1");
        let is_chess960 = headers.variant == Variant::Chess960;
        tag("FEN", &if is_chess960 { game.start.to_shredder_fen() } else { game.start.to_fen() });
    }
    tag("PlyCount", &game.moves.len().to_string());
    if headers.limits[0] == headers.limits[1] {
        tag("TimeControl", &headers.limits[0].to_string());
    } else {
        tag("WhiteTimeControl", &headers.limits[0].to_string());
        tag("BlackTimeControl", &headers.limits[1].to_string());
    }
    tag("Termination", game.ending.name());
    text.push('\n');
    write_moves(&mut text, game);
    text
}

/// The moves and the result, in lines of at most 80 characters where words allow it.
fn write_moves(text: &mut String, game: &GameRecord) {
    let mut position = game.start.clone();
    let mut words = Vec::new();
    for (ply, played) in game.moves.iter().enumerate() {
        let number = position.fullmove_number();
        match position.side_to_move() {
            Color::White => words.push(format!("{number}.")),
            Color::Black if ply == 0 => words.push(format!("{number}...")),
            Color::Black => {}
        }
        words.push(position.to_san(played.mv));
        words.push(comment(played));
        position.play(played.mv);
    }
    words.push(format!("{{{}}}", game.ending.name()));
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
    date(seconds / 86_400)
}

/// The date so many days after 1970-01-01. See <https://howardhinnant.github.io/date_algorithms.html>.
fn date(days: u64) -> String {
    // Years begin in March here, so that the leap day is their last.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}.{month:02}.{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (days, expected) in [
            (0, "1970.01.01"),
            (59, "1970.03.01"),
            (11_016, "2000.02.29"),
            (11_017, "2000.03.01"),
            (20_453, "2025.12.31"),
            (20_454, "2026.01.01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
