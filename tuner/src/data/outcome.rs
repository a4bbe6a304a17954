//! Results of games.

use std::fmt;

/// The result of a game, or its expected result, in White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultLabel {
    /// A win of Black.
    Loss,
    /// A draw.
    Draw,
    /// A win of White.
    Win,
    /// White's expected share of the point.
    Share(PointShare),
}

/// A share of the point other than 0, ½ and 1, in units of 1/60000: exact to four decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointShare(u16);

impl PointShare {
    /// The number of units of a whole point.
    const WHOLE: u16 = 60_000;

    /// Returns the share of a number of units; `None` for 0, ½ and 1, and beyond.
    pub(super) fn of_units(units: u16) -> Option<Self> {
        (units > 0 && units < Self::WHOLE && units != Self::WHOLE / 2).then_some(PointShare(units))
    }

    /// Returns the number of units.
    pub(super) fn units(self) -> u16 {
        self.0
    }
}

impl ResultLabel {
    /// The results of games: loss, draw, win.
    pub(super) const RESULTS: [Self; 3] = [ResultLabel::Loss, ResultLabel::Draw, ResultLabel::Win];

    /// The notations of the results, the usual one first.
    const NAMES: [&'static [&'static str]; 3] = [
        &["0-1", "0:1", "0–1"],
        &["1/2-1/2", "1/2", "0.5-0.5", "½-½", "1/2:1/2", "=-=", "½–½"],
        &["1-0", "1:0", "1–0"],
    ];

    /// Returns White's points, 0 to 1.
    pub fn points(self) -> f32 {
        (f64::from(self.units()) / f64::from(PointShare::WHOLE)) as f32
    }

    /// Returns White's points in units of a [`PointShare`].
    pub(super) fn units(self) -> u16 {
        match self {
            ResultLabel::Loss => 0,
            ResultLabel::Draw => PointShare::WHOLE / 2,
            ResultLabel::Win => PointShare::WHOLE,
            ResultLabel::Share(share) => share.0,
        }
    }

    /// Returns the result of a number of White's points, 0 to 1. A share is rounded to a whole number of units.
    pub(super) fn of_points(points: f64) -> Option<Self> {
        let whole = f64::from(PointShare::WHOLE);
        match points {
            0.0 => Some(ResultLabel::Loss),
            1.0 => Some(ResultLabel::Win),
            _ if points > 0.0 && points < 1.0 => {
                let units = (points * whole).round().clamp(1.0, whole - 1.0) as u16;
                Some(PointShare::of_units(units).map_or(ResultLabel::Draw, ResultLabel::Share))
            }
            _ => None,
        }
    }

    /// Returns the result of a number of White's half points.
    pub(super) fn of_half_points(half_points: u8) -> Option<Self> {
        Self::RESULTS.get(usize::from(half_points)).copied()
    }

    /// Returns White's half points; `None` for a share.
    pub(super) fn half_points(self) -> Option<u8> {
        match self {
            ResultLabel::Share(_) => None,
            _ => Some(self.kind() as u8),
        }
    }

    /// Parses the result of a game: `1-0`, `1/2-1/2`, `0-1`, or another notation of these.
    pub(super) fn of_result(text: &str) -> Option<Self> {
        Some(Self::RESULTS[Self::NAMES.iter().position(|names| names.contains(&text))?])
    }

    /// Returns 0 for a loss, 1 for a draw, 2 for a win, 3 for any share.
    pub(super) fn kind(self) -> usize {
        match self {
            ResultLabel::Loss => 0,
            ResultLabel::Draw => 1,
            ResultLabel::Win => 2,
            ResultLabel::Share(_) => 3,
        }
    }

    /// Returns the result with colours swapped.
    pub(super) fn flipped(self) -> Self {
        match self {
            ResultLabel::Loss => ResultLabel::Win,
            ResultLabel::Draw => ResultLabel::Draw,
            ResultLabel::Win => ResultLabel::Loss,
            ResultLabel::Share(share) => ResultLabel::Share(PointShare(PointShare::WHOLE - share.0)),
        }
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
