//! The hunt for a mate: before an iteration that could see a mate of its length only with every move searched to its
//! full depth, a proof is looked for apart. If there is one, the table and the root are told, and the iteration finds
//! the mate by itself: the search has the last word.

use super::proof::{Answer, Proof, Solved, prove_mate};
use super::table::{Bound, Entry};
use super::value::{INFINITE, MAX_PLY, Value, is_loss, mate_distance, mate_in, mated_in};
use super::worker::{Abort, RootMove, Worker};
use crate::chess::{DRAWING_CLOCK, Game, Position};

/// Mates in one are seen without a hunt, and none of so many moves is found in reasonable time.
const MOVES: std::ops::RangeInclusive<usize> = 2..=12;

/// From this value on, centipawns, a game is decided but for the mate: the hunt may take as much as the search.
const DECIDED: Value = 500;

/// Elsewhere it may take one part in so many.
const UNDECIDED_SHARE: u64 = 16;

/// Where neither time nor nodes are limited, positions that a hunt for a mate in 2, 3, 4, 5 or more moves may look at in
/// a decided game. Nine of ten mates in a set from games need a tenth of it.
const ALLOWANCE: [u64; 4] = [1_000, 30_000, 500_000, 2_500_000];

/// Of that allowance, an undecided game has one part in so many: enough for all mates in 3 of that set.
const UNDECIDED_ALLOWANCE: u64 = 16;

/// Positions in a tree, for the sake of memory: 20 bytes each.
const LARGEST_TREE: u64 = 2_500_000;

impl Worker {
    /// Looks for a mate that the iteration of `depth` plies is to see: one two plies shorter; if a mate is asked for, one
    /// as long as it is deep, and only what stays open is left to a search that leaves nothing out.
    pub(super) fn hunt_mate(&mut self, game: &Game, depth: i32) -> Result<(), Abort> {
        let wants_mate = self.shared.limits.mate.is_some();
        let position = game.position();
        let moves = (depth.max(1) as usize - 1) / 2 + usize::from(wants_mate);
        let value = self.root_moves[0].known_value();
        let knows_better = is_loss(value) || mate_distance(value).is_some_and(|known| known as usize <= moves);
        let comes_too_late = usize::from(position.halfmove_clock()) + 2 * moves > usize::from(DRAWING_CLOCK);
        if depth & 1 == 0 || !MOVES.contains(&moves) || knows_better || comes_too_late || self.is_restricted(position) {
            return Ok(());
        }
        let effort = self.effort(moves, value);
        let nodes_before = self.nodes;
        let answer = prove_mate(position, moves, effort as usize, &mut || self.visit_node());
        self.hunted += self.nodes - nodes_before;
        let answer = answer?;
        self.full_width = wants_mate && matches!(answer, Answer::Unsettled);
        if let Answer::Yes(proof) = answer {
            self.believe(position, &proof);
        }
        Ok(())
    }

    /// Whether not every move may be played at the root.
    fn is_restricted(&self, position: &Position) -> bool {
        self.root_moves.len() != position.count_legal_moves() as usize
    }

    /// How many positions the tree of the hunt may have.
    fn effort(&self, moves: usize, value: Value) -> u64 {
        let limits = &self.shared.limits;
        let is_free = limits.clock.is_none() && limits.move_time.is_none() && limits.nodes.is_none();
        let allowance = if is_free { ALLOWANCE[(moves - MOVES.start()).min(ALLOWANCE.len() - 1)] } else { 0 };
        let effort = if limits.mate.is_some() {
            LARGEST_TREE
        } else if value >= DECIDED {
            self.nodes.max(allowance)
        } else {
            (self.nodes / UNDECIDED_SHARE).max(allowance / UNDECIDED_ALLOWANCE)
        };
        effort.min(LARGEST_TREE)
    }

    /// Has the coming iteration find a mate that is proved.
    fn believe(&mut self, position: &Position, proof: &Proof) {
        let table = &self.shared.table;
        proof.for_each(position, &mut |position, &Solved { ply, length, mv }| {
            let (value, bound) = if ply.is_multiple_of(2) {
                (mate_in(ply + length), Bound::Lower)
            } else {
                (mated_in(ply + length), Bound::Upper)
            };
            let depth = MAX_PLY as i32;
            table.store(position.key(), ply, Entry { mv, value, eval: None, depth, bound, is_pv: false });
        });
        let line = proof.line(position);
        let Some(index) = self.root_moves.iter().position(|root| Some(&root.mv) == line.first()) else { return };
        let root = &mut self.root_moves[index];
        *root = RootMove { previous: mate_in(line.len()), value: -INFINITE, line, ..root.clone() };
        self.root_moves[..=index].rotate_right(1);
    }
}
