//! Codes and errors that the binary formats share.

use engine::chess::{Bitboard, CastlingSide, Color, FenError, Move, MoveKind, Piece, PieceType, Position, Setup};
use thiserror::Error;

/// An error of a record of a binary file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(in crate::data) enum BinaryError {
    /// The end of the file or chunk within a record.
    #[error("it is cut off")]
    Truncated,
    /// Other bytes at the place of a chunk.
    #[error("no chunk begins here")]
    NoChunk,
    /// More pieces than a board may have.
    #[error("{0} men on the board")]
    Men(u32),
    /// An unknown code of a piece.
    #[error("{0} is no code of a piece")]
    Piece(u8),
    /// An illegal position.
    #[error("illegal position: {0}")]
    Position(FenError),
    /// A field that contradicts the board, such as the square of a king.
    #[error("{0} contradicts the board")]
    Contradiction(&'static str),
    /// An unknown code of a result.
    #[error("{0} is no code of a result")]
    Outcome(u8),
    /// An illegal move, by its number.
    #[error("move {0} cannot be played")]
    Move(usize),
    /// A score with too many digits, by the number of its move.
    #[error("the score at move {0} has too many digits")]
    Score(usize),
}

impl BinaryError {
    /// The kind of error, for counting.
    pub(super) fn reason(&self) -> &'static str {
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

/// The pieces to which a pawn can promote, by code.
pub(super) const PROMOTIONS: [PieceType; 4] = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];

/// Returns the code of the promotion piece; 0 if the move is no promotion.
pub(super) fn promotion_code(mv: Move) -> u16 {
    PROMOTIONS.iter().position(|&piece_type| Some(piece_type) == mv.promoted()).unwrap_or_default() as u16
}

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
    let black = position.color(Color::Black);
    let code = |square| {
        let piece_type = position.piece_type_on(square).map_or(0, |piece_type| piece_type as u8);
        let code = if castling_rooks.has(square) { CASTLING_ROOK } else { piece_type };
        code | if black.has(square) { BLACK } else { 0 }
    };
    let mut squares = position.occupied().into_iter();
    let mut next_word = || {
        let men = squares.by_ref().take(16).enumerate();
        men.fold(0, |word, (at, square)| word | u64::from(code(square)) << (4 * at))
    };
    let words = [next_word(), next_word()];
    u128::from(words[0]) | u128::from(words[1]) << 64
}

/// Puts pieces on an empty board: four bits per occupied square, from the lowest square and the lowest bits up. A code
/// is the piece type, plus [`BLACK`] for a black piece; rooks with castling rights have a code of their own.
pub(in crate::data) fn put_pieces(setup: &mut Setup, occupied: u64, codes: u128) -> Result<(), BinaryError> {
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
