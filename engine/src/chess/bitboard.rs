//! Sets of squares.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::{Color, File, Rank, Square};

/// A set of squares, one bit each, a1 in the lowest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bitboard(pub u64);

impl Bitboard {
    /// No square.
    pub const EMPTY: Self = Bitboard(0);
    /// Every square.
    pub const FULL: Self = Bitboard(!0);

    /// All squares of a file.
    #[inline(always)]
    pub const fn file(file: File) -> Self {
        Bitboard(0x0101_0101_0101_0101 << file as u8)
    }

    /// All squares of a rank.
    #[inline(always)]
    pub const fn rank(rank: Rank) -> Self {
        Bitboard(0xFF << (8 * rank as u8))
    }

    /// Returns true if `square` is in the set.
    #[inline(always)]
    pub const fn has(self, square: Square) -> bool {
        self.0 >> square.index() & 1 != 0
    }

    /// Returns true if the set is empty.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the set has a square.
    #[inline(always)]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// Returns true if the set has two squares or more.
    #[inline(always)]
    pub const fn has_several(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// Returns the number of squares in the set.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The lowest square of the set.
    #[inline(always)]
    pub const fn first(self) -> Option<Square> {
        if self.0 == 0 { None } else { Some(self.lowest()) }
    }

    /// The lowest square of a set known to have one; a1 for the empty set.
    #[inline(always)]
    pub(crate) const fn lowest(self) -> Square {
        Square::from_index(self.0.trailing_zeros() as usize)
    }

    /// The squares of this set that are not in `other`.
    #[inline(always)]
    pub const fn without(self, other: Bitboard) -> Self {
        Bitboard(self.0 & !other.0)
    }

    /// The set mirrored top to bottom.
    #[inline(always)]
    pub const fn flip_ranks(self) -> Self {
        Bitboard(self.0.swap_bytes())
    }

    /// Every square shifted by `delta` in index order; squares beyond the top or bottom of the board are lost.
    #[inline(always)]
    pub(crate) const fn shift(self, delta: i8) -> Self {
        if delta >= 0 { Bitboard(self.0 << delta) } else { Bitboard(self.0 >> -delta) }
    }

    /// Every square moved one file towards a and towards h.
    #[inline(always)]
    pub const fn sideways(self) -> [Self; 2] {
        const EDGES: [u64; 2] = [0x0101_0101_0101_0101, 0x8080_8080_8080_8080];
        [Bitboard((self.0 & !EDGES[0]) >> 1), Bitboard((self.0 & !EDGES[1]) << 1)]
    }

    /// Every square moved one rank forward as `color` sees it.
    #[inline(always)]
    pub const fn forward(self, color: Color) -> Self {
        match color {
            Color::White => Bitboard(self.0 << 8),
            Color::Black => Bitboard(self.0 >> 8),
        }
    }
}

impl From<Square> for Bitboard {
    #[inline(always)]
    fn from(square: Square) -> Self {
        Bitboard(1 << square.index())
    }
}

macro_rules! operators {
    ($($operator:ident $name:ident $assign:ident $assign_name:ident;)+) => {$(
        impl $operator for Bitboard {
            type Output = Self;
            #[inline(always)]
            fn $name(self, other: Self) -> Self {
                Bitboard(self.0.$name(other.0))
            }
        }
        impl $assign for Bitboard {
            #[inline(always)]
            fn $assign_name(&mut self, other: Self) {
                self.0.$assign_name(other.0);
            }
        }
    )+};
}

operators! {
    BitAnd bitand BitAndAssign bitand_assign;
    BitOr bitor BitOrAssign bitor_assign;
    BitXor bitxor BitXorAssign bitxor_assign;
}

impl Not for Bitboard {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Bitboard(!self.0)
    }
}

/// The squares of a set, lowest first.
#[derive(Clone)]
pub struct Squares(u64);

impl Iterator for Squares {
    type Item = Square;

    #[inline(always)]
    fn next(&mut self) -> Option<Square> {
        let square = Bitboard(self.0).first()?;
        self.0 &= self.0 - 1;
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.count_ones() as usize;
        (count, Some(count))
    }
}

impl ExactSizeIterator for Squares {}

impl DoubleEndedIterator for Squares {
    #[inline]
    fn next_back(&mut self) -> Option<Square> {
        let index = self.0.checked_ilog2()?;
        self.0 ^= 1 << index;
        Some(Square::from_index(index as usize))
    }
}

impl IntoIterator for Bitboard {
    type Item = Square;
    type IntoIter = Squares;

    #[inline(always)]
    fn into_iter(self) -> Squares {
        Squares(self.0)
    }
}

impl FromIterator<Square> for Bitboard {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        squares.into_iter().fold(Bitboard::EMPTY, |set, square| set | square.into())
    }
}

impl fmt::Debug for Bitboard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(*self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterates_lowest_first() {
        let set: Bitboard = [63, 0, 28].into_iter().map(Square::from_index).collect();
        assert_eq!(set.into_iter().map(Square::index).collect::<Vec<_>>(), [0, 28, 63]);
        assert_eq!(set.count(), 3);
        assert!(set.has_several() && !Bitboard(8).has_several() && !Bitboard::EMPTY.has_several());
    }

    #[test]
    fn files_and_ranks_meet_in_one_square() {
        for square in Square::all() {
            assert_eq!(Bitboard::file(square.file()) & Bitboard::rank(square.rank()), square.into());
        }
    }
}
