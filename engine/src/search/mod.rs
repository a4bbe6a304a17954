//! Looking ahead.

mod quiescence;
mod value;

pub use quiescence::{Leaf, Line, Pruning, Quiescence};
pub use value::{INFINITE, MATE, MAX_PLY, Value, is_mate, mated_in};
