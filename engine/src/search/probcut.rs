//! ProbCut: a capture that beats a raised beta in a shallow search will beat beta in the full one.
//! See <https://www.chessprogramming.org/ProbCut>.

use super::node_kind::NonPv;
use super::picker::Picker;
use super::prune::NodeState;
use super::quiescence::quiesce;
use super::table::{Bound, Entry};
use super::value::Value;
use super::worker::{Abort, Worker};
use crate::chess::{Bitboard, Game};

impl Worker {
    /// Searches good captures against a raised beta at reduced depth. Returns the value of a cutoff, if there is one.
    pub(super) fn probcut(
        &mut self,
        game: &mut Game,
        now: &NodeState,
        entry: Option<&Entry>,
        raw_eval: Option<Value>,
    ) -> Result<Option<Value>, Abort> {
        let Some(beta) = now.probcut_beta(&self.shared.params, entry) else { return Ok(None) };
        let reduction = self.shared.params.probcut_reduction;
        let past = self.past();
        let ply = self.ply;
        let mut picker = Picker::noisy(game.position(), entry.and_then(|entry| entry.mv), beta - now.eval);
        while let Some(mv) = picker.next(game.position(), &self.histories, &past, Bitboard::EMPTY, true) {
            self.shared.table.prefetch(game.position().approximate_key_after(mv));
            self.frame_mut().enter(game.position(), mv, false);
            let undo = game.make(mv);
            self.ply += 1;
            let mut result = quiesce(self, game.position_mut(), -beta, -beta + 1, ply + 1, &mut ());
            if result.is_ok_and(|value| -value >= beta) {
                result = self.node::<NonPv>(game, -beta, -beta + 1, now.depth - reduction, !now.cut_node, &mut ());
            }
            self.ply -= 1;
            game.unmake(mv, undo);
            let value = -result?;
            if value >= beta {
                let depth = now.depth - reduction + 1;
                let (bound, is_pv) = (Bound::Lower, false);
                let found = Entry { mv: Some(mv), value, eval: raw_eval, depth, bound, is_pv };
                self.shared.table.store(game.position().key(), ply, found);
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}
