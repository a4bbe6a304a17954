//! Fits of Merino's own evaluation, for tests.

use std::sync::Arc;

use engine::eval::params::Weights;

use crate::data::{Dataset, ReadOptions, Source};
use crate::run::{Hooks, Outcome, Seconds, Settings, run};
use crate::source::{Own, Problem, Resolve};

/// Makes the problem of positions with the parameters of a start.
pub(super) fn problem(data: &'static [u8], start: Weights, resolve: Resolve) -> Problem {
    let source = Source::in_memory("sample", data).unwrap();
    let dataset = Dataset::read(vec![source], &ReadOptions::default(), &()).unwrap();
    Own { start, resolve }.problem(Arc::new(dataset), &()).unwrap()
}

/// Runs a fit without reference sets.
pub(super) fn fit(problem: Problem, settings: &Settings, hooks: Hooks<'_>) -> anyhow::Result<Outcome> {
    run(problem, Vec::new(), settings, Seconds::default(), hooks)
}

/// Returns the fitted parameters.
pub(super) fn tuned(outcome: &Outcome) -> Weights {
    Weights::from_vector(&outcome.theta).0
}
