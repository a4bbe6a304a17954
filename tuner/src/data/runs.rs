//! Runs of positions that follow one another by their moves, for the formats of games and chains.

use std::iter;
use std::ops::Range;

use engine::chess::{Move, Position};

use super::{Dataset, ResultLabel};

/// A run of positions of one group and result, each reached from the one before by its move.
pub(crate) struct PositionRun {
    /// The first position.
    pub(crate) start: Position,
    /// The result of the game.
    pub(crate) outcome: ResultLabel,
    /// Move and score of each position, the first included; never empty.
    pub(crate) steps: Vec<ScoredMove>,
}

/// The move and score of a position of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScoredMove {
    /// The move that leads to the next position.
    pub(crate) mv: Move,
    /// The score of the position, in White's view.
    pub(crate) score: Option<i16>,
}

impl Dataset {
    /// Returns the runs that begin within a range, each with the index of its first position; a run may extend beyond
    /// the range. A run of more than `longest` positions is split. Adjacent ranges yield every position exactly once,
    /// wherever their boundaries are.
    ///
    /// # Panics
    /// If a position has no move; see [`Dataset::best`].
    pub(crate) fn runs(&self, range: Range<usize>, longest: usize) -> impl Iterator<Item = (usize, PositionRun)> {
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
            Some((first, PositionRun { start, outcome: self.label(first).outcome, steps }))
        })
    }

    fn step(&self, index: usize) -> ScoredMove {
        ScoredMove { mv: self.best(index).expect("every position has a move"), score: self.label(index).score }
    }

    /// Plays the move of the previous position, which is given, and returns true if it leads to the position at
    /// `index`.
    fn follows(&self, index: usize, before: &mut Position) -> bool {
        if index >= self.len() {
            return false;
        }
        let [last, next] = [index - 1, index].map(|index| self.label(index));
        if (last.outcome, last.group) != (next.outcome, next.group) {
            return false;
        }
        before.play(self.step(index - 1).mv);
        *before == self.position(index)
    }
}
