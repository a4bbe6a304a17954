//! Results of games.

use std::fmt;

/// How a game ended, or how it is expected to end, in White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Black won.
    Loss,
    /// Nobody won.
    Draw,
    /// White won.
    Win,
    /// White is expected to get this share of the point.
    Share(Share),
}

/// A share of the point other than 0, ½ and 1, in units of 1/60000: exact for four digits behind the decimal point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u16);

impl Share {
    /// Units of a whole point.
    const WHOLE: u16 = 60_000;

    /// A share of so many units, if it is one.
    pub(super) fn of_units(units: u16) -> Option<Self> {
        (units > 0 && units < Self::WHOLE && units != Self::WHOLE / 2).then_some(Share(units))
    }

    /// How many units it is.
    pub(super) fn units(self) -> u16 {
        self.0
    }
}

impl Outcome {
    /// The results of games.
    pub(super) const RESULTS: [Self; 3] = [Outcome::Loss, Outcome::Draw, Outcome::Win];

    /// What results are called.
    const NAMES: [&'static str; 3] = ["0-1", "1/2-1/2", "1-0"];

    /// Other ways to write them.
    const OTHER_NAMES: [(&'static str, Self); 10] = [
        ("1/2", Outcome::Draw),
        ("0.5-0.5", Outcome::Draw),
        ("½-½", Outcome::Draw),
        ("1/2:1/2", Outcome::Draw),
        ("=-=", Outcome::Draw),
        ("1:0", Outcome::Win),
        ("0:1", Outcome::Loss),
        ("1–0", Outcome::Win),
        ("0–1", Outcome::Loss),
        ("½–½", Outcome::Draw),
    ];

    /// White's points, 0 to 1.
    pub fn points(self) -> f32 {
        (f64::from(self.units()) / f64::from(Share::WHOLE)) as f32
    }

    /// White's points in units of a [`Share`].
    pub(super) fn units(self) -> u16 {
        match self {
            Outcome::Loss => 0,
            Outcome::Draw => Share::WHOLE / 2,
            Outcome::Win => Share::WHOLE,
            Outcome::Share(share) => share.0,
        }
    }

    /// The outcome that gives White so many points, 0 to 1. A share is rounded to a whole number of units.
    pub(super) fn of_points(points: f64) -> Option<Self> {
        let whole = f64::from(Share::WHOLE);
        match points {
            0.0 => Some(Outcome::Loss),
            1.0 => Some(Outcome::Win),
            _ if points > 0.0 && points < 1.0 => {
                let units = (points * whole).round().clamp(1.0, whole - 1.0) as u16;
                Some(Share::of_units(units).map_or(Outcome::Draw, Outcome::Share))
            }
            _ => None,
        }
    }

    /// The outcome that gives White so many half points.
    pub(super) fn of_half_points(half_points: u8) -> Option<Self> {
        Self::RESULTS.get(usize::from(half_points)).copied()
    }

    /// White's half points; none of a share.
    pub(super) fn half_points(self) -> Option<u8> {
        match self {
            Outcome::Share(_) => None,
            _ => Some(self.kind() as u8),
        }
    }

    /// The result that games are written with: `1-0`, `1/2-1/2` or `0-1`.
    pub(super) fn of_result(text: &str) -> Option<Self> {
        let usual = Self::NAMES.into_iter().zip(Self::RESULTS);
        usual.chain(Self::OTHER_NAMES).find(|&(name, _)| name == text).map(|(_, outcome)| outcome)
    }

    /// 0 for a loss, 1 for a draw, 2 for a win, 3 for any share.
    pub(super) fn kind(self) -> usize {
        match self {
            Outcome::Loss => 0,
            Outcome::Draw => 1,
            Outcome::Win => 2,
            Outcome::Share(_) => 3,
        }
    }

    /// The outcome with colours swapped.
    pub(super) fn flipped(self) -> Self {
        match self {
            Outcome::Loss => Outcome::Win,
            Outcome::Draw => Outcome::Draw,
            Outcome::Win => Outcome::Loss,
            Outcome::Share(share) => Outcome::Share(Share(Share::WHOLE - share.0)),
        }
    }
}

impl fmt::Display for Outcome {
    /// As games are written: `1-0`, `1/2-1/2` or `0-1`; a share as a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.get(self.kind()) {
            Some(name) => f.pad(name),
            None => f.pad(&self.points().to_string()),
        }
    }
}
