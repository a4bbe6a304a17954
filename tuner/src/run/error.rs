//! Why a run fails.

use common::files::WriteError;
use thiserror::Error;

use super::ValidationError;
use crate::constraints::ConstraintError;
use crate::data::DatasetError;
use crate::features::ReadError;
use crate::io::StorageError;
use crate::model::rows::RowsError;
use crate::model::text::TextError;
use crate::objective::{FitKError, ObjectiveError, OneResult};
use crate::optimize::OptimizeError;
use crate::target::TargetError;

/// Why there is nothing to fit, or no fit.
#[derive(Debug, Error)]
pub enum RunError {
    /// The data, or too many positions.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The data.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A position that the evaluation has no row for.
    #[error("{0}")]
    Row(String),
    /// Declarations or rows.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The rows.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// Rows that are not what the engine computes, as a check of them says.
    #[error(
        "the formula is not the engine's evaluation: {0}; mend the rows or the formula; if integer divisions explain it, allow for them with --tolerance; --trust-rows fits \
         all the same"
    )]
    Untrusted(String),
    /// There is but one result.
    #[error(transparent)]
    OneResult(#[from] OneResult),
    /// The data do not determine K.
    #[error("{0}; check the results, or give the scale with --k")]
    K(#[from] FitKError),
    /// What positions are to predict.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A reference set lacks scores.
    #[error("--reference {name}: {error}")]
    Reference {
        /// The set.
        name: String,
        /// What is missing.
        error: TargetError,
    },
    /// The formula has no scale.
    #[error(
        "--normalize: no scale of the parameters makes all scores larger by the same factor: the formula is not made of \
         products and sums of them alone; do without, and divide the engine's scores by 1/K where they are shown"
    )]
    Normalize,
    /// The objective.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// What the parameters are to keep to.
    #[error(transparent)]
    Constraints(#[from] ConstraintError),
    /// The division of the data, or the choice of the prior.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// The bounds of the parameters, or the optimiser.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// What is kept from run to run, or beside one.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// Something that was asked for takes more memory than there may be.
    #[error("{flag} keeps every row in memory, but {rows} rows are too many for that; raise --memory, or do without")]
    Memory {
        /// What was asked for.
        flag: &'static str,
        /// How many rows there are.
        rows: usize,
    },
    /// No piece has a phase weight any more.
    #[error("all phase weights were tuned to 0: the data do not tell midgame from endgame; give a stronger --prior")]
    NoPhase,
    /// One of several sets of data.
    #[error("{set}: {error}")]
    Set {
        /// Its name.
        set: String,
        /// What is wrong with it.
        error: Box<RunError>,
    },
    /// What is written.
    #[error(transparent)]
    Write(#[from] WriteError),
}
