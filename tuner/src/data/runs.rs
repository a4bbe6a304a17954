//! Positions that follow one another by their moves: what formats of games and chains are made of.

use std::iter;
use std::ops::Range;

use engine::chess::{Move, Position};
use thiserror::Error;

use super::{Dataset, Outcome};

/// Positions of one group and outcome, each of which comes of the one before by its move.
pub(crate) struct Run {
    /// The first of them.
    pub(crate) start: Position,
    /// How the game ended.
    pub(crate) outcome: Outcome,
    /// What is known of each of them, the first included; never empty.
    pub(crate) steps: Vec<Step>,
}

/// A position of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The move that leads on.
    pub(crate) mv: Move,
    /// The score of the position, in White's view.
    pub(crate) score: Option<i16>,
}

/// What a position has that a format has no room for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unfit {
    /// Too many plies since the last capture or pawn move.
    #[error("a halfmove clock of {0}")]
    HalfmoveClock(u16),
    /// Too many moves since the game began.
    #[error("move number {0}")]
    FullmoveNumber(u16),
    /// A king or a rook that may castle stands where it does not in standard chess.
    #[error("castling rights of Chess960")]
    Castling,
}

impl Dataset {
    /// The runs that begin within a range, each with the index of its first position; what follows it may lie behind
    /// the range. A run of more than `longest` positions comes in pieces. Ranges one behind the other bring every
    /// position once, wherever they part.
    ///
    /// # Panics
    /// If a position has no move; see [`Dataset::best`].
    pub(crate) fn runs(&self, range: Range<usize>, longest: usize) -> impl Iterator<Item = (usize, Run)> {
        let mut next = range.start;
        if let Some(before) = next.checked_sub(1).filter(|_| !range.is_empty()) {
            let mut position = self.position(before);
            while next < range.end && self.follows(next, &mut position) {
                next += 1;
            }
        }
        let mut is_in_pieces = false;
        iter::from_fn(move || {
            if next >= range.end && !is_in_pieces {
                return None;
            }
            let (first, start) = (next, self.position(next));
            let mut position = start.clone();
            let mut steps = vec![self.step(first)];
            next += 1;
            is_in_pieces = loop {
                match self.follows(next, &mut position) {
                    true if steps.len() < longest => steps.push(self.step(next)),
                    goes_on => break goes_on,
                }
                next += 1;
            };
            Some((first, Run { start, outcome: self.label(first).outcome, steps }))
        })
    }

    fn step(&self, index: usize) -> Step {
        Step { mv: self.best(index).expect("every position has a move"), score: self.label(index).score }
    }

    /// Plays the move of the position before this one, which is given, and says whether this one is what comes of it.
    fn follows(&self, index: usize, before: &mut Position) -> bool {
        if index >= self.len() {
            return false;
        }
        let [last, next] = [index - 1, index].map(|index| self.label(index));
        if (last.outcome, last.group) != (next.outcome, next.group) {
            return false;
        }
        before.play(self.step(index - 1).mv);
        self.store.holds(index, before)
    }
}
