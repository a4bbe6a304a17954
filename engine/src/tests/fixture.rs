//! Searchers whose parameters are the tests' own: what a user builds or tunes the engine with changes no test.

use std::sync::{Arc, LazyLock};

use crate::eval::Evaluator;
use crate::eval::params::Weights;
use crate::eval::toml_file::with_starts;
use crate::search::Searcher;

/// An evaluation of the parameters in `tests/data/params.toml`, and of the declared start of what they lack.
pub(crate) fn evaluator() -> Evaluator {
    static FIXTURE: LazyLock<Evaluator> = LazyLock::new(|| {
        let own =
            with_starts::<Weights>(include_str!("../../tests/data/params.toml")).expect("the tests' own parameters");
        Evaluator::from_toml(&own.text).expect("the tests' own parameters")
    });
    FIXTURE.clone()
}

/// A searcher with a table of so many mebibytes.
pub(crate) fn searcher(hash: usize) -> Searcher {
    let mut searcher = Searcher::new(hash).expect("memory for a table");
    searcher.set_evaluator(Arc::new(evaluator()));
    searcher
}
