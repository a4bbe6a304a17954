//! Runs of positions that follow one another by their moves, for the formats of games and chains.

use std::iter;
use std::ops::Range;

use super::Dataset;

impl Dataset {
    /// Returns the runs that begin within a range, as ranges: positions of one group and result, each reached from the
    /// one before by its move. A run may extend beyond the range. A run of more than `longest` positions is split.
    /// Adjacent ranges yield every position exactly once, wherever their boundaries are.
    ///
    /// # Panics
    /// If a position has no move; see [`Dataset::best`].
    pub(crate) fn runs(&self, range: Range<usize>, longest: usize) -> impl Iterator<Item = Range<usize>> {
        let mut next = range.start;
        while next < range.end && self.follows(next) {
            next += 1;
        }
        let mut is_in_pieces = false;
        iter::from_fn(move || {
            if next >= range.end && !is_in_pieces {
                return None;
            }
            let first = next;
            is_in_pieces = loop {
                next += 1;
                match self.follows(next) {
                    true if next - first < longest => {}
                    goes_on => break goes_on,
                }
            };
            Some(first..next)
        })
    }

    /// Returns true if the move of the position before leads to the position at `index`, in the same game.
    fn follows(&self, index: usize) -> bool {
        if index == 0 || index >= self.len() {
            return false;
        }
        let [last, next] = [index - 1, index].map(|index| self.label(index));
        if (last.outcome, last.group) != (next.outcome, next.group) {
            return false;
        }
        let mut before = self.position(index - 1);
        before.play(self.best(index - 1).expect("every position has a move"));
        before == self.position(index)
    }
}
