//! Rows that an engine is asked for, position by position.
//!
//! Every process of the engine is sent FENs, a line each, far ahead of its answers; [`crate::model::text::answers`] has
//! what it says. The answers become a text of rows, in the order of the data, which is read as any other: neither the
//! number of processes nor their speed has part in a byte of it.

mod entry;
mod process;
mod rows;
mod talk;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use std::{fmt, thread};

use anyhow::{Context, Result, anyhow, bail};
use common::files::write_whole_with;

use super::{Declared, Parameter, Problem, Resolve, RowSource};
use crate::data::{Dataset, ReadOptions, Source, judge, write_files, write_skipped};
use crate::io::StorageError;
use crate::model::text::VERSION;
use crate::model::text::answers::{Declarations, Joint};
use crate::progress::{Progress, Unit};
use process::{CHUNK, Work};
pub use rows::AskedRows;
use rows::{Answered, Piece, TOLD, WARNING};

/// The columns of labels, which a file of rows has in front of the engine's own, and its lines beside rows; part of the
/// name of an entry.
const COLUMNS: &str = "result group search, data";

/// Positions that are asked for with the colours exchanged, too, about.
const FLIPPED: usize = 1000;

/// Reasons for skipping that are told.
const TOLD_REASONS: usize = 8;

/// A program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    words: Vec<String>,
}

impl std::str::FromStr for CommandLine {
    type Err = String;

    /// Words between blanks; those in quotation marks, single or double, may have blanks.
    fn from_str(text: &str) -> Result<Self, String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
        for char in text.chars() {
            match (char, quote) {
                (_, Some(mark)) if char == mark => quote = None,
                ('"' | '\'', None) => {
                    quote = Some(char);
                    word.get_or_insert_default();
                }
                (_, None) if char.is_whitespace() => words.extend(word.take()),
                _ => word.get_or_insert_default().push(char),
            }
        }
        words.extend(word);
        if quote.is_some() || words.is_empty() {
            return Err("expected a program and its arguments, quotation marks closed".to_owned());
        }
        Ok(CommandLine { text: text.to_owned(), words })
    }
}

impl fmt::Display for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What accepts or refuses the parameters that an engine declares, before it is asked for the first position.
pub type Accept<'a> = &'a (dyn Fn(&[Parameter]) -> Result<(), String> + Sync);

/// An engine to be asked.
#[derive(Clone, Debug)]
pub struct Engine {
    /// How a process is started.
    pub command: CommandLine,
    /// How many processes there are.
    pub processes: usize,
    /// How long an answer may take.
    pub timeout: Duration,
    /// What is asked for: the leaf of Merino's quiescence search, or the position itself.
    pub resolve: Resolve,
}

impl RowSource for Engine {
    fn read(&self, dataset: Arc<Dataset>, _theta: &[f64], progress: &dyn Progress) -> Result<Problem> {
        let (rows, without) = self.ask_all(&dataset, &|_| Ok(()), progress)?;
        let mut problem = Problem::read_asked(&rows, dataset.storage(), |_| Ok(()), progress)?;
        problem.told = rows.told;
        Ok(problem.with_positions(dataset, &without, Arc::new(self.clone())))
    }
}

/// The rows of an engine, and the positions that they are of, if these were read anew.
type Asked = (AskedRows, Option<(Arc<Dataset>, Vec<usize>)>);

