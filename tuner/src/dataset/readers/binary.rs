//! What the binary formats share.

use engine::chess::{Bitboard, Color, FenError, Piece, PieceType, Setup};
use thiserror::Error;

/// What is wrong with a record of a binary file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BinaryError {
    /// The file ends, or its chunk does, before the record does.
    #[error("it is cut off")]
    Truncated,
    /// No chunk begins where one should.
    #[error("no chunk begins here")]
    NoChunk,
    /// More men than a board has.
    #[error("{0} men on the board")]
    Men(u32),
    /// A code that stands for no piece.
    #[error("{0} is no code of a piece")]
    Piece(u8),
    /// The position is illegal.
    #[error("illegal position: {0}")]
    Position(FenError),
    /// What is said of kings or squares contradicts the board.
    #[error("{0} contradicts the board")]
    Contradiction(&'static str),
    /// The result is none.
    #[error("{0} is no code of a result")]
    Outcome(u8),
    /// A move that cannot be played.
    #[error("move {0} cannot be played")]
    Move(usize),
    /// A score beyond all numbers.
    #[error("the score at move {0} has too many digits")]
    Score(usize),
}

impl BinaryError {
    /// The kind of error, for counting.
    pub fn reason(&self) -> &'static str {
        match self {
            BinaryError::Truncated => "cut off",
            BinaryError::NoChunk => "no chunk",
            BinaryError::Men(_) | BinaryError::Piece(_) | BinaryError::Position(_) | BinaryError::Contradiction(_) => {
                "illegal position"
            }
            BinaryError::Outcome(_) => "unknown result",
            BinaryError::Move(_) => "illegal move",
            BinaryError::Score(_) => "unknown score",
        }
    }
}

/// The number in so many bytes of a record, the lowest first; the caller knows that they are there.
pub(super) fn little_endian<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + N].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The codes of up to 32 pieces, four bits each, the lowest first.
pub(super) fn piece_codes(bytes: &[u8], at: usize) -> u128 {
    u128::from(little_endian::<8>(bytes, at)) | u128::from(little_endian::<8>(bytes, at + 8)) << 64
}

/// The code of a rook that may castle, next to those of the piece types.
pub(in crate::dataset) const CASTLING_ROOK: u8 = PieceType::COUNT as u8;

/// Set in the code of a black piece.
pub(in crate::dataset) const BLACK: u8 = 8;

/// Puts men on an empty board: from the lowest square and bits up, four bits a man, its type with [`BLACK`] in it for a
/// black one; rooks that may castle have a code of their own.
pub(in crate::dataset) fn put_pieces(setup: &mut Setup, occupied: u64, codes: u128) -> Result<(), BinaryError> {
    let occupied = Bitboard(occupied);
    if occupied.count() > 32 {
        return Err(BinaryError::Men(occupied.count()));
    }
    let mut codes = codes;
    for square in occupied {
        let code = codes as u8 & 0xF;
        codes >>= 4;
        let color = if code & BLACK == 0 { Color::White } else { Color::Black };
        let piece_type = if code % BLACK == CASTLING_ROOK {
            setup.castling_rooks |= square.into();
            PieceType::Rook
        } else {
            PieceType::from_index(usize::from(code % BLACK)).ok_or(BinaryError::Piece(code % BLACK))?
        };
        setup.put(Piece { color, piece_type }, square);
    }
    Ok(())
}
