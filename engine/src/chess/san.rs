//! Standard Algebraic Notation, in and out, and what other programs write in its place.
//! See <https://www.chessprogramming.org/Algebraic_Chess_Notation>.

use thiserror::Error;

use super::moves::{PROMOTIONS, split_coordinates};
use super::{
    Bitboard, CastlingSide, File, Move, MoveKind, MoveList, MoveParseError, PieceType, Position, Rank, Square, attacks,
};

/// Why a text is not a move of the position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SanError {
    /// Not of the form `Nf3`, `exd8=Q+`, `O-O` or `e2e4`.
    #[error("`{0}` is not a move, like Nf3, exd8=Q, O-O or e2e4")]
    Malformed(String),
    /// Well-formed, but no legal move reads so.
    #[error("`{0}` is not a legal move here")]
    Illegal(String),
    /// Several legal moves read so.
    #[error("`{0}` could be more than one move")]
    Ambiguous(String),
}

/// A move in algebraic notation, without marks of check and annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum San {
    /// The king castles.
    Castling(CastlingSide),
    /// A piece goes somewhere.
    Piece {
        /// The moving piece.
        piece_type: PieceType,
        /// The file of origin, if given.
        file: Option<File>,
        /// The rank of origin, if given.
        rank: Option<Rank>,
        /// The target square.
        to: Square,
        /// The promotion piece.
        promotion: Option<PieceType>,
    },
}

/// Why a move in algebraic notation does not match exactly one legal move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SanMismatch {
    /// No legal move is like that.
    Illegal,
    /// Several legal moves are.
    Ambiguous,
}

impl San {
    /// Reads a move. Check marks and annotations (`+ # ! ? e.p.`) are not looked at; castling is read with letters or
    /// zeros.
    fn parse(text: &str) -> Option<Self> {
        let body = text.trim_end_matches(['+', '#', '!', '?']);
        let body = body.strip_suffix("e.p.").or_else(|| body.strip_suffix("ep")).unwrap_or(body);
        match body {
            "O-O" | "0-0" | "o-o" => Some(San::Castling(CastlingSide::King)),
            "O-O-O" | "0-0-0" | "o-o-o" => Some(San::Castling(CastlingSide::Queen)),
            _ => Self::parse_piece(body.as_bytes()),
        }
    }

    fn parse_piece(mut body: &[u8]) -> Option<Self> {
        let (piece_type, rest) = match body {
            [letter @ (b'N' | b'B' | b'R' | b'Q' | b'K' | b'P'), rest @ ..] => {
                (PieceType::from_letter(letter.to_ascii_lowercase())?, rest)
            }
            _ => (PieceType::Pawn, body),
        };
        body = rest;
        let mut promotion = None;
        if let [rest @ .., letter] = body
            && let Some(piece) = PieceType::from_letter(letter.to_ascii_lowercase())
        {
            promotion = Some(piece).filter(|piece| PROMOTIONS.contains(piece));
            promotion?;
            body = rest.strip_suffix(b"=").or_else(|| rest.strip_suffix(b"/")).unwrap_or(rest);
        }
        let (origin, to) = body.split_at_checked(body.len().checked_sub(2)?)?;
        let origin = match origin {
            [origin @ .., b'x' | b'-' | b':'] => origin,
            _ => origin,
        };
        let rank_of = |byte: u8| Rank::from_index(byte.wrapping_sub(b'1') as usize);
        let (file, rank) = match *origin {
            [] => (None, None),
            [byte] if byte.is_ascii_digit() => (None, Some(rank_of(byte)?)),
            [byte] => (Some(File::from_letter(byte)?), None),
            [file, rank] => (Some(File::from_letter(file)?), Some(rank_of(rank)?)),
            _ => return None,
        };
        Some(San::Piece { piece_type, file, rank, to: Square::from_name(to)?, promotion })
    }
}

impl Position {
    /// The legal move that a text names: in algebraic notation, short or long, or in coordinates, with or without a
    /// letter for the piece. Castling is read with letters or zeros, as the king's two steps and as king takes rook.
    /// Check marks and annotations (`+ # ! ? e.p.`) are not looked at.
    ///
    /// # Errors
    /// A malformed text, an illegal or an ambiguous move.
    pub fn parse_move(&self, text: &str) -> Result<Move, SanError> {
        let san = San::parse(text).ok_or_else(|| SanError::Malformed(text.to_owned()))?;
        match self.find_san(san) {
            Ok(mv) => Ok(mv),
            Err(SanMismatch::Ambiguous) => Err(SanError::Ambiguous(text.to_owned())),
            Err(SanMismatch::Illegal) => self.find_other(san).ok_or_else(|| SanError::Illegal(text.to_owned())),
        }
    }

