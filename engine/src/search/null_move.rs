//! Null move pruning: if the side to move stays above beta even after passing, the node is cut off.
//! See <https://www.chessprogramming.org/Null_Move_Pruning>.

use super::node_kind::NonPv;
use super::prune::{NodeState, has_pieces};
use super::value::{Value, is_win};
use super::worker::{Abort, Worker};
use crate::chess::Game;

impl Worker {
    /// Passes the move and searches the reply with reduced depth. Returns the value of a cutoff, if there is one.
    /// From `nmp_verification_depth` on, a search without null moves verifies the cutoff, because passing is an
    /// advantage in zugzwang.
    pub(super) fn null_move(&mut self, game: &mut Game, now: &NodeState) -> Result<Option<Value>, Abort> {
        let params = &self.shared.params;
        let is_after_null = self.ply > 0 && self.frame(1).mv.is_none();
        if !now.null_move(params) || is_after_null || self.ply < self.null_move_from || !has_pieces(game.position()) {
            return Ok(None);
        }
        self.shared.table.prefetch(game.position().key_after_null_move());
        let (verification_depth, verification_share) = (params.nmp_verification_depth, params.nmp_verification_share);
        let depth = now.depth - now.null_move_reduction(params);
        self.frame_mut().enter_null();
        let undo = game.make_null();
        self.ply += 1;
        let result = self.node::<NonPv>(game, -now.beta, -now.beta + 1, depth, !now.cut_node, &mut ());
        self.ply -= 1;
        game.unmake_null(undo);
        let value = -result?;
        if value < now.beta {
            return Ok(None);
        }
        // A win after a null move is not proved.
        let value = if is_win(value) { now.beta } else { value };
        if self.null_move_from > 0 || now.depth < verification_depth {
            return Ok(Some(value));
        }
        self.null_move_from = self.ply + (verification_share * depth.max(0) / 100) as usize;
        let result = self.node::<NonPv>(game, now.beta - 1, now.beta, depth, false, &mut ());
        self.null_move_from = 0;
        Ok((result? >= now.beta).then_some(value))
    }
}
