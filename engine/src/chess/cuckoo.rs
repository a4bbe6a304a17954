//! The keys of all reversible moves, in a cuckoo hash table: which move leads from one position back to another is
//! seen from the difference of their keys.
//! See <https://marcelk.net/2013-04-06/paper/upcoming-rep-v2.pdf>.

use std::sync::LazyLock;

use super::{Bitboard, Color, PieceType, Square, attacks, key_of_moving};

const SIZE: usize = 8192;

type Slot = (u64, Square, Square);

const fn first_place(key: u64) -> usize {
    key as usize % SIZE
}

const fn second_place(key: u64) -> usize {
    (key >> 16) as usize % SIZE
}

static TABLE: LazyLock<Box<[Option<Slot>]>> = LazyLock::new(|| {
    let mut table = vec![None; SIZE].into_boxed_slice();
    for (color, piece) in Color::ALL.into_iter().flat_map(|color| PieceType::ALL.map(|piece| (color, piece))) {
        for a in Square::all() {
            for b in reach(piece, a).into_iter().filter(|&b| b > a) {
                insert(&mut table, (key_of_moving(color, piece, a, b), a, b));
            }
        }
    }
    table
});

/// The squares a piece reaches on an empty board; pawn moves are not reversible.
fn reach(piece: PieceType, from: Square) -> Bitboard {
    match piece {
        PieceType::Pawn => Bitboard::EMPTY,
        PieceType::Knight => attacks::knight(from),
        PieceType::Bishop => attacks::bishop(from, Bitboard::EMPTY),
        PieceType::Rook => attacks::rook(from, Bitboard::EMPTY),
        PieceType::Queen => attacks::queen(from, Bitboard::EMPTY),
        PieceType::King => attacks::king(from),
    }
}

/// Inserts a move at its first slot; a displaced entry moves to its other slot, and so forth.
fn insert(table: &mut [Option<Slot>], slot: Slot) {
    let mut place = first_place(slot.0);
    let mut homeless = table[place].replace(slot);
    while let Some(slot) = homeless {
        place ^= first_place(slot.0) ^ second_place(slot.0);
        homeless = table[place].replace(slot);
    }
}

/// The squares between which a piece moved, if the difference of two keys is one reversible move.
#[inline]
pub(super) fn reversible_move(difference: u64) -> Option<(Square, Square)> {
    let table = &**TABLE;
    let look = |place: usize| table[place].filter(|slot| slot.0 == difference);
    look(first_place(difference)).or_else(|| look(second_place(difference))).map(|(_, a, b)| (a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reversible_move_is_found() {
        assert_eq!(TABLE.iter().flatten().count(), 3668);
        let (a, b) = (Square::from_index(0), Square::from_index(63));
        let key = key_of_moving(Color::Black, PieceType::Bishop, a, b);
        assert_eq!(reversible_move(key), Some((a, b)));
        assert_eq!(reversible_move(key ^ 1), None);
    }
}
