//! The node of the principal variation search, in numbered steps. Conditions and margins are in `prune`.
//! See <https://www.chessprogramming.org/Principal_Variation_Search>.

use arrayvec::ArrayVec;

use super::node_kind::{NodeKind, NonPv};
use super::picker::Picker;
use super::probe::Known;
use super::prune::{MoveTraits, NodeState, has_pieces, reduction};
use super::quiescence::{Line, quiesce};
use super::singular::Singular;
use super::table::{Bound, Entry};
use super::value::{DRAW, INFINITE, MAX_PLY, Value, is_loss, mate_in, mated_in};
use super::worker::{Abort, Worker};
use crate::chess::{Checks, Game, Move};

/// Moves that were searched and did not cut off.
type Tried = ArrayVec<Move, 64>;

impl Worker {
    /// The value of a node in the view of its side to move, a bound where it lies outside of (alpha, beta); `line`
    /// becomes the best line. `cut_node` says that the node is expected to fail high.
    pub(super) fn node<N: NodeKind>(
        &mut self,
        game: &mut Game,
        mut alpha: Value,
        mut beta: Value,
        mut depth: i32,
        cut_node: bool,
        line: &mut N::Line,
    ) -> Result<Value, Abort> {
        debug_assert!(-INFINITE <= alpha && alpha < beta && beta <= INFINITE);
        debug_assert!(N::PV || alpha + 1 == beta);

        // 1. The horizon: resolve the captures, unless the last move has repeated a position.
        if depth <= 0 {
            let ply = self.ply;
            line.end();
            if game.is_draw(ply) {
                return Ok(DRAW);
            }
            return quiesce(self, game.position_mut(), alpha, beta, ply, line);
        }
        self.visit_node()?;
        line.end();
        let ply = self.ply;
        self.seldepth = self.seldepth.max(ply);
        let is_check = game.position().is_check();

        // 2. The end of the game or of the stack, and the nearest mates.
        if !N::ROOT
            && let Some(value) = self.ended(game, is_check, &mut alpha, &mut beta)
        {
            return Ok(value);
        }

        // 3. Transposition table.
        let excluded = self.frame(0).excluded;
        let key = game.position().key();
        let entry = if excluded.is_none() { self.probe_table(game.position(), ply) } else { None };
        if let Some(entry) = entry.filter(|entry| !N::PV && entry.depth >= depth)
            && entry.bound.decides(entry.value, beta)
            && i32::from(game.position().halfmove_clock()) < self.shared.params.table_trust_clock
        {
            return Ok(entry.value);
        }
        let was_pv = N::PV || entry.is_some_and(|entry| entry.is_pv);

        // 4. Endings that a tablebase knows: its value is the least or the most, if it does not end the search here.
        let (mut best, mut most) = (-INFINITE, INFINITE);
        if !N::ROOT && excluded.is_none() {
            match self.probe_tablebase(game.position(), depth, (alpha, beta), was_pv) {
                Some(Known::Decided(value)) => return Ok(value),
                Some(Known::AtLeast(value)) if N::PV => (best, alpha) = (value, alpha.max(value)),
                Some(Known::AtMost(value)) if N::PV => most = value,
                _ => {}
            }
        }

        // 5. The static evaluation, corrected by history and refined by the table.
        let past = self.past();
        let mut raw_eval = None;
        let mut eval = -INFINITE;
        if excluded.is_some() {
            eval = self.frame(0).eval.unwrap_or(-INFINITE);
        } else if is_check {
            self.frame_mut().eval = None;
        } else {
            let (raw, corrected) = self.static_eval(game.position(), &past, entry.and_then(|entry| entry.eval));
            raw_eval = Some(raw);
            self.frame_mut().eval = Some(corrected);
            let refined = entry.filter(|entry| entry.bound.decides(entry.value, corrected));
            eval = refined.map_or(corrected, |entry| entry.value);
        }
        let before = self.frame(2).eval.or(self.frame(4).eval);
        let improving = !is_check && self.frame(0).eval.zip(before).is_none_or(|(now, before)| now > before);
        if excluded.is_none() && !N::ROOT {
            self.update_eval_history(game.position());
        }
        self.clear_below();
        self.frame_mut().double_extensions = self.frame(1).double_extensions;
        let state = |depth: i32, alpha: Value| NodeState {
            depth,
            alpha,
            beta,
            eval,
            improving,
            is_check,
            is_pv: N::PV,
            cut_node,
        };

        if excluded.is_none() && state(depth, alpha).may_prune() {
            // 6. Razoring.
            if state(depth, alpha).razoring(&self.shared.params) {
                let value = quiesce(self, game.position_mut(), alpha, alpha + 1, ply, &mut ())?;
                if value <= alpha {
                    return Ok(value);
                }
            }
            // 7. Reverse futility.
            if state(depth, alpha).reverse_futility(&self.shared.params) {
                return Ok((eval + beta) / 2);
            }
            // 8. Null move.
            if let Some(value) = self.null_move(game, &state(depth, alpha))? {
                return Ok(value);
            }
            // 9. ProbCut.
            if let Some(value) = self.probcut(game, &state(depth, alpha), entry.as_ref(), raw_eval)? {
                return Ok(value);
            }
        }

        // 10. Internal iterative reduction.
        if excluded.is_none() && state(depth, alpha).iir(&self.shared.params, entry.as_ref()) {
            depth -= 1;
        }

        // 11. The moves.
        let table_move = if N::ROOT {
            self.root_moves.get(self.first_root_move).map(|root| root.mv)
        } else {
            entry.and_then(|entry| entry.mv)
        };
        let table_move_is_noisy = table_move.is_some_and(|mv| game.position().is_noisy(mv));
        let [first_killer, second_killer] = self.frame(0).killers;
        let refutations = [first_killer, second_killer, self.histories.counter(past[0])];
        let checks = Checks::of(game.position());
        let attacked = game.position().attacked_by(!game.position().side_to_move());
        self.frame_mut().attacked = attacked;
        let mut picker = Picker::new(game.position(), checks, table_move, refutations);
        let mut best_move = None;
        let old_alpha = alpha;
        let mut tried = 0;
        let mut skip_quiets = false;
        let (mut quiets, mut noisies) = (Tried::new(), Tried::new());
        while let Some(mv) = picker.next(game.position(), &self.histories, &past, attacked, skip_quiets) {
            if Some(mv) == excluded || (N::ROOT && !self.is_root_move(mv)) {
                continue;
            }
            let position = game.position();
            // Prefetching the entry of a move that is pruned costs little. The entry of any other move arrives in time.
            self.shared.table.prefetch(position.approximate_key_after(mv));
            let is_quiet = !position.is_noisy(mv);
            let history = match is_quiet {
                true => self.histories.quiet(position, mv, &past, attacked),
                false => self.histories.noisy(position, mv),
            };
            let gives_check = checks.are_given_by(position, mv);
            // True if the move is known to lose no material. This needs no exchange evaluation.
            let is_safe = picker.has_given_good_noisy() || is_quiet && (attacked & mv.squares()).is_empty();
            let now = state(depth, alpha);
            let base = self.shared.reductions.base(is_quiet, depth, tried + 1);

            if N::ROOT {
                self.report_current_move(mv, tried);
            }

            // 12. Pruning of moves near the horizon.
            if !N::ROOT && !is_loss(best) && has_pieces(position) {
                let params = &self.shared.params;
                let reduced_depth = (depth - base / 1024).max(0);
                if is_quiet && !is_check {
                    skip_quiets |= now.late_move_pruning(params, tried) || now.futility(params, reduced_depth);
                }
                if is_quiet && !gives_check && (skip_quiets || now.history_pruning(params, reduced_depth, history)) {
                    continue;
                }
                let is_losing = !is_quiet && !picker.has_given_good_noisy() && Some(mv) != table_move;
                if is_losing
                    && !gives_check
                    && let Some(reach) = now.losing_captures_reach(params)
                {
                    // Only losing captures are left.
                    best = best.max(reach);
                    break;
                }
                let threshold = now.see_threshold(params, is_quiet, reduced_depth);
                if threshold.is_some_and(|threshold| !is_safe && !position.see_at_least(mv, threshold)) {
                    continue;
                }
            }

            // 13. Extensions: a singular table move; checks and recaptures that lose no material.
            let mut extension = 0;
            let may_extend = !N::ROOT && excluded.is_none() && self.may_extend();
            if may_extend && Some(mv) == table_move {
                match self.singular::<N>(game, mv, &now, entry.as_ref())? {
                    Singular::Extend(plies) => extension = plies,
                    Singular::Cut(value) => return Ok(value),
                }
            }

            let tempts = gives_check || N::PV && !is_quiet && self.recaptures(mv);
            if may_extend && extension == 0 && tempts && (is_safe || game.position().see_at_least(mv, 0)) {
                extension = 1;
            }

            // 14. The move is made.
            let nodes_before = self.nodes;
            let frame = self.frame_mut();
            frame.enter(game.position(), mv, is_quiet);
            frame.double_extensions += i32::from(extension >= 2);
            let undo = game.make(mv);
            self.ply += 1;
            tried += 1;
            let mut new_depth = depth - 1 + extension;
            let mut rest = N::Line::default();

            // 15. Late move reductions with re-searches; all moves but the first with a null window.
            let result = 'search: {
                let mut value = -INFINITE;
                if tried > 1 {
                    let mut reduced_depth = new_depth;
                    let params = &self.shared.params;
                    if depth >= params.lmr_min_depth && tried > params.unreduced_moves(N::ROOT) {
                        let traits = MoveTraits {
                            is_quiet,
                            gives_check,
                            is_refutation: refutations.contains(&Some(mv)),
                            table_move_is_noisy,
                            was_pv,
                            siblings_fail: self.frame(0).cutoffs > params.lmr_cutoffs_min,
                            history,
                        };
                        let plies = reduction(params, base, &now, &traits);
                        reduced_depth = (new_depth - plies.max(0)).max(new_depth.min(1));
                    }
                    value = match self.node::<NonPv>(game, -alpha - 1, -alpha, reduced_depth, true, &mut ()) {
                        Ok(value) => -value,
                        abort => break 'search abort,
                    };
                    if value > alpha && reduced_depth < new_depth {
                        new_depth += now.after_reduction(&self.shared.params, value, best);
                        if reduced_depth < new_depth {
                            value = match self.node::<NonPv>(game, -alpha - 1, -alpha, new_depth, !cut_node, &mut ()) {
                                Ok(value) => -value,
                                abort => break 'search abort,
                            };
                        }
                        if is_quiet {
                            self.update_after_reduction(&past, depth, value <= alpha, value >= beta);
                        }
                    }
                }
                if tried == 1 || N::PV && value > alpha {
                    let is_cut = !N::PV && !cut_node;
                    value = match self.node::<N::Child>(game, -beta, -alpha, new_depth, is_cut, &mut rest) {
                        Ok(value) => -value,
                        abort => break 'search abort,
                    };
                }
                Ok(value)
            };
            self.ply -= 1;
            game.unmake(mv, undo);
            self.frame_mut().double_extensions -= i32::from(extension >= 2);
            let value = result?;

            // 16. The value of the move.
            if N::ROOT {
                self.record_root_move(game, mv, value, tried == 1 || value > alpha, rest.moves(), nodes_before);
            }
            if value > best {
                best = value;
                if value > alpha {
                    best_move = Some(mv);
                    line.lead_to(mv, &rest);
                    if value >= beta {
                        self.frame_mut().cutoffs += 1;
                        break;
                    }
                    alpha = value;
                    if !N::ROOT && now.alpha_raise_reduction(&self.shared.params, value) {
                        depth -= 1;
                    }
                }
            }
            if Some(mv) != best_move {
                let list = if is_quiet { &mut quiets } else { &mut noisies };
                let _ = list.try_push(mv);
            }
        }

