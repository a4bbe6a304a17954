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
    /// White's expected share of the point other than 0, ½ and 1, in units of 1/60000: exact to four decimal places.
    Share(u16),
}

/// The number of units of a whole point.
const WHOLE: u16 = 60_000;
const DRAW: u16 = WHOLE / 2;

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
        (f64::from(self.units()) / f64::from(WHOLE)) as f32
    }

    /// Returns the result of a number of units of White's points; all beyond a whole point are a win.
    pub(super) fn of_units(units: u16) -> Self {
        match units {
            0 => ResultLabel::Loss,
            DRAW => ResultLabel::Draw,
            WHOLE.. => ResultLabel::Win,
            share => ResultLabel::Share(share),
        }
    }

    /// Returns White's points in units of a share.
    pub(super) fn units(self) -> u16 {
        match self {
            ResultLabel::Loss => 0,
            ResultLabel::Draw => DRAW,
            ResultLabel::Win => WHOLE,
            ResultLabel::Share(units) => units,
        }
    }

    /// Returns the result of a number of White's points, 0 to 1. A share is rounded to a whole number of units, but
    /// never to a win or loss.
    pub(super) fn of_points(points: f64) -> Option<Self> {
        let (whole, is_inside) = (f64::from(WHOLE), points > 0.0 && points < 1.0);
        let units = (points * whole).round();
        let units = if is_inside { units.clamp(1.0, whole - 1.0) } else { units };
        (0.0..=1.0).contains(&points).then_some(Self::of_units(units as u16))
    }

    /// Returns the result of a number of White's half points.
    pub(super) fn of_half_points(half_points: u8) -> Option<Self> {
        Self::RESULTS.get(usize::from(half_points)).copied()
    }

    /// Returns White's half points; `None` for a share.
    pub(super) fn half_points(self) -> Option<u8> {
        Some(self.kind() as u8).filter(|&kind| kind < 3)
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
        Self::of_units(WHOLE - self.units())
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
