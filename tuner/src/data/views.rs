//! Whose results a file has, as its material says: a side that is well ahead wins more often than not.

use std::fmt;

use engine::chess::{Color, Position};
use serde::{Deserialize, Serialize};

use super::label::{Label, Outcome};
use super::material::material_balance;

/// A side is well ahead by so many pawns.
const WELL_AHEAD: i32 = 3;

/// With fewer positions of either side than this, nothing is said.
const FEWEST: u64 = 200;

/// A share of flipped results below this may be chance, and above one less this all of them.
const CLEAR: f64 = 0.15;

/// By side to move: how often the side that is well ahead won, and how often it lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Views {
    won: [u64; Color::COUNT],
    lost: [u64; Color::COUNT],
}

/// Results that are not White's, or not all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FlippedResults {
    /// Positions in which one side is well ahead and one side won, and Black is to move.
    positions: u64,
    /// Those of them in which the side ahead lost, as it seems.
    against: u64,
    /// How many of the results seem to be those of the side to move, as a share.
    share: f64,
}

impl FlippedResults {
    /// Whether it is only some of the results.
    fn are_mixed(&self) -> bool {
        self.share < 1.0 - CLEAR
    }
}

impl fmt::Display for FlippedResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlippedResults { positions, against, share } = self;
        write!(
            f,
            "with Black to move, the side that is {WELL_AHEAD} pawns or more ahead lost {against} of {positions} \
             decided games: "
        )?;
        if self.are_mixed() {
            let white = 100.0 * (1.0 - share);
            write!(f, "some results are White's (about {white:.0} %), others those of the side to move")
        } else {
            write!(f, "the results seem to be those of the side to move (--view mover)")
        }
    }
}

impl Views {
    #[inline]
    pub(super) fn add(&mut self, position: &Position, label: &Label) {
        let balance = material_balance(position);
        if balance.abs() < WELL_AHEAD || label.outcome == Outcome::Draw {
            return;
        }
        let side = position.side_to_move().index();
        let has_won = (balance > 0) == (label.outcome == Outcome::Win);
        if has_won { self.won[side] += 1 } else { self.lost[side] += 1 }
    }

    /// Whether so many positions may have been counted.
    pub(super) fn are_of(&self, positions: u128) -> bool {
        self.won.iter().chain(&self.lost).map(|&count| u128::from(count)).sum::<u128>() <= positions
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for side in 0..Color::COUNT {
            self.won[side] += other.won[side];
            self.lost[side] += other.lost[side];
        }
    }

    /// Results that are not White's, if it looks as if there were some.
    ///
    /// With White to move, results in either view are the same: how often the side ahead loses there is what is to be
    /// expected with Black to move.
    pub(crate) fn flipped_results(&self) -> Option<FlippedResults> {
        let positions = [0, 1].map(|side| self.won[side] + self.lost[side]);
        if positions.iter().any(|&count| count < FEWEST) {
            return None;
        }
        let lost = [0, 1].map(|side| self.lost[side] as f64 / positions[side] as f64);
        let share = (lost[1] - lost[0]) / (1.0 - 2.0 * lost[0]);
        let is_clear = lost[0] < 0.5 - CLEAR && share > CLEAR;
        let (positions, against) = (positions[1], self.lost[1]);
        is_clear.then_some(FlippedResults { positions, against, share: share.min(1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions in which White or Black is a rook ahead and wins nine times out of ten; so many of a hundred results
    /// are those of the side to move.
    fn views(turned: usize) -> Views {
        let mut views = Views::default();
        let boards = ["7k/8/8/8/8/8/8/R6K", "r6k/8/8/8/8/8/8/7K"];
        for number in 0..4000_usize {
            let (board, side) = (boards[number % 2], ["w", "b"][number / 2 % 2]);
            let position = Position::from_fen(&format!("{board} {side} - - 0 1")).expect("a legal position");
            let white_wins = (number % 2 == 0) == (number / 4 % 10 != 0);
            let outcome = if white_wins { Outcome::Win } else { Outcome::Loss };
            let is_turned = number / 40 % 100 < turned && side == "b";
            let outcome = if is_turned { outcome.flipped() } else { outcome };
            views.add(&position, &Label::new(outcome, 0));
        }
        views
    }

    #[test]
    fn results_of_the_side_to_move_show() {
        assert_eq!(views(0).flipped_results(), None);
        let all = views(100).flipped_results().expect("flipped results");
        assert!(!all.are_mixed() && all.to_string().contains("--view mover"), "{all}");
        for turned in [30, 50, 70] {
            let some = views(turned).flipped_results().expect("flipped results");
            assert!(some.are_mixed() && (some.share - turned as f64 / 100.0).abs() < 0.05, "{some:?}");
        }
        let text = views(50).flipped_results().expect("flipped results").to_string();
        assert!(text.contains("lost 1000 of 2000 decided games") && text.contains("(about 50 %)"), "{text}");
        // The results alone say nothing.
        let mut few = Views::default();
        few.add(&Position::start(), &Label::new(Outcome::Win, 0));
        assert_eq!((few, few.flipped_results()), (Views::default(), None));
    }
}
