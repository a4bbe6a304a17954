//! Updates of the history tables after a node is finished.

use super::history::Past;
use super::table::Bound;
use super::value::{Value, is_decided};
use super::worker::Worker;
use crate::chess::{Move, Position};

impl Worker {
    /// Adds a bonus to the move that cut off, and a malus to the moves tried before it.
    pub(super) fn update_histories(
        &mut self,
        position: &Position,
        best: Move,
        depth: i32,
        quiets: &[Move],
        noisies: &[Move],
    ) {
        let (bonus, malus) = (self.shared.params.bonus(depth), self.shared.params.malus(depth));
        let (past, attacked) = (self.past(), self.frame(0).attacked);
        if position.is_noisy(best) {
            self.histories.update_noisy(position, best, bonus);
        } else {
            self.histories.update_quiet(position, best, &past, attacked, bonus);
            for &mv in quiets {
                self.histories.update_quiet(position, mv, &past, attacked, malus);
            }
            self.histories.set_counter(past[0], best);
            let killers = &mut self.frame_mut().killers;
            if killers[0] != Some(best) {
                *killers = [Some(best), killers[0]];
            }
        }
        for &mv in noisies {
            self.histories.update_noisy(position, mv, malus);
        }
    }

    /// Adds a bonus or malus to the quiet move being searched, as an answer to the last ones, by what became of it when it
    /// was searched again without its reduction.
    pub(super) fn update_after_reduction(&mut self, past: &Past, depth: i32, failed: bool, cut_off: bool) {
        let bonus = match (failed, cut_off) {
            (true, _) => self.shared.params.malus(depth),
            (false, true) => self.shared.params.bonus(depth),
            (false, false) => return,
        };
        let here = self.frame(1).context;
        self.histories.update_continuation(here, past, bonus);
    }

    /// Adds a bonus or malus to the quiet move that led here, by the change of the static evaluation.
    pub(super) fn update_eval_history(&mut self, position: &Position) {
        let parent = *self.frame(1);
        let (Some(before), Some(after), Some(mv)) = (parent.eval, self.frame(0).eval, parent.mv) else { return };
        if parent.is_quiet {
            let params = &self.shared.params;
            let swing = -params.history_swing * (before + after - params.history_swing_zero) / 10;
            let bonus = swing.clamp(-params.history_swing_max, params.history_swing_max);
            self.histories.update_eval_history(!position.side_to_move(), mv, parent.attacked, bonus);
        }
    }

    /// Updates the correction history with value − evaluation, if the bound allows it and the best move is quiet.
    pub(super) fn update_correction(
        &mut self,
        position: &Position,
        best: Option<Move>,
        value: Value,
        bound: Bound,
        depth: i32,
    ) {
        let Some(eval) = self.frame(0).eval else { return };
        let is_tactical = best.is_some_and(|mv| position.is_noisy(mv)) || is_decided(value);
        let is_telling = match bound {
            Bound::Exact => true,
            Bound::Lower => value > eval,
            Bound::Upper => value < eval,
        };
        if is_telling && !is_tactical {
            let past = self.past();
            self.histories.update_correction(position, &past, value - eval, depth, &self.shared.params);
        }
    }
}
