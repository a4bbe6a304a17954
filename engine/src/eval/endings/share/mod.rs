//! Endings that are often drawn although one side is ahead: how much of an advantage counts.
//!
//! A rule looks at where kings, pawns and pieces stand, and leaves so many of [`WHOLE`] parts. The evaluation stays what it
//! is otherwise: within a drawn ending the side ahead still prefers what its terms prefer.

mod bishops;
mod pawns;
mod rooks;

use super::super::geometry::{LIGHT, distance, in_front};
use super::{counts, kpk};
use crate::chess::{Bitboard, Color, PieceType, Position, Rank, Square, attacks};

/// The parts of an advantage that counts in full.
pub(in crate::eval) const WHOLE: i32 = 16;

/// The parts left in a drawn ending: enough to tell better moves from worse ones.
const DRAWN: i32 = 2;

/// The parts left where the weaker side holds as a rule, but may err.
const HARD: i32 = 6;

/// The parts left where as many positions are drawn as won.
const EVEN: i32 = 10;

/// An ending by its pieces.
struct Rule {
    /// Pawns, knights, bishops, rooks and queens of the side whose advantage it is.
    strong: [u32; 5],
    /// The same of the other one.
    weak: [u32; 5],
    /// The parts of the advantage that count.
    share: fn(&Seen) -> i32,
}

/// Every ending with such a rule, but for bishops of opposite colours.
const RULES: &[Rule] = &[
    Rule { strong: [1, 0, 0, 0, 0], weak: [1, 0, 0, 0, 0], share: pawns::pawn_each },
    Rule { strong: [1, 0, 1, 0, 0], weak: [0, 0, 1, 0, 0], share: bishops::pawn_against_bishop },
    Rule { strong: [1, 0, 0, 1, 0], weak: [0, 0, 0, 1, 0], share: rooks::pawn_against_rook },
    Rule { strong: [1, 0, 0, 1, 0], weak: [0, 0, 1, 0, 0], share: rooks::pawn_against_bishop },
    Rule { strong: [2, 0, 0, 1, 0], weak: [1, 0, 0, 1, 0], share: rooks::pawns_against_pawn },
];

/// The most pawns of an ending in [`RULES`].
const MOST_PAWNS: u32 = 3;

/// The parts of White's and of Black's advantage that count, if a rule looks at either of them.
///
/// To be asked of few pieces only: beside kings and pawns there are two at most.
#[cold]
pub(in crate::eval) fn shares(position: &Position) -> Option<[i32; 2]> {
    let shares = Color::ALL.map(|strong| share(position, strong));
    shares.iter().any(Option::is_some).then(|| shares.map(|share| share.unwrap_or(WHOLE)))
}

fn share(position: &Position, strong: Color) -> Option<i32> {
    let by_pieces = || {
        let [own, theirs] = [strong, !strong].map(|color| counts(position, color));
        RULES.iter().find(|rule| rule.strong == own && rule.weak == theirs).map(|rule| rule.share)
    };
    let is_small = position.pieces(PieceType::Pawn).count() <= MOST_PAWNS;
    let rule = is_small
        .then(by_pieces)
        .flatten()
        .or_else(|| bishops::are_opposite(position).then_some(bishops::opposite as fn(&Seen) -> i32))?;
    Some(rule(&Seen::new(position, strong)))
}

/// An ending as the side ahead sees it: its pawns move up the board.
struct Seen {
    to_move: bool,
    king: Square,
    their_king: Square,
    pawns: Bitboard,
    their_pawns: Bitboard,
    /// The only piece of either side beside kings and pawns; where there is none, the king.
    piece: Square,
    their_piece: Square,
    occupied: Bitboard,
}

impl Seen {
    fn new(position: &Position, strong: Color) -> Self {
        let set = |set: Bitboard| if strong == Color::White { set } else { set.flip_ranks() };
        let king = |color| position.king(color).relative_to(strong);
        let pawns = |color| set(position.colored(color, PieceType::Pawn));
        let piece = |color| {
            let others = position.pieces(PieceType::Pawn) | position.pieces(PieceType::King);
            set(position.color(color).without(others)).first().unwrap_or(king(color))
        };
        Seen {
            to_move: position.side_to_move() == strong,
            king: king(strong),
            their_king: king(!strong),
            pawns: pawns(strong),
            their_pawns: pawns(!strong),
            piece: piece(strong),
            their_piece: piece(!strong),
            occupied: set(position.occupied()),
        }
    }

    /// The pawn of the side ahead that has come furthest.
    fn pawn(&self) -> Square {
        foremost(self.pawns)
    }

    /// The pawns of the side ahead that no other pawn stops.
    fn passed(&self) -> Bitboard {
        let down = in_front(self.their_pawns, Color::Black);
        let [left, right] = down.sideways();
        self.pawns.without(down | left | right | in_front(self.pawns, Color::Black))
    }

    /// Returns true if the weaker king stands before a square, on its file or beside it.
    fn is_before(&self, square: Square) -> bool {
        let king = self.their_king;
        king.file().index().abs_diff(square.file().index()) <= 1 && king.rank() > square.rank()
    }
}

/// A square of the highest rank.
fn foremost(squares: Bitboard) -> Square {
    // A rule asks where there are pawns; of none, any square will do.
    Square::from_index(63 - (squares.0 | 1).leading_zeros() as usize)
}

/// The square where a pawn promotes.
fn goal(pawn: Square) -> Square {
    Square::new(pawn.file(), Rank::Eighth)
}

/// The squares before a pawn.
fn path(pawn: Square) -> Bitboard {
    in_front(pawn.into(), Color::White)
}

#[cfg(test)]
mod tests;
