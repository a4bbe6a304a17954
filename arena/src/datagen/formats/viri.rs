//! Games in viriformat. See <https://docs.rs/viriformat>.

use std::io::{self, BufRead};

use engine::chess::{GameResult, Move, MoveKind, PieceType};
use viriformat::chess::board::{Board, DrawType, GameOutcome, WinType};
use viriformat::chess::chessmove::{Move as ViriMove, MoveFlags};
use viriformat::chess::piece::PieceType as ViriPiece;
use viriformat::chess::types::Square as ViriSquare;
use viriformat::dataformat::Game;

use super::hash;
use crate::datagen::SelfGame;

/// Bytes of the position that a game begins with, and those of them before its score and result.
const HEAD: usize = 32;
const BOARD: usize = 28;
/// Bytes of a move with its score; the move comes first.
const ELEMENT: usize = 4;

/// A game with its scores, mates among them, in White's view. Games with a move without a score are left out before.
pub(super) fn encode(game: &SelfGame) -> Vec<u8> {
    let mut board = Board::new();
    board.set_from_fen(&game.start.to_shredder_fen(), true).expect("a legal position can be read");
    let mut encoded = Game::new(&board);
    for played in &game.moves {
        let value = played.value.unwrap_or_default().clamp(i16::MIN.into(), i16::MAX.into());
        encoded.add_move(translate(played.mv), value as i16);
    }
    // Of how a game ended, the format keeps the result.
    encoded.set_outcome(match game.outcome {
        GameResult::WhiteWins => GameOutcome::WhiteWin(WinType::Adjudication),
        GameResult::BlackWins => GameOutcome::BlackWin(WinType::Adjudication),
        GameResult::Draw => GameOutcome::Draw(DrawType::Adjudication),
    });
    let mut bytes = Vec::with_capacity(HEAD + ELEMENT * (game.moves.len() + 1));
    encoded.serialise_into(&mut bytes).expect("a vector takes all");
    bytes
}

fn translate(mv: Move) -> ViriMove {
    let square = |square: engine::chess::Square| ViriSquare::new_clamped(square.index() as u8);
    let (from, to) = (square(mv.from()), square(mv.to()));
    match mv.kind() {
        MoveKind::Normal => ViriMove::new(from, to),
        MoveKind::EnPassant => ViriMove::new_with_flags(from, to, MoveFlags::EnPassant),
        MoveKind::Castling => ViriMove::new_with_flags(from, to, MoveFlags::Castle),
        MoveKind::Promotion => {
            let piece = match mv.promoted() {
                Some(PieceType::Knight) => ViriPiece::Knight,
                Some(PieceType::Bishop) => ViriPiece::Bishop,
                Some(PieceType::Rook) => ViriPiece::Rook,
                _ => ViriPiece::Queen,
            };
            ViriMove::new_with_promo(from, to, piece)
        }
    }
}

/// The key of a game, without scores and result.
pub(super) fn key(record: &[u8]) -> u64 {
    let (head, moves) = record.split_at(HEAD);
    hash(std::iter::once(&head[..BOARD]).chain(moves.chunks_exact(ELEMENT).map(|element| &element[..2])))
}

/// Reads the next game into an empty buffer, if there is one.
pub(super) fn read(file: &mut impl BufRead, record: &mut Vec<u8>) -> io::Result<bool> {
    if file.fill_buf()?.is_empty() {
        return Ok(false);
    }
    Game::deserialise_fast_into_buffer(file, record).map(|()| true)
}
