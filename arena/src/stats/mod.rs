//! What counts of results say about strength. Knows nothing of chess.

mod counts;
mod elo;
mod likelihood;
mod normalized;
mod rating;
mod special;
mod sprt;

pub use counts::Counts;
pub use elo::{Estimate, estimate};
pub use rating::{Meeting, Rating, ratings};
pub(crate) use sprt::observed_nelo;
pub use sprt::{Bounds, BoundsError, Model, ModelError, Prospect, Sprt, Verdict};
