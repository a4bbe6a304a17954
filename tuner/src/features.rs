//! From positions to rows: each is resolved to a leaf, and the leaf's evaluation is taken apart.

use std::ops::Range;

use clap::ValueEnum;
use engine::chess::Position;
use engine::eval::{Evaluator, Trace, known_ending};
use engine::search::{Pruning, Quiescence};
use thiserror::Error;

use crate::data::{Dataset, DatasetError, Label, ReadOptions, Source};
use crate::model::merino::{CONSTANT, Merino, merino};
use crate::model::rows::{CHUNK, RowBuilder, Rows, RowsError, RowsWriter};
use crate::name_of;
use crate::parallel;
use crate::processes::{self, Shared};
use crate::progress::Progress;

/// Which evaluation a position is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Resolve {
    /// That of the leaf of its quiescence search: for any data.
    Qsearch,
    /// Its own, at once: for data known to be quiet.
    Static,
}

impl Resolve {
    /// Its name on the command line.
    pub fn name(self) -> String {
        name_of(&self)
    }
}

/// What the engine makes of positions, in centipawns, White's view.
#[derive(Clone, Debug, Default)]
pub struct Scores {
    /// By its evaluation.
    pub static_score: Vec<i16>,
    /// By its quiescence search; empty where that is not wanted.
    pub qsearch: Vec<i16>,
}

impl Scores {
    /// The scores that a way of resolving fits.
    pub fn of(&self, how: Resolve) -> &[i16] {
        match how {
            Resolve::Static => &self.static_score,
            Resolve::Qsearch => &self.qsearch,
        }
    }

    /// Those of some positions.
    pub(crate) fn pick(&self, positions: &[u32]) -> Scores {
        let pick = |scores: &[i16]| match scores {
            [] => Vec::new(),
            scores => positions.iter().map(|&position| scores[position as usize]).collect(),
        };
        Scores { static_score: pick(&self.static_score), qsearch: pick(&self.qsearch) }
    }

    fn extend(&mut self, other: &Scores) {
        self.static_score.extend_from_slice(&other.static_score);
        self.qsearch.extend_from_slice(&other.qsearch);
    }
}

/// Resolved positions.
pub struct Resolved {
    /// A row a position: the coefficients of the evaluation of its leaf.
    pub rows: Rows,
    /// What the engine makes of each position with the present parameters: by its quiescence search only where that
    /// resolved it.
    pub scores: Scores,
}

/// Why positions cannot be read and resolved.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The data.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// Too many positions.
    #[error(transparent)]
    Rows(#[from] RowsError),
}

/// Reads labelled positions and resolves them.
///
/// # Errors
/// The first fault of the data; more rows than can be counted.
pub fn read(
    sources: Vec<Source>,
    options: &ReadOptions,
    evaluator: &Evaluator,
    how: Resolve,
    progress: &dyn Progress,
) -> Result<(Dataset, Resolved), ReadError> {
    let dataset = Dataset::read(sources, options, progress)?;
    let resolved = resolve(&dataset, evaluator, how, progress)?;
    Ok((dataset, resolved))
}

/// Resolves every position of a data set.
pub(crate) fn resolve(
    dataset: &Dataset,
    evaluator: &Evaluator,
    how: Resolve,
    progress: &dyn Progress,
) -> Result<Resolved, RowsError> {
    let mut whole = Collected::new(dataset);
    each("resolving", dataset, evaluator, (how, true), |part| whole.add(part), progress);
    whole.finish()
}

/// The engine's scores of every position, without rows; those of its quiescence search if positions are resolved by it.
pub(crate) fn score(dataset: &Dataset, evaluator: &Evaluator, how: Resolve, progress: &dyn Progress) -> Scores {
    let mut scores = Scores::default();
    each("measuring", dataset, evaluator, (how, false), |part| scores.extend(&part.scores), progress);
    scores
}

