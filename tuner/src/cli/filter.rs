//! Filters of positions, for every command that reads data.

use std::ops::RangeInclusive;

use clap::{Args, ValueEnum};
use tuner::data::{Filters, Noisy, PIECES, Plies};

/// The filters of positions.
#[derive(Args)]
#[command(next_help_heading = "Filters")]
pub(super) struct FilterArgs {
    /// Leave out the first N plies of every game in PGN.
    #[arg(long, value_name = "N", default_value_t = Plies::default().skip_first)]
    skip_plies: u16,

    /// Leave out the last N plies of every game in PGN.
    #[arg(long, value_name = "N", default_value_t = Plies::default().skip_last)]
    skip_last: u16,

    /// Leave out positions in check, or before a capture or promotion if the data have the move. The default leaves
    /// both out of games in PGN, and neither out of other data.
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',')]
    drop: Vec<Dropped>,

    /// Leave out positions whose quiescence score is more than this from their evaluation, centipawns, by the engine's
    /// own parameters.
    #[arg(long, value_name = "CP")]
    quiet_margin: Option<u16>,

    /// Leave out positions with fewer or more pieces, kings and pawns among them: 5..32, 7.. or ..12.
    #[arg(long, value_name = "FEWEST..MOST", value_parser = pieces)]
    pieces: Option<RangeInclusive<u32>>,

    /// Leave out positions whose score in the data is beyond ±CP centipawns.
    #[arg(long, value_name = "CP")]
    max_score: Option<u16>,

    /// Leave out positions that came before, move counters aside.
    #[arg(long)]
    unique: bool,
}

/// A kind of positions to leave out.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dropped {
    /// Nothing.
    None,
    /// Positions in check.
    Check,
    /// Positions before a capture or promotion.
    Noisy,
}

impl FilterArgs {
    pub(super) fn filters(&self) -> Filters {
        let drops = |what| self.drop.contains(&what);
        Filters {
            noisy: (!self.drop.is_empty())
                .then(|| Noisy { check: drops(Dropped::Check), capture: drops(Dropped::Noisy) }),
            quiet_margin: self.quiet_margin,
            pieces: self.pieces.clone(),
            max_score: self.max_score,
            unique: self.unique,
        }
    }

    pub(super) fn plies(&self) -> Plies {
        Plies { skip_first: self.skip_plies, skip_last: self.skip_last }
    }
}

/// Parses a range of numbers of pieces, both ends included; an end may be missing.
fn pieces(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number = |text: &str, default: u32| if text.is_empty() { Some(default) } else { text.parse().ok() };
    let range = text
        .split_once("..")
        .and_then(|(fewest, most)| Some(number(fewest, *PIECES.start())?..=number(most, *PIECES.end())?));
    match range {
        Some(range) if !range.is_empty() && PIECES.contains(range.start()) && PIECES.contains(range.end()) => Ok(range),
        _ => Err(format!("expected numbers of pieces like 5..32, from {} to {}", PIECES.start(), PIECES.end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_ranges_of_pieces_strictly() {
        for (text, range) in [("5..32", 5..=32), ("7..", 7..=32), ("..12", 2..=12), ("4..4", 4..=4)] {
            assert_eq!(pieces(text), Ok(range), "{text}");
        }
        for text in ["", "5", "32..5", "1..5", "5..33", "5..=6", "a..b", "-3..5"] {
            assert!(pieces(text).is_err(), "{text}");
        }
    }
}
