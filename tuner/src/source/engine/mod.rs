//! Rows that an engine computes, position by position.
//!
//! Every process of the engine receives FENs, one per line, far ahead of its answers.
//! [`crate::model::text::answers`] parses the answers of each process, and [`crate::model::text::merge`] merges the rows
//! of all in the order of the data. They are independent of the number of processes and of their speed.

mod cache;
mod process;
mod talk;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use std::{fmt, thread};

use anyhow::{Result, bail};
use common::text::split_words;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use super::{Parameter, Positions, Problem, Resolve, RowSource};
use crate::data::{Dataset, ReadOptions, Source, judge};
use crate::model::text::TextRows;
use crate::model::text::merge::{Joint, ProcessRows};
use crate::progress::{Progress, Unit};
use process::{BATCH, BatchQueue};
use talk::BatchAnswers;

/// The prefix of warnings in a description.
const WARNING: &str = "warning      ";

/// The approximate number of positions that are also asked for with the colours exchanged.
const FLIPPED: usize = 1000;

/// The number of reasons for skipping to report.
const REPORTED_REASONS: usize = 8;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    words: Vec<String>,
}

impl std::str::FromStr for CommandLine {
    type Err = String;

    /// Splits a command at blanks. Words in single or double quotation marks may contain blanks.
    fn from_str(text: &str) -> Result<Self, String> {
        match split_words(text).filter(|words| !words.is_empty()) {
            Some(words) => Ok(CommandLine { text: text.to_owned(), words }),
            None => Err("expected a program and its arguments, quotation marks closed".to_owned()),
        }
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A check of the parameters that an engine declares, made before it is asked for the first position.
pub type Accept<'a> = &'a (dyn Fn(&[Parameter]) -> Result<(), String> + Sync);

/// An engine that answers positions with rows.
#[derive(Clone, Debug)]
pub struct Engine {
    /// The command that starts a process.
    pub command: CommandLine,
    /// The number of processes.
    pub processes: usize,
    /// The longest time for an answer.
    pub timeout: Duration,
    /// The position to ask for: the leaf of Merino's quiescence search, or the position itself.
    pub resolve: Resolve,
}

impl RowSource for Engine {
    fn read(&self, dataset: Arc<Dataset>, _theta: &[f64], progress: &dyn Progress) -> Result<Problem> {
        self.ask(dataset, None, (&|_| Ok(()), |_| Ok(())), progress)
    }
}

impl Engine {
    /// Asks for rows of the data, or reads them from the folder `cache`. The first of the `checks` is called before the
    /// first position is asked for. The second is called when all answers are cached, or before the rows of a cache entry
    /// are read.
    ///
    /// # Errors
    /// The first fault of the data or of the engine, with the position. Nothing is cached then.
    pub fn problem(
        &self,
        sources: Vec<Source>,
        options: &ReadOptions,
        cache: Option<&Path>,
        checks: (Accept<'_>, impl FnOnce(Problem) -> Result<()>),
        progress: &dyn Progress,
    ) -> Result<Problem> {
        let entry = match cache {
            Some(folder) => self.entry(folder, &sources, options, progress)?,
            None => None,
        };
        if let Some(path) = entry.as_ref().filter(|path| path.is_file()) {
            let problem = cache::read(path, &options.storage, checks.1, progress)?;
            return Ok(Problem { source: Some(Arc::new(self.clone())), ..problem });
        }
        self.ask(Arc::new(Dataset::read(sources, options, progress)?), entry.as_deref(), checks, progress)
    }

    /// Asks for rows of a data set, and caches them in the file `entry`, if there is one.
    fn ask(
        &self,
        dataset: Arc<Dataset>,
        entry: Option<&Path>,
        (accept, declared): (Accept<'_>, impl FnOnce(Problem) -> Result<()>),
        progress: &dyn Progress,
    ) -> Result<Problem> {
        let (processes, batches) = self.answers(&dataset, accept, progress)?;
        let (name, storage) = (format!("rows of `{}`", self.command), dataset.storage());
        let mut description = self.describe(&dataset, &batches)?;
        let joint = Joint::of(&self.command.text, &processes)?;
        let portions = batches.iter().flat_map(|batch| batch.portions.iter().copied());
        let (mut rows, sets) = joint.merge(&name, &processes, portions, storage)?;
        drop(processes);
        let mut without: Vec<usize> = batches.iter().flat_map(|batch| &batch.without).copied().collect();
        without.sort_unstable();
        let positions = Positions::new(Arc::clone(&dataset), &without);
        // The place of a row is the position that the engine was asked for.
        let evaluator = Evaluator::default();
        let fens = |rows: Range<usize>| -> Vec<String> {
            let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
            let mut fen = |row| self.resolve.leaf(dataset.position(positions.of(row)), &mut quiescence).0.to_fen();
            rows.map(&mut fen).collect()
        };
        if let Some(path) = entry {
            let names: Vec<&str> = sets.iter().map(|&file| &dataset.files()[file].name[..]).collect();
            let names = if dataset.files().len() > 1 { &names[..] } else { &[] };
            cache::write(path, &rows, (joint.lines(), &description, names), fens, progress)?;
            description += &cache::used("wrote", path);
        }
        rows.rows = rows.rows.divided(storage)?;
        declared(Problem::new(joint.declared(), storage))?;
        let problem =
            Problem::checked(rows, storage, |_: &TextRows, row| fens(row..row + 1).concat())?.described(description);
        let (grouping, source) = (dataset.grouping(), Some(Arc::new(self.clone()) as Arc<dyn RowSource>));
        Ok(Problem { grouping, positions: Some(positions), source, ..problem })
    }

    /// Asks for all positions. Returns the rows of each process, and the batches in the order of the data.
    fn answers(
        &self,
        dataset: &Arc<Dataset>,
        accept: Accept<'_>,
        progress: &dyn Progress,
    ) -> Result<(Vec<ProcessRows>, Vec<BatchAnswers>)> {
        let count = dataset.len().div_ceil(BATCH);
        let queue = Arc::new(BatchQueue {
            flip_every: dataset.len().div_ceil(FLIPPED),
            resolve: self.resolve,
            next: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            dataset: Arc::clone(dataset),
        });
        progress.begin("asking", queue.dataset.len() as u64, Unit::Positions);
        let mut batches = vec![BatchAnswers::default(); count];
        let (send, receive) = channel();
        let processes: Vec<Result<ProcessRows>> = thread::scope(|scope| {
            let talk = |process| {
                let (queue, send) = (&queue, send.clone());
                let talk = move || {
                    let rows = self.talk(process, queue, accept, &send);
                    queue.has_failed.fetch_or(rows.is_err(), Ordering::Relaxed);
                    rows
                };
                thread::Builder::new().spawn_scoped(scope, talk).map_err(|error| {
                    queue.has_failed.store(true, Ordering::Relaxed);
                    self.unstarted(&error)
                })
            };
            let talks: Vec<_> = (0..self.processes.clamp(1, count)).map(talk).collect();
            drop(send);
            for (number, batch) in receive {
                progress.advance(batch.asked);
                batches[number] = batch;
            }
            let join =
                |talk: ScopedJoinHandle<'_, _>| talk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            talks.into_iter().map(|talk| talk.and_then(join)).collect()
        });
        progress.end();
        Ok((processes.into_iter().collect::<Result<_>>()?, batches))
    }

    /// Describes the data and the answers: the numbers of rows and of skipped positions, and warnings.
    fn describe(&self, dataset: &Dataset, batches: &[BatchAnswers]) -> Result<String> {
        let name = &self.command;
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, count) in batches.iter().flat_map(|batch| &batch.skipped) {
            *reasons.entry(reason).or_default() += count;
        }
        let rows = batches.iter().map(|batch| batch.asked).sum::<u64>() - reasons.values().sum::<u64>();
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|reason| Reverse(reason.1));
        let more = if reasons.len() > REPORTED_REASONS { ", …" } else { "" };
        let shown = reasons.iter().take(REPORTED_REASONS).map(|(reason, count)| format!("{count} {reason}"));
        let skipped = shown.collect::<Vec<_>>().join(", ") + more;
        if rows == 0 {
            bail!("{name}: the engine has skipped all positions: {skipped}");
        }
        let skipped = if reasons.is_empty() { skipped } else { format!(", skipped {skipped}") };
        let mut description = dataset.description();
        for warning in judge::warnings(dataset.files(), true) {
            _ = writeln!(description, "{WARNING}{warning}");
        }
        _ = writeln!(description, "asked        {name}: {rows} rows{skipped}");
        let worst = batches.iter().filter_map(|batch| batch.worst.as_ref()).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((difference, worst)) = worst {
            let asymmetric = batches.iter().map(|batch| batch.asymmetric).sum::<u64>();
            let compared = batches.iter().map(|batch| batch.compared).sum::<u64>();
            _ = writeln!(
                description,
                "{WARNING}{asymmetric} of {compared} scores are not negated when the colours are exchanged, by up to \
                 {difference} cp: {worst}"
            );
        }
        Ok(description)
    }
}

impl Problem {
    /// Sets the description of an engine's rows and, from it, the warnings.
    fn described(mut self, description: String) -> Self {
        // Warnings about groups are for authors who number them. These groups are the games of the data.
        let warnings = description.lines().filter_map(|line| Some(line.strip_prefix(WARNING)?.to_owned()));
        self.warnings = warnings.collect();
        self.description = description;
        self
    }
}
