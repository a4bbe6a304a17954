//! Encoding of moves as numbers: the index of the piece that moves, and the index of its destination.

use engine::chess::{Bitboard, CastlingSide, Move, MoveKind, PieceType, Position, Rank, Square, attacks};

use super::bits::{BitReader, BitWriter};
use crate::data::RecordError;

/// The pieces to which a pawn can promote, by code.
const PROMOTIONS: [PieceType; 4] = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];

/// Returns the moves of the piece on a square, regardless of the king's safety, in the order of their numbers: by
/// square, and promotions on a square by piece; castling comes after all other moves, queenside first.
fn moves_of(position: &Position, from: Square) -> Vec<Move> {
    let (us, occupied) = (position.side_to_move(), position.occupied());
    let Some(piece_type) = position.piece_type_on(from) else { return Vec::new() };
    let en_passant = position.en_passant().map_or(Bitboard::EMPTY, Bitboard::from);
    let reached = match piece_type {
        PieceType::Pawn => {
            let push = Bitboard::from(from).forward(us).without(occupied);
            let double = (push & Bitboard::rank(Rank::Third.relative_to(us))).forward(us).without(occupied);
            push | double | attacks::pawn(us, from) & (position.color(!us) | en_passant)
        }
        PieceType::Knight => attacks::knight(from),
        PieceType::Bishop => attacks::bishop(from, occupied),
        PieceType::Rook => attacks::rook(from, occupied),
        PieceType::Queen => attacks::queen(from, occupied),
        PieceType::King => attacks::king(from),
    };
    let is_pawn = piece_type == PieceType::Pawn;
    let mut moves = Vec::with_capacity(32);
    for to in reached.without(position.color(us)) {
        if is_pawn && from.rank() == Rank::Seventh.relative_to(us) {
            moves.extend(PROMOTIONS.map(|promoted| Move::promotion(from, to, promoted)));
        } else {
            let is_en_passant = is_pawn && en_passant.has(to);
            moves.push(Move::new(from, to, if is_en_passant { MoveKind::EnPassant } else { MoveKind::Normal }));
        }
    }
    if piece_type == PieceType::King {
        let rooks = [CastlingSide::Queen, CastlingSide::King].map(|side| position.castling().rook(us, side));
        moves.extend(rooks.into_iter().flatten().map(|rook| Move::new(from, rook, MoveKind::Castling)));
    }
    moves
}

/// Reads the next move, legal or not; `None` if the piece or the destination does not exist.
pub(super) fn next_move(bits: &mut BitReader<'_>, position: &Position) -> Result<Option<Move>, RecordError> {
    let own = position.color(position.side_to_move());
    let Some(from) = own.into_iter().nth(bits.one_of(own.count())?) else { return Ok(None) };
    let moves = moves_of(position, from);
    Ok(moves.get(bits.one_of(moves.len() as u32)?).copied())
}

/// Writes a legal move.
///
/// # Panics
/// If the move is illegal.
pub(super) fn put_move(bits: &mut BitWriter<'_>, position: &Position, mv: Move) {
    let own = position.color(position.side_to_move());
    let moves = moves_of(position, mv.from());
    let number = moves.iter().position(|&other| other == mv).expect("a legal move is one of its man");
    bits.one_of(own.into_iter().take_while(|&square| square < mv.from()).count(), own.count());
    bits.one_of(number, moves.len() as u32);
}
