//! Alpha-beta search.
//!
//! [`Searcher`] holds settings, memory and threads. It searches a [`Game`](crate::chess::Game) within [`Limits`], reports
//! to a [`Handler`] and returns a [`SearchResult`]. `iterate` is iterative deepening, `node` the principal variation
//! search, [`Quiescence`] its leaves. `picker` and `history` order the moves. `prune` has the conditions of all pruning
//! and reductions; `null_move`, `probcut` and `singular` search on reduced depth to decide. `mate_search` proves mates
//! under `go mate`, `table` is the transposition table. A [`Tablebase`] knows the results of endings; `tablebase` is its
//! use at the root, `probe` at a node.

mod history;
mod history_update;
mod iterate;
mod limits;
mod mate_search;
mod node;
mod node_kind;
mod null_move;
mod params;
mod picker;
mod probcut;
mod probe;
mod proof;
mod prune;
mod quiescence;
mod report;
mod scored;
mod searcher;
mod signals;
mod singular;
mod strength;
mod table;
mod tablebase;
#[cfg(test)]
mod tests;
mod thread;
mod value;
mod worker;

pub use limits::{Clock, Limits};
pub use params::{SearchParam, SearchParams};
pub use quiescence::{Leaf, Line, Pruning, Quiescence};
pub use report::{Handler, Info, RootWatcher, SearchResult};
pub use searcher::{DEFAULT_HASH, MAX_MULTIPV, MAX_THREADS, Searcher};
pub use signals::Signals;
pub use strength::{MAX_ELO, MIN_ELO};
pub use table::Bound;
pub(crate) use tablebase::MOST_PIECES;
pub use tablebase::{Tablebase, TablebaseUse, Wdl};
pub use thread::STACK_SIZE;
pub(crate) use thread::{JobThread, on_large_stack};
pub use value::{DRAW, INFINITE, MATE, MAX_PLY, Value, is_mate, mate_distance, mate_in, mated_in};
