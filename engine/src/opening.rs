//! The use of the opening book by the protocols.

use crate::book::Book;
use crate::chess::{Move, Position};
use crate::random::Random;
use crate::search::Limits;

/// An opening book and the random numbers to choose its moves.
pub(crate) struct Opening {
    /// True if moves are taken from the book (`OwnBook`).
    pub(crate) is_on: bool,
    /// The book of the option `BookFile`, if any.
    pub(crate) book: Option<Book>,
    random: Random,
}

impl Opening {
    pub(crate) fn new() -> Self {
        Opening { is_on: false, book: None, random: Random::unpredictable() }
    }

    /// A book move, if there is one and the limits are those of a game; analysis, pondering, mate search and
    /// `searchmoves` always search.
    pub(crate) fn choose(&mut self, position: &Position, limits: &Limits) -> Option<Move> {
        let wants_search = limits.infinite || limits.ponder || limits.mate.is_some() || !limits.search_moves.is_empty();
        let book = self.book.as_ref().filter(|_| self.is_on && !wants_search)?;
        book.choose(position, &mut self.random)
    }
}
