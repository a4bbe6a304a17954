//! One opening: the moves of a book, or a position alone.

use engine::chess::{Game, Move, Position};

/// The start of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The position before the moves.
    pub root: Position,
    /// The moves of the book, which engines are sent; none if it holds positions.
    pub moves: Vec<Move>,
    /// The tags of the book that name the opening, as name and value.
    pub tags: Vec<(String, String)>,
}

impl Opening {
    /// The tags of PGN that name openings.
    pub(super) const TAGS: [&str; 4] = ["ECO", "NIC", "Opening", "Variation"];

    /// The game up to where the engines begin: its positions count for repetitions.
    pub fn game(&self) -> Game {
        let mut game = Game::new(self.root.clone());
        self.moves.iter().for_each(|&mv| game.play(mv));
        game
    }

    /// The position in which the engines begin.
    pub fn position(&self) -> Position {
        self.game().position().clone()
    }
}

impl From<Position> for Opening {
    fn from(root: Position) -> Self {
        Opening { root, moves: Vec::new(), tags: Vec::new() }
    }
}
