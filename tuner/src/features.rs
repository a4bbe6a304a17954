//! From positions to rows: each is resolved to a leaf, and the leaf's evaluation is taken apart.

use std::ops::Range;

use clap::ValueEnum;
use engine::chess::Position;
use engine::eval::params::PAIRS;
use engine::eval::{Evaluator, Trace, phase_counts};
use engine::search::{Pruning, Quiescence};
use rayon::prelude::*;
use thiserror::Error;

use crate::dataset::{BATCH, Dataset, DatasetError, Label, ReadOptions, Source, Told, Visitor, WAVE};
use crate::name_of;
use crate::objective::{Entry, Rows, RowsBuilder, RowsError, RowsWriter};
use crate::processes::{self, Shared};
use crate::progress::{Progress, Unit};
use crate::storage::Storage;

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
    pub still: Vec<i16>,
    /// By its quiescence search.
    pub qsearch: Vec<i16>,
}

impl Scores {
    /// The scores that a way of resolving fits.
    pub fn of(&self, how: Resolve) -> &[i16] {
        match how {
            Resolve::Static => &self.still,
            Resolve::Qsearch => &self.qsearch,
        }
    }

    /// Those of some positions.
    pub(crate) fn pick(&self, positions: &[u32]) -> Scores {
        let pick = |scores: &[i16]| positions.iter().map(|&position| scores[position as usize]).collect();
        Scores { still: pick(&self.still), qsearch: pick(&self.qsearch) }
    }

    fn extend(&mut self, other: &Scores) {
        self.still.extend_from_slice(&other.still);
        self.qsearch.extend_from_slice(&other.qsearch);
    }
}

/// Resolved positions.
pub struct Resolved {
    /// A row a position: the coefficients of the evaluation of its leaf.
    pub rows: Rows,
    /// What the engine makes of each position with the present parameters.
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

/// Reads labelled positions and resolves each as it comes.
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
    let mut whole = Collected::new(&options.storage);
    let resolver = || Resolver::new(evaluator, Some(how));
    let collect = |part: Resolver| whole.add(part.into());
    if !processes::are_many() {
        let dataset = Dataset::read(sources, options, resolver, collect, progress)?;
        return Ok((dataset, whole.finish()?));
    }
    let dataset = Dataset::read_together(sources, options, resolver, collect, progress)?;
    // Positions that are chosen among others are resolved once it is known which.
    let resolved = if options.chooses() { resolve(&dataset, evaluator, how, progress) } else { whole.finish() };
    Ok((dataset, resolved?))
}

/// Resolves every position of a data set again, with other parameters.
///
/// # Errors
/// If there are more rows than can be counted.
pub fn resolve(
    dataset: &Dataset,
    evaluator: &Evaluator,
    how: Resolve,
    progress: &dyn Progress,
) -> Result<Resolved, RowsError> {
    let mut whole = Collected::new(dataset.storage());
    visit("resolving", dataset, evaluator, Some(how), |part| whole.add(part), progress);
    whole.finish()
}

/// The engine's scores of every position, without rows.
pub fn score(dataset: &Dataset, evaluator: &Evaluator, progress: &dyn Progress) -> Scores {
    let mut scores = Scores::default();
    visit("measuring", dataset, evaluator, None, |part| scores.extend(&part.scores), progress);
    scores
}

/// Shows every position to a resolver, one a batch, and hands what these have found to `collect` in order. Processes
/// share the work.
fn visit(
    step: &'static str,
    dataset: &Dataset,
    evaluator: &Evaluator,
    rows: Option<Resolve>,
    collect: impl FnMut(Found),
    progress: &dyn Progress,
) {
    let resolve = |range: Range<usize>| {
        let mut resolver = Resolver::new(evaluator, rows);
        for (position, label) in dataset.samples(range) {
            resolver.visit(&position, label);
        }
        Found::from(resolver)
    };
    let work = |batches: &[Range<usize>]| {
        let own = &batches[processes::share(batches.len())];
        processes::gather(own.par_iter().cloned().map(resolve).collect())
    };
    in_waves(step, dataset, work, collect, progress);
}

/// Divides the positions into batches, works on several at a time, and hands what comes of each to `collect` in order.
pub(crate) fn in_batches<T: Send>(
    step: &'static str,
    dataset: &Dataset,
    work: impl Fn(Range<usize>) -> T + Sync,
    collect: impl FnMut(T),
    progress: &dyn Progress,
) {
    let work = |batches: &[Range<usize>]| batches.par_iter().cloned().map(&work).collect();
    in_waves(step, dataset, work, collect, progress);
}

