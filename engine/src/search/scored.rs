//! A list of moves that gives out the best one first.

use arrayvec::ArrayVec;

use crate::chess::Move;

/// A move with its score and its place in the list, from the highest bits: 32 score, 16 place counted downwards, 16 move.
/// So the greatest of them is the best move, of equals the first, and no branch is needed to find it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Scored(i64);

impl Scored {
    #[inline(always)]
    fn new(mv: Move, score: i32, place: usize) -> Self {
        Scored(i64::from(score) << 32 | i64::from(!(place as u16)) << 16 | i64::from(mv.to_bits()))
    }

    #[inline(always)]
    fn mv(self) -> Option<Move> {
        Move::from_bits(self.0 as u16)
    }

    #[inline(always)]
    fn place(self) -> usize {
        usize::from(!(self.0 >> 16) as u16)
    }

    /// The same move at another place.
    #[inline(always)]
    fn moved_to(self, place: usize) -> Self {
        Scored(self.0 & !0xFFFF_0000 | i64::from(!(place as u16)) << 16)
    }
}

/// The moves of a node, or of a stage of it.
pub(super) struct ScoredMoves {
    moves: ArrayVec<Scored, 256>,
    /// The index of the first move that has not been given out or passed over.
    next: usize,
}

impl ScoredMoves {
    #[inline(always)]
    pub(super) fn new() -> Self {
        ScoredMoves { moves: ArrayVec::new(), next: 0 }
    }

    /// Forgets all moves.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.moves.clear();
        self.next = 0;
    }

    #[inline(always)]
    pub(super) fn push(&mut self, mv: Move, score: i32) {
        self.moves.push(Scored::new(mv, score, self.moves.len()));
    }

    /// The best of the moves not yet given out, of equals the first.
    #[inline(always)]
    pub(super) fn best(&mut self) -> Option<Move> {
        let best = self.moves.get(self.next..)?.iter().copied().max()?;
        self.moves[best.place()] = self.moves[self.next].moved_to(best.place());
        self.next += 1;
        best.mv()
    }

    /// The first of the moves not yet given out that is `wanted`; those before it are forgotten.
    #[inline(always)]
    pub(super) fn first(&mut self, wanted: impl Fn(Move) -> bool) -> Option<Move> {
        let mut rest = self.moves.get(self.next..)?.iter();
        let found = rest.find_map(|scored| scored.mv().filter(|&mv| wanted(mv)));
        self.next = self.moves.len() - rest.len();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{MoveKind, Square};

    fn mv(number: usize) -> Move {
        Move::new(Square::from_index(number), Square::from_index(63 - number), MoveKind::Normal)
    }

    fn list(scores: &[i32]) -> ScoredMoves {
        let mut list = ScoredMoves::new();
        for (i, &score) in scores.iter().enumerate() {
            list.push(mv(i), score);
        }
        list
    }

    #[test]
    fn the_best_comes_first_and_of_equals_the_first() {
        let mut moves = list(&[-5, 7, i32::MIN, 7, 0, i32::MAX]);
        let given: Vec<_> = std::iter::from_fn(|| moves.best()).collect();
        assert_eq!(given, [5, 1, 3, 4, 0, 2].map(mv));
        assert_eq!(moves.best(), None);
    }

    #[test]
    fn moves_that_are_not_wanted_are_passed_over() {
        let mut moves = list(&[4, 3, 2, 1]);
        assert_eq!(moves.best(), Some(mv(0)));
        assert_eq!(moves.first(|candidate| candidate == mv(2)), Some(mv(2)));
        assert_eq!(moves.first(|candidate| candidate == mv(1)), None);
        assert_eq!(moves.first(|_| true), None);
        moves.clear();
        assert_eq!(moves.best(), None);
    }
}
