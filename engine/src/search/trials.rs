//! Searches that a node makes about itself before or beside its moves: what if it passed, what if a capture were enough,
//! what if the table move were not there.

use super::node_kind::{NodeKind, NonPv};
use super::picker::Picker;
use super::prune::{Situation, has_pieces};
use super::quiescence::quiesce;
use super::table::{Bound, Entry};
use super::value::{Value, is_win};
use super::worker::{Abort, Worker};
use crate::chess::{Game, Move};

/// What the search without the table move has shown.
pub(super) enum Singular {
    /// The table move is searched so many plies deeper.
    Extend(i32),
    /// Another move beats beta too.
    Cut(Value),
}

impl Worker {
    /// Searches with the move passed; a value that cuts the node off, if there is one. Deep in the tree, where a forced
    /// pass may be an advantage (zugzwang), the cutoff is verified by a search without null moves.
    pub(super) fn null_move(&mut self, game: &mut Game, now: &Situation) -> Result<Option<Value>, Abort> {
        let params = &self.shared.params;
        let is_after_null = self.ply > 0 && self.frame(1).mv.is_none();
        if !now.may_pass(params) || is_after_null || self.ply < self.null_move_from || !has_pieces(game.position()) {
            return Ok(None);
        }
        let verification_depth = params.nmp_verification_depth;
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
        // A mate found after passing proves nothing.
        let value = if is_win(value) { now.beta } else { value };
        if self.null_move_from > 0 || now.depth < verification_depth {
            return Ok(Some(value));
        }
        self.null_move_from = self.ply + (3 * depth.max(0) / 4) as usize;
        let result = self.node::<NonPv>(game, now.beta - 1, now.beta, depth, false, &mut ());
        self.null_move_from = 0;
        Ok((result? >= now.beta).then_some(value))
    }

    /// Searches good captures with a raised beta; a value that cuts the node off, if there is one.
    pub(super) fn probcut(
        &mut self,
        game: &mut Game,
        now: &Situation,
        entry: Option<&Entry>,
        raw_eval: Option<Value>,
    ) -> Result<Option<Value>, Abort> {
        let Some(beta) = now.probcut_beta(&self.shared.params, entry) else { return Ok(None) };
        let past = self.past();
        let ply = self.ply;
        let mut picker = Picker::noisy(game.position(), entry.and_then(|entry| entry.mv), beta - now.eval);
        while let Some(mv) = picker.next(game.position(), &self.histories, &past, true) {
            self.shared.table.prefetch(game.position().approximate_key_after(mv));
            self.frame_mut().enter(game.position(), mv, false);
            let undo = game.make(mv);
            self.ply += 1;
            let mut result = quiesce(self, game.position_mut(), -beta, -beta + 1, ply + 1, &mut ());
            if result.is_ok_and(|value| -value >= beta) {
                result = self.node::<NonPv>(game, -beta, -beta + 1, now.depth - 4, !now.cut_node, &mut ());
            }
            self.ply -= 1;
            game.unmake(mv, undo);
            let value = -result?;
            if value >= beta {
                let depth = now.depth - 3;
                let (bound, is_pv) = (Bound::Lower, false);
                let found = Entry { mv: Some(mv), value, eval: raw_eval, depth, bound, is_pv };
                self.shared.table.store(game.position().key(), ply, found);
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Whether a capture takes what has just taken.
    pub(super) fn recaptures(&self, mv: Move) -> bool {
        let last = self.frame(1);
        !last.is_quiet && last.mv.is_some_and(|last| last.to() == mv.to())
    }

    /// Whether the table move is so much better than all others that it deserves a deeper search, or whether several
    /// moves beat beta so that the node may be cut off.
    pub(super) fn singular<N: NodeKind>(
        &mut self,
        game: &mut Game,
        mv: Move,
        now: &Situation,
        entry: Option<&Entry>,
    ) -> Result<Singular, Abort> {
        let params = &self.shared.params;
        let (Some(bound), Some(entry)) = (now.singular_beta(params, entry), entry) else {
            return Ok(Singular::Extend(0));
        };
        let double_margin = params.se_double_margin;
        let killers = self.frame(0).killers;
        self.frame_mut().excluded = Some(mv);
        let result = self.node::<NonPv>(game, bound - 1, bound, (now.depth - 1) / 2, now.cut_node, &mut ());
        let frame = self.frame_mut();
        frame.excluded = None;
        frame.killers = killers;
        let others = result?;
        Ok(if others < bound {
            let twice = !N::PV && others < bound - double_margin && self.frame(0).double_extensions <= 6;
            Singular::Extend(1 + i32::from(twice))
        } else if bound >= now.beta && !N::PV {
            Singular::Cut(bound)
        } else if entry.value >= now.beta {
            Singular::Extend(-1 - i32::from(!N::PV))
        } else if now.cut_node {
            Singular::Extend(-1)
        } else {
            Singular::Extend(0)
        })
    }
}

#[cfg(test)]
mod tests;
