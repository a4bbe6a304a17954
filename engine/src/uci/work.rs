//! Jobs of the search thread other than searching: perft, bench, openings.

use std::sync::Arc;

use super::Display;
use crate::bench;
use crate::chess::{Position, perft};
use crate::genfens::{self, Request};
use crate::search::{Searcher, Signals};
use common::out;

/// Prints the leaves below each move; a move interrupted by `stop` is not printed.
pub(super) fn count(position: &Position, depth: u32, display: Display, signals: &Signals) {
    let mut total = 0;
    for &mv in &position.legal_moves() {
        let leaves = count_leaves(&position.after(mv), depth - 1, signals);
        if signals.is_stopped() {
            break;
        }
        total += leaves;
        out!("{}: {leaves}", mv.to_uci(display.chess960));
    }
    // Scripts that compare engines look for Stockfish's words.
    out!("Nodes searched: {total}");
    out!("nodes {total}");
}

/// [`perft`] that ends soon after `stop`, with a meaningless number then.
fn count_leaves(position: &Position, depth: u32, signals: &Signals) -> u64 {
    // So many plies are counted in milliseconds.
    const UNINTERRUPTED: u32 = 4;
    if depth <= UNINTERRUPTED {
        return perft(position, depth);
    }
    let moves = position.legal_moves();
    let going_on = moves.iter().take_while(|_| !signals.is_stopped());
    going_on.map(|&mv| count_leaves(&position.after(mv), depth - 1, signals)).sum()
}

/// Runs the bench with the settings of the searcher; a bench interrupted by `stop` has no signature.
pub(super) fn play_bench(depth: i32, searcher: &Searcher) {
    match bench::run(depth, searcher, |_, _| {}) {
        Ok(_) if searcher.signals().is_stopped() => out!("info string bench: stopped"),
        Ok(report) => out!("{report}"),
        Err(error) => out!("info string error: bench: {error}"),
    }
}

/// Prints openings as OpenBench reads them.
pub(super) fn make_openings(request: &Request, display: Display, searcher: &Searcher) {
    let print = |position: &Position| out!("info string genfens {}", display.fen(position));
    let signals: Arc<Signals> = searcher.signals();
    if let Err(error) = genfens::generate(request, searcher.shared_evaluator(), &signals, print) {
        out!("info string error: genfens: {error}");
    }
}
