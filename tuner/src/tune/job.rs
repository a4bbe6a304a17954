//! What a run is asked for.

use engine::eval::params::Weights;

use crate::data::{ReadOptions, Source};
use crate::features::Resolve;
use crate::run::Settings;

/// What is to be tuned, to what, and how.
pub struct Job {
    /// Labelled positions.
    pub sources: Vec<Source>,
    /// The parameters to start from, and to be pulled to.
    pub start: Weights,
    /// Which evaluation of a position is fitted to its result.
    pub resolve: Resolve,
    /// How the parameters are fitted.
    pub settings: Settings,
    /// How the positions are read.
    pub reading: ReadOptions,
    /// Reference sets that judge the outcome.
    pub references: Vec<Source>,
}

impl Job {
    /// A run with the usual choices but for its settings.
    pub fn new(sources: Vec<Source>, start: Weights, settings: Settings) -> Self {
        let (resolve, reading) = (Resolve::Qsearch, ReadOptions::default());
        Job { sources, start, resolve, settings, reading, references: Vec::new() }
    }
}
