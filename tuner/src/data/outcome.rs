//! Results of games.

use std::fmt;

/// The result of a game, or its expected result: White's points in units of 1/60000, exact to four decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLabel(u16);

/// The number of units of a whole point.
const WHOLE: u16 = 60_000;

impl ResultLabel {
    /// A win of Black.
    pub const LOSS: Self = ResultLabel(0);

    /// A draw.
    pub const DRAW: Self = ResultLabel(WHOLE / 2);

    /// A win of White.
    pub const WIN: Self = ResultLabel(WHOLE);

    /// The results of games: loss, draw, win.
    pub(super) const RESULTS: [Self; 3] = [Self::LOSS, Self::DRAW, Self::WIN];

    /// The notations of the results, the usual one first.
    const NAMES: [&'static [&'static str]; 3] = [
        &["0-1", "0:1", "0–1"],
        &["1/2-1/2", "1/2", "0.5-0.5", "½-½", "1/2:1/2", "=-=", "½–½"],
        &["1-0", "1:0", "1–0"],
    ];

    /// Returns White's points, 0 to 1.
    pub fn points(self) -> f32 {
        (f64::from(self.0) / f64::from(WHOLE)) as f32
    }

    /// Returns the result of a number of units of White's points; all beyond a whole point are a win.
    pub(super) fn of_units(units: u16) -> Self {
        ResultLabel(units.min(WHOLE))
    }

    /// Returns White's points in units.
    pub(super) fn units(self) -> u16 {
        self.0
    }

    /// Returns the result of a number of White's points, 0 to 1. A share is rounded to a whole number of units, but
    /// never to a win or loss.
    pub(super) fn of_points(points: f64) -> Option<Self> {
        let (whole, is_inside) = (f64::from(WHOLE), points > 0.0 && points < 1.0);
        let units = (points * whole).round();
        let units = if is_inside { units.clamp(1.0, whole - 1.0) } else { units };
        (0.0..=1.0).contains(&points).then_some(ResultLabel(units as u16))
    }

    /// Returns the result of a number of White's half points.
    pub(super) fn of_half_points(half_points: u8) -> Option<Self> {
        Self::RESULTS.get(usize::from(half_points)).copied()
    }

    /// Returns White's half points; `None` for a share of the point.
    pub(super) fn half_points(self) -> Option<u8> {
        (0..3).find(|&half_points| Self::RESULTS[usize::from(half_points)] == self)
    }

    /// Parses the result of a game: `1-0`, `1/2-1/2`, `0-1`, or another notation of these.
    pub(super) fn of_result(text: &str) -> Option<Self> {
        Some(Self::RESULTS[Self::NAMES.iter().position(|names| names.contains(&text))?])
    }

    /// Returns 0 for a loss, 1 for a draw, 2 for a win, 3 for any share.
    pub(super) fn kind(self) -> usize {
        self.half_points().map_or(Self::RESULTS.len(), usize::from)
    }

    /// Returns the result with colours swapped.
    pub(super) fn flipped(self) -> Self {
        ResultLabel(WHOLE - self.0)
    }
}

impl fmt::Display for ResultLabel {
    /// Formats a result as in games: `1-0`, `1/2-1/2` or `0-1`; a share as a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.get(self.kind()) {
            Some(names) => f.pad(names[0]),
            None => f.pad(&self.points().to_string()),
        }
    }
}
