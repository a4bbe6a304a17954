//! What counts of results say about strength. Knows nothing of chess.

mod counts;
mod elo;
mod special;

pub use counts::Counts;
pub use elo::{Estimate, estimate};
