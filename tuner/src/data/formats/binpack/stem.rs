//! The stem of a chain: a position with its labels and its move, in 32 bytes.

use engine::chess::{Bitboard, CastlingSide, Color, File, Move, MoveKind, Piece, PieceType, Position, Rank, Setup};

use super::super::Sample;
use super::super::binary;
use super::super::binary::{
    castling_rooks, coded, codes, illegal_move, kind_code, piece_codes, unknown_piece, unknown_result,
};
use super::bits::{signed, unsigned};
use crate::data::label::Label;
use crate::data::outcome::ResultLabel;
use crate::data::record_error::RecordError;

/// The number of bytes of a stem, and the offsets of its fields: the pieces at [`MEN`] in four bits each, the rest in
/// two bytes each.
pub(super) const STEM: usize = 32;
const MEN: usize = 8;
const MOVE: usize = 24;
const SCORE: usize = 26;
const PLY_AND_OUTCOME: usize = 28;
const HALFMOVE_CLOCK: usize = 30;

/// The code of a pawn that has just advanced two squares. The usual code of a piece is twice its type, plus one for
/// Black; this one and the next ones are beyond that range.
const DOUBLE_PUSHED_PAWN: u8 = 12;

/// The codes of a rook with castling rights, by color.
const CASTLING_ROOKS: [u8; 2] = [13, 14];

/// The code of the black king if Black is to move.
const BLACK_TO_MOVE: u8 = 15;

/// The number of bits of the ply; the result is in the bits above.
const PLY_BITS: u32 = 14;
const LARGEST_PLY: u16 = (1 << PLY_BITS) - 1;

/// The results for the side to move, by code.
const OUTCOMES: [ResultLabel; 3] = [ResultLabel::DRAW, ResultLabel::LOSS, ResultLabel::WIN];

/// The kinds of moves, by code.
const KINDS: [MoveKind; 4] = [MoveKind::Normal, MoveKind::Promotion, MoveKind::Castling, MoveKind::EnPassant];

/// Reads the first sample of a chain, without its group and score, and its score in the view of the side to move, possibly
/// the code for none. The move is optional in a chain of one position.
pub(super) fn read(bytes: &[u8]) -> Result<(Sample, i16), RecordError> {
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    let position = position_of(bytes, word(HALFMOVE_CLOCK), word(PLY_AND_OUTCOME) & LARGEST_PLY)?;
    let code = word(PLY_AND_OUTCOME) >> PLY_BITS;
    let outcome = *OUTCOMES.get(usize::from(code)).ok_or_else(|| unknown_result(code as u8))?;
    let best = move_of(word(MOVE), &position);
    if best.is_none() && word(MOVE) != 0 {
        return Err(illegal_move(1));
    }
    let label = Label::new(position.side_to_move().choose(outcome, outcome.flipped()), 0);
    Ok((Sample { position, label, best }, signed(word(SCORE))))
}

fn position_of(stem: &[u8], halfmove_clock: u16, ply: u16) -> Result<Position, RecordError> {
    let occupied = stem[..MEN].iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    let codes = coded(occupied, piece_codes(stem, MEN))?;
    let side = if codes.clone().any(|(_, code)| code == BLACK_TO_MOVE) { Color::Black } else { Color::White };
    let mut setup = Setup::new(side, halfmove_clock, ply / 2 + 1);
    for (square, code) in codes {
        let castling = CASTLING_ROOKS.iter().position(|&rook| rook == code);
        let piece = match (code, castling) {
            (DOUBLE_PUSHED_PAWN, _) => {
                // It is on the fourth rank of its side.
                let color = if square.rank() == Rank::Fourth { Color::White } else { Color::Black };
                setup.en_passant = Bitboard::from(square).forward(!color).first();
                Piece { color, piece_type: PieceType::Pawn }
            }
            (BLACK_TO_MOVE, _) => Piece { color: Color::Black, piece_type: PieceType::King },
            (_, Some(color)) => {
                setup.castling_rooks |= square.into();
                Piece { color: Color::ALL[color], piece_type: PieceType::Rook }
            }
            _ => {
                let piece_type = PieceType::from_index(usize::from(code / 2)).ok_or_else(|| unknown_piece(code))?;
                Piece { color: Color::ALL[usize::from(code % 2)], piece_type }
            }
        };
        setup.put(piece, square);
    }
    binary::position_of(setup)
}

