//! Counts of records that are read and left out, by reason.

use std::fmt;
use std::iter::Sum;

use serde::Serialize;

/// A reason to leave out something that could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// A game without a result.
    NoResult,
    /// A game of another variant of chess.
    Variant,
    /// The rest of a game after a null move.
    NullMove,
    /// A position with the side to move in check.
    Check,
    /// A position before a capture or promotion.
    Capture,
    /// A position with a quiescence score that differs from its evaluation.
    Unquiet,
    /// A position with too few or too many pieces.
    Pieces,
    /// A position with a score beyond the limit.
    Score,
    /// A position that occurred before.
    Duplicate,
    /// A position that was not sampled.
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

    /// Returns the name of the things left out, in the plural.
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

/// Counts of the records and positions left out, by reason.
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

    /// Returns the reasons that occurred, with their counts, in a fixed order.
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
