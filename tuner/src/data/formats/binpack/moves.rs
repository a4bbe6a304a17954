//! Moves as numbers: which man moves, and which of its destinations it goes to.

use engine::chess::{Bitboard, CastlingSide, Move, MoveKind, PieceType, Position, Rank, Square, attacks};

use super::super::binary::{BinaryError, PROMOTIONS, promotion_code};
use super::bits::{BitReader, BitWriter};

/// Where a man can go, the king's safety aside, in the order in which its moves are counted: by square, promotions on a
/// square by what the pawn becomes; castling comes behind all other moves, the long one first.
struct Targets {
    from: Square,
    squares: Bitboard,
    en_passant: Bitboard,
    /// Moves to a square: one, or as many as there are promotions.
    moves_to_each: u32,
    castling_rooks: [Option<Square>; 2],
}

impl Targets {
    /// None if there is no man.
    fn of(position: &Position, from: Square) -> Option<Self> {
        let (us, occupied) = (position.side_to_move(), position.occupied());
        let mut targets = Targets {
            from,
            squares: Bitboard::EMPTY,
            en_passant: Bitboard::EMPTY,
            moves_to_each: 1,
            castling_rooks: [None; 2],
        };
        let reached = match position.piece_type_on(from)? {
            PieceType::Pawn => {
                targets.en_passant = position.en_passant().map_or(Bitboard::EMPTY, Bitboard::from);
                if from.rank() == Rank::Seventh.relative_to(us) {
                    targets.moves_to_each = PROMOTIONS.len() as u32;
                }
                let push = Bitboard::from(from).forward(us).without(occupied);
                let double = (push & Bitboard::rank(Rank::Third.relative_to(us))).forward(us).without(occupied);
                let captures = attacks::pawn(us, from) & (position.color(!us) | targets.en_passant);
                push | double | captures
            }
            PieceType::Knight => attacks::knight(from),
            PieceType::Bishop => attacks::bishop(from, occupied),
            PieceType::Rook => attacks::rook(from, occupied),
            PieceType::Queen => attacks::queen(from, occupied),
            PieceType::King => {
                let rook = |side| position.castling().rook(us, side);
                targets.castling_rooks = [CastlingSide::Queen, CastlingSide::King].map(rook);
                attacks::king(from)
            }
        };
        targets.squares = reached.without(position.color(us));
        Some(targets)
    }

    /// How many moves there are, castling aside.
    fn plain(&self) -> u32 {
        self.moves_to_each * self.squares.count()
    }

    fn count(&self) -> u32 {
        self.plain() + self.castling_rooks.iter().flatten().count() as u32
    }

    /// A move by its number, legal or not; none if there are not so many.
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

    /// The number of a move that is one of them.
    fn number_of(&self, mv: Move) -> usize {
        if mv.kind() == MoveKind::Castling {
            let before = self.castling_rooks.into_iter().flatten().take_while(|&rook| rook != mv.to());
            return self.plain() as usize + before.count();
        }
        self.moves_to_each as usize * count_before(self.squares, mv.to()) + usize::from(promotion_code(mv))
    }
}

fn count_before(squares: Bitboard, square: Square) -> usize {
    squares.into_iter().take_while(|&other| other < square).count()
}

/// The next move, legal or not; none if there is no such man or destination.
pub(super) fn next_move(bits: &mut BitReader<'_>, position: &Position) -> Result<Option<Move>, BinaryError> {
    let own = position.color(position.side_to_move());
    let Some(from) = own.into_iter().nth(bits.one_of(own.count())?) else { return Ok(None) };
    let Some(targets) = Targets::of(position, from) else { return Ok(None) };
    Ok(targets.nth(bits.one_of(targets.count())?))
}

/// Writes a legal move.
///
/// # Panics
/// If nothing stands where it comes from.
pub(super) fn put_move(bits: &mut BitWriter<'_>, position: &Position, mv: Move) {
    let own = position.color(position.side_to_move());
    let targets = Targets::of(position, mv.from()).expect("a legal move is that of a man");
    bits.one_of(count_before(own, mv.from()), own.count());
    bits.one_of(targets.number_of(mv), targets.count());
}
