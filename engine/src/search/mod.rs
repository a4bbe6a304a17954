//! Looking ahead.
//!
//! [`Searcher`] is the whole of it: settings, memory, threads. It is asked about a [`Game`](crate::chess::Game) within [`Limits`], tells a
//! [`Handler`] what it sees, and ends with a [`SearchResult`]. Inside, `iterate` deepens, `node` is the tree, [`Quiescence`]
//! its leaves; `picker` and `history` order the moves, `prune` says what is left out, `trials` are
//! the searches that decide it, `table` remembers.

mod history;
mod hunt;
mod iterate;
mod learn;
mod limits;
mod memory;
mod node;
mod node_kind;
mod params;
mod picker;
mod proof;
mod prune;
mod quiescence;
mod report;
mod searcher;
mod signals;
mod table;
mod thread;
mod trials;
mod value;
mod worker;

pub use limits::{Clock, Limits};
pub use params::{SearchParam, SearchParams};
pub use quiescence::{Leaf, Line, Pruning, Quiescence};
pub use report::{Handler, Info, RootWatcher, SearchResult};
pub use searcher::{DEFAULT_HASH, MAX_MULTIPV, MAX_THREADS, Searcher};
pub use signals::Signals;
pub use table::Bound;
pub use thread::STACK_SIZE;
pub(crate) use thread::{JobThread, on_large_stack};
pub use value::{DRAW, INFINITE, MATE, MAX_PLY, Value, is_mate, mate_distance, mate_in, mated_in};
