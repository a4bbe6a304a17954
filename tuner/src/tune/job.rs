//! What a run is asked for.

use engine::eval::params::Weights;

use crate::cache::Cache;
use crate::data::{ReadOptions, Source};
use crate::features::Resolve;
use crate::io::Storage;
use crate::run::{Fingerprint, Settings};

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
    /// Where positions and rows are kept from run to run; `None` to read the data each time.
    pub cache: Option<Cache>,
}

impl Job {
    /// A run with the usual choices but for its settings.
    pub fn new(sources: Vec<Source>, start: Weights, settings: Settings) -> Self {
        let (resolve, reading) = (Resolve::Qsearch, ReadOptions::default());
        Job { sources, start, resolve, settings, reading, references: Vec::new(), cache: None }
    }

    /// What decides the outcome, the data aside.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        // How many records may be skipped, and where those that can be read are kept, changes nothing of them.
        let choice = ReadOptions { skip_bad: 0, storage: Storage::default(), ..self.reading.clone() };
        let weights = self.sources.iter().map(Source::weight);
        let mut fingerprint = self.settings.fingerprint(&self.start.to_vector(), weights);
        fingerprint.insert("the choice of positions".to_owned(), format!("{choice:?}"));
        let own: Vec<String> = self.sources.iter().map(Source::reading).collect();
        fingerprint.insert("how sets are read".to_owned(), own.join("; "));
        fingerprint.insert("--resolve".to_owned(), self.resolve.name());
        fingerprint
    }
}
