//! Which of the positions that can be read are wanted.
//!
//! Filters look at one position after the other and know nothing of those before, [`Keys`] apart, which are asked in the
//! order of the data. What is left out is counted by reason.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::iter::Sum;
use std::ops::RangeInclusive;

use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};
use serde::Serialize;

use super::formats::{Format, Sample};

/// How many pieces a position can have, both kings included.
pub const PIECES: RangeInclusive<u32> = 2..=32;

/// Why something that could be read is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A game has no result.
    NoResult,
    /// A game is of another variant of chess.
    Variant,
    /// The rest of a game, behind a null move.
    NullMove,
    /// The side to move is in check.
    Check,
    /// The move that follows takes or promotes.
    Capture,
    /// Its quiescence search finds something else than its evaluation.
    Unquiet,
    /// It has too few pieces, or too many.
    Pieces,
    /// Its score is too far from equal.
    Score,
    /// It has been there before.
    Duplicate,
    /// It is not in the sample.
    NotSampled,
}

impl LeftOut {
    const ALL: [Self; 10] = [
        LeftOut::NoResult,
        LeftOut::Variant,
        LeftOut::NullMove,
        LeftOut::Check,
        LeftOut::Capture,
        LeftOut::Unquiet,
        LeftOut::Pieces,
        LeftOut::Score,
        LeftOut::Duplicate,
        LeftOut::NotSampled,
    ];

    /// What is left out, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            LeftOut::NoResult => "games without a result",
            LeftOut::Variant => "games of other variants",
            LeftOut::NullMove => "ends of games after a null move",
            LeftOut::Check => "positions in check",
            LeftOut::Capture => "positions before a capture or promotion",
            LeftOut::Unquiet => "positions beyond the quiet margin",
            LeftOut::Pieces => "positions with other numbers of pieces",
            LeftOut::Score => "positions with scores beyond the limit",
            LeftOut::Duplicate => "duplicates",
            LeftOut::NotSampled => "positions not sampled",
        }
    }
}

/// How much was left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOutCounts([u64; LeftOut::ALL.len()]);

impl LeftOutCounts {
    pub(super) fn add(&mut self, reason: LeftOut) {
        self.add_several(reason, 1);
    }

    pub(super) fn add_several(&mut self, reason: LeftOut, count: u64) {
        self.0[reason as usize] += count;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    /// The reasons that occurred, with their counts, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (LeftOut, u64)> {
        LeftOut::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

impl Sum for LeftOutCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        let mut sum = Self::default();
        counts.for_each(|counts| sum.merge(counts));
        sum
    }
}

impl fmt::Display for LeftOutCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.iter().map(|(reason, count)| format!("{count} {}", reason.name())).collect();
        f.write_str(&counts.join(", "))
    }
}

impl Serialize for LeftOutCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(reason, count)| (reason.name(), count)))
    }
}

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
