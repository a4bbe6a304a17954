//! Which of the positions that can be read are wanted.
//!
//! Filters look at one position after the other and know nothing of those before, [`Keys`] apart, which are asked in the
//! order of the data. What is left out is counted by reason.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::RangeInclusive;

use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use super::formats::{Format, Sample};
use super::left_out::LeftOut;

/// How many pieces a position can have, both kings included.
pub const PIECES: RangeInclusive<u32> = 2..=32;

/// Which positions that are not quiet are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noisy {
    /// Positions in check are left out.
    pub check: bool,
    /// Positions whose next move takes or promotes are left out, where the format tells the move.
    pub capture: bool,
}

/// Which positions are wanted; all, unless something is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Which noisy positions are left out; of none, games in PGN excepted, if that is not said.
    pub noisy: Option<Noisy>,
    /// How far the quiescence search may be from the evaluation of the engine's own parameters, centipawns.
    pub quiet_margin: Option<u16>,
    /// How many pieces there may be, both kings included.
    pub pieces: Option<RangeInclusive<u32>>,
    /// How far the score may be from equal, centipawns; positions without a score are wanted.
    pub max_score: Option<u16>,
    /// Whether a position is wanted once only, clocks aside: as it comes first.
    pub unique: bool,
}

impl Filters {
    /// The kinds of noisy positions that are left out of a format.
    fn noisy(&self, format: Format) -> Noisy {
        let is_of_moves = format == Format::Pgn;
        self.noisy.unwrap_or(Noisy { check: is_of_moves, capture: is_of_moves })
    }
}

/// Filters at work.
pub(super) struct Filter<'e> {
    filters: &'e Filters,
    noisy: Noisy,
    quiescence: Quiescence<'e>,
}

impl<'e> Filter<'e> {
    pub(super) fn new(filters: &'e Filters, format: Format, evaluator: &'e Evaluator) -> Self {
        let quiescence = Quiescence::new(evaluator, Pruning::Exact);
        Filter { filters, noisy: filters.noisy(format), quiescence }
    }

    /// Why a sample is not wanted, duplicates aside; the cheapest reason.
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

/// The positions that have been there: eight bytes each, and what a table leaves free.
#[derive(Default)]
pub(super) struct Keys(HashSet<u64, BuildHasherDefault<KeyHasher>>);

impl Keys {
    /// Whether a position of this key was not there before; it is now.
    pub(super) fn insert(&mut self, key: u64) -> bool {
        self.0.insert(key)
    }
}

/// Keys of positions are hashes themselves.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = self.0.rotate_left(8) ^ key;
    }
}
