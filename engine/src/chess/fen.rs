//! Forsyth–Edwards Notation, in and out, for standard chess and Chess960.
//!
//! Castling letters are read as `KQkq` (the outermost rook on that side of the king, X-FEN) or as the file of the rook
//! (`HAha`, Shredder-FEN). The result is checked: every [`Position`] from here is legal.
//! See <https://www.chessprogramming.org/Forsyth-Edwards_Notation> and <https://www.chessprogramming.org/X-FEN>.

use std::fmt::Write;

use thiserror::Error;

use super::{CastlingSide, Color, File, Piece, Position, Rank, Square};

/// A syntax error in a FEN, or a reason why a position is illegal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FenError {
    /// Neither a FEN of four fields nor one of six.
    #[error("expected 4 or 6 fields, found {0}")]
    FieldCount(usize),
    /// The board has too few or too many ranks.
    #[error("expected 8 ranks, found {0}")]
    RankCount(usize),
    /// A rank has too few or too many squares.
    #[error("expected 8 squares on rank {rank}, found {found}")]
    RankLength {
        /// 1 to 8.
        rank: usize,
        /// The number of squares described.
        found: usize,
    },
    /// A character that is no piece and no count of empty squares.
    #[error("`{0}` is neither a piece nor a number of empty squares")]
    Piece(char),
    /// The side to move is neither `w` nor `b`.
    #[error("expected side to move `w` or `b`, found `{0}`")]
    SideToMove(String),
    /// The castling field cannot be read.
    #[error("expected castling rights like `KQkq`, `HAha` or `-`, found `{0}`")]
    Castling(String),
    /// A castling right without a rook and a king that could castle.
    #[error("castling right `{0}` without a king and a rook in place")]
    CastlingWithoutRook(char),
    /// The en passant field cannot be read.
    #[error("expected an en passant square or `-`, found `{0}`")]
    EnPassant(String),
    /// No pawn can just have passed the en passant square.
    #[error("no pawn can just have passed the en passant square {0}")]
    EnPassantImpossible(Square),
    /// The halfmove clock is not a number.
    #[error("expected a halfmove clock, found `{0}`")]
    HalfmoveClock(String),
    /// The move number is not a number.
    #[error("expected a move number, found `{0}`")]
    FullmoveNumber(String),
    /// A side has no king, or several.
    #[error("expected one {} king, found {found}", color.choose("white", "black"))]
    Kings {
        /// Whose king.
        color: Color,
        /// The number of kings.
        found: u32,
    },
    /// More pieces than a game can have.
    #[error("{} has more pieces than promotions allow", color.choose("white", "black"))]
    TooManyPieces {
        /// Whose pieces.
        color: Color,
    },
    /// A pawn where no pawn can be.
    #[error("a pawn cannot stand on {0}")]
    PawnOnLastRank(Square),
    /// The side that has just moved is in check.
    #[error("the side not to move is in check")]
    OpponentInCheck,
    /// Three checkers or more.
    #[error("the king cannot be checked by {0} pieces at once")]
    Checkers(u32),
}

impl Position {
    /// Reads a FEN of six fields, or of four (the clocks are then 0 and 1).
    ///
    /// # Errors
    /// If a field is malformed or the position is illegal.
    pub fn from_fen(fen: &str) -> Result<Self, FenError> {
        let fields = fen.split_ascii_whitespace().count();
        if fields != 4 && fields != 6 {
            return Err(FenError::FieldCount(fields));
        }
        let (mut position, rest) = Self::from_first_fields(fen)?;
        position.read_clocks(rest)?;
        Ok(position)
    }

    /// Reads the position at the start of a text: four fields, and two clocks if the next two words are numbers.
    /// Returns what follows, without leading spaces.
    ///
    /// # Errors
    /// As for [`Position::from_fen`].
    pub fn from_fen_prefix(text: &str) -> Result<(Self, &str), FenError> {
        let (mut position, rest) = Self::from_first_fields(text)?;
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let (halfmove, after) = split_word(rest);
        let (fullmove, after) = split_word(after);
        if !is_number(halfmove) || !is_number(fullmove) {
            return Ok((position, rest));
        }
        position.state.halfmove_clock = parse_clock(halfmove).map_err(FenError::HalfmoveClock)?;
        position.state.fullmove_number = parse_clock(fullmove).map_err(FenError::FullmoveNumber)?;
        Ok((position, after))
    }

