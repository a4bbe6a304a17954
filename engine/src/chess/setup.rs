//! Positions set up piece by piece, as in formats other than FEN, and the checks of legality.

use super::{Bitboard, CastlingSide, Color, FenError, File, Piece, PieceType, Position, Rank, Square};

/// A position that is being set up.
///
/// ```
/// use engine::chess::{Color, Piece, Position, Setup, Square};
///
/// let mut setup = Setup::new(Color::White, 0, 1);
/// for (letter, square) in [(b'K', b"a1"), (b'R', b"h2"), (b'k', b"a3")] {
///     setup.put(Piece::from_letter(letter).unwrap(), Square::from_name(square).unwrap());
/// }
/// assert_eq!(setup.finish(), Position::from_fen("8/8/8/8/8/k7/7R/K7 w - - 0 1"));
/// ```
#[derive(Clone, Debug)]
pub struct Setup {
    board: Position,
    /// The rooks that may still castle; empty at first.
    pub castling_rooks: Bitboard,
    /// The square a pawn has just passed, if any; it is kept only if a capture there is legal.
    pub en_passant: Option<Square>,
}

impl Setup {
    /// An empty board, with the plies since the last capture or pawn move and the number of the move about to be made.
    pub fn new(side_to_move: Color, halfmove_clock: u16, fullmove_number: u16) -> Self {
        let mut board = Position::empty();
        board.side_to_move = side_to_move;
        board.state.halfmove_clock = halfmove_clock;
        board.state.fullmove_number = fullmove_number;
        Setup { board, castling_rooks: Bitboard::EMPTY, en_passant: None }
    }

    /// Puts a piece on an empty square.
    ///
    /// # Panics
    /// If something stands there.
    #[inline]
    pub fn put(&mut self, piece: Piece, square: Square) {
        assert!(self.board.piece_type_on(square).is_none(), "{square} is empty");
        self.board.put(piece.color, piece.piece_type, square);
    }

    /// The position, if it is legal.
    ///
    /// # Errors
    /// Why it is not.
    pub fn finish(self) -> Result<Position, FenError> {
        let Setup { board: mut position, castling_rooks, en_passant } = self;
        position.check_pieces()?;
        for rook in castling_rooks {
            let color = if position.color(Color::White).has(rook) { Color::White } else { Color::Black };
            let file = rook.file();
            let letter = color.choose(file.letter().to_ascii_uppercase(), file.letter());
            let side = position.castling_side(color, file).filter(|_| rook.rank() == Rank::First.relative_to(color));
            let side = side.ok_or(FenError::CastlingWithoutRook(letter))?;
            if position.state.castling.rook_file(color, side).is_some() {
                return Err(FenError::Castling(letter.to_string()));
            }
            position.state.castling.set(color, side, Some(file));
        }
        if let Some(square) = en_passant {
            position.check_en_passant(square)?;
        }
        position.finish_setup(en_passant);
        position.check_checks()?;
        Ok(position)
    }
}

impl Position {
    pub(super) fn check_pieces(&self) -> Result<(), FenError> {
        for color in Color::ALL {
            let count = |piece_type| self.colored(color, piece_type).count();
            let kings = count(PieceType::King);
            if kings != 1 {
                return Err(FenError::Kings { color, found: kings });
            }
            let promoted = count(PieceType::Knight).saturating_sub(2)
                + count(PieceType::Bishop).saturating_sub(2)
                + count(PieceType::Rook).saturating_sub(2)
                + count(PieceType::Queen).saturating_sub(1);
            if count(PieceType::Pawn) + promoted > 8 {
                return Err(FenError::TooManyPieces { color });
            }
        }
        let last_ranks = Bitboard::rank(Rank::First) | Bitboard::rank(Rank::Eighth);
        match (self.pieces(PieceType::Pawn) & last_ranks).first() {
            Some(square) => Err(FenError::PawnOnLastRank(square)),
            None => Ok(()),
        }
    }

    /// The side on which `color` could castle with a rook on a file of its back rank, if king and rook stand there.
    pub(super) fn castling_side(&self, color: Color, file: File) -> Option<CastlingSide> {
        let (king, back_rank) = (self.king(color), Rank::First.relative_to(color));
        let is_in_place =
            king.rank() == back_rank && self.colored(color, PieceType::Rook).has(Square::new(file, back_rank));
        let side = if file > king.file() { CastlingSide::King } else { CastlingSide::Queen };
        is_in_place.then_some(side)
    }

    /// Checks that a pawn can just have passed a square.
    pub(super) fn check_en_passant(&self, square: Square) -> Result<(), FenError> {
        let us = self.side_to_move;
        let target = Bitboard::from(square);
        let origin = target.forward(us);
        let passed = target.forward(!us) & self.colored(!us, PieceType::Pawn);
        let is_possible = square.rank() == Rank::Sixth.relative_to(us)
            && passed.any()
            && ((target | origin) & self.occupied()).is_empty();
        if is_possible { Ok(()) } else { Err(FenError::EnPassantImpossible(square)) }
    }

    pub(super) fn check_checks(&self) -> Result<(), FenError> {
        let them = !self.side_to_move;
        if self.is_attacked(self.king(them), self.side_to_move, self.occupied()) {
            return Err(FenError::OpponentInCheck);
        }
        match self.state.checkers.count() {
            0..=2 => Ok(()),
            count => Err(FenError::Checkers(count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The setup of a position that was read.
    fn taken_apart(position: &Position) -> Setup {
        let mut setup = Setup::new(position.side_to_move(), position.halfmove_clock(), position.fullmove_number());
        for square in position.occupied() {
            setup.put(position.piece_on(square).unwrap(), square);
        }
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                setup.castling_rooks |= position.castling().rook(color, side).map_or(Bitboard::EMPTY, Bitboard::from);
            }
        }
        setup.en_passant = position.en_passant();
        setup
    }

    #[test]
    fn a_setup_of_a_position_rebuilds_it() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 65535 17",
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            "1rr1k3/8/8/8/8/8/8/1RR1K3 w Cc - 0 1",
        ] {
            let position = Position::from_fen(fen).unwrap();
            assert_eq!(taken_apart(&position).finish(), Ok(position));
        }
    }

    #[test]
    fn illegal_setups_are_refused() {
        let setup = taken_apart(&Position::from_fen("r3k3/8/8/8/8/8/8/RR2K3 w - - 0 1").unwrap());
        let square = |name: &[u8]| Square::from_name(name).unwrap();
        let castling = |names: &[&[u8]]| {
            let rooks = names.iter().fold(Bitboard::EMPTY, |rooks, name| rooks | square(name).into());
            Setup { castling_rooks: rooks, ..setup.clone() }.finish()
        };
        assert!(castling(&[b"a1", b"a8"]).is_ok());
        assert_eq!(castling(&[b"a1", b"b1"]), Err(FenError::Castling("B".into())));
        for (name, letter) in [(b"c1", 'c'), (b"h8", 'h'), (b"a2", 'a')] {
            assert_eq!(castling(&[name]), Err(FenError::CastlingWithoutRook(letter)));
        }
        let passed = Setup { en_passant: Some(square(b"e6")), ..setup };
        assert_eq!(passed.finish(), Err(FenError::EnPassantImpossible(square(b"e6"))));
        assert_eq!(Setup::new(Color::White, 0, 1).finish(), Err(FenError::Kings { color: Color::White, found: 0 }));
    }
}
