//! Rows of Merino's own evaluation: each position is resolved to a leaf, and the leaf's evaluation is traced.

use std::ops::Range;
use std::sync::Arc;

use anyhow::{Result, bail};
use clap::ValueEnum;
use engine::chess::Position;
use engine::eval::params::{Weights, leaves};
use engine::eval::{Evaluator, Trace, known_ending};
use engine::search::{Pruning, Quiescence};

use super::{Positions, Problem, RowSource};
use crate::data::Dataset;
use crate::model::merino::{CONSTANT, merino, numbers_of_leaf};
use crate::model::rows::{CHUNK, RowBuilder, Rows, RowsWriter, is_dealt_here};
use crate::model::text::{Parameter, TextRows};
use crate::parallel;
use crate::progress::Progress;
use crate::source::numbers::Numbers;

/// The position whose evaluation is fitted, given a position of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Resolve {
    /// The leaf of its quiescence search: for any data.
    Qsearch,
    /// The position itself: for data known to be quiet.
    Static,
}

impl Resolve {
    /// Returns the position to evaluate, and its score if the quiescence search ends in mate.
    pub(super) fn leaf(self, position: Position, quiescence: &mut Quiescence<'_>) -> (Position, Option<i32>) {
        match self {
            Resolve::Static => (position, None),
            Resolve::Qsearch => {
                let leaf = quiescence.resolve(&position);
                let mate = leaf.is_mate().then_some(leaf.score);
                (leaf.position, mate)
            }
        }
    }
}

/// Merino's evaluation with starting values of its parameters.
#[derive(Clone, Debug)]
pub struct Own {
    /// The starting values.
    pub start: Weights,
    /// The position to evaluate: the leaf or the position itself.
    pub resolve: Resolve,
}

impl Own {
    /// Makes the problem of fitting the evaluation to labelled positions.
    ///
    /// # Errors
    /// If there are more rows than their index can count, or they cannot be stored.
    pub fn problem(self, dataset: Arc<Dataset>, progress: &dyn Progress) -> Result<Problem> {
        let start = self.start.to_vector();
        let rows = resolve(&dataset, &Evaluator::new(self.start.clone()), self.resolve, progress)?;
        let parameter = |(index, leaf): (usize, &engine::eval::params::Leaf)| {
            let start = start[numbers_of_leaf(index)].to_vec();
            Parameter { name: leaf.path.clone(), sum: Some(leaf.field.sum), start, unit: 1.0, decimals: 0 }
        };
        let text = TextRows {
            parameters: leaves().iter().enumerate().map(parameter).collect(),
            model: merino().model.clone(),
            rows,
            searches: (0..dataset.len()).map(|index| dataset.label(index).score).collect(),
            sets: dataset.sets().map(|set| set.2).collect(),
            ..TextRows::default()
        };
        Ok(Problem {
            description: dataset.description(),
            numbers: Numbers::declared(),
            // Scores are nearly proportional to the pairs (degree 1). Numbers of the joints keep degree 0 and are left
            // to the fit. Phase weights have degree 0, as the phase is a ratio of them.
            powers: Some(
                (0..Weights::DIMENSIONS).map(|j| f64::from(u8::from(j < 2 * engine::eval::params::PAIRS))).collect(),
            ),
            groups: dataset.groups().to_vec(),
            grouping: dataset.grouping(),
            source: Some(Arc::new(self)),
            positions: Some(Positions::new(Arc::clone(&dataset), &[])),
            ..Problem::new(text, dataset.storage())
        })
    }
}

impl RowSource for Own {
    fn rows_move(&self) -> bool {
        self.resolve == Resolve::Qsearch
    }

    fn read(&self, dataset: Arc<Dataset>, theta: &[f64], progress: &dyn Progress) -> Result<Problem> {
        Own { start: Weights::from_vector(theta).0, ..self.clone() }.problem(dataset, progress)
    }

    fn check(&self, theta: &[f64]) -> Result<()> {
        if !Weights::from_vector(theta).0.has_phase() {
            bail!(
                "all phase weights were tuned to 0: the data do not distinguish midgame from endgame; give a stronger \
                 --prior"
            );
        }
        Ok(())
    }
}

/// Resolves every position of a data set to a row. Processes share the work: each computes the rows of its own chunks.
fn resolve(dataset: &Dataset, evaluator: &Evaluator, how: Resolve, progress: &dyn Progress) -> Result<Rows> {
    let of_chunk = |chunk: &Range<usize>| {
        let (merino, mut quiescence) = (merino(), Quiescence::new(evaluator, Pruning::Exact));
        let (mut trace, mut row) = (Trace::default(), RowBuilder::default());
        let mut rows = RowsWriter::in_memory((&merino.model.layout).into());
        for (position, label) in dataset.samples(chunk.clone()) {
            let (leaf, mate) = how.leaf(position, &mut quiescence);
            row.clear(1);
            // Scores of mates and of endings known by rule are constants: no parameter changes them.
            match mate.or_else(|| known_ending(&leaf)) {
                None => merino.trace(&mut trace, &leaf, &mut row),
                Some(score) => row.set_fact(CONSTANT, score as f32),
            }
            rows.push(&mut row, label.outcome.points())?;
        }
        rows.finish()
    };
    let work = |chunks: &[Range<usize>]| {
        let is_own = |chunk: &&Range<usize>| is_dealt_here(chunk.start / CHUNK);
        let mut rows = parallel::map(chunks.iter().filter(is_own).collect::<Vec<_>>(), of_chunk).into_iter();
        chunks.iter().map(|chunk| (chunk.clone(), if is_own(&chunk) { rows.next() } else { None })).collect()
    };
    let mut whole = Ok(RowsWriter::new((&merino().model.layout).into(), dataset.storage()));
    let collect = |(chunk, found): (Range<usize>, Option<Result<Rows>>)| {
        if let Ok(writer) = &mut whole {
            let added = match found {
                Some(found) => found.and_then(|found| writer.append(&found)),
                None => writer.skip_chunk(&dataset.points(chunk)),
            };
            if let Err(error) = added {
                whole = Err(error);
            }
        }
    };
    dataset.each_block("resolving", CHUNK, work, collect, progress);
    Ok(whole?.finish()?.with_weights(dataset.weights()))
}
