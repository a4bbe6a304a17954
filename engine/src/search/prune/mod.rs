//! Conditions and margins of pruning and reductions, one function a technique.
//!
//! Values are centipawns in the view of the side to move; reductions are 1024ths of a ply unless in plies.

use super::params::SearchParams;
use super::table::{Bound, Entry};
use super::value::{Value, is_decided, is_loss, is_win};
use crate::chess::{Bitboard, PieceType, Position};

/// The state of a node that pruning depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeState {
    /// Remaining depth, plies.
    pub(super) depth: i32,
    pub(super) alpha: Value,
    pub(super) beta: Value,
    /// The evaluation, corrected and refined by the table; meaningless in check.
    pub(super) eval: Value,
    /// True if the evaluation has risen since the side's last moves.
    pub(super) improving: bool,
    pub(super) is_check: bool,
    pub(super) is_pv: bool,
    pub(super) cut_node: bool,
}

impl NodeState {
    /// Returns true if the node may be cut short by its evaluation alone: off the principal variation and out of check.
    pub(super) fn may_prune(&self) -> bool {
        !self.is_pv && !self.is_check && !is_decided(self.beta)
    }

    /// Reverse futility: near the horizon, an evaluation far above beta stays there.
    /// See <https://www.chessprogramming.org/Reverse_Futility_Pruning>.
    pub(super) fn reverse_futility(&self, params: &SearchParams) -> bool {
        let improving = if self.improving { params.rfp_improving } else { 0 };
        let margin = (100 * self.depth - improving).max(0) * params.rfp_margin / 100;
        self.depth <= params.rfp_max_depth && self.eval - margin >= self.beta && !is_win(self.eval)
    }

    /// Razoring: near the horizon, only captures can lift an evaluation far below alpha.
    /// See <https://www.chessprogramming.org/Razoring>.
    pub(super) fn razoring(&self, params: &SearchParams) -> bool {
        self.depth <= params.razor_max_depth && self.eval + params.razor_margin * self.depth <= self.alpha
    }

    /// Null move: a side that can afford to pass has a move that is good enough.
    /// See <https://www.chessprogramming.org/Null_Move_Pruning>.
    pub(super) fn null_move(&self, params: &SearchParams) -> bool {
        self.depth >= params.nmp_min_depth && self.eval >= self.beta && !is_loss(self.beta)
    }

    /// Depth that the null move takes away, in plies.
    pub(super) fn null_move_reduction(&self, params: &SearchParams) -> i32 {
        params.nmp_base
            + self.depth / params.nmp_divisor
            + ((self.eval - self.beta) / params.nmp_eval_divisor).min(params.nmp_eval_most)
    }

    /// ProbCut: a capture that beats beta by a margin in a shallow search beats it in the full one too, unless the
    /// table already knows better. The bound to beat, if it is worth trying.
    /// See <https://www.chessprogramming.org/ProbCut>.
    pub(super) fn probcut_beta(&self, params: &SearchParams, entry: Option<&Entry>) -> Option<Value> {
        let beta = self.beta + params.probcut_margin - if self.improving { params.probcut_improving } else { 0 };
        let is_refuted =
            entry.is_some_and(|entry| entry.depth > self.depth - params.probcut_reduction && entry.value < beta);
        (self.depth >= params.probcut_min_depth && !is_refuted).then_some(beta)
    }

    /// Internal iterative reduction: without a table move, a cheaper search finds one.
    /// See <https://www.chessprogramming.org/Internal_Iterative_Reductions>.
    pub(super) fn iir(&self, params: &SearchParams, entry: Option<&Entry>) -> bool {
        let is_known = entry.is_some_and(|entry| entry.mv.is_some() && entry.depth >= self.depth - params.iir_slack);
        self.depth >= params.iir_min_depth && (self.is_pv || self.cut_node) && !is_known
    }

    /// Late move pruning: near the horizon, quiet moves after a certain number are skipped.
    /// See <https://www.chessprogramming.org/Futility_Pruning#Move_Count_Based_Pruning>.
    pub(super) fn late_move_pruning(&self, params: &SearchParams, tried: i32) -> bool {
        let count = params.lmp_base + self.depth * self.depth;
        self.depth <= params.lmp_max_depth && tried >= if self.improving { count } else { count / 2 }
    }

    /// Futility pruning: near the horizon, a quiet move does not lift the evaluation to alpha. `depth` is the reduced one.
    /// See <https://www.chessprogramming.org/Futility_Pruning>.
    pub(super) fn futility(&self, params: &SearchParams, depth: i32) -> bool {
        let reach = self.eval + params.fp_base + params.fp_margin * depth;
        !self.is_check && depth <= params.fp_max_depth && reach <= self.alpha
    }

    /// Futility pruning of captures that lose material: the value that they cannot pass near the horizon, if alpha is
    /// above it.
    pub(super) fn losing_captures_reach(&self, params: &SearchParams) -> Option<Value> {
        let reach = self.eval + params.fp_losing_margin * self.depth;
        let is_near = self.depth <= params.fp_losing_max_depth && !self.is_check;
        (is_near && reach <= self.alpha && !is_decided(self.alpha)).then_some(reach)
    }

