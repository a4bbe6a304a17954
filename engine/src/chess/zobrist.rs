//! Random keys whose exclusive or identifies a position.
//! See <https://www.chessprogramming.org/Zobrist_Hashing>.

use super::{CastlingRights, CastlingSide, Color, File, PieceType, Square};
use crate::random::split_mix as random;

struct Keys {
    pieces: [[[u64; 64]; 6]; 2],
    castling: [[u64; 8]; 2],
    en_passant: [u64; 8],
    black_to_move: u64,
}

/// The keys are the same in every build and on every machine.
const fn keys() -> Keys {
    let mut state = 0x4D65_7269_6E6F;
    let mut keys = Keys {
        pieces: [[[0; 64]; 6]; 2],
        castling: [[0; 8]; 2],
        en_passant: [0; 8],
        black_to_move: random(&mut state),
    };
    let mut color = 0;
    while color < 2 {
        let mut i = 0;
        while i < 6 * 64 {
            keys.pieces[color][i / 64][i % 64] = random(&mut state);
            i += 1;
        }
        i = 0;
        while i < 8 {
            keys.castling[color][i] = random(&mut state);
            i += 1;
        }
        color += 1;
    }
    let mut i = 0;
    while i < 8 {
        keys.en_passant[i] = random(&mut state);
        i += 1;
    }
    keys
}

static KEYS: Keys = keys();

/// The key of a piece on a square.
#[inline(always)]
pub(super) fn piece(color: Color, piece_type: PieceType, square: Square) -> u64 {
    KEYS.pieces[color.index()][piece_type.index()][square.index()]
}

/// The key of all castling rights together.
#[inline]
pub(super) fn castling(rights: CastlingRights) -> u64 {
    let mut key = 0;
    for color in Color::ALL {
        for side in CastlingSide::ALL {
            if let Some(file) = rights.rook_file(color, side) {
                key ^= KEYS.castling[color.index()][file.index()];
            }
        }
    }
    key
}

/// The key of a possible en passant capture on a file.
#[inline(always)]
pub(super) fn en_passant(file: File) -> u64 {
    KEYS.en_passant[file.index()]
}

/// The key of Black being to move.
#[inline(always)]
pub(super) fn black_to_move() -> u64 {
    KEYS.black_to_move
}

/// The difference that a quiet move of a piece makes to [`Position::key`](super::Position::key), other rights aside:
/// the same forth and back.
#[inline]
pub fn key_of_moving(color: Color, piece_type: PieceType, a: Square, b: Square) -> u64 {
    piece(color, piece_type, a) ^ piece(color, piece_type, b) ^ black_to_move()
}
