//! Thinking output, and the state of a search that later commands print.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::chess::{Move, Position};
use crate::search::{Bound, Handler, Info, RootWatcher, Value, mate_distance};
use common::out;

/// The last line of the running search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LastLine {
    /// Depth of the iteration, plies.
    pub(super) depth: i32,
    pub(super) nodes: u64,
    pub(super) best: Move,
}

/// The current root move of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RootProgress {
    /// Depth of the iteration, plies.
    pub(super) depth: i32,
    /// The move being searched.
    pub(super) mv: Move,
    /// Its number in the order of the search, from 1.
    pub(super) number: usize,
}

/// Shared by a search and the loop.
#[derive(Debug, Default)]
pub(super) struct Monitor {
    /// True if the interface wants thinking output.
    post: AtomicBool,
    /// True if the expected move has been played.
    is_ponderhit: AtomicBool,
    last_line: Mutex<Option<LastLine>>,
    root: Mutex<Option<RootProgress>>,
}

/// Locks a mutex that is held only to copy its value.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Monitor {
    pub(super) fn post(&self, on: bool) {
        self.post.store(on, Relaxed);
    }

    /// Resets the monitor for another search.
    pub(super) fn restart(&self) {
        self.is_ponderhit.store(false, Relaxed);
        *lock(&self.last_line) = None;
        *lock(&self.root) = None;
    }

    /// Records that the expected move has been played.
    pub(super) fn ponderhit(&self) {
        self.is_ponderhit.store(true, Relaxed);
    }

    pub(super) fn last_line(&self) -> Option<LastLine> {
        *lock(&self.last_line)
    }

    /// The current root move; `None` in the first seconds.
    pub(super) fn root(&self) -> Option<RootProgress> {
        *lock(&self.root)
    }
}

/// When thinking output is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// If the interface has asked for it.
    IfPosted,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The observer of a search.
pub(super) struct Reporter {
    pub(super) monitor: Arc<Monitor>,
    pub(super) output: Output,
    /// The position on the board when the search began.
    pub(super) board: Position,
    /// The move before the search's own: the one it expects the opponent to make.
    pub(super) expected: Option<Move>,
}

impl Handler for Reporter {
    fn line(&mut self, info: &Info<'_>) {
        let Info { depth, nodes, line, .. } = *info;
        if info.multipv == 1
            && let Some(&best) = line.first()
        {
            *lock(&self.monitor.last_line) = Some(LastLine { depth, nodes, best });
        }
        let is_printed = match self.output {
            Output::IfPosted => self.monitor.post.load(Relaxed),
            Output::Always => true,
            Output::Never => false,
        };
        if is_printed {
            let mut board = self.board.clone();
            let mut expected = self.expected;
            if self.monitor.is_ponderhit.load(Relaxed) {
                expected.take().into_iter().for_each(|mv| board.play(mv));
            }
            out!("{}", thinking(info, board, expected));
        }
    }

    fn fault(&mut self, text: &str) {
        out!("tellusererror {text}");
    }

    fn watcher(&self) -> Option<RootWatcher> {
        let monitor = Arc::clone(&self.monitor);
        Some(Box::new(move |depth, mv, number| *lock(&monitor.root) = Some(RootProgress { depth, mv, number })))
    }
}

/// Centipawns, or the moves to a mate beyond 100,000.
fn score(value: Value) -> Value {
    match mate_distance(value) {
        Some(moves) => 100_000 * value.signum() + moves,
        None => value,
    }
}

/// `ply score time nodes pv`: time in hundredths of a second, the line in algebraic notation from `position` on, `?`
/// behind upper and `!` behind lower bounds.
fn thinking(info: &Info<'_>, mut position: Position, expected: Option<Move>) -> String {
    let mut text = format!("{} {} {} {}", info.depth, score(info.value), info.time.as_millis() / 10, info.nodes);
    for &mv in expected.iter().chain(info.line) {
        text.push(' ');
        text.push_str(&position.to_san(mv));
        position.play(mv);
    }
    text.push_str(match info.bound {
        Bound::Upper => " ?",
        Bound::Lower => " !",
        Bound::Exact => "",
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{mate_in, mated_in};
    use std::time::Duration;

    #[test]
    fn lines_are_those_of_the_protocol() {
        let board = Position::start();
        let expected = board.parse_uci("e2e4").unwrap();
        let reply = board.after(expected).parse_uci("g8f6").unwrap();
        let info = Info {
            depth: 9,
            seldepth: 12,
            multipv: 1,
            value: -31,
            bound: Bound::Exact,
            nodes: 48_000,
            time: Duration::from_millis(1289),
            hashfull: 0,
            tbhits: 0,
            line: &[reply],
        };
        assert_eq!(thinking(&info, board.clone(), Some(expected)), "9 -31 128 48000 e4 Nf6");
        let upper = Info { bound: Bound::Upper, ..info.clone() };
        assert_eq!(thinking(&upper, board.after(expected), None), "9 -31 128 48000 Nf6 ?");
        assert_eq!(
            [mate_in(1), mate_in(5), mated_in(2), mated_in(0), 7].map(score),
            [100_001, 100_003, -100_001, -100_000, 7]
        );
    }

    #[test]
    fn the_monitor_knows_where_the_search_is_at_the_root() {
        let monitor = Arc::new(Monitor::default());
        let board = Position::start();
        let mv = board.parse_uci("e2e4").unwrap();
        let reporter = Reporter { monitor: Arc::clone(&monitor), output: Output::Never, board, expected: None };
        reporter.watcher().unwrap()(9, mv, 3);
        assert_eq!(monitor.root(), Some(RootProgress { depth: 9, mv, number: 3 }));
        monitor.restart();
        assert_eq!((monitor.root(), monitor.last_line()), (None, None));
    }
}
