//! From positions to rows: each is resolved to a leaf, and the leaf's evaluation is taken apart.

use std::ops::Range;

use clap::ValueEnum;
use engine::eval::params::PAIRS;
use engine::eval::{Evaluator, Trace, phase_counts};
use engine::search::{Pruning, Quiescence};
use rayon::prelude::*;

use crate::dataset::{Dataset, Outcome};
use crate::objective::{Rows, RowsBuilder, RowsError};
use crate::progress::{Progress, Unit};

/// Positions resolved by one task; does not depend on the number of threads.
const BATCH: usize = 2048;

/// Which evaluation a position is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Resolve {
    /// That of the leaf of its quiescence search: for any data.
    Qsearch,
    /// Its own, at once: for data known to be quiet.
    Static,
}

/// Resolved positions.
pub struct Resolved {
    /// A row a position: the coefficients of the evaluation of its leaf.
    pub rows: Rows,
    /// What the engine makes of each position with the present parameters, in centipawns, White's view.
    pub scores: Vec<f64>,
}

/// Resolves every position of a data set with the engine's own search and evaluation.
///
/// # Errors
/// If there are more rows than can be counted.
pub fn resolve(
    dataset: &Dataset,
    evaluator: &Evaluator,
    how: Resolve,
    progress: &dyn Progress,
) -> Result<Resolved, RowsError> {
    progress.begin("resolving", dataset.len() as u64, Unit::Positions);
    let resolve_batch = |range: &Range<usize>| {
        let part = Batch::resolve(dataset, range.clone(), evaluator, how);
        progress.advance(range.len() as u64);
        part
    };
    let parts = batches(dataset).par_iter().map(resolve_batch).collect::<Result<Vec<Batch>, RowsError>>()?;
    progress.end();
    let mut scores = Vec::with_capacity(dataset.len());
    let mut builders = Vec::with_capacity(parts.len());
    for part in parts {
        scores.extend(part.scores.iter().map(|&score| f64::from(score)));
        builders.push(part.rows);
    }
    Ok(Resolved { rows: RowsBuilder::join(PAIRS, builders)?.finish(), scores })
}

/// What the engine makes of every position, in centipawns, and how its game ended, in points; White's view.
pub fn score(dataset: &Dataset, evaluator: &Evaluator, how: Resolve, progress: &dyn Progress) -> (Vec<f64>, Vec<f32>) {
    progress.begin("measuring", dataset.len() as u64, Unit::Positions);
    let batches = batches(dataset);
    let score_batch = |range: Range<usize>| {
        let mut quiescence = Quiescence::new(evaluator, Pruning::Exact);
        progress.advance(range.len() as u64);
        let score = |(position, outcome): (_, Outcome)| {
            let score = match how {
                Resolve::Static => evaluator.evaluate_for_white(&position),
                Resolve::Qsearch => quiescence.score_for_white(&position),
            };
            (f64::from(score), outcome.points())
        };
        dataset.samples(range).map(score).collect::<Vec<_>>()
    };
    let pairs = batches.into_par_iter().flat_map_iter(score_batch).unzip();
    progress.end();
    pairs
}

fn batches(dataset: &Dataset) -> Vec<Range<usize>> {
    (0..dataset.len()).step_by(BATCH).map(|start| start..(start + BATCH).min(dataset.len())).collect()
}

struct Batch {
    rows: RowsBuilder,
    scores: Vec<i16>,
}

impl Batch {
    fn resolve(dataset: &Dataset, range: Range<usize>, evaluator: &Evaluator, how: Resolve) -> Result<Self, RowsError> {
        let mut batch = Batch { rows: RowsBuilder::new(PAIRS)?, scores: Vec::with_capacity(range.len()) };
        batch.rows.reserve(range.len(), 24 * range.len());
        let mut quiescence = Quiescence::new(evaluator, Pruning::Exact);
        let mut trace = Trace::default();
        let mut entries = Vec::with_capacity(40);
        for (position, outcome) in dataset.samples(range) {
            let (score, leaf, is_mate) = match how {
                Resolve::Static => (evaluator.evaluate_for_white(&position), position, false),
                Resolve::Qsearch => {
                    let leaf = quiescence.resolve(&position);
                    let is_mate = leaf.is_mate();
                    (leaf.score, leaf.position, is_mate)
                }
            };
            entries.clear();
            // A mate is worth the same whatever the parameters are.
            let constant = if is_mate { score as f32 } else { 0.0 };
            if !is_mate {
                trace.for_each(&leaf, |index, count| entries.push((index, count)));
            }
            batch.rows.push(&entries, phase_counts(&leaf), outcome.points(), constant)?;
            batch.scores.push(score as i16);
        }
        Ok(batch)
    }
}