/// Resolves every position, those of a chunk one after the other, and hands what is found to `collect` in order.
/// Processes share the work: each gets all scores, but the rows of its own chunks only.
fn each(
    step: &'static str,
    dataset: &Dataset,
    evaluator: &Evaluator,
    wanted: (Resolve, bool),
    collect: impl FnMut(Found),
    progress: &dyn Progress,
) {
    let resolve = |chunk: &Range<usize>| {
        let mut resolver = Resolver::new(evaluator, wanted);
        for (position, label) in dataset.samples(chunk.clone()) {
            resolver.add(&position, label);
        }
        (resolver.rows.and_then(RowsWriter::finish), resolver.scores)
    };
    let work = |chunks: &[Range<usize>]| {
        let part = |chunk: &Range<usize>| chunk.start / CHUNK;
        let own: Vec<&Range<usize>> = chunks.iter().filter(|chunk| processes::is_own(part(chunk))).collect();
        let (rows, scores): (Vec<_>, Vec<_>) = parallel::map(own, resolve).into_iter().unzip();
        let (scores, mut rows) = (processes::gather(scores, chunks.iter().map(part)), rows.into_iter());
        let found = scores.into_iter().zip(chunks).map(|(scores, chunk)| {
            let rows = if processes::is_own(part(chunk)) { rows.next() } else { None };
            Found { chunk: chunk.clone(), rows, scores }
        });
        found.collect()
    };
    dataset.each_block(step, CHUNK, work, collect, progress);
}

/// What a resolver has found.
struct Found {
    chunk: Range<usize>,
    /// None if another process keeps them.
    rows: Option<Result<Rows, RowsError>>,
    scores: Scores,
}

impl Shared for Scores {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.static_score.pack(bytes);
        self.qsearch.pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        Scores { static_score: Vec::unpack(bytes), qsearch: Vec::unpack(bytes) }
    }
}

/// What resolvers have found, put together in the order of the data.
struct Collected<'d> {
    dataset: &'d Dataset,
    rows: Result<RowsWriter, RowsError>,
    scores: Scores,
}

impl<'d> Collected<'d> {
    fn new(dataset: &'d Dataset) -> Self {
        let rows = RowsWriter::new((&merino().model.layout).into(), dataset.storage());
        Collected { dataset, rows: Ok(rows), scores: Scores::default() }
    }

    fn add(&mut self, part: Found) {
        self.scores.extend(&part.scores);
        if let Ok(rows) = &mut self.rows {
            let added = match part.rows {
                Some(found) => found.and_then(|found| rows.append(&found)),
                None => rows.skip_chunk(&self.dataset.points(part.chunk)),
            };
            if let Err(error) = added {
                self.rows = Err(error);
            }
        }
    }

    fn finish(self) -> Result<Resolved, RowsError> {
        let rows = self.rows?.finish()?.with_weights(self.dataset.weights());
        Ok(Resolved { rows, scores: self.scores })
    }
}

/// Resolves positions one after the other.
struct Resolver<'e> {
    evaluator: &'e Evaluator,
    quiescence: Quiescence<'e>,
    how: Resolve,
    wants_rows: bool,
    merino: &'static Merino,
    trace: Trace,
    row: RowBuilder,
    rows: Result<RowsWriter, RowsError>,
    scores: Scores,
}

impl<'e> Resolver<'e> {
    fn new(evaluator: &'e Evaluator, (how, wants_rows): (Resolve, bool)) -> Self {
        Resolver {
            evaluator,
            quiescence: Quiescence::new(evaluator, Pruning::Exact),
            how,
            wants_rows,
            merino: merino(),
            trace: Trace::default(),
            row: RowBuilder::default(),
            rows: Ok(RowsWriter::in_memory((&merino().model.layout).into())),
            scores: Scores::default(),
        }
    }

    /// Adds the row of a leaf; a mate is worth the same whatever the parameters are, and so is an ending known by rule.
    fn add_row(&mut self, leaf: &Position, mate: Option<i32>, label: Label) {
        self.row.clear(1);
        match mate.or_else(|| known_ending(leaf)) {
            None => self.merino.trace(&mut self.trace, leaf, &mut self.row),
            Some(score) => self.row.set_fact(CONSTANT, score as f32),
        }
        if let Ok(rows) = &mut self.rows
            && let Err(error) = rows.push(&mut self.row, label.outcome.points())
        {
            self.rows = Err(error);
        }
    }

    /// Resolves the next position.
    fn add(&mut self, position: &Position, label: Label) {
        // Evaluations and mates lie within ±32,000 centipawns.
        self.scores.static_score.push(self.evaluator.evaluate_for_white(position) as i16);
        match (self.how, self.wants_rows) {
            (Resolve::Qsearch, true) => {
                let leaf = self.quiescence.resolve(position);
                self.add_row(&leaf.position, leaf.is_mate().then_some(leaf.score), label);
                self.scores.qsearch.push(leaf.score as i16);
            }
            (Resolve::Qsearch, false) => {
                self.scores.qsearch.push(self.quiescence.score_for_white(position) as i16);
            }
            (Resolve::Static, true) => self.add_row(position, None, label),
            (Resolve::Static, false) => {}
        }
    }
}
