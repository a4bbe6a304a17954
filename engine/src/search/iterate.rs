//! Iterative deepening: one depth after the other, each within a window around the last value.
//! See <https://www.chessprogramming.org/Iterative_Deepening> and
//! <https://www.chessprogramming.org/Aspiration_Windows>.

use std::time::Duration;

use super::limits::Progress;
use super::node_kind::Root;
use super::report::{Handler, Info};
use super::table::Bound;
use super::value::{INFINITE, MAX_PLY, Value, is_decided, is_mate, mate_distance};
use super::worker::{Abort, PvLine, RootMove, Worker};
use crate::chess::{Game, Move};

/// Before this time neither failed windows nor single root moves are reported: they would only fill the screen.
const QUIET_TIME: Duration = Duration::from_secs(3);

impl Worker {
    /// Searches deeper and deeper until a limit is reached. The best move is then the first of the root moves.
    pub(super) fn iterate(&mut self, game: &mut Game, handler: &mut dyn Handler) {
        let deepest = self.shared.limits.depth.unwrap_or(i32::MAX).clamp(1, MAX_PLY as i32 - 1);
        let mut stable_iterations = 0;
        let mut last_best = None;
        // Half of the threads begin one ply deeper, so that not all do the same.
        for depth in 1 + (self.id as i32 & 1).min(deepest - 1)..=deepest {
            self.root_depth = depth;
            for root in &mut self.root_moves {
                root.previous = if root.value == -INFINITE { root.previous } else { root.value };
            }
            let before = self.root_moves[0].previous;
            let proves_mates = self.id == 0 && self.shared.limits.mate.is_some();
            let mates = if proves_mates { self.search_mate(game, depth) } else { Ok(()) };
            if mates.and_then(|()| self.search_lines(game, depth, handler)).is_err() {
                break;
            }
            self.completed_depth = depth;
            let best = self.root_moves[0].mv;
            stable_iterations = if last_best == Some(best) { stable_iterations + 1 } else { 0 };
            last_best = Some(best);
            let value = self.root_moves[0].value;
            let drop = if is_decided(value) || before == -INFINITE { 0 } else { before - value };
            if self.id == 0 {
                self.report_lines(depth, handler);
                self.last_report = Some((self.root_moves[0].clone(), self.shared.total_nodes()));
                if self.should_stop(value, stable_iterations, drop) {
                    self.stop_all();
                    break;
                }
            }
        }
        if self.id == 0 && !self.shared.limits.infinite && !self.shared.signals.is_pondering() {
            self.stop_all();
        }
    }

    /// One iteration: so many lines as wanted, each without the first moves of the lines before it.
    fn search_lines(&mut self, game: &mut Game, depth: i32, handler: &mut dyn Handler) -> Result<(), Abort> {
        let lines = self.shared.lines.min(self.root_moves.len());
        for first in 0..lines {
            self.first_root_move = first;
            self.seldepth = 0;
            let result = self.aspiration_search(game, depth, handler);
            // Results of an interrupted iteration count; root moves it has not reached keep their order.
            sort(&mut self.root_moves[first..]);
            result?;
        }
        sort(&mut self.root_moves[..lines]);
        Ok(())
    }

    /// Searches the root within a window around the last value, widened where the value lies outside.
    fn aspiration_search(&mut self, game: &mut Game, depth: i32, handler: &mut dyn Handler) -> Result<(), Abort> {
        let params = &self.shared.params;
        let (growth, widest, first) = (params.aspiration_growth, params.aspiration_max, self.first_root_move);
        let expected = self.root_moves[first].previous;
        let mut delta = params.aspiration_delta;
        let (mut alpha, mut beta) = (-INFINITE, INFINITE);
        if depth >= params.aspiration_min_depth && !is_decided(expected) {
            (alpha, beta) = (expected - delta, expected + delta);
        }
        let mut failed_high = 0;
        loop {
            for root in &mut self.root_moves[first..] {
                root.value = -INFINITE;
            }
            let mut line = PvLine::new();
            let reduced = (depth - failed_high).max(1);
            let value = self.node::<Root>(game, alpha, beta, reduced, false, &mut line)?;
            sort(&mut self.root_moves[first..]);
            let bound = if value <= alpha {
                beta = (alpha + beta) / 2;
                alpha = (value - delta).max(-INFINITE);
                failed_high = 0;
                Bound::Upper
            } else if value >= beta {
                beta = (value + delta).min(INFINITE);
                // A win must not be lost to a shallower search.
                failed_high = if is_decided(value) { 0 } else { (failed_high + 1).min(3) };
                Bound::Lower
            } else {
                return Ok(());
            };
            delta += delta * growth / 100;
            if delta > widest || is_decided(value) {
                (alpha, beta) = (-INFINITE, INFINITE);
            }
            if self.id == 0 && self.shared.multipv == 1 && self.shared.start.elapsed() > QUIET_TIME {
                self.report_root_move(0, depth, bound, handler);
            }
        }
    }