/// Decodes a move of two bytes: two bits for the kind, six for the origin, six for the destination, two for the
/// promotion piece. Returns `None` if the move is illegal.
fn move_of(bits: u16, position: &Position) -> Option<Move> {
    let (from, to, kind) = (bits >> 8 & 0x3F, bits >> 2 & 0x3F, KINDS[usize::from(bits >> 14)]);
    let promoted = if kind == MoveKind::Promotion { bits & 3 } else { 0 };
    Move::from_bits(from | to << 6 | promoted << 12 | (kind as u16) << 14).filter(|&mv| position.is_legal(mv))
}

/// Encodes a position for [`read`], with its score. Move number 0 is written as 1.
///
/// # Errors
/// The property of the position that cannot be represented.
pub(super) fn write(Sample { position, label, best }: &Sample, mover_score: i16) -> Result<[u8; STEM], String> {
    let side = position.side_to_move();
    let number = position.fullmove_number();
    let ply = 2 * u32::from(number.saturating_sub(1)) + side.index() as u32;
    let ply =
        u16::try_from(ply).ok().filter(|&ply| ply <= LARGEST_PLY).ok_or_else(|| format!("move number {number}"))?;
    let outcome = side.choose(label.outcome, label.outcome.flipped());
    let outcome = OUTCOMES.iter().position(|&other| other == outcome).expect("a code for every outcome") as u16;
    let bits_of = |mv: Move| {
        let (from, to) = (mv.from().index() as u16, mv.to().index() as u16);
        kind_code(&KINDS, mv) << 14 | from << 8 | to << 2 | mv.to_bits() >> 12 & 3
    };
    let mut bytes = [0; STEM];
    put_men(position, &mut bytes)?;
    for (at, word) in [
        (MOVE, best.map_or(0, bits_of)),
        (SCORE, unsigned(mover_score)),
        (PLY_AND_OUTCOME, ply | outcome << PLY_BITS),
        (HALFMOVE_CLOCK, position.halfmove_clock()),
    ] {
        bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
    }
    Ok(bytes)
}

/// Writes the pieces on the board.
fn put_men(position: &Position, bytes: &mut [u8; STEM]) -> Result<(), String> {
    check_castling(position)?;
    let castling_rooks = castling_rooks(position);
    let us = position.side_to_move();
    let double_pushed = position.en_passant().map_or(Bitboard::EMPTY, |square| Bitboard::from(square).forward(!us));
    let black_king = Bitboard::from(position.king(Color::Black));
    let black_to_move = if us == Color::Black { black_king } else { Bitboard::EMPTY };
    bytes[..MEN].copy_from_slice(&position.occupied().0.to_be_bytes());
    let codes = codes(position, |square, Piece { color, piece_type }| {
        if double_pushed.has(square) {
            DOUBLE_PUSHED_PAWN
        } else if castling_rooks.has(square) {
            CASTLING_ROOKS[color.index()]
        } else if black_to_move.has(square) {
            BLACK_TO_MOVE
        } else {
            2 * piece_type as u8 + color.index() as u8
        }
    });
    bytes[MEN..MOVE].copy_from_slice(&codes.to_le_bytes());
    Ok(())
}

/// Checks castling rights. Other readers identify rooks with castling rights by their corner, and assume a king on the
/// e-file.
fn check_castling(position: &Position) -> Result<(), String> {
    let corner = |side| match side {
        CastlingSide::King => File::H,
        CastlingSide::Queen => File::A,
    };
    for color in Color::ALL {
        for side in CastlingSide::ALL {
            let Some(file) = position.castling().rook_file(color, side) else { continue };
            if file != corner(side) || position.king(color).file() != File::E {
                return Err("castling rights of Chess960".to_owned());
            }
        }
    }
    Ok(())
}
