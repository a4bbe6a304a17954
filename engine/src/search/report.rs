//! Reports of a running search. The search never prints: it reports to a [`Handler`], and the protocol, the
//! bench and the tests are handlers.

use std::time::Duration;

use super::table::Bound;
use super::value::Value;
use crate::chess::Move;

/// One line of the analysis.
#[derive(Clone, Debug)]
pub struct Info<'a> {
    /// Depth of the iteration, plies.
    pub depth: i32,
    /// The longest line searched, plies.
    pub seldepth: usize,
    /// Which of the best lines this is, from 1.
    pub multipv: usize,
    /// Value in the view of the side to move at the root.
    pub value: Value,
    /// The relation of that value to the true one: equal to it, or a bound on it.
    pub bound: Bound,
    /// Nodes searched by all threads.
    pub nodes: u64,
    /// Time since the search began.
    pub time: Duration,
    /// The share of the table that is full, in thousandths.
    pub hashfull: u32,
    /// Positions found in a tablebase, by all threads.
    pub tbhits: u64,
    /// The line, never empty.
    pub line: &'a [Move],
}

/// Observer of a search.
pub trait Handler: Send {
    /// A line of the analysis.
    fn line(&mut self, info: &Info<'_>);

    /// There is no legal move; `_value` is a mate or a draw.
    fn no_moves(&mut self, _value: Value) {}

    /// Something is wrong, and the search goes on without it.
    fn fault(&mut self, _text: &str) {}

    /// The callback that reports, after the first seconds, each root move as its search begins.
    fn watcher(&self) -> Option<RootWatcher> {
        None
    }
}

/// Called with the depth of the iteration in plies, the root move, and its number in search order, from 1.
pub type RootWatcher = Box<dyn Fn(i32, Move, usize) + Send>;

/// No-op observer.
impl Handler for () {
    fn line(&mut self, _info: &Info<'_>) {}
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchResult {
    /// The move to play; none if there is no legal move.
    pub best: Option<Move>,
    /// The reply expected to it.
    pub ponder: Option<Move>,
    /// Value in the view of the side to move at the root.
    pub value: Value,
    /// Depth of the last finished iteration of the thread that won the vote, plies.
    pub depth: i32,
    /// Nodes searched by all threads.
    pub nodes: u64,
}