    /// History pruning: near the horizon, a quiet move that has always failed fails again. `depth` is the reduced one.
    pub(super) fn history_pruning(&self, params: &SearchParams, depth: i32, history: i32) -> bool {
        depth <= params.hp_max_depth && history < -params.hp_margin * depth.max(1)
    }

    /// The threshold of SEE pruning, at most 0 centipawns; `None` if the depth is too large for it.
    pub(super) fn see_threshold(&self, params: &SearchParams, is_quiet: bool, depth: i32) -> Option<Value> {
        if is_quiet {
            let depth = depth.max(0);
            (depth <= params.see_quiet_max_depth).then_some(-params.see_quiet_margin * depth)
        } else {
            (self.depth <= params.see_noisy_max_depth).then_some(-params.see_noisy_margin * self.depth)
        }
    }

    /// Plies that a move is searched deeper, or less deep if negative, once a reduced search has found it worth `value`.
    pub(super) fn after_reduction(&self, params: &SearchParams, value: Value, best: Value) -> i32 {
        let is_far_better = value > best + params.lmr_deeper_margin;
        i32::from(is_far_better) - i32::from(value < best + params.lmr_shallower_margin)
    }

    /// Returns true if a move that raises alpha reduces the depth of the moves after it.
    pub(super) fn alpha_raise_reduction(&self, params: &SearchParams, value: Value) -> bool {
        (params.alpha_min_depth..=params.alpha_max_depth).contains(&self.depth) && !is_decided(value)
    }

    /// Singular extension: whether the table move is to be tried against all others, and the bound that they must stay
    /// below. See <https://www.chessprogramming.org/Singular_Extensions>.
    pub(super) fn singular_beta(&self, params: &SearchParams, entry: Option<&Entry>) -> Option<Value> {
        let entry = entry.filter(|entry| {
            self.depth >= params.se_min_depth
                && entry.depth >= self.depth - params.se_table_slack
                && entry.bound != Bound::Upper
                && !is_decided(entry.value)
        })?;
        Some(entry.value - params.se_margin * self.depth / 16)
    }
}

/// Returns true if the side to move has more than pawns: otherwise zugzwang is near.
pub(super) fn has_pieces(position: &Position) -> bool {
    let us = position.color(position.side_to_move());
    let simple: Bitboard = position.pieces(PieceType::Pawn) | position.pieces(PieceType::King);
    us.without(simple).any()
}

/// The properties of a move that its late move reduction depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct MoveTraits {
    pub(super) is_quiet: bool,
    pub(super) gives_check: bool,
    pub(super) is_refutation: bool,
    pub(super) table_move_is_noisy: bool,
    pub(super) was_pv: bool,
    /// True if several siblings failed high.
    pub(super) siblings_fail: bool,
    pub(super) history: i32,
}

const ROWS: usize = 64;

/// Base reductions by `[depth][moves tried]`, in 1024ths of a ply.
pub(super) struct Reductions {
    quiet: Box<[[i32; ROWS]; ROWS]>,
    noisy: Box<[[i32; ROWS]; ROWS]>,
}

impl Reductions {
    pub(super) fn new(params: &SearchParams) -> Self {
        let logarithms: [f64; ROWS] = std::array::from_fn(|i| (i.max(1) as f64).ln());
        let table = |base: i32, divisor: i32| {
            let cell = |depth: usize, tried: usize| {
                let product = logarithms[depth] * logarithms[tried];
                base + (1024.0 * product * 100.0 / f64::from(divisor)) as i32
            };
            Box::new(std::array::from_fn(|depth| std::array::from_fn(|tried| cell(depth, tried))))
        };
        Reductions {
            quiet: table(params.lmr_quiet_base, params.lmr_quiet_divisor),
            noisy: table(params.lmr_noisy_base, params.lmr_noisy_divisor),
        }
    }

    /// The reduction by depth and number of moves tried alone, in 1024ths of a ply.
    #[inline(always)]
    pub(super) fn base(&self, is_quiet: bool, depth: i32, tried: i32) -> i32 {
        let table = if is_quiet { &self.quiet } else { &self.noisy };
        table[(depth as usize).min(ROWS - 1)][(tried as usize).min(ROWS - 1)]
    }
}

/// Late move reduction in plies; negative for an extension.
/// See <https://www.chessprogramming.org/Late_Move_Reductions>.
pub(super) fn reduction(params: &SearchParams, base: i32, state: &NodeState, traits: &MoveTraits) -> i32 {
    let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
    let divisor = if traits.is_quiet { params.lmr_quiet_history } else { params.lmr_noisy_history };
    let sum = base - when(state.is_pv, params.lmr_pv)
        + when(state.cut_node, params.lmr_cut_node)
        + when(!state.improving, params.lmr_not_improving)
        - when(traits.gives_check, params.lmr_check)
        - when(traits.is_refutation, params.lmr_refutation)
        + when(traits.table_move_is_noisy && traits.is_quiet, params.lmr_noisy_tt_move)
        - when(traits.was_pv, params.lmr_was_pv)
        + when(traits.siblings_fail, params.lmr_cutoffs)
        - traits.history * 1024 / divisor;
    sum / 1024
}

#[cfg(test)]
mod tests;
