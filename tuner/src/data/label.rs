//! What is known of a position beside the position itself.

use clap::ValueEnum;
use engine::chess::{Color, Position};
use engine::search::MATE;

/// How a game ended, in White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    /// Black won.
    Loss,
    /// Nobody won.
    Draw,
    /// White won.
    Win,
}

impl Outcome {
    pub(super) const ALL: [Self; 3] = [Outcome::Loss, Outcome::Draw, Outcome::Win];

    /// White's points: 0, ½ or 1.
    pub fn points(self) -> f32 {
        f32::from(self as u8) / 2.0
    }

    /// The outcome that gives White so many half points.
    pub(super) fn of_half_points(half_points: u8) -> Option<Self> {
        Self::ALL.get(usize::from(half_points)).copied()
    }

    /// The outcome with colours swapped.
    pub(super) fn flipped(self) -> Self {
        Self::ALL[2 - self as usize]
    }

    /// As games are written: `1-0`, `1/2-1/2` or `0-1`.
    pub fn result(self) -> &'static str {
        ["0-1", "1/2-1/2", "1-0"][self as usize]
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

/// What is said of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// How the game ended.
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
    fn games_and_positions_have_groups_of_their_own() {
        assert_ne!(group_of_game(b"1.17"), group_of_game(b"1.18"));
        let group = |fen: &str| group_of_position(&Position::from_fen(fen).unwrap());
        assert_eq!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 w - - 40 90"));
        assert_ne!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1"), group("8/8/8/8/8/k7/7R/K7 b - - 0 1"));
        assert!((0..100_u8).all(|name| group_of_game(&[name]) & GAME != 0));
        assert_eq!(group("8/8/8/8/8/k7/7R/K7 w - - 0 1") & GAME, 0);
    }
}
