//! Statistics of match results: Elo, ratings and sequential tests. It knows nothing of chess.

mod brownian;
mod cholesky;
mod counts;
mod elo;
mod groups;
mod likelihood;
mod normalized;
mod rating;
mod special;
mod sprt;
mod unbiased;

pub use counts::Counts;
pub use elo::{Estimate, estimate};
pub use groups::comparable_groups;
pub use rating::{Meeting, Origin, Rating, ratings, ratings_from};
pub use sprt::{Bounds, BoundsError, FURTHEST, Model, ModelError, Prospect, Sprt, Verdict};
pub use unbiased::{Interval, Unbiased};
