//! The rules of chess and nothing else.
//!
//! [`Position`] is a legal chess position (standard or Chess960) on which moves are made and unmade. Move generation yields
//! *legal* moves only; there is no pseudo-legal list anywhere. [`Game`] adds the positions before: repetitions, and how the
//! rules end a game. Evaluation and protocols live above this module and are unknown to it.
//!
//! Conventions: a1 = 0, h8 = 63; castling is written as the king taking its own rook; arrays are `[rank][file]`.

pub mod attacks;
mod bitboard;
mod castling;
mod checks;
mod cuckoo;
pub mod epd;
mod fen;
mod game;
mod magics;
mod movegen;
mod moves;
mod perft;
mod play;
mod position;
mod san;
mod see;
mod setup;
mod types;
mod zobrist;

pub use bitboard::Bitboard;
pub use castling::{CastlingRights, CastlingSide};
pub use checks::Checks;
pub use fen::FenError;
pub(crate) use game::{DRAWING_CLOCK, is_drawn_by_rule};
pub use game::{Game, GameEnd, GameResult};
pub use movegen::{All, MoveList, Noisy, Quiet, Stage};
pub use moves::{Move, MoveKind, MoveParseError};
pub use perft::{divide, perft};
pub use play::Undo;
pub use position::Position;
pub use san::{San, SanError, SanMismatch};
pub use see::SEE_VALUES;
pub use setup::Setup;
pub use types::{Color, File, Piece, PieceType, Rank, Square};
pub use zobrist::key_of_moving;