    /// The legal move of a text that is none in algebraic notation: a piece without its letter, or castling as a move of
    /// the king.
    fn find_other(&self, san: San) -> Option<Move> {
        let San::Piece { piece_type, file, rank, to, promotion } = san else { return None };
        let king = self.king(self.side_to_move());
        let is_of_king = piece_type == PieceType::King
            && file.is_none_or(|file| king.file() == file)
            && rank.is_none_or(|rank| king.rank() == rank);
        match (piece_type, file, rank) {
            (PieceType::Pawn, Some(file), Some(rank)) => self.find_coordinates(Square::new(file, rank), to, promotion),
            _ if is_of_king => self.find_coordinates(king, to, promotion),
            _ => None,
        }
    }

    /// The legal move that algebraic notation means here. Looks from the target square for pieces that reach it: much
    /// less work than all legal moves are.
    ///
    /// # Errors
    /// If no legal move is meant, or more than one may be.
    pub fn find_san(&self, san: San) -> Result<Move, SanMismatch> {
        let (piece_type, file, rank, to, promotion) = match san {
            San::Castling(_) if self.is_check() => return Err(SanMismatch::Illegal),
            San::Castling(side) => return self.castling_move(side).ok_or(SanMismatch::Illegal),
            San::Piece { piece_type, file, rank, to, promotion } => (piece_type, file, rank, to, promotion),
        };
        let mut origins = self.origins(piece_type, to);
        if let Some(file) = file {
            origins &= Bitboard::file(file);
        }
        if let Some(rank) = rank {
            origins &= Bitboard::rank(rank);
        }
        let is_en_passant = piece_type == PieceType::Pawn && self.en_passant() == Some(to);
        let move_from = |from: Square| match promotion {
            Some(promoted) => Move::promotion(from, to, promoted),
            None if is_en_passant && from.file() != to.file() => Move::new(from, to, MoveKind::EnPassant),
            None => Move::new(from, to, MoveKind::Normal),
        };
        let mut moves = origins.into_iter().map(move_from).filter(|&mv| self.is_legal(mv));
        let found = moves.next().ok_or(SanMismatch::Illegal)?;
        if moves.next().is_none() { Ok(found) } else { Err(SanMismatch::Ambiguous) }
    }

    /// Returns the squares of those pieces of the side to move that may be able to go to a square.
    fn origins(&self, piece_type: PieceType, to: Square) -> Bitboard {
        let (us, occupied) = (self.side_to_move(), self.occupied());
        let reaching = match piece_type {
            PieceType::Pawn => {
                let behind = Bitboard::from(to).forward(!us);
                attacks::pawn(!us, to) | behind | behind.forward(!us)
            }
            PieceType::Knight => attacks::knight(to),
            PieceType::Bishop => attacks::bishop(to, occupied),
            PieceType::Rook => attacks::rook(to, occupied),
            PieceType::Queen => attacks::queen(to, occupied),
            PieceType::King => attacks::king(to),
        };
        reaching & self.colored(us, piece_type)
    }

    /// The shortest unambiguous algebraic notation of a legal move, with `+` or `#`.
    pub fn to_san(&self, mv: Move) -> String {
        let mut text = match mv.kind() {
            MoveKind::Castling if mv.castling_side() == CastlingSide::King => "O-O".to_owned(),
            MoveKind::Castling => "O-O-O".to_owned(),
            _ => self.san_body(mv),
        };
        let next = self.after(mv);
        if next.is_check() {
            text.push(if next.has_legal_move() { '+' } else { '#' });
        }
        text
    }

    fn san_body(&self, mv: Move) -> String {
        let (from, to) = (mv.from(), mv.to());
        let piece = self.piece_type_on(from).unwrap_or(PieceType::Pawn);
        let mut text = String::new();
        if piece == PieceType::Pawn {
            if self.is_capture(mv) {
                text.push(from.file().letter());
            }
        } else {
            text.push(piece.letter().to_ascii_uppercase());
            text.push_str(&self.disambiguation(mv, piece, &self.legal_moves()));
        }
        if self.is_capture(mv) {
            text.push('x');
        }
        text.push_str(&to.to_string());
        if let Some(promoted) = mv.promoted() {
            text.push('=');
            text.push(promoted.letter().to_ascii_uppercase());
        }
        text
    }