    /// Returns true if the search stops after this iteration: the mate is found, or a soft limit is reached.
    fn should_stop(&self, value: Value, stable_iterations: u32, drop: i32) -> bool {
        let shared = &*self.shared;
        if let (Some(wanted), Some(moves)) = (shared.limits.mate, mate_distance(value))
            && moves > 0
            && moves.unsigned_abs() <= wanted
        {
            return true;
        }
        if shared.limits.soft_nodes.is_some_and(|soft| self.nodes >= soft) {
            return true;
        }
        if shared.limits.infinite || shared.signals.is_pondering() {
            return false;
        }
        let Some(soft) = shared.soft else { return false };
        if shared.only_move {
            return true;
        }
        let best_move_share = self.root_moves[0].nodes as f64 / self.nodes.max(1) as f64;
        let factor = Progress { stable_iterations, best_move_share, drop }.factor(&shared.params);
        shared.start.elapsed() >= soft.mul_f64(factor)
    }

    /// Returns true if a move may be searched at the root: it is wanted, no better line has it, and no other is known
    /// to be better.
    #[inline]
    pub(super) fn is_root_move(&self, mv: Move) -> bool {
        let left = &self.root_moves[self.first_root_move..];
        left.iter().take_while(|root| root.rank == left[0].rank).any(|root| root.mv == mv)
    }

    /// Records the result of a root move: its nodes and, if `is_better`, its value and the line `rest` behind it.
    pub(super) fn record_root_move(
        &mut self,
        game: &Game,
        mv: Move,
        value: Value,
        is_better: bool,
        rest: &[Move],
        nodes_before: u64,
    ) {
        let (nodes, seldepth) = (self.nodes - nodes_before, self.seldepth);
        let Some(root) = self.root_moves.iter_mut().find(|root| root.mv == mv) else { return };
        root.nodes += nodes;
        if is_better {
            root.value = value;
            root.seldepth = seldepth;
            root.line.truncate(1);
            root.line.extend(rest.iter().copied().take(MAX_PLY - 1));
            root.line.truncate(game.plies_until_draw(&root.line));
        }
    }

    /// Reports the root move whose search begins; `before` others have been searched in this iteration.
    #[cold]
    pub(super) fn report_current_move(&self, mv: Move, before: i32) {
        if let Some(watcher) = &self.watcher
            && self.shared.start.elapsed() >= QUIET_TIME
        {
            watcher(self.root_depth, mv, self.first_root_move + before as usize + 1);
        }
    }

    fn report_lines(&self, depth: i32, handler: &mut dyn Handler) {
        for index in 0..self.shared.multipv.min(self.root_moves.len()) {
            self.report_root_move(index, depth, Bound::Exact, handler);
        }
    }

    /// Reports one root move with its line.
    pub(super) fn report_root_move(&self, index: usize, depth: i32, bound: Bound, handler: &mut dyn Handler) {
        let shared = &*self.shared;
        shared.nodes[self.id].store(self.nodes, std::sync::atomic::Ordering::Relaxed);
        let root: &RootMove = &self.root_moves[index];
        handler.line(&Info {
            depth,
            seldepth: root.seldepth.max(root.line.len()),
            multipv: index + 1,
            value: root.reported_value(),
            bound: if root.is_known_by_tablebase() { Bound::Exact } else { bound },
            nodes: shared.total_nodes(),
            time: shared.start.elapsed(),
            hashfull: shared.table.fullness(),
            tbhits: shared.endings.hits(),
            line: &root.line,
        });
    }
}

/// Sorts root moves by rank, then by value; of equals the first stays first.
fn sort(root_moves: &mut [RootMove]) {
    root_moves.sort_by_key(|root| std::cmp::Reverse((root.rank, root.value)));
}

impl RootMove {
    /// The newest value there is; −[`INFINITE`] before the first.
    pub(super) fn known_value(&self) -> Value {
        if self.value == -INFINITE { self.previous } else { self.value }
    }

    /// Returns true if a tablebase knows the value. A mate that was found is nearer to the end.
    pub(super) fn is_known_by_tablebase(&self) -> bool {
        let found = self.known_value();
        self.table_value.is_some() && (found == -INFINITE || !is_mate(found))
    }

    /// The value to report: that of the tablebase, or else the newest one.
    pub(super) fn reported_value(&self) -> Value {
        self.table_value.filter(|_| self.is_known_by_tablebase()).unwrap_or(self.known_value())
    }
}
