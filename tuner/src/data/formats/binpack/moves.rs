//! Encoding of moves as numbers: the index of the piece that moves, and the index of its destination.

use engine::chess::{Bitboard, CastlingSide, Move, MoveKind, PieceType, Position, Rank, Square, attacks};

use super::bits::{BitReader, BitWriter};
use crate::data::RecordError;

/// The pieces to which a pawn can promote, by code.
const PROMOTIONS: [PieceType; 4] = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];

/// The destinations of a piece, regardless of the king's safety, in the order of their numbers: by square, and
/// promotions on a square by piece; castling comes after all other moves, queenside first.
struct MoveDestinations {
    from: Square,
    squares: Bitboard,
    en_passant: Bitboard,
    /// The number of moves to each square: one, or the number of promotion pieces.
    moves_to_each: u32,
    castling_rooks: [Option<Square>; 2],
}

impl MoveDestinations {
    /// Returns the destinations of the piece on a square; `None` if the square is empty.
    fn of(position: &Position, from: Square) -> Option<Self> {
        let (us, occupied) = (position.side_to_move(), position.occupied());
        let mut destinations = MoveDestinations {
            from,
            squares: Bitboard::EMPTY,
            en_passant: Bitboard::EMPTY,
            moves_to_each: 1,
            castling_rooks: [None; 2],
        };
        let reached = match position.piece_type_on(from)? {
            PieceType::Pawn => {
                destinations.en_passant = position.en_passant().map_or(Bitboard::EMPTY, Bitboard::from);
                if from.rank() == Rank::Seventh.relative_to(us) {
                    destinations.moves_to_each = PROMOTIONS.len() as u32;
                }
                let push = Bitboard::from(from).forward(us).without(occupied);
                let double = (push & Bitboard::rank(Rank::Third.relative_to(us))).forward(us).without(occupied);
                let captures = attacks::pawn(us, from) & (position.color(!us) | destinations.en_passant);
                push | double | captures
            }
            PieceType::Knight => attacks::knight(from),
            PieceType::Bishop => attacks::bishop(from, occupied),
            PieceType::Rook => attacks::rook(from, occupied),
            PieceType::Queen => attacks::queen(from, occupied),
            PieceType::King => {
                let rook = |side| position.castling().rook(us, side);
                destinations.castling_rooks = [CastlingSide::Queen, CastlingSide::King].map(rook);
                attacks::king(from)
            }
        };
        destinations.squares = reached.without(position.color(us));
        Some(destinations)
    }

    /// Returns the number of moves without castling.
    fn plain(&self) -> u32 {
        self.moves_to_each * self.squares.count()
    }

    fn count(&self) -> u32 {
        self.plain() + self.castling_rooks.iter().flatten().count() as u32
    }

    /// Returns the move of a number, legal or not; `None` if the number is too large.
    fn nth(&self, number: usize) -> Option<Move> {
        if let Some(castling) = number.checked_sub(self.plain() as usize) {
            let rook = self.castling_rooks.into_iter().flatten().nth(castling)?;
            return Some(Move::new(self.from, rook, MoveKind::Castling));
        }
        let each = self.moves_to_each as usize;
        let to = self.squares.into_iter().nth(number / each)?;
        Some(match each {
            1 if self.en_passant.has(to) => Move::new(self.from, to, MoveKind::EnPassant),
            1 => Move::new(self.from, to, MoveKind::Normal),
            _ => Move::promotion(self.from, to, PROMOTIONS[number % each]),
        })
    }

    /// Returns the number of one of the moves.
    fn number_of(&self, mv: Move) -> usize {
        if mv.kind() == MoveKind::Castling {
            let before = self.castling_rooks.into_iter().flatten().take_while(|&rook| rook != mv.to());
            return self.plain() as usize + before.count();
        }
        self.moves_to_each as usize * count_before(self.squares, mv.to()) + usize::from(mv.to_bits() >> 12 & 3)
    }
}

fn count_before(squares: Bitboard, square: Square) -> usize {
    squares.into_iter().take_while(|&other| other < square).count()
}

/// Reads the next move, legal or not; `None` if the piece or the destination does not exist.
pub(super) fn next_move(bits: &mut BitReader<'_>, position: &Position) -> Result<Option<Move>, RecordError> {
    let own = position.color(position.side_to_move());
    let Some(from) = own.into_iter().nth(bits.one_of(own.count())?) else { return Ok(None) };
    let Some(destinations) = MoveDestinations::of(position, from) else { return Ok(None) };
    Ok(destinations.nth(bits.one_of(destinations.count())?))
}

/// Writes a legal move.
///
/// # Panics
/// If its square of origin is empty.
pub(super) fn put_move(bits: &mut BitWriter<'_>, position: &Position, mv: Move) {
    let own = position.color(position.side_to_move());
    let destinations = MoveDestinations::of(position, mv.from()).expect("a legal move is that of a man");
    bits.one_of(count_before(own, mv.from()), own.count());
    bits.one_of(destinations.number_of(mv), destinations.count());
}
