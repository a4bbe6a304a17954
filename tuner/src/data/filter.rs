//! Filters of the positions that have been read.
//!
//! A filter looks at one position at a time and keeps no state. Positions that are left out are counted by reason.
//! Duplicates are left out later, in the order of the data.

use std::ops::RangeInclusive;

use clap::Args;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use super::label::Sample;
use super::left_out::LeftOut;

/// The possible numbers of pieces of a position, both kings included.
const PIECES: RangeInclusive<u32> = 2..=32;

/// The kinds of noisy positions to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noisy {
    /// True if positions in check are left out.
    pub check: bool,
    /// True if positions before a capture or promotion are left out, provided that the format has the move.
    pub capture: bool,
}

/// The filters of positions; by default, all positions are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "Filters")]
pub struct Filters {
    /// Leave out positions in check, or before a capture or promotion if the data have the move. `check`, `noisy`, both
    /// or `none`. The default leaves both out of games in PGN, and neither out of other data.
    #[arg(long = "drop", value_name = "WHAT", value_parser = noisy)]
    pub noisy: Option<Noisy>,

    /// Leave out positions whose quiescence score is more than this from their evaluation, centipawns, by the engine's
    /// own parameters.
    #[arg(long, value_name = "CP")]
    pub quiet_margin: Option<u16>,

    /// Leave out positions with fewer or more pieces, kings and pawns among them: 5..32, 7.. or ..12.
    #[arg(long, value_name = "FEWEST..MOST", value_parser = pieces)]
    pub pieces: Option<RangeInclusive<u32>>,

    /// Leave out positions whose score in the data is beyond ±CP centipawns.
    #[arg(long, value_name = "CP")]
    pub max_score: Option<u16>,

    /// Leave out positions that came before, move counters aside.
    #[arg(long)]
    pub unique: bool,
}

/// Parses the kinds of noisy positions, separated by commas.
fn noisy(text: &str) -> Result<Noisy, String> {
    if let Some(word) = text.split(',').find(|word| !["none", "check", "noisy"].contains(word)) {
        return Err(format!("expected none, check or noisy, not {word}"));
    }
    let drops = |wanted| text.split(',').any(|word| word == wanted);
    Ok(Noisy { check: drops("check"), capture: drops("noisy") })
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

/// A filter of the positions of one file.
pub(super) struct Filter<'e> {
    filters: &'e Filters,
    noisy: Noisy,
    quiescence: Quiescence<'e>,
}

impl<'e> Filter<'e> {
    /// Returns the filter of a file; `is_of_all_moves` is true if it leaves out noisy positions by default.
    pub(super) fn new(filters: &'e Filters, is_of_all_moves: bool, evaluator: &'e Evaluator) -> Self {
        let noisy = filters.noisy.unwrap_or(Noisy { check: is_of_all_moves, capture: is_of_all_moves });
        Filter { filters, noisy, quiescence: Quiescence::new(evaluator, Pruning::Exact) }
    }

    /// Returns the reason to leave out a sample, duplicates aside. Cheap checks come first.
    pub(super) fn refuses(&mut self, sample: &Sample) -> Option<LeftOut> {
        let Sample { position, label, best } = sample;
        let Filters { quiet_margin, pieces, max_score, .. } = self.filters;
        let is_before_capture = || best.is_some_and(|mv| position.is_noisy(mv));
        if self.noisy.check && position.is_check() {
            Some(LeftOut::Check)
        } else if self.noisy.capture && is_before_capture() {
            Some(LeftOut::Capture)
        } else if pieces.as_ref().is_some_and(|pieces| !pieces.contains(&position.occupied().count())) {
            Some(LeftOut::Pieces)
        } else if max_score.is_some_and(|limit| label.score.is_some_and(|score| score.unsigned_abs() > limit)) {
            Some(LeftOut::Score)
        } else if quiet_margin.is_some_and(|margin| !self.quiescence.is_quiet(position, margin.into())) {
            Some(LeftOut::Unquiet)
        } else {
            None
        }
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

    #[test]
    fn parses_kinds_of_noisy_positions_strictly() {
        for (text, check, capture) in [("none", false, false), ("check", true, false), ("check,noisy", true, true)] {
            assert_eq!(noisy(text), Ok(Noisy { check, capture }), "{text}");
        }
        assert!(noisy("check,loud").is_err() && noisy("").is_err());
    }
}