    /// The file, else the rank, else both, that distinguish a move from moves of like pieces to the same square.
    fn disambiguation(&self, mv: Move, piece: PieceType, moves: &MoveList) -> String {
        let from = mv.from();
        let is_rival = |other: &&Move| {
            other.to() == mv.to()
                && other.from() != from
                && other.kind() != MoveKind::Castling
                && self.piece_type_on(other.from()) == Some(piece)
        };
        let rivals = || moves.iter().filter(is_rival).map(|other| other.from());
        if rivals().next().is_none() {
            String::new()
        } else if rivals().all(|rival| rival.file() != from.file()) {
            from.file().letter().to_string()
        } else if rivals().all(|rival| rival.rank() != from.rank()) {
            (from.rank().index() + 1).to_string()
        } else {
            from.to_string()
        }
    }

    /// The legal move of a UCI text. Castling is read as the king's two steps (`e1g1`) and as king takes rook (`e1h1`).
    ///
    /// # Errors
    /// A malformed text or an illegal move.
    pub fn parse_uci(&self, text: &str) -> Result<Move, MoveParseError> {
        let (from, to, promotion) =
            split_coordinates(text).ok_or_else(|| MoveParseError::Malformed(text.to_owned()))?;
        self.find_coordinates(from, to, promotion).ok_or_else(|| MoveParseError::Illegal(text.to_owned()))
    }

    /// The legal move from a square to another.
    fn find_coordinates(&self, from: Square, to: Square, promotion: Option<PieceType>) -> Option<Move> {
        let named = |mv: &Move| mv.from() == from && mv.to() == to && mv.promoted() == promotion;
        // A king that steps onto its own castling target is a plain move where that is legal.
        let moves = self.legal_moves();
        let short_castling = |mv: &Move| {
            mv.kind() == MoveKind::Castling
                && mv.from() == from
                && promotion.is_none()
                && from.file() == File::E
                && mv.castling_side().king_target(self.side_to_move()) == to
        };
        moves.iter().copied().find(named).or_else(|| moves.iter().copied().find(short_castling))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_fen(fen).unwrap()
    }

