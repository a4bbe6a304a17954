//! What the searcher's thread does besides searching: it counts leaves, plays the bench, makes openings.

use std::sync::Arc;

use super::Display;
use crate::bench;
use crate::chess::{Position, perft};
use crate::console::say;
use crate::genfens::{self, Request};
use crate::search::{Searcher, Signals};

/// Counts the leaves below each move; what `stop` has interrupted is not told.
pub(super) fn count(position: &Position, depth: u32, display: Display, signals: &Signals) {
    let mut total = 0;
    for &mv in &position.legal_moves() {
        let leaves = count_leaves(&position.after(mv), depth - 1, signals);
        if signals.is_stopped() {
            break;
        }
        total += leaves;
        say!("{}: {leaves}", mv.to_uci(display.chess960));
    }
    say!("nodes {total}");
}

/// [`perft`] that ends soon after the word to stop, with a number that means nothing then.
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

/// Plays the bench as the searcher would; a bench that `stop` has interrupted has no signature.
pub(super) fn play_bench(searcher: &Searcher) {
    match bench::run(bench::DEPTH, searcher, |_, _| {}) {
        Ok(_) if searcher.signals().is_stopped() => say!("info string bench: stopped"),
        Ok(report) => say!("{report}"),
        Err(error) => say!("info string error: bench: {error}"),
    }
}

/// Prints openings as OpenBench reads them.
pub(super) fn make_openings(request: &Request, display: Display, searcher: &Searcher) {
    let print = |position: &Position| say!("info string genfens {}", display.fen(position));
    let signals: Arc<Signals> = searcher.signals();
    if let Err(error) = genfens::generate(request, searcher.shared_evaluator(), &signals, print) {
        say!("info string error: genfens: {error}");
    }
}
