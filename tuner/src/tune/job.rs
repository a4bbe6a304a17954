//! What a run is asked for, and why it may fail.

use engine::eval::params::Weights;
use thiserror::Error;

use super::checkpoint::{CheckpointError, Fingerprint};
use crate::cache::Cache;
use crate::constraints::{ConstraintError, Constraints};
use crate::data::{ReadOptions, Source};
use crate::features::{ReadError, Resolve};
use crate::io::Storage;
use crate::model::rows::RowsError;
use crate::objective::{FitKError, ObjectiveError, PriorScale, SampleLoss};
use crate::optimize::{LimitsError, Method, OptimizeError};
use crate::params_file::PROGRAM;
use crate::run::MIN_SEEN;
use crate::target::{Target, TargetError};
use crate::validation::ValidationError;

/// What is to be tuned, to what, and how.
pub struct Job {
    /// Labelled positions.
    pub sources: Vec<Source>,
    /// The parameters to start from, and to be pulled to.
    pub start: Weights,
    /// Which parameters are tuned, and what they keep to.
    pub constraints: Constraints,
    /// Positions in which a pair of parameters, with those it is tied to, must occur to be tuned; rarer ones keep their
    /// start.
    pub min_seen: u32,
    /// What positions are to predict.
    pub target: Target,
    /// What a wrong prediction costs.
    pub loss: SampleLoss,
    /// Which evaluation of a position is fitted to its result.
    pub resolve: Resolve,
    /// How the objective is minimised.
    pub method: Method,
    /// What decides everything that is left to chance: what is held out, folds, the choices of a method.
    pub seed: u64,
    /// Rows a step of Adam looks at; `None` for all.
    pub batch: Option<usize>,
    /// λ, the strength of the pull, at least 0; `None` to choose it by cross-validation.
    pub prior: Option<f64>,
    /// Whether the scale of the start is pulled to.
    pub prior_scale: PriorScale,
    /// The share of the positions that is not fitted but decides which parameters are kept; `None` to fit all.
    pub validation: Option<f64>,
    /// The scale from centipawns to expected results, positive; `None` to fit it to the start.
    pub k: Option<f64>,
    /// Whether tables are centred on the worth of their pieces.
    pub centre: bool,
    /// Whether the tuned parameters are scaled so that K is 1.
    pub normalize: bool,
    /// Whether standard errors are computed.
    pub errors: bool,
    /// Fits to samples drawn anew from the games, to check the standard errors by.
    pub bootstrap: usize,
    /// Whether it is told what the parameters get right and wrong, before and after.
    pub explain: bool,
    /// How the positions are read.
    pub reading: ReadOptions,
    /// Where positions and rows are kept from run to run; `None` to read the data each time.
    pub cache: Option<Cache>,
}

impl Job {
    /// A run with the usual settings.
    pub fn new(sources: Vec<Source>, start: Weights) -> Self {
        Job {
            sources,
            start,
            constraints: Constraints::default(),
            min_seen: MIN_SEEN,
            target: Target::default(),
            loss: SampleLoss::default(),
            resolve: Resolve::Qsearch,
            method: Method::Lbfgs,
            seed: 0,
            batch: None,
            prior: None,
            prior_scale: PriorScale::default(),
            validation: None,
            k: None,
            centre: true,
            normalize: false,
            errors: true,
            bootstrap: 0,
            explain: false,
            reading: ReadOptions::default(),
            cache: None,
        }
    }
}

impl Job {
    /// The flag that asks for something that keeps every row in memory, if there is one.
    pub(super) fn needs_memory(&self) -> Option<&'static str> {
        match self.method {
            Method::LocalSearch => Some("--method local-search"),
            _ if self.batch.is_some() => Some("--batch"),
            _ if self.bootstrap > 0 => Some("--bootstrap"),
            _ => None,
        }
    }

    /// What decides the outcome, the data aside.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let option =
            |number: Option<f64>, none: &str| number.map_or_else(|| none.to_owned(), |number| number.to_string());
        // How many records may be skipped, and where those that can be read are kept, changes nothing of them.
        let choice = ReadOptions { skip_bad: 0, storage: Storage::default(), ..self.reading.clone() };
        let start: Vec<String> = self.start.to_vector().iter().map(f64::to_string).collect();
        [
            ("the program", PROGRAM.to_owned()),
            ("the start", start.join(" ")),
            ("the choice of parameters", format!("{:?}", self.constraints)),
            ("the choice of positions", format!("{choice:?}")),
            ("--min-seen", self.min_seen.to_string()),
            ("--target", self.target.to_string()),
            ("--loss", self.loss.name()),
            ("--resolve", self.resolve.name()),
            ("--method", self.method.name()),
            ("--seed", self.seed.to_string()),
            ("--batch", self.batch.map_or_else(|| "all".to_owned(), |size| size.to_string())),
            ("--prior", option(self.prior, "auto")),
            ("--prior-scale", self.prior_scale.name()),
            ("--validation", option(self.validation, "none")),
            ("--k", option(self.k, "fitted")),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// Why a run failed.
#[derive(Debug, Error)]
pub enum TuneError {
    /// The data.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Too many positions.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// The data do not determine K.
    #[error("{0}; check the results, or give the scale with --k")]
    K(#[from] FitKError),
    /// What positions are to predict.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The objective.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// What the parameters are to keep to.
    #[error(transparent)]
    Constraints(#[from] ConstraintError),
    /// The bounds of the parameters.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The division of the data.
    #[error(transparent)]
    Validation(#[from] ValidationError),
    /// The optimiser.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// The checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
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
}
