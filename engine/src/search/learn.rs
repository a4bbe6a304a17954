//! What a finished node teaches the histories.

use super::table::Bound;
use super::value::{Value, is_mate};
use super::worker::Worker;
use crate::chess::{Move, Position};

impl Worker {
    /// Rewards the move that cut off, and punishes those tried before it.
    pub(super) fn learn(&mut self, position: &Position, best: Move, depth: i32, quiets: &[Move], noisies: &[Move]) {
        let params = &self.shared.params;
        let bonus = (params.history_bonus * depth).min(params.history_bonus_max);
        let malus = -(params.history_malus * depth).min(params.history_malus_max);
        let past = self.past();
        if position.is_noisy(best) {
            self.histories.learn_noisy(position, best, bonus);
        } else {
            self.histories.learn_quiet(position, best, &past, bonus);
            for &mv in quiets {
                self.histories.learn_quiet(position, mv, &past, malus);
            }
            self.histories.set_counter(past[0], best);
            let killers = &mut self.frame_mut().killers;
            if killers[0] != Some(best) {
                *killers = [Some(best), killers[0]];
            }
        }
        for &mv in noisies {
            self.histories.learn_noisy(position, mv, malus);
        }
    }

    /// Rewards or punishes the quiet move that led here by how it swung the evaluation: what it gained for one side, it
    /// cost the other.
    pub(super) fn learn_swing(&mut self, position: &Position) {
        let parent = self.frame(1);
        let (Some(before), Some(after), Some(mv)) = (parent.eval, self.frame(0).eval, parent.mv) else { return };
        if parent.is_quiet {
            let params = &self.shared.params;
            let swing = -params.history_swing * (before + after) / 10;
            let bonus = swing.clamp(-params.history_swing_max, params.history_swing_max);
            self.histories.learn_swing(!position.side_to_move(), mv, bonus);
        }
    }

    /// Learns how far the evaluation was off, where the value says so and no capture explains it.
    pub(super) fn learn_correction(
        &mut self,
        position: &Position,
        best: Option<Move>,
        value: Value,
        bound: Bound,
        depth: i32,
    ) {
        let Some(eval) = self.frame(0).eval else { return };
        let is_tactical = best.is_some_and(|mv| position.is_noisy(mv)) || is_mate(value);
        let is_telling = match bound {
            Bound::Exact => true,
            Bound::Lower => value > eval,
            Bound::Upper => value < eval,
        };
        if is_telling && !is_tactical {
            let past = self.past();
            self.histories.learn_correction(position, &past, value - eval, depth);
        }
    }
}
