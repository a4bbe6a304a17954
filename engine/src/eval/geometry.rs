//! Sets of squares that terms ask for, as tables.

use crate::chess::{Bitboard, Color, File, Rank, Square};

/// The light squares.
pub(super) const LIGHT: Bitboard = Bitboard(0x55AA_55AA_55AA_55AA);

/// Files a to d.
pub(super) const QUEEN_SIDE: Bitboard = Bitboard(0x0F0F_0F0F_0F0F_0F0F);

/// Files c to f.
pub(super) const CENTRE_FILES: Bitboard = Bitboard(0x3C3C_3C3C_3C3C_3C3C);

/// d4, e4, d5, e5.
pub(super) const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);

/// The long diagonals but for their central squares.
pub(super) const LONG_DIAGONALS: Bitboard = Bitboard(0x8142_2400_0024_4281);

/// The squares beside those of a set.
#[inline(always)]
pub(super) const fn beside(set: Bitboard) -> Bitboard {
    let [left, right] = set.sideways();
    Bitboard(left.0 | right.0)
}

/// The squares of a set and those beside them.
#[inline(always)]
pub(super) const fn widened(set: Bitboard) -> Bitboard {
    Bitboard(set.0 | beside(set).0)
}

/// Every square in front of the set, as `color` sees it, on its files; the set itself is left out.
#[inline(always)]
pub(super) const fn in_front(set: Bitboard, color: Color) -> Bitboard {
    match color {
        Color::White => {
            let mut fill = set.0 << 8;
            fill |= fill << 8;
            fill |= fill << 16;
            Bitboard(fill | fill << 32)
        }
        Color::Black => {
            let mut fill = set.0 >> 8;
            fill |= fill >> 8;
            fill |= fill >> 16;
            Bitboard(fill | fill >> 32)
        }
    }
}

/// The squares on the files of a set.
#[inline(always)]
pub(super) const fn files_of(set: Bitboard) -> Bitboard {
    let mut fill = set.0 | set.0 >> 8;
    fill |= fill >> 16;
    fill |= fill >> 32;
    Bitboard((fill & 0xFF) * 0x0101_0101_0101_0101)
}

/// Returns the number of files on which a set has squares.
#[inline(always)]
pub(super) const fn count_files(set: Bitboard) -> i32 {
    (files_of(set).0 & 0xFF).count_ones() as i32
}

/// Returns the distance between two squares, in king's moves.
#[inline(always)]
pub(super) fn distance(a: Square, b: Square) -> usize {
    let files = a.file().index().abs_diff(b.file().index());
    files.max(a.rank().index().abs_diff(b.rank().index()))
}

/// Returns the distance of a file from the nearer edge, 0 to 3.
#[inline(always)]
pub(super) fn from_edge(file: File) -> usize {
    file.index().min(7 - file.index())
}

/// The rank of a square as `color` sees it, 0 to 7.
#[inline(always)]
pub(super) fn rank_of(square: Square, color: Color) -> usize {
    square.relative_to(color).rank().index()
}

/// The rank of a pawn as `color` sees it, from the second, 0 to 5.
#[inline(always)]
pub(super) fn pawn_rank(square: Square, color: Color) -> usize {
    // Pawns stand on no other rank.
    rank_of(square, color).clamp(1, 6) - 1
}

/// A rank as `color` sees it.
#[inline(always)]
pub(super) const fn rank(color: Color, rank: Rank) -> Bitboard {
    Bitboard::rank(rank.relative_to(color))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_those_of_their_squares() {
        for square in Square::all() {
            let set = Bitboard::from(square);
            assert_eq!(files_of(set), Bitboard::file(square.file()));
            assert_eq!(count_files(set | Square::from_index(0).into()), 1 + i32::from(square.file() != File::A));
            for color in Color::ALL {
                let ahead = |other: &Square| rank_of(*other, color) > rank_of(square, color);
                let front = Square::all().filter(|other| other.file() == square.file() && ahead(other)).collect();
                assert_eq!(in_front(set, color), front);
            }
            let beside = |other: &Square| {
                other.rank() == square.rank() && other.file().index().abs_diff(square.file().index()) <= 1
            };
            assert_eq!(widened(set), Square::all().filter(beside).collect());
            assert_eq!(LIGHT.has(square), (square.file().index() + square.rank().index()) % 2 == 1);
        }
    }
}
