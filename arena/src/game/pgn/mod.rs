//! Games as text, in and out. See <https://www.chessprogramming.org/Portable_Game_Notation>.

mod read;
mod write;

pub use read::{PgnFault, PgnGame, PgnReader, PgnResult};
pub use write::{Headers, to_pgn};