    fn from_first_fields(text: &str) -> Result<(Self, &str), FenError> {
        let mut position = Position::empty();
        let fields = || text.split_ascii_whitespace().count();
        let missing = |error| if fields() < 4 { FenError::FieldCount(fields()) } else { error };
        let rest = position.read_board(text.trim_ascii_start()).map_err(missing)?;
        let (side, rest) = split_word(rest);
        let (castling, rest) = split_word(rest);
        let (en_passant, rest) = split_word(rest);
        if en_passant.is_empty() {
            return Err(FenError::FieldCount(fields()));
        }
        position.side_to_move = match side {
            "w" => Color::White,
            "b" => Color::Black,
            _ => return Err(FenError::SideToMove(side.to_owned())),
        };
        position.check_pieces()?;
        position.read_castling(castling)?;
        let en_passant = position.read_en_passant(en_passant)?;
        position.finish_setup(en_passant);
        position.check_checks()?;
        Ok((position, rest))
    }

    fn read_clocks(&mut self, text: &str) -> Result<(), FenError> {
        let (halfmove, rest) = split_word(text);
        let (fullmove, _) = split_word(rest);
        if !halfmove.is_empty() {
            self.state.halfmove_clock = parse_clock(halfmove).map_err(FenError::HalfmoveClock)?;
            self.state.fullmove_number = parse_clock(fullmove).map_err(FenError::FullmoveNumber)?;
        }
        Ok(())
    }

