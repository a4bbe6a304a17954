//! Filters of the positions that have been read.
//!
//! A filter looks at one position at a time and keeps no state. Positions that are left out are counted by reason.
//! Duplicates are left out later, in the order of the data.

use std::ops::RangeInclusive;

use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use super::formats::Sample;
use super::left_out::LeftOut;

/// The possible numbers of pieces of a position, both kings included.
pub const PIECES: RangeInclusive<u32> = 2..=32;

/// The kinds of noisy positions to leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noisy {
    /// True if positions in check are left out.
    pub check: bool,
    /// True if positions before a capture or promotion are left out, provided that the format has the move.
    pub capture: bool,
}

/// The filters of positions; by default, all positions are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// The kinds of noisy positions to leave out; by default none, but both in PGN.
    pub noisy: Option<Noisy>,
    /// Largest difference between the quiescence score and the evaluation by the engine's own parameters, centipawns.
    pub quiet_margin: Option<u16>,
    /// The range of the number of pieces, both kings included.
    pub pieces: Option<RangeInclusive<u32>>,
    /// The largest absolute score, centipawns; positions without a score are kept.
    pub max_score: Option<u16>,
    /// True if only the first occurrence of a position is kept, clocks aside.
    pub unique: bool,
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
