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

/// By the square of a king: the nine squares about it, moved in from the edge.
pub(super) static RINGS: [Bitboard; 64] = {
    let mut rings = [Bitboard::EMPTY; 64];
    let mut square = 0;
    while square < 64 {
        let (file, rank) = (inside(square % 8), inside(square / 8));
        let centre = Bitboard(1 << (8 * rank + file));
        rings[square] = Bitboard(centre.0 | king_steps(centre).0);
        square += 1;
    }
    rings
};

/// By the file of a king: its own and those beside it, moved in from the edge.
static FLANKS: [Bitboard; 8] = {
    let mut flanks = [Bitboard::EMPTY; 8];
    let mut file = 0;
    while file < 8 {
        flanks[file] = widened(Bitboard(0x0101_0101_0101_0101 << inside(file)));
        file += 1;
    }
    flanks
};

/// A file or rank, the next one inside for the two at the edge.
const fn inside(line: usize) -> usize {
    match line {
        0 => 1,
        7 => 6,
        _ => line,
    }
}

/// The files beside a king and its own, three of them even at the edge, on the five ranks nearest to its own side.
#[inline(always)]
pub(super) fn flank(king: Square, color: Color) -> Bitboard {
    let far = rank(color, Rank::Sixth) | rank(color, Rank::Seventh) | rank(color, Rank::Eighth);
    FLANKS[king.file().index()].without(far)
}

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

/// The squares that kings on any of these attack.
pub(super) const fn king_steps(set: Bitboard) -> Bitboard {
    let row = widened(set);
    Bitboard(beside(set).0 | row.0 << 8 | row.0 >> 8)
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

/// Returns the distance between two squares, in king's moves.
#[inline(always)]
pub(super) fn distance(a: Square, b: Square) -> usize {
    DISTANCES[a.index()][b.index()].into()
}

static DISTANCES: [[u8; 64]; 64] = {
    let mut distances = [[0; 64]; 64];
    let mut pair: usize = 0;
    while pair < 64 * 64 {
        let (a, b) = (pair / 64, pair % 64);
        let (files, ranks) = ((a % 8).abs_diff(b % 8), (a / 8).abs_diff(b / 8));
        distances[a][b] = if files > ranks { files } else { ranks } as u8;
        pair += 1;
    }
    distances
};

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

    #[test]
    fn tables_of_kings_hold_the_squares_near_them() {
        for king in Square::all() {
            let away = |a: Square, file: usize, rank: usize| {
                (a.file().index().abs_diff(file), a.rank().index().abs_diff(rank))
            };
            let [file, rank] = [king.file().index(), king.rank().index()].map(|line| line.clamp(1, 6));
            let ring = |square: &Square| matches!(away(*square, file, rank), (0..=1, 0..=1));
            assert_eq!(RINGS[king.index()], Square::all().filter(ring).collect());
            let columns = |square: &Square| away(*square, file, rank).0 <= 1;
            let near = |square: &Square| columns(square) && square.rank() <= Rank::Fifth;
            assert_eq!(flank(king, Color::White), Square::all().filter(near).collect());
            let far = |square: &Square| columns(square) && square.rank() >= Rank::Fourth;
            assert_eq!(flank(king, Color::Black), Square::all().filter(far).collect());
            for square in Square::all() {
                let (files, ranks) = away(square, king.file().index(), king.rank().index());
                assert_eq!(distance(king, square), files.max(ranks));
            }
        }
    }
}
