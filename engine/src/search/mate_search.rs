//! Mate search: before an iteration, proof-number search looks for a mate that pruning and reductions would hide from
//! it. A proof is stored in the table and moved to the front of the root moves; the iteration then finds the mate itself.

use super::proof::{MateAnswer, Proof, ProofEntry, prove_mate};
use super::table::{Bound, Entry};
use super::value::{INFINITE, MAX_PLY, Value, is_loss, mate_distance, mate_in, mated_in};
use super::worker::{Abort, RootMove, Worker};
use crate::chess::{DRAWING_CLOCK, Game, Position};

/// Lengths in moves. A plain search sees a mate in one, and longer mates take too long to prove.
const MOVES: std::ops::RangeInclusive<usize> = 2..=12;

/// From this value on, centipawns, mate search may use as many nodes as the search itself.
const DECIDED: Value = 500;

/// Below it, this fraction of them: 2 % of the nodes of searches of 400,000, where a sixteenth takes 8 %. The time is too
/// short to be measured beside that of the search.
const UNDECIDED_SHARE: u64 = 64;

/// Positions that a search for a mate in 2, 3, 4, or 5 and more moves may visit in a decided game, if neither time nor
/// nodes are limited. Nine of ten mates in a set from games need a tenth of it.
const ALLOWANCE: [u64; 4] = [1_000, 30_000, 500_000, 2_500_000];

/// The fraction of that allowance for undecided games: enough for all mates in 3 of that set.
const UNDECIDED_ALLOWANCE: u64 = 16;

/// The most positions in a tree, 20 bytes each.
const LARGEST_TREE: u64 = 2_500_000;

impl Worker {
    /// Tries to prove a mate two plies shorter than the iteration of `depth` plies; under `go mate`, one as long as it.
    /// If the proof search gives no answer under `go mate`, the iteration runs without pruning.
    pub(super) fn search_mate(&mut self, game: &Game, depth: i32) -> Result<(), Abort> {
        let wants_mate = self.shared.limits.mate.is_some();
        let position = game.position();
        let moves = (depth.max(1) as usize - 1) / 2 + usize::from(wants_mate);
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
        let tree_size = self.tree_size(moves, value);
        let nodes_before = self.nodes;
        let answer = prove_mate(position, moves, tree_size as usize, &mut || self.visit_node());
        self.mate_search_nodes += self.nodes - nodes_before;
        let answer = answer?;
        self.full_width = wants_mate && matches!(answer, MateAnswer::Unknown);
        if let MateAnswer::Yes(proof) = answer {
            self.seed_with(position, &proof);
        }
        Ok(())
    }

    /// Whether some legal moves are excluded at the root.
    fn has_excluded_root_move(&self, position: &Position) -> bool {
        self.root_moves.len() != position.count_legal_moves() as usize
    }

    /// The most positions of the proof tree.
    fn tree_size(&self, moves: usize, value: Value) -> u64 {
        let limits = &self.shared.limits;
        let is_free = limits.clock.is_none() && limits.move_time.is_none() && limits.nodes.is_none();
        let allowance = if is_free { ALLOWANCE[(moves - MOVES.start()).min(ALLOWANCE.len() - 1)] } else { 0 };
        let tree_size = if limits.mate.is_some() {
            LARGEST_TREE
        } else if value >= DECIDED {
            self.nodes.max(allowance)
        } else {
            (self.nodes / UNDECIDED_SHARE).max(allowance / UNDECIDED_ALLOWANCE)
        };
        tree_size.min(LARGEST_TREE)
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
