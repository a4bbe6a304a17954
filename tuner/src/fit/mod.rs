//! Tuning the evaluation of any engine.
//!
//! An evaluation says what it adds up and how a score comes of it, and has a row for every position: how often each
//! parameter counts. That is all a [`Problem`] needs, which is fitted to the results of games as Merino's own evaluation
//! is. Engines in other languages write declarations and rows as text, of which [`crate::model::text`] has the format:
//! [`Problem::read_rows`] reads them. An engine in Rust may be an [`Evaluation`] instead. What comes out is written as
//! tables of the engine's language by [`Fitted::emit`].

mod check;
mod emit;
mod fitted;
mod fitting;
mod groups;
mod problem;
mod row;
#[cfg(test)]
mod tests;

use common::files::WriteError;
use thiserror::Error;

use crate::constraints::ConstraintError;
use crate::data::DatasetError;
use crate::model::rows::RowsError;
pub use crate::model::text::{Parameter, Start, TextError};
use crate::objective::{FitKError, ObjectiveError, OneResult};
use crate::optimize::{LimitsError, OptimizeError};
pub use crate::run::Hooks;
use crate::validation::ValidationError;
pub use check::{Check, Worst};
pub use emit::{EmitError, Language};
pub use fitted::{Fitted, Seconds};
pub use fitting::Settings;
pub use groups::Grouping;
pub use problem::Problem;
pub use row::{Evaluation, Row, Side};

/// Why there is nothing to fit, or no fit.
#[derive(Debug, Error)]
pub enum FitError {
    /// The data.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A position that the evaluation has no row for.
    #[error("{fen}: {message}")]
    Row {
        /// The position.
        fen: String,
        /// What is wrong.
        message: String,
    },
    /// Declarations or rows.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The rows.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// Rows that are not what the engine computes.
    #[error(
        "the formula is not the engine's evaluation: {0}; mend the rows or the formula, or go on with --trust-rows"
    )]
    Untrusted(Box<Check>),
    /// What the parameters are to keep to.
    #[error(transparent)]
    Constraints(#[from] ConstraintError),
    /// There is but one result.
    #[error(transparent)]
    OneResult(#[from] OneResult),
    /// The data do not determine K.
    #[error("{0}; check the results, or give the scale with --k")]
    K(#[from] FitKError),
    /// The formula has no scale.
    #[error(
        "--normalize: no scale of the parameters makes all scores larger by the same factor: the formula is not made of \
         products and sums of them alone; do without, and divide the engine's scores by 1/K where they are shown"
    )]
    Normalize,
    /// The objective.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The limits of the parameters.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The division of the rows, or the choice of the prior.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// The optimiser.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// What is written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
