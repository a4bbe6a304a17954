//! Games in PGN, read one after the other from a stream of any length.
//!
//! The reader parses the shape of the text and knows no rules: a move is a word, which the caller plays on a position.
//! It skips variations, annotations and move numbers, and comments unless they are requested. A game that breaks off,
//! because its writer was killed, does not spoil the next one.
//! See <https://github.com/fsmosca/PGN-Standard>.

mod lexer;
mod reader;
mod record;

pub use reader::PgnReader;
pub use record::{PgnFault, PgnGame, PgnMove, PgnResult, PgnTag};

/// All games of a text, with at most so many plies of each.
#[cfg(test)]
fn games(text: &[u8], plies: usize) -> Vec<PgnGame> {
    let mut reader = PgnReader::new(text, plies);
    std::iter::from_fn(|| reader.next_game().unwrap()).collect()
}
