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

/// The names of the things left out, in the plural, in the order of [`LeftOut`].
const NAMES: [&str; 10] = [
    "games without a result",
    "games of other variants",
    "ends of games after a null move",
    "positions in check",
    "positions before a capture or promotion",
    "positions beyond the quiet margin",
    "positions with other numbers of pieces",
    "positions with scores beyond the limit",
    "duplicates",
    "positions not sampled",
];

/// Counts of the records and positions left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOutCounts([u64; NAMES.len()]);

impl LeftOutCounts {
    pub(super) fn add(&mut self, reason: LeftOut, count: u64) {
        self.0[reason as usize] += count;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    /// Returns the names of what was left out, with their counts, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
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
        let counts: Vec<String> = self.iter().map(|(name, count)| format!("{count} {name}")).collect();
        f.write_str(&counts.join(", "))
    }
}

impl Serialize for LeftOutCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