    #[test]
    fn every_legal_move_is_read_back() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/PPP4k/8/8/8/8/3K1ppp/8 w - - 0 1",
            "6k1/8/8/Q6Q/8/8/8/Q3K2Q w - - 0 1",
        ] {
            let position = position(fen);
            for mv in position.legal_moves() {
                assert_eq!(position.parse_move(&position.to_san(mv)), Ok(mv));
                assert_eq!(position.parse_uci(&mv.to_uci(false)), Ok(mv));
                assert_eq!(position.parse_uci(&mv.to_uci(true)), Ok(mv));
            }
        }
    }

    /// Finds a move in algebraic notation by a search through all legal moves.
    fn sought_among_all(position: &Position, san: San) -> Result<Move, SanMismatch> {
        let is_meant = |mv: &Move| match san {
            San::Castling(side) => mv.kind() == MoveKind::Castling && mv.castling_side() == side,
            San::Piece { piece_type, file, rank, to, promotion } => {
                mv.kind() != MoveKind::Castling
                    && mv.to() == to
                    && mv.promoted() == promotion
                    && position.piece_type_on(mv.from()) == Some(piece_type)
                    && file.is_none_or(|file| mv.from().file() == file)
                    && rank.is_none_or(|rank| mv.from().rank() == rank)
            }
        };
        let mut moves = position.legal_moves().into_iter().filter(is_meant);
        let found = moves.next().ok_or(SanMismatch::Illegal)?;
        if moves.next().is_none() { Ok(found) } else { Err(SanMismatch::Ambiguous) }
    }

    #[test]
    fn whatever_is_said_means_the_one_legal_move_that_is_like_it() {
        let all_or_none = |count: usize| (0..count).map(Some).chain([None]);
        for position in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/PPP4k/8/8/8/8/3K1ppp/8 b - - 0 1",
            "8/8/8/K2pP2r/8/8/8/6k1 w - d6 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "8/8/8/R2NN2k/8/8/6q1/K7 w - - 0 1",
            "4k3/8/8/8/7b/8/3P1P2/R3K2R w KQ - 0 1",
        ]
        .map(position)
        {
            for side in CastlingSide::ALL {
                assert_eq!(position.find_san(San::Castling(side)), sought_among_all(&position, San::Castling(side)));
            }
            let origins = || all_or_none(8).flat_map(|file| all_or_none(8).map(move |rank| (file, rank)));
            for (piece_type, to) in
                PieceType::ALL.into_iter().flat_map(|piece| Square::all().map(move |to| (piece, to)))
            {
                for ((file, rank), promotion) in origins().flat_map(|at| [(at, None), (at, Some(PieceType::Rook))]) {
                    let (file, rank) = (file.and_then(File::from_index), rank.and_then(Rank::from_index));
                    let san = San::Piece { piece_type, file, rank, to, promotion };
                    assert_eq!(
                        position.find_san(san),
                        sought_among_all(&position, san),
                        "{san:?} in {}",
                        position.to_fen()
                    );
                }
            }
        }
    }

    #[test]
    fn disambiguates_no_more_than_needed() {
        let position = position("6k1/8/8/Q6Q/8/8/8/Q3K2Q w - - 0 1");
        let san = |uci: &str| position.to_san(position.parse_uci(uci).unwrap());
        assert_eq!(san("a1d4"), "Qd4");
        assert_eq!(san("a5e5"), "Qa5e5");
        assert_eq!(san("a1a3"), "Q1a3");
    }

    #[test]
    fn moves_are_read_as_other_programs_write_them() {
        for (fen, uci, texts) in [
            (
                "2r1k3/1P6/8/8/8/8/8/4K3 w - -",
                "b7c8q",
                "b7c8Q b7xc8=Q b7c8=q b7-c8Q bxc8=q bxc8/Q bc8Q b7:c8Q Pb7xc8=Q bxc8=Q+",
            ),
            ("8/1P2k3/8/8/8/8/8/4K3 w - -", "b7b8n", "b7b8N b7-b8=N b7b8=n b8n b8=N b7b8n"),
            ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq -", "e8g8", "e8g8 e8-g8 Ke8-g8 Ke8g8 Kg8 e8h8 Ke8xh8 0-0 O-O o-o"),
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq -", "e1c1", "e1c1 e1-c1 Ke1-c1 Kc1 e1a1 Ke1xa1 0-0-0 O-O-O o-o-o"),
            ("4k3/8/8/8/4p3/8/3P4/4K1N1 w - -", "g1f3", "g1f3 g1-f3 Ng1-f3 Ng1f3 Nf3 Ngf3 N1f3"),
            ("4k3/8/8/8/4p3/5N2/3P4/4K3 w - -", "d2d4", "d2d4 d2-d4 d4 Pd4 Pd2-d4"),
            ("4k3/8/8/8/3Pp3/8/8/4K3 b - d3", "e4d3", "e4d3 e4xd3 exd3 exd3e.p. ed3 e4:d3"),
            ("4k3/8/8/8/4p3/3n4/4P3/4K3 w - -", "e2d3", "e2xd3 e2d3 exd3"),
        ] {
            let position = position(fen);
            for text in texts.split(' ') {
                assert_eq!(position.parse_move(text), position.parse_uci(uci).map_err(|_| unreachable!()), "{text}");
            }
        }
        // Text that could be either is what is legal: the king steps to c1 and does not castle.
        let near = position("4k3/8/8/8/8/8/8/RK6 w Q -");
        assert_eq!(near.parse_move("Kc1").unwrap().kind(), MoveKind::Normal);
        let illegal = |fen: &str, text: &str| position(fen).parse_move(text) == Err(SanError::Illegal(text.into()));
        for text in ["e1g1", "Kg1", "e1h1", "Kd1g1", "Ng1"] {
            assert!(illegal("4k1r1/8/8/8/8/8/8/4K2R w K -", text), "{text}");
        }
    }

    #[test]
    fn errors_tell_malformed_from_illegal_and_ambiguous() {
        let position = position("7k/8/8/8/8/8/8/N1N1K3 w - - 0 1");
        assert_eq!(position.parse_move("Nb3"), Err(SanError::Ambiguous("Nb3".into())));
        assert_eq!(position.parse_move("Nf3"), Err(SanError::Illegal("Nf3".into())));
        assert_eq!(position.parse_move("O-O"), Err(SanError::Illegal("O-O".into())));
        for bad in ["", "N", "e", "e9", "Nabc3", "e8=K", "e8k", "=Q", "é4"] {
            assert_eq!(position.parse_move(bad), Err(SanError::Malformed(bad.into())), "{bad}");
        }
        assert_eq!(position.parse_uci("e1e9"), Err(MoveParseError::Malformed("e1e9".into())));
        assert_eq!(position.parse_uci("e1e3"), Err(MoveParseError::Illegal("e1e3".into())));
    }
}