impl Engine {
    /// Asks for rows of the data, or takes those that are kept in the folder `cache`. Parameters are accepted or refused
    /// before the first position is asked for, the declarations before the first row is read.
    ///
    /// # Errors
    /// The first fault of the data or of the engine, with the position; nothing is kept then.
    pub fn problem(
        &self,
        sources: Vec<Source>,
        options: &ReadOptions,
        cache: Option<&Path>,
        (parameters, declared): (Accept<'_>, impl FnOnce(Declared<'_>) -> Result<()>),
        progress: &dyn Progress,
    ) -> Result<Problem> {
        let (rows, positions) = self.ask(sources, options, cache, parameters, progress)?;
        let mut problem = Problem::read_asked(&rows, &options.storage, declared, progress)?;
        problem.told = rows.told;
        Ok(match positions {
            Some((dataset, without)) => problem.with_positions(dataset, &without, Arc::new(self.clone())),
            None => Problem { source: Some(Arc::new(self.clone())), ..problem },
        })
    }

    fn ask(
        &self,
        sources: Vec<Source>,
        options: &ReadOptions,
        cache: Option<&Path>,
        accept: Accept<'_>,
        progress: &dyn Progress,
    ) -> Result<Asked> {
        let kept = match cache {
            Some(folder) => self.entry(folder, &sources, options, progress)?,
            None => None,
        };
        if let Some(path) = kept.as_ref().filter(|path| path.is_file()) {
            let name = path.display().to_string();
            let file = File::open(path).with_context(|| format!("{name}: cannot be read"))?;
            let mut rows = AskedRows { name: name.clone(), told: String::new(), file };
            let lines = rows.lines()?.skip(1).map_while(|line| Some(line.ok()?.strip_prefix(TOLD)?.to_owned() + "\n"));
            rows.told = lines.collect::<String>() + &format!("cache        reused {name}\n");
            return Ok((rows, None));
        }
        let dataset = Arc::new(Dataset::read(sources, options, progress)?);
        let Some(path) = kept else {
            let (rows, without) = self.ask_all(&dataset, accept, progress)?;
            return Ok((rows, Some((dataset, without))));
        };
        let answered = self.answers(&dataset, accept, progress)?;
        write_whole_with(&path, |file| answered.write(file))?;
        let name = path.display().to_string();
        let file = File::open(&path).with_context(|| format!("{name}: cannot be read"))?;
        let told = format!("{}cache        wrote {name}\n", answered.told);
        Ok((AskedRows { name, told, file }, Some((dataset, answered.without()))))
    }

    /// Asks for rows of positions that have been read; with them, the positions that have no row, in ascending order.
    fn ask_all(
        &self,
        dataset: &Arc<Dataset>,
        accept: Accept<'_>,
        progress: &dyn Progress,
    ) -> Result<(AskedRows, Vec<usize>)> {
        let answered = self.answers(dataset, accept, progress)?;
        let folder = &dataset.storage().folder;
        let unkept = |error| StorageError::of(folder, error);
        let mut file = tempfile::tempfile_in(folder).map_err(unkept)?;
        answered.write(&mut file).map_err(unkept)?;
        let without = answered.without();
        let name = format!("rows of `{}`", self.command.text);
        Ok((AskedRows { name, told: answered.told, file }, without))
    }

    /// Where rows are kept: by what they follow from. The program and the arguments that are files count with their bytes.
    fn entry(
        &self,
        folder: &Path,
        sources: &[Source],
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Option<PathBuf>> {
        std::fs::create_dir_all(folder).map_err(|error| StorageError::of(folder, error))?;
        let mut parts = vec![VERSION.to_owned(), COLUMNS.to_owned(), self.resolve.name()];
        for (place, word) in self.command.words.iter().enumerate() {
            parts.push(word.clone());
            let file = if place == 0 { program(word) } else { Some(PathBuf::from(word)) };
            if let Some(file) = file.filter(|file| file.is_file()) {
                let digest = Source::open(&file).and_then(|source| source.digest(progress));
                parts.extend(digest?);
            }
        }
        let name = entry::name(sources, options, parts, progress)?;
        Ok(name.map(|name| folder.join(format!("{name}.rows.zst"))))
    }

    /// Asks for all positions. What is answered goes to a file that has no name.
    fn answers(&self, dataset: &Arc<Dataset>, accept: Accept<'_>, progress: &dyn Progress) -> Result<Answered> {
        let folder = &dataset.storage().folder;
        let file = tempfile::tempfile_in(folder).map_err(|error| StorageError::of(folder, error))?;
        let chunks = dataset.len().div_ceil(CHUNK);
        let work = Arc::new(Work {
            flip_every: dataset.len().div_ceil(FLIPPED),
            resolve: self.resolve,
            next: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            dataset: Arc::clone(dataset),
        });
        progress.begin("asking", work.dataset.len() as u64, Unit::Positions);
        let mut pieces = vec![Piece::default(); chunks];
        let (send, receive) = channel();
        let mut written = Ok(());
        let said: Vec<Result<Declarations>> = thread::scope(|scope| {
            let talk = |process| {
                let (work, send) = (&work, send.clone());
                let talk = move || {
                    let said = self.talk(process, work, accept, &send);
                    work.has_failed.fetch_or(said.is_err(), Ordering::Relaxed);
                    said
                };
                thread::Builder::new().spawn_scoped(scope, talk).map_err(|error| {
                    work.has_failed.store(true, Ordering::Relaxed);
                    self.unstarted(&error)
                })
            };
            let talks: Vec<_> = (0..self.processes.clamp(1, chunks)).map(talk).collect();
            drop(send);
            let mut end = 0;
            for (chunk, rows, mut piece) in receive {
                (piece.start, piece.bytes) = (end, rows.len());
                end += rows.len() as u64;
                if written.is_ok() {
                    written = (&file).write_all(rows.as_bytes());
                }
                work.has_failed.fetch_or(written.is_err(), Ordering::Relaxed);
                progress.advance(piece.asked);
                pieces[chunk] = piece;
            }
            let join =
                |talk: ScopedJoinHandle<'_, _>| talk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            talks.into_iter().map(|talk| talk.and_then(join)).collect()
        });
        progress.end();
        written.map_err(|error| StorageError::of(folder, error))?;
        let said = said.into_iter().collect::<Result<Vec<_>, _>>()?;
        let joint = Joint::of(&said).map_err(|what| {
            anyhow!(
                "{}: two processes of the engine {what}: what a name stands for must not depend on positions",
                self.command.text
            )
        })?;
        let mut told = String::new();
        _ = write_files(&mut told, work.dataset.files());
        _ = write_skipped(&mut told, work.dataset.skipped());
        judge::warnings(work.dataset.files(), true).iter().for_each(|warning| _ = writeln!(told, "{WARNING}{warning}"));
        told += &self.told(&pieces)?;
        let files = dataset.files().iter().map(|file| file.name.clone()).collect();
        Ok(Answered { file, joint, pieces, files, told })
    }

    /// What came of the positions.
    fn told(&self, pieces: &[Piece]) -> Result<String> {
        let name = &self.command;
        let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (reason, count) in pieces.iter().flat_map(|piece| &piece.skipped) {
            *reasons.entry(reason).or_default() += count;
        }
        let rows = pieces.iter().map(|piece| piece.asked).sum::<u64>() - reasons.values().sum::<u64>();
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|reason| Reverse(reason.1));
        let more = if reasons.len() > TOLD_REASONS { ", …" } else { "" };
        let shown = reasons.iter().take(TOLD_REASONS).map(|(reason, count)| format!("{count} {reason}"));
        let skipped = shown.collect::<Vec<_>>().join(", ") + more;
        if rows == 0 {
            bail!("{name}: the engine has skipped all positions: {skipped}");
        }
        let skipped = if reasons.is_empty() { skipped } else { format!(", skipped {skipped}") };
        let mut told = format!("asked        {name}: {rows} rows{skipped}\n");
        let worst = pieces.iter().filter_map(|piece| piece.worst.as_ref()).max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((difference, worst)) = worst {
            let [off, compared] = [|piece: &Piece| piece.off, |piece: &Piece| piece.compared]
                .map(|of| pieces.iter().map(of).sum::<u64>());
            told += &format!(
                "{WARNING}{off} of {compared} scores are not negated when the colours are exchanged, by up to \
                 {difference} cp: {worst}\n"
            );
        }
        Ok(told)
    }
}

/// The file of a program, as the system finds it.
fn program(word: &str) -> Option<PathBuf> {
    let in_path =
        |folders: OsString| std::env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| path.is_file());
    if Path::new(word).components().count() > 1 {
        Some(word.into())
    } else {
        std::env::var_os("PATH").and_then(in_path)
    }
}
