//! Mate search: under `go mate`, before an iteration, proof-number search looks for a mate that pruning and reductions
//! would hide from it. A proof is stored in the table and moved to the front of the root moves; the iteration then finds
//! the mate itself. Without a proof it searches as always.

use super::proof::{MateAnswer, Proof, ProofEntry, prove_mate};
use super::table::{Bound, Entry};
use super::value::{INFINITE, MAX_PLY, is_loss, mate_distance, mate_in, mated_in};
use super::worker::{Abort, RootMove, Worker};
use crate::chess::{DRAWING_CLOCK, Game, Position};

/// Lengths in moves. A plain search sees a mate in one, and longer mates take too long to prove.
const MOVES: std::ops::RangeInclusive<usize> = 2..=12;

/// The most positions in a tree, 20 bytes each.
const LARGEST_TREE: usize = 2_500_000;

impl Worker {
    /// Tries to prove a mate as long as the iteration of `depth` plies.
    pub(super) fn search_mate(&mut self, game: &Game, depth: i32) -> Result<(), Abort> {
        let position = game.position();
        let moves = (depth.max(1) as usize).div_ceil(2);
        let value = self.root_moves[0].known_value();
        let knows_better = is_loss(value) || mate_distance(value).is_some_and(|known| known as usize <= moves);
        let comes_too_late = usize::from(position.halfmove_clock()) + 2 * moves > usize::from(DRAWING_CLOCK);
        if depth & 1 == 0
            || !MOVES.contains(&moves)
            || knows_better
            || comes_too_late
            || self.has_excluded_root_move(position)
        {
            return Ok(());
        }
        if let MateAnswer::Yes(proof) = prove_mate(position, moves, LARGEST_TREE, &mut || self.visit_node())? {
            self.seed_with(position, &proof);
        }
        Ok(())
    }

    /// Returns true if some legal moves are excluded at the root.
    fn has_excluded_root_move(&self, position: &Position) -> bool {
        self.root_moves.len() != position.count_legal_moves() as usize
    }

    /// Stores a proved mate in the table, and its first move in front of the root moves.
    fn seed_with(&mut self, position: &Position, proof: &Proof) {
        let table = &self.shared.table;
        proof.for_each(position, &mut |position, &ProofEntry { ply, length, mv }| {
            let (value, bound) = if ply.is_multiple_of(2) {
                (mate_in(ply + length), Bound::Lower)
            } else {
                (mated_in(ply + length), Bound::Upper)
            };
            let depth = MAX_PLY as i32;
            table.store(position.key(), ply, Entry { mv, value, eval: None, depth, bound, is_pv: false });
        });
        let line = proof.line(position);
        // The tablebase may ask for another win, on which there is progress.
        let best = self.root_moves[0].rank;
        let is_first = |root: &RootMove| Some(&root.mv) == line.first() && root.rank == best;
        let Some(index) = self.root_moves.iter().position(is_first) else { return };
        let root = &mut self.root_moves[index];
        *root = RootMove { previous: mate_in(line.len()), value: -INFINITE, line, ..root.clone() };
        self.root_moves[..=index].rotate_right(1);
    }
}
