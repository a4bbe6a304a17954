//! Codes and errors that the binary formats share.

use engine::chess::{Bitboard, CastlingSide, Color, Move, MoveKind, Piece, PieceType, Position, Setup, Square};

use crate::data::outcome::ResultLabel;
use crate::data::record_error::RecordError;

/// Returns the error of a record that the end of the file or chunk cuts off.
pub(super) fn cut_off() -> RecordError {
    RecordError::new("cut off", "it is cut off")
}

/// Returns the error of an illegal position.
pub(super) fn illegal(message: impl Into<String>) -> RecordError {
    RecordError::new("illegal position", message)
}

/// Returns the error of an unknown code of a piece.
pub(super) fn unknown_piece(code: u8) -> RecordError {
    illegal(format!("{code} is no code of a piece"))
}

/// Returns the error of a field that contradicts the board.
pub(super) fn contradiction(field: &str) -> RecordError {
    illegal(format!("{field} contradicts the board"))
}

/// Returns the error of an unknown code of a result.
pub(super) fn unknown_result(code: u8) -> RecordError {
    RecordError::new("unknown result", format!("{code} is no code of a result"))
}

/// Returns the error of an illegal move, by its number.
pub(super) fn illegal_move(number: usize) -> RecordError {
    RecordError::new("illegal move", format!("move {number} cannot be played"))
}

/// Returns the result of a code: the half points of a side.
pub(super) fn outcome_of(code: u8) -> Result<ResultLabel, RecordError> {
    ResultLabel::of_half_points(code).ok_or_else(|| unknown_result(code))
}

/// Returns the position of a setup.
pub(super) fn position_of(setup: Setup) -> Result<Position, RecordError> {
    setup.finish().map_err(|error| illegal(format!("illegal position: {error}")))
}

/// Reads a little-endian number of `N` bytes at an offset; the caller ensures that the bytes exist.
pub(super) fn little_endian<const N: usize>(bytes: &[u8], at: usize) -> u64 {
    bytes[at..at + N].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Reads the codes of up to 32 pieces, four bits each, the lowest first.
pub(super) fn piece_codes(bytes: &[u8], at: usize) -> u128 {
    u128::from(little_endian::<8>(bytes, at)) | u128::from(little_endian::<8>(bytes, at + 8)) << 64
}

/// The code of a rook with castling rights, next to those of the piece types.
pub(super) const CASTLING_ROOK: u8 = PieceType::COUNT as u8;

/// The bit that is set in the code of a black piece.
const BLACK: u8 = 8;

/// Returns the code of the kind of a move: its index in a table of kinds.
pub(super) fn kind_code(kinds: &[MoveKind; 4], mv: Move) -> u16 {
    kinds.iter().position(|&kind| kind == mv.kind()).expect("a code for every kind") as u16
}

/// Returns the rooks with castling rights.
pub(in crate::data) fn castling_rooks(position: &Position) -> Bitboard {
    let mut rooks = Bitboard::EMPTY;
    for color in Color::ALL {
        for side in CastlingSide::ALL {
            rooks |= position.castling().rook(color, side).map_or(Bitboard::EMPTY, Bitboard::from);
        }
    }
    rooks
}

/// Returns the codes of the pieces of a position as [`put_pieces`] reads them. The rooks in `castling_rooks` are coded
/// as rooks with castling rights.
pub(crate) fn codes_of(position: &Position, castling_rooks: Bitboard) -> u128 {
    codes(position, |square, Piece { color, piece_type }| {
        let code = if castling_rooks.has(square) { CASTLING_ROOK } else { piece_type as u8 };
        code | if color == Color::Black { BLACK } else { 0 }
    })
}

/// Returns a code of four bits for each piece, from the lowest square and the lowest bits up.
pub(super) fn codes(position: &Position, code: impl Fn(Square, Piece) -> u8) -> u128 {
    let code = |square| position.piece_on(square).map_or(0, |piece| code(square, piece));
    let mut squares = position.occupied().into_iter();
    let mut next_word = || {
        let men = squares.by_ref().take(16).enumerate();
        men.fold(0, |word, (at, square)| word | u64::from(code(square)) << (4 * at))
    };
    let words = [next_word(), next_word()];
    u128::from(words[0]) | u128::from(words[1]) << 64
}

/// Puts pieces on an empty board by the codes of [`codes_of`]: the piece type, plus [`BLACK`] for a black piece; rooks
/// with castling rights have a code of their own.
pub(in crate::data) fn put_pieces(setup: &mut Setup, occupied: u64, codes: u128) -> Result<(), RecordError> {
    for (square, code) in coded(occupied, codes)? {
        let color = if code & BLACK == 0 { Color::White } else { Color::Black };
        let piece_type = if code % BLACK == CASTLING_ROOK {
            setup.castling_rooks |= square.into();
            PieceType::Rook
        } else {
            PieceType::from_index(usize::from(code % BLACK)).ok_or_else(|| unknown_piece(code % BLACK))?
        };
        setup.put(Piece { color, piece_type }, square);
    }
    Ok(())
}

/// Returns the occupied squares with their codes of four bits.
pub(super) fn coded(occupied: u64, mut codes: u128) -> Result<impl Iterator<Item = (Square, u8)> + Clone, RecordError> {
    let occupied = Bitboard(occupied);
    if occupied.count() > 32 {
        return Err(illegal(format!("{} men on the board", occupied.count())));
    }
    Ok(occupied.into_iter().map(move |square| {
        let code = codes as u8 & 0xF;
        codes >>= 4;
        (square, code)
    }))
}
