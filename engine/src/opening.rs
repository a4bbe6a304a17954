//! The engine's own opening book: whether it is used, and for which commands.

use crate::book::Book;
use crate::chess::{Move, Position};
use crate::random::Random;
use crate::search::Limits;

/// The book and the dice.
pub(crate) struct Opening {
    /// Whether moves are taken from the book (`OwnBook`).
    pub(crate) is_on: bool,
    /// What `BookFile` names, if anything.
    pub(crate) book: Option<Book>,
    random: Random,
}

impl Opening {
    pub(crate) fn new() -> Self {
        Opening { is_on: false, book: None, random: Random::unpredictable() }
    }

    /// The book's move for a position, if there is one and the limits ask for a move to play: who analyses, ponders,
    /// looks for a mate or names the moves to search wants a search.
    pub(crate) fn choose(&mut self, position: &Position, limits: &Limits) -> Option<Move> {
        let wants_search = limits.infinite || limits.ponder || limits.mate.is_some() || !limits.search_moves.is_empty();
        let book = self.book.as_ref().filter(|_| self.is_on && !wants_search)?;
        book.choose(position, &mut self.random)
    }
}
