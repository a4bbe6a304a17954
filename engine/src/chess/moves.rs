//! Moves in sixteen bits, and their UCI text.

use std::fmt;

use thiserror::Error;

use super::{Bitboard, CastlingSide, File, PieceType, Square};

/// The kind of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MoveKind {
    /// A normal move, with or without capture.
    Normal,
    /// A pawn becomes another piece.
    Promotion,
    /// A pawn takes the pawn that has just passed it.
    EnPassant,
    /// The king castles; the target square is that of the castling rook.
    Castling,
}

/// A move: six bits from, six bits to, two bits promotion piece, two bits [`MoveKind`].
///
/// Castling is the king taking its own rook, in standard chess as in Chess960. A move means nothing without the
/// position it belongs to; [`super::Position::is_legal`] tells whether it can be played there.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(u16);

/// The pieces that a pawn may become.
pub(super) const PROMOTIONS: [PieceType; 4] = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];

impl Move {
    /// A move without a promotion.
    #[inline(always)]
    pub const fn new(from: Square, to: Square, kind: MoveKind) -> Self {
        Move(from.index() as u16 | (to.index() as u16) << 6 | (kind as u16) << 14)
    }

    /// A promotion to a knight, bishop, rook or queen; a pawn or king is read as a queen.
    #[inline(always)]
    pub const fn promotion(from: Square, to: Square, piece: PieceType) -> Self {
        let code = match piece {
            PieceType::Knight => 0,
            PieceType::Bishop => 1,
            PieceType::Rook => 2,
            _ => 3,
        };
        Move(Move::new(from, to, MoveKind::Promotion).0 | code << 12)
    }

    /// The sixteen bits, for tables; 0 is no move.
    #[inline(always)]
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// The move of sixteen bits, whatever they are; `None` for 0.
    #[inline(always)]
    pub const fn from_bits(bits: u16) -> Option<Self> {
        if bits == 0 { None } else { Some(Move(bits)) }
    }

    /// Returns the square that the piece leaves.
    #[inline(always)]
    pub const fn from(self) -> Square {
        Square::from_index(self.0 as usize)
    }

    /// Returns the square that the piece goes to; the own rook's square when castling.
    #[inline(always)]
    pub const fn to(self) -> Square {
        Square::from_index((self.0 >> 6) as usize)
    }

    /// Both squares.
    #[inline(always)]
    pub(crate) fn squares(self) -> Bitboard {
        Bitboard::from(self.from()) | self.to().into()
    }

    /// Its kind.
    #[inline(always)]
    pub const fn kind(self) -> MoveKind {
        match self.0 >> 14 {
            0 => MoveKind::Normal,
            1 => MoveKind::Promotion,
            2 => MoveKind::EnPassant,
            _ => MoveKind::Castling,
        }
    }

    /// The piece that the pawn becomes.
    #[inline(always)]
    pub const fn promoted(self) -> Option<PieceType> {
        match self.kind() {
            MoveKind::Promotion => Some(PROMOTIONS[(self.0 >> 12 & 3) as usize]),
            _ => None,
        }
    }

    /// Returns true if the promotion bits are set; generated moves have them only when they promote.
    pub(super) const fn has_promotion_bits(self) -> bool {
        self.0 & 3 << 12 != 0
    }

    /// Which way a castling move castles.
    #[inline(always)]
    pub fn castling_side(self) -> CastlingSide {
        if self.to() > self.from() { CastlingSide::King } else { CastlingSide::Queen }
    }

    /// UCI text: `e2e4`, `e7e8q`; castling as `e1g1`, or as `e1h1` where `chess960` is set.
    pub fn to_uci(self, chess960: bool) -> String {
        let mut to = self.to();
        if self.kind() == MoveKind::Castling && !chess960 {
            let file = if self.castling_side() == CastlingSide::King { File::G } else { File::C };
            to = Square::new(file, to.rank());
        }
        let promotion = self.promoted().map(PieceType::letter).map(String::from).unwrap_or_default();
        format!("{}{to}{promotion}", self.from())
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_uci(false))
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_uci(true))
    }
}

/// Why a text is not a move of the position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MoveParseError {
    /// Not of the form `e2e4` or `e7e8q`.
    #[error("`{0}` is not a move in coordinates, like e2e4 or e7e8q")]
    Malformed(String),
    /// Well-formed, but no legal move reads so.
    #[error("`{0}` is not a legal move here")]
    Illegal(String),
}

/// The squares and the promotion letter of a coordinate move.
pub(super) fn split_coordinates(text: &str) -> Option<(Square, Square, Option<PieceType>)> {
    let bytes = text.as_bytes();
    let promotion = match bytes.get(4) {
        None => None,
        Some(&letter) => Some(PieceType::from_letter(letter).filter(|piece| PROMOTIONS.contains(piece))?),
    };
    if bytes.len() > 5 {
        return None;
    }
    Some((Square::from_name(bytes.get(0..2)?)?, Square::from_name(bytes.get(2..4)?)?, promotion))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_bits_is_taken_apart_as_it_was_put_together() {
        for bits in 1..=u16::MAX {
            let mv = Move::from_bits(bits).unwrap();
            let again = match mv.promoted() {
                Some(piece) => Move::promotion(mv.from(), mv.to(), piece),
                None => Move::new(mv.from(), mv.to(), mv.kind()),
            };
            // The promotion bits mean nothing in other kinds.
            let meaningful = if mv.kind() == MoveKind::Promotion { 0xFFFF } else { 0xCFFF };
            assert_eq!(again.to_bits(), bits & meaningful);
        }
        assert_eq!(Move::from_bits(0), None);
        assert_eq!(size_of::<Move>(), 2);
    }

    #[test]
    fn castling_is_written_in_two_ways() {
        let (e1, h1) = (Square::from_index(4), Square::from_index(7));
        let castling = Move::new(e1, h1, MoveKind::Castling);
        assert_eq!(castling.to_uci(false), "e1g1");
        assert_eq!(castling.to_uci(true), "e1h1");
    }
}
