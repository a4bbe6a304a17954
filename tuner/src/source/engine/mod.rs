//! Rows that an engine computes, position by position.
//!
//! Every process of the engine receives FENs, one per line, far ahead of its answers.
//! [`crate::model::text::answers`] parses the answers. They become a text of rows in the order of the data, which is
//! read like any other. Every byte of it is independent of the number of processes and of their speed.

mod entry;
mod process;
mod rows;
mod talk;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use std::{fmt, thread};

use anyhow::{Result, anyhow, bail};
use common::files::write_whole_with;
use common::text::split_words;

use super::{Parameter, Positions, Problem, Resolve, RowSource};
use crate::data::io::StorageError;
use crate::data::{Dataset, ReadOptions, Source, judge};
use crate::model::text::answers::Joint;
use crate::progress::{Progress, Unit};
use process::{BATCH, BatchQueue};
use rows::{BatchAnswers, CollectedAnswers, EngineRows, WARNING};

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
    /// Asks for rows of the data, or reads them from the folder `cache`. `checks` are called before the first position
    /// is asked for, and before the first row is read.
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
            let problem = EngineRows::cached(path, "reused")?.problem(&options.storage, checks.1, progress)?;
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
        let answered = self.answers(&dataset, accept, progress)?;
        let storage = dataset.storage();
        let rows = match entry {
            Some(path) => {
                write_whole_with(path, |file| answered.write(file))?;
                EngineRows::cached(path, "wrote")?
            }
            None => {
                let unstored = |error| StorageError::of(&storage.folder, error);
                let mut file = tempfile::tempfile_in(&storage.folder).map_err(unstored)?;
                answered.write(&mut file).map_err(unstored)?;
                let (name, description) = (format!("rows of `{}`", self.command), answered.description.clone());
                EngineRows { name, description, file }
            }
        };
        let problem = rows.problem(storage, declared, progress)?;
        let positions = Some(Positions::new(Arc::clone(&dataset), &answered.without()));
        Ok(Problem { grouping: dataset.grouping(), positions, source: Some(Arc::new(self.clone())), ..problem })
    }

    /// Asks for all positions. The answers go to an anonymous temporary file.
    fn answers(&self, dataset: &Arc<Dataset>, accept: Accept<'_>, progress: &dyn Progress) -> Result<CollectedAnswers> {
        let folder = &dataset.storage().folder;
        let file = tempfile::tempfile_in(folder).map_err(|error| StorageError::of(folder, error))?;
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
        let mut written = Ok(());
        let declarations: Vec<Result<Vec<String>>> = thread::scope(|scope| {
            let talk = |process| {
                let (queue, send) = (&queue, send.clone());
                let talk = move || {
                    let declarations = self.talk(process, queue, accept, &send);
                    queue.has_failed.fetch_or(declarations.is_err(), Ordering::Relaxed);
                    declarations
                };
                thread::Builder::new().spawn_scoped(scope, talk).map_err(|error| {
                    queue.has_failed.store(true, Ordering::Relaxed);
                    self.unstarted(&error)
                })
            };
            let talks: Vec<_> = (0..self.processes.clamp(1, count)).map(talk).collect();
            drop(send);
            let mut end = 0;
            for (number, rows, mut batch) in receive {
                (batch.start, batch.bytes) = (end, rows.len());
                end += rows.len() as u64;
                if written.is_ok() {
                    written = (&file).write_all(rows.as_bytes());
                }
                queue.has_failed.fetch_or(written.is_err(), Ordering::Relaxed);
                progress.advance(batch.asked);
                batches[number] = batch;
            }
            let join =
                |talk: ScopedJoinHandle<'_, _>| talk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            talks.into_iter().map(|talk| talk.and_then(join)).collect()
        });
        progress.end();
        written.map_err(|error| StorageError::of(folder, error))?;
        let declarations = declarations.into_iter().collect::<Result<Vec<_>, _>>()?;
        let joint = Joint::of(&declarations).map_err(|what| {
            anyhow!(
                "{}: two processes of the engine {what}: what a name stands for must not depend on positions",
                self.command.text
            )
        })?;
        let mut description = queue.dataset.description();
        for warning in judge::warnings(queue.dataset.files(), true) {
            _ = writeln!(description, "{WARNING}{warning}");
        }
        description += &self.describe(&batches)?;
        let files = dataset.files().iter().map(|file| file.name.clone()).collect();
        Ok(CollectedAnswers { file, joint, batches, files, description })
    }

    /// Describes the answers: the numbers of rows and of skipped positions, and a warning of asymmetric scores.
    fn describe(&self, batches: &[BatchAnswers]) -> Result<String> {
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
        let mut description = format!("asked        {name}: {rows} rows{skipped}\n");
        let worst = batches.iter().filter_map(|batch| batch.worst.as_ref()).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((difference, worst)) = worst {
            let asymmetric = batches.iter().map(|batch| batch.asymmetric).sum::<u64>();
            let compared = batches.iter().map(|batch| batch.compared).sum::<u64>();
            description += &format!(
                "{WARNING}{asymmetric} of {compared} scores are not negated when the colours are exchanged, by up to \
                 {difference} cp: {worst}\n"
            );
        }
        Ok(description)
    }
}