        // 17. No move: mate, stalemate, or nothing beside the excluded move.
        if tried == 0 {
            return Ok(match excluded {
                Some(_) => alpha,
                // The tablebase knows better than every move, and all were pruned.
                None if best > -INFINITE => best,
                None if is_check => mated_in(ply),
                None => DRAW,
            });
        }

        // 18. Updates of histories and table.
        best = best.min(most);
        if let Some(mv) = best_move.filter(|_| best >= beta) {
            self.update_histories(game.position(), mv, depth, &quiets, &noisies);
        }
        if excluded.is_none() && (!N::ROOT || self.first_root_move == 0) {
            let bound = Bound::of(best, old_alpha, beta);
            self.update_correction(game.position(), best_move, best, bound, depth);
            let entry = Entry { mv: best_move, value: best, eval: raw_eval, depth, bound, is_pv: was_pv };
            self.shared.table.store(key, ply, entry);
        }
        Ok(best)
    }

    /// The value of a node that no search changes: a draw, one that the side to move can force by repeating included, the
    /// evaluation where the stack ends, or a bound where no mate from here can better one already found.
    #[inline(always)]
    fn ended(&mut self, game: &Game, is_check: bool, alpha: &mut Value, beta: &mut Value) -> Option<Value> {
        let ply = self.ply;
        if game.is_draw(ply) {
            return Some(DRAW);
        }
        if *alpha < DRAW && game.has_upcoming_repetition(ply) {
            *alpha = DRAW;
            if *alpha >= *beta {
                return Some(*alpha);
            }
        }
        if ply >= MAX_PLY - 1 {
            let past = self.past();
            return Some(if is_check { DRAW } else { self.static_eval(game.position(), &past, None).1 });
        }
        *alpha = (*alpha).max(mated_in(ply));
        *beta = (*beta).min(mate_in(ply + 1));
        (*alpha >= *beta).then_some(*alpha)
    }

    /// Returns true if the line may still be extended: extensions alone must not carry it on.
    #[inline(always)]
    fn may_extend(&self) -> bool {
        100 * (self.ply as i32) < self.shared.params.extension_limit * self.root_depth
    }

    /// Returns true if a move takes the piece that has just captured.
    pub(super) fn recaptures(&self, mv: Move) -> bool {
        let last = self.frame(1);
        !last.is_quiet && last.mv.is_some_and(|last| last.to() == mv.to())
    }
}