/// Divides the positions into batches, has several worked on at a time, and hands what comes of each to `collect` in
/// order.
fn in_waves<T>(
    step: &'static str,
    dataset: &Dataset,
    work: impl Fn(&[Range<usize>]) -> Vec<T>,
    mut collect: impl FnMut(T),
    progress: &dyn Progress,
) {
    progress.begin(step, dataset.len() as u64, Unit::Positions);
    let batches = (0..dataset.len()).step_by(BATCH).map(|start| start..(start + BATCH).min(dataset.len()));
    let batches: Vec<Range<usize>> = batches.collect();
    for wave in batches.chunks(WAVE) {
        work(wave).into_iter().for_each(&mut collect);
        let range = wave[0].start..wave[wave.len() - 1].end;
        progress.advance(range.len() as u64);
        dataset.release(range);
    }
    progress.end();
}

/// What a resolver has found.
struct Found {
    rows: Result<Rows, RowsError>,
    scores: Scores,
}

impl From<Resolver<'_>> for Found {
    fn from(resolver: Resolver<'_>) -> Self {
        let Resolver { rows, scores, found, .. } = resolver;
        found.unwrap_or_else(|| Found { rows: rows.map(RowsBuilder::finish), scores })
    }
}

impl Shared for Found {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.rows.as_ref().expect("rows of a trace are sound").pack(bytes);
        self.scores.still.pack(bytes);
        self.scores.qsearch.pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        let rows = Ok(Rows::unpack(bytes));
        Found { rows, scores: Scores { still: Vec::unpack(bytes), qsearch: Vec::unpack(bytes) } }
    }
}

/// What resolvers have found, put together in the order of the data.
struct Collected {
    rows: Result<RowsWriter, RowsError>,
    scores: Scores,
}

impl Collected {
    fn new(storage: &Storage) -> Self {
        Collected { rows: Ok(RowsWriter::new(PAIRS, storage)), scores: Scores::default() }
    }

    fn add(&mut self, part: Found) {
        self.scores.extend(&part.scores);
        if let Ok(rows) = &mut self.rows
            && let Err(error) = part.rows.and_then(|part| rows.append(&part))
        {
            self.rows = Err(error);
        }
    }

    fn finish(self) -> Result<Resolved, RowsError> {
        Ok(Resolved { rows: self.rows?.finish()?, scores: self.scores })
    }
}

/// Resolves positions one after the other.
struct Resolver<'e> {
    evaluator: &'e Evaluator,
    quiescence: Quiescence<'e>,
    /// Which leaf becomes a row; none if only scores are wanted.
    how: Option<Resolve>,
    trace: Trace,
    entries: Vec<Entry>,
    rows: Result<RowsBuilder, RowsError>,
    scores: Scores,
    /// All that is found, once other processes have been told, or have told.
    found: Option<Found>,
}

impl<'e> Resolver<'e> {
    fn new(evaluator: &'e Evaluator, how: Option<Resolve>) -> Self {
        Resolver {
            evaluator,
            quiescence: Quiescence::new(evaluator, Pruning::Exact),
            how,
            trace: Trace::default(),
            entries: Vec::with_capacity(40),
            rows: RowsBuilder::new(PAIRS),
            scores: Scores::default(),
            found: None,
        }
    }

    /// Adds the row of a leaf; a mate is worth the same whatever the parameters are.
    fn add_row(&mut self, leaf: &Position, mate: Option<i32>, label: Label) {
        self.entries.clear();
        if mate.is_none() {
            self.trace.for_each(leaf, |index, count| self.entries.push((index, count)));
        }
        let constant = mate.unwrap_or_default() as f32;
        if let Ok(rows) = &mut self.rows
            && let Err(error) = rows.push(&self.entries, phase_counts(leaf), label.outcome.points(), constant)
        {
            self.rows = Err(error);
        }
    }
}

impl Told for Resolver<'_> {
    fn tell(&mut self, bytes: &mut Vec<u8>) {
        let rows = std::mem::replace(&mut self.rows, RowsBuilder::new(PAIRS)).map(RowsBuilder::finish);
        let found = Found { rows, scores: std::mem::take(&mut self.scores) };
        found.pack(bytes);
        self.found = Some(found);
    }

    fn hear(&mut self, bytes: &mut &[u8]) {
        self.found = Some(Found::unpack(bytes));
    }
}

impl Visitor for Resolver<'_> {
    fn visit(&mut self, position: &Position, label: Label) {
        let still = self.evaluator.evaluate_for_white(position);
        let qsearch = match self.how {
            Some(Resolve::Qsearch) => {
                let leaf = self.quiescence.resolve(position);
                self.add_row(&leaf.position, leaf.is_mate().then_some(leaf.score), label);
                leaf.score
            }
            Some(Resolve::Static) => {
                self.add_row(position, None, label);
                self.quiescence.score_for_white(position)
            }
            None => self.quiescence.score_for_white(position),
        };
        // Evaluations and mates lie within ±32,000 centipawns.
        self.scores.still.push(still as i16);
        self.scores.qsearch.push(qsearch as i16);
    }
}
