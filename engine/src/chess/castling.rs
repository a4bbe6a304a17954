//! Castling rights as the rooks that may still castle, which serves standard chess and Chess960 alike.

use super::{Color, File, Rank, Square};

/// Which way the king castles; the king ends on the g- or c-file, the rook on the f- or d-file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastlingSide {
    /// Towards the h-file (O-O).
    King,
    /// Towards the a-file (O-O-O).
    Queen,
}

impl CastlingSide {
    /// Both ways, king's side first.
    pub const ALL: [Self; 2] = [CastlingSide::King, CastlingSide::Queen];

    /// Returns the square of the king after castling, on the back rank of `color`.
    #[inline(always)]
    pub const fn king_target(self, color: Color) -> Square {
        let file = match self {
            CastlingSide::King => File::G,
            CastlingSide::Queen => File::C,
        };
        Square::new(file, Rank::First.relative_to(color))
    }

    /// Returns the square of the rook after castling, on the back rank of `color`.
    #[inline(always)]
    pub const fn rook_target(self, color: Color) -> Square {
        let file = match self {
            CastlingSide::King => File::F,
            CastlingSide::Queen => File::D,
        };
        Square::new(file, Rank::First.relative_to(color))
    }
}

/// The castling rights of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CastlingRights {
    rooks: [[Option<File>; 2]; 2],
}

impl CastlingRights {
    /// No castling rights.
    pub const NONE: Self = CastlingRights { rooks: [[None; 2]; 2] };

    /// The square of the rook with which `color` may castle on `side`.
    #[inline(always)]
    pub fn rook(self, color: Color, side: CastlingSide) -> Option<Square> {
        let file = self.rooks[color.index()][side as usize]?;
        Some(Square::new(file, Rank::First.relative_to(color)))
    }

    /// The file of the rook with which `color` may castle on `side`.
    #[inline(always)]
    pub fn rook_file(self, color: Color, side: CastlingSide) -> Option<File> {
        self.rooks[color.index()][side as usize]
    }

    /// Returns true if `color` may castle on either side.
    #[inline(always)]
    pub fn has_any(self, color: Color) -> bool {
        self.rooks[color.index()] != [None; 2]
    }

    pub(super) fn set(&mut self, color: Color, side: CastlingSide, file: Option<File>) {
        self.rooks[color.index()][side as usize] = file;
    }
}