    /// Reads the board at the start of a text and returns what follows it.
    fn read_board<'t>(&mut self, text: &'t str) -> Result<&'t str, FenError> {
        let (mut rank, mut file, mut end) = (7, 0, 0);
        let ranks = || split_word(text).0.split('/').count();
        for byte in text.bytes() {
            match byte {
                b'/' => {
                    if file != 8 {
                        return Err(FenError::RankLength { rank: rank + 1, found: file });
                    }
                    file = 0;
                    rank = rank.checked_sub(1).ok_or_else(|| FenError::RankCount(ranks()))?;
                }
                b'1'..=b'8' => file += usize::from(byte - b'0'),
                letter => match Piece::from_letter(letter) {
                    Some(piece) if file < 8 => {
                        self.put(piece.color, piece.piece_type, Square::from_index(rank * 8 + file));
                        file += 1;
                    }
                    Some(_) => file += 1,
                    None if letter.is_ascii_whitespace() => break,
                    // Everything before is ASCII, so a character begins here.
                    None => return Err(FenError::Piece(text[end..].chars().next().unwrap_or_default())),
                },
            }
            end += 1;
        }
        match (rank, file) {
            (0, 8) => Ok(&text[end..]),
            (0, _) => Err(FenError::RankLength { rank: 1, found: file }),
            _ => Err(FenError::RankCount(8 - rank)),
        }
    }

    fn read_castling(&mut self, text: &str) -> Result<(), FenError> {
        if text == "-" {
            return Ok(());
        }
        for letter in text.chars() {
            let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
            let file = match letter.to_ascii_lowercase() {
                'k' => self.outermost_rook(color, CastlingSide::King),
                'q' => self.outermost_rook(color, CastlingSide::Queen),
                'a'..='h' => File::from_letter(letter.to_ascii_lowercase() as u8),
                _ => return Err(FenError::Castling(text.to_owned())),
            };
            let right = file.and_then(|file| Some((self.castling_side(color, file)?, file)));
            let (side, file) = right.ok_or(FenError::CastlingWithoutRook(letter))?;
            if self.state.castling.rook_file(color, side).is_some() {
                return Err(FenError::Castling(text.to_owned()));
            }
            self.state.castling.set(color, side, Some(file));
        }
        Ok(())
    }

    fn read_en_passant(&self, text: &str) -> Result<Option<Square>, FenError> {
        if text == "-" {
            return Ok(None);
        }
        let square = Square::from_name(text.as_bytes()).ok_or_else(|| FenError::EnPassant(text.to_owned()))?;
        self.check_en_passant(square)?;
        Ok(Some(square))
    }

    /// The FEN of six fields. Castling is written as `KQkq` where the rook is the outermost, else as the rook's file
    /// (X-FEN); the en passant square only where a capture is legal.
    pub fn to_fen(&self) -> String {
        format!("{} {} {}", self.to_epd_fields(), self.state.halfmove_clock, self.state.fullmove_number)
    }

    /// The FEN of six fields with castling always written as the rooks' files.
    pub fn to_shredder_fen(&self) -> String {
        format!("{} {} {}", self.first_fields(true), self.state.halfmove_clock, self.state.fullmove_number)
    }

    /// The first four fields of [`Position::to_fen`], as an EPD begins.
    pub fn to_epd_fields(&self) -> String {
        self.first_fields(false)
    }

    fn first_fields(&self, rook_files: bool) -> String {
        let mut text = self.board_field();
        text.push_str(self.side_to_move.choose(" w ", " b "));
        text.push_str(&self.castling_field(rook_files));
        match self.state.en_passant {
            Some(square) => write!(text, " {square}").expect("a String takes all"),
            None => text.push_str(" -"),
        }
        text
    }

    fn board_field(&self) -> String {
        let mut text = String::new();
        for rank in Rank::ALL.into_iter().rev() {
            let mut empty = 0;
            for file in File::ALL {
                match self.piece_on(Square::new(file, rank)) {
                    None => empty += 1,
                    Some(piece) => {
                        if empty > 0 {
                            text.push(char::from(b'0' + empty));
                        }
                        empty = 0;
                        text.push(piece.letter());
                    }
                }
            }
            if empty > 0 {
                text.push(char::from(b'0' + empty));
            }
            if rank != Rank::First {
                text.push('/');
            }
        }
        text
    }

    fn castling_field(&self, rook_files: bool) -> String {
        let mut text = String::new();
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                let Some(file) = self.state.castling.rook_file(color, side) else {
                    continue;
                };
                let letter = if rook_files || self.outermost_rook(color, side) != Some(file) {
                    file.letter()
                } else {
                    if side == CastlingSide::King { 'k' } else { 'q' }
                };
                text.push(color.choose(letter.to_ascii_uppercase(), letter));
            }
        }
        if text.is_empty() { "-".to_owned() } else { text }
    }
}

/// The first word and what follows it; both empty at the end of the text.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_ascii_start();
    let end = text.bytes().position(|byte| byte.is_ascii_whitespace()).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

