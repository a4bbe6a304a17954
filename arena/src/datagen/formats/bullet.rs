//! Positions in bulletformat. See <https://github.com/jw1912/bulletformat>.

use std::io::{self, Read};

use bulletformat::{BulletFormat, ChessBoard};
use engine::chess::{Color, GameResult, PieceType, Position};
use engine::search::Value;

use super::hash;

/// Bytes of a position.
const SIZE: usize = size_of::<ChessBoard>();
/// Its bytes for the board, from the view of the side to move.
const BOARD: usize = 24;

/// A position whose score is in White's view.
pub(crate) fn encode(position: &Position, score: Value, outcome: GameResult) -> Vec<u8> {
    let colors = Color::ALL.map(|color| position.color(color).0);
    let pieces = PieceType::ALL.map(|piece_type| position.pieces(piece_type).0);
    let mut bitboards = [0; 8];
    bitboards[..2].copy_from_slice(&colors);
    bitboards[2..].copy_from_slice(&pieces);
    let side = position.side_to_move().index();
    let score = score.clamp(-i32::from(i16::MAX), i16::MAX.into()) as i16;
    let result = f32::from(outcome.half_points(Color::White)) / 2.0;
    let board = ChessBoard::from_raw(bitboards, side, score, result).expect("every occupied square has a piece");
    ChessBoard::as_bytes_slice(&[board]).to_vec()
}

/// The key of a position, without score and result.
pub(super) fn key(record: &[u8]) -> u64 {
    hash([&record[..BOARD]].into_iter())
}

/// Reads the next position into an empty buffer, if there is one.
pub(super) fn read(file: &mut impl Read, record: &mut Vec<u8>) -> io::Result<bool> {
    match file.take(SIZE as u64).read_to_end(record)? {
        0 => Ok(false),
        SIZE => Ok(true),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
