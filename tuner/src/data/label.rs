//! What is known of a position beside the position itself.

use std::fmt;

use clap::ValueEnum;
use engine::chess::{Color, Position};
use engine::search::MATE;

use super::formats::{RecordError, Results};

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

/// Whose results and scores a file has, where its format does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LabelView {
    /// White's.
    #[default]
    White,
    /// Those of the side to move.
    Mover,
}

impl LabelView {
    /// Whose they are in a position.
    pub(super) fn side(self, position: &Position) -> Color {
        match self {
            LabelView::White => Color::White,
            LabelView::Mover => position.side_to_move(),
        }
    }
}

/// The unit of scores in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScoreUnit {
    /// Hundredths of a pawn; fractions are rounded.
    Centipawns,
    /// Pawns.
    Pawns,
}

/// What the labels of a text mean and where they stand, as far as the text leaves it open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Whose results and scores they are; White's if not given.
    pub view: Option<LabelView>,
    /// Whose scores they are, if not the same side's.
    pub score_view: Option<LabelView>,
    /// What numbers mean as results.
    pub results: Option<Results>,
    /// The unit of scores; only whole centipawns are read if not given.
    pub unit: Option<ScoreUnit>,
    /// The operation or column that has the results.
    pub result_in: Option<String>,
    /// The operation or column that has the scores.
    pub score_in: Option<String>,
}

impl Labels {
    /// These, and `others` where these say nothing.
    #[must_use]
    pub fn or(&self, others: &Self) -> Self {
        Labels {
            view: self.view.or(others.view),
            score_view: self.score_view.or(self.view).or(others.score_view),
            results: self.results.or(others.results),
            unit: self.unit.or(others.unit),
            result_in: self.result_in.clone().or_else(|| others.result_in.clone()),
            score_in: self.score_in.clone().or_else(|| others.score_in.clone()),
        }
    }

    /// Whose results they are.
    pub(super) fn result_side(&self, position: &Position) -> Color {
        self.view.unwrap_or_default().side(position)
    }

    /// Whose scores they are.
    pub(super) fn score_side(&self, position: &Position) -> Color {
        self.score_view.or(self.view).unwrap_or_default().side(position)
    }

    /// A score in centipawns within the range of an evaluation or a mate.
    pub(super) fn centipawns(&self, text: &str) -> Result<i16, RecordError> {
        let unknown = |expected: &str| Err(RecordError::new("unknown score", format!("score `{text}`: {expected}")));
        let number = text.trim_start_matches('+').parse::<f64>().ok().filter(|number| number.is_finite());
        let centipawns = match (number, self.unit) {
            (Some(pawns), Some(ScoreUnit::Pawns)) => 100.0 * pawns,
            (Some(number), Some(ScoreUnit::Centipawns)) => number,
            (Some(number), None) if number.fract() == 0.0 => number,
            (Some(_), None) => {
                return unknown(
                    "no whole number; write --scores pawns if they are pawns, --scores centipawns to round",
                );
            }
            (None, _) => f64::INFINITY,
        };
        if centipawns.abs() > f64::from(MATE) {
            return unknown("expected centipawns, a number from -32000 to 32000");
        }
        Ok(centipawns.round() as i16)
    }
}

/// What is said of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// How the game ended, or is expected to end.
    pub outcome: Outcome,
    /// What a search gave the position, centipawns, White's view, from -32,000 to 32,000.
    pub score: Option<i16>,
    /// What the position must not be parted from when data are divided; see [`Grouping`](super::Grouping).
    pub group: u32,
}

impl Label {
    /// A label without a score.
    pub(super) fn new(outcome: Outcome, group: u32) -> Self {
        Label { outcome, score: None, group }
    }
}

/// The bit that tells games from positions.
pub(super) const GAME: u32 = 1 << 31;

/// A score of binary data, as labels have it: what lies beyond ±32,000 is a mate of some kind, and counts as the
/// shortest.
pub(super) fn bounded(score: i16) -> i16 {
    score.clamp(-(MATE as i16), MATE as i16)
}

/// The group of a position whose game has no name.
pub(super) fn group_of_position(position: &Position) -> u32 {
    fold(position.key()) & !GAME
}

/// The group of a game by its name, or by whatever else tells it from others.
pub(super) fn group_of_game(name: &[u8]) -> u32 {
    // FNV-1a: the same on every machine. See <http://www.isthe.com/chongo/tech/comp/fnv/>.
    let hash = name
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
    fold(hash) | GAME
}

/// Both halves of a hash in one.
fn fold(hash: u64) -> u32 {
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_exact_to_four_digits() {
        for ten_thousandth in 0..=10_000_u32 {
            let points = f64::from(ten_thousandth) / 10_000.0;
            let outcome = Outcome::of_points(points).unwrap();
            assert_eq!(outcome.points(), points as f32);
            assert_eq!(outcome.flipped().flipped(), outcome);
            assert_eq!(matches!(outcome, Outcome::Share(_)), ![0, 5000, 10_000].contains(&ten_thousandth));
            let written = outcome.to_string();
            let read = Outcome::of_result(&written).or_else(|| Outcome::of_points(written.parse().unwrap()));
            assert_eq!(read, Some(outcome));
        }
        assert!(
            Outcome::of_points(1e-9).unwrap().points() > 0.0 && Outcome::of_points(1.0 - 1e-9).unwrap().points() < 1.0
        );
        for points in [-0.1, 1.1, 62.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Outcome::of_points(points), None);
        }
    }

    #[test]
    fn games_and_positions_have_groups_of_their_own() {
        assert_ne!(group_of_game(b"1.17"), group_of_game(b"1.18"));
        let group = |fen: &str| group_of_position(&Position::from_fen(fen).unwrap());
        assert_eq!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 w - - 40 90"));
        assert_ne!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 b - - 0 1"));
        assert!((0..100_u8).all(|name| group_of_game(&[name]) & GAME != 0));
        assert_eq!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1") & GAME, 0);
    }
}