/// A clock of a FEN; values beyond 65,535 are malformed.
pub(super) fn parse_clock(text: &str) -> Result<u16, String> {
    // Integers are also read with a sign, which a clock never has.
    let digits = Some(text).filter(|text| !text.starts_with('+'));
    digits.and_then(|text| text.parse().ok()).ok_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(fen: &str) -> FenError {
        Position::from_fen(fen).expect_err(fen)
    }

    #[test]
    fn round_trips() {
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 3 17",
            "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
            "1rr1k3/8/8/8/8/8/8/1RR1K3 w Cc - 0 1",
        ] {
            assert_eq!(Position::from_fen(fen).unwrap().to_fen(), fen);
        }
    }

    #[test]
    fn shredder_letters_and_outermost_rooks() {
        let inner = Position::from_fen("1rr1k3/8/8/8/8/8/8/1RR1K3 w Cc - 0 1").unwrap();
        assert_eq!(inner.to_fen(), "1rr1k3/8/8/8/8/8/8/1RR1K3 w Cc - 0 1");
        let outer = Position::from_fen("1rr1k3/8/8/8/8/8/8/1RR1K3 w Qq - 0 1").unwrap();
        assert_eq!(outer.to_shredder_fen(), "1rr1k3/8/8/8/8/8/8/1RR1K3 w Bb - 0 1");
        assert_ne!(inner.key(), outer.key());
    }

    #[test]
    fn en_passant_is_kept_only_where_a_capture_is_legal() {
        let useless = Position::from_fen("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1").unwrap();
        assert_eq!(useless.en_passant(), None);
        // The capture would bare the fourth rank to the rook.
        let pinned = Position::from_fen("8/8/8/8/k2pP2R/8/8/4K3 b - e3 0 1").unwrap();
        assert_eq!(pinned.en_passant(), None);
    }

    #[test]
    fn four_fields_and_what_follows() {
        let (position, rest) = Position::from_fen_prefix("8/8/8/8/8/k7/8/K7 w - - c9 \"1-0\";").unwrap();
        assert_eq!((position.halfmove_clock(), position.fullmove_number(), rest), (0, 1, "c9 \"1-0\";"));
        let (position, rest) = Position::from_fen_prefix(" 8/8/8/8/8/k7/8/K7 b  - - 12 70  [0.5]").unwrap();
        assert_eq!((position.halfmove_clock(), position.fullmove_number(), rest), (12, 70, "[0.5]"));
    }

    #[test]
    fn errors_name_what_is_wrong() {
        let kings = "8/8/8/8/8/k7/8/K7";
        assert_eq!(error("8/8 w -"), FenError::FieldCount(3));
        assert_eq!(error(""), FenError::FieldCount(0));
        assert_eq!(error("8/8/8/8/8/k7/K7 w - -"), FenError::RankCount(7));
        assert_eq!(error("8/8/8/8/8/k7/8/K7/8 w - -"), FenError::RankCount(9));
        assert_eq!(error("9/8/8/8/8/k7/8/K7 w - -"), FenError::Piece('9'));
        assert_eq!(error("8/8/8/8/8/k8/8/K7 w - -"), FenError::RankLength { rank: 3, found: 9 });
        assert_eq!(error("8/8/8/8/8/kx6/8/K7 w - -"), FenError::Piece('x'));
        assert_eq!(error("8/8/8/8/8/ké6/8/K7 w - -"), FenError::Piece('é'));
        assert_eq!(error(&format!("{kings} x - -")), FenError::SideToMove("x".into()));
        assert_eq!(error(&format!("{kings} w KX -")), FenError::CastlingWithoutRook('K'));
        assert_eq!(error(&format!("{kings} w X -")), FenError::Castling("X".into()));
        assert_eq!(error(&format!("{kings} w - e9")), FenError::EnPassant("e9".into()));
        let e6 = Square::from_name(b"e6").unwrap();
        assert_eq!(error(&format!("{kings} w - e6")), FenError::EnPassantImpossible(e6));
        assert_eq!(error(&format!("{kings} w - - x 1")), FenError::HalfmoveClock("x".into()));
        assert_eq!(error(&format!("{kings} w - - +0 1")), FenError::HalfmoveClock("+0".into()));
        assert_eq!(error(&format!("{kings} w - - 0 99999")), FenError::FullmoveNumber("99999".into()));
        assert_eq!(error("8/8/8/8/8/k7/8/8 w - -"), FenError::Kings { color: Color::White, found: 0 });
        assert_eq!(error("8/8/8/8/8/kk6/8/K7 w - -"), FenError::Kings { color: Color::Black, found: 2 });
        assert_eq!(error("P7/8/8/8/8/k7/8/K7 w - -"), FenError::PawnOnLastRank(Square::from_index(56)));
        assert_eq!(error("8/8/8/8/8/k7/1R6/K7 w - - 0 1 2"), FenError::FieldCount(7));
        assert_eq!(error("8/8/8/8/8/k6R/8/K7 w - -"), FenError::OpponentInCheck);
        assert_eq!(error("QQQQQQQQ/QQ6/8/8/8/k7/8/K7 w - -"), FenError::TooManyPieces { color: Color::White });
    }
}
