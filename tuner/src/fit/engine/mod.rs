//! Rows that an engine is asked for, position by position.
//!
//! Every process of the engine is sent FENs, a line each, far ahead of its answers; [`crate::model::text::answers`] has
//! what it says. The answers become a text of rows, in the order of the data, which is read as any other: neither the
//! number of processes nor their speed has part in a byte of it.

mod process;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use common::files::write_whole_with;
use tools::compression::decode_text;

use super::{Check, RunError};
use crate::cache;
use crate::data::{Dataset, DatasetError, Grouping, ReadOptions, Source, write_files, write_skipped};
use crate::features::Resolve;
use crate::io::StorageError;
use crate::model::text::answers::{Answer, Answers, Asked, Declarations, Joint, renumber};
use crate::model::text::{TextError, VERSION_2};
use crate::progress::{Progress, Unit};
use process::{CHUNK, Process, Question, Work};

/// Positions that are asked for with the colours exchanged, too, about.
const FLIPPED: usize = 1000;

/// Centipawns by which both may differ: engines round.
const ROUNDING: f32 = 1.0;

/// Reasons for skipping that are told apart, and those that are told.
const KEPT_REASONS: usize = 1000;
const TOLD_REASONS: usize = 8;

/// What begins the lines in front of the rows that tell what they are.
const TOLD: &str = "# ";

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

/// A text of rows that an engine has answered.
pub struct AskedRows {
    /// What messages call it.
    pub(super) name: String,
    /// What the rows are of, and what is missing, line by line.
    pub told: String,
    /// Compressed, wherever it is read.
    file: File,
}

impl Engine {
    /// Asks for rows of the data, or takes those that are kept in a folder.
    ///
    /// # Errors
    /// The first fault of the data or of the engine, with the position; nothing is kept then.
    pub fn ask(
        &self,
        sources: Vec<Source>,
        options: &ReadOptions,
        cache: Option<&Path>,
        progress: &dyn Progress,
    ) -> Result<AskedRows, RunError> {
        let kept = match cache {
            Some(folder) => self.entry(folder, &sources, options, progress)?,
            None => None,
        };
        if let Some(path) = kept.as_ref().filter(|path| path.is_file()) {
            let name = path.display().to_string();
            let refused = |error| TextError::unreadable(&name, &error);
            let file = File::open(path).map_err(refused)?;
            let mut rows = AskedRows { name: name.clone(), told: String::new(), file };
            let lines = rows.lines()?.skip(1).map_while(|line| Some(line.ok()?.strip_prefix(TOLD)?.to_owned() + "\n"));
            rows.told = lines.collect::<String>() + &format!("cache        reused {name}\n");
            return Ok(rows);
        }
        let dataset = Dataset::read(sources, options, progress)?;
        let folder = &options.storage.folder;
        let unkept = |error| StorageError::of(folder, error);
        let answered = self.answers(dataset, tempfile::tempfile_in(folder).map_err(unkept)?, progress)?;
        let Some(path) = kept else {
            let mut file = tempfile::tempfile_in(folder).map_err(unkept)?;
            answered.write(&mut file).map_err(unkept)?;
            return Ok(AskedRows { name: format!("rows of `{}`", self.command.text), told: answered.told, file });
        };
        write_whole_with(&path, |file| answered.write(file))?;
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|error| TextError::unreadable(&name, &error))?;
        let told = format!("{}cache        wrote {name}\n", answered.told);
        Ok(AskedRows { name, told, file })
    }

    /// Where rows are kept: by what they follow from. The program and the arguments that are files count with their bytes.
    fn entry(
        &self,
        folder: &Path,
        sources: &[Source],
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Option<PathBuf>, RunError> {
        std::fs::create_dir_all(folder).map_err(|error| StorageError::of(folder, error))?;
        let mut parts = vec![VERSION_2.to_owned(), self.resolve.name()];
        for (place, word) in self.command.words.iter().enumerate() {
            parts.push(word.clone());
            let file = if place == 0 { program(word) } else { Some(PathBuf::from(word)) };
            if let Some(file) = file.filter(|file| file.is_file()) {
                let digest = Source::open(&file).and_then(|source| source.digest(progress));
                parts.extend(digest.map_err(DatasetError::from)?);
            }
        }
        let key = cache::key_of(sources, options, parts, progress)?;
        Ok(key.map(|key| folder.join(format!("{}.rows.zst", key.name))))
    }

    /// Asks for all positions. What is answered goes to a file that has no name.
    fn answers(&self, dataset: Dataset, file: File, progress: &dyn Progress) -> Result<Answered, RunError> {
        let chunks = dataset.len().div_ceil(CHUNK);
        let work = Arc::new(Work {
            flip_every: dataset.len().div_ceil(FLIPPED),
            resolve: self.resolve,
            next: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            dataset,
        });
        progress.begin("asking", work.dataset.len() as u64, Unit::Positions);
        let (mut pieces, mut skipped, mut flipped) =
            (vec![Piece::default(); chunks], Skipped::default(), Flipped::default());
        let (send, receive) = channel();
        let mut written = Ok(());
        let said: Vec<Result<Declarations, RunError>> = thread::scope(|scope| {
            let talk = |process| {
                let (work, send) = (&work, send.clone());
                scope.spawn(move || {
                    let said = self.talk(process, work, &send);
                    work.has_failed.fetch_or(said.is_err(), Ordering::Relaxed);
                    said
                })
            };
            let talks: Vec<_> = (0..self.processes.clamp(1, chunks)).map(talk).collect();
            drop(send);
            let mut end = 0;
            for answers in receive {
                pieces[answers.chunk] = Piece { start: end, bytes: answers.rows.len(), process: answers.process };
                end += answers.rows.len() as u64;
                if written.is_ok() {
                    written = (&file).write_all(answers.rows.as_bytes());
                }
                work.has_failed.fetch_or(written.is_err(), Ordering::Relaxed);
                skipped.add(answers.skipped);
                flipped.add(answers.flipped);
                progress.advance(answers.asked);
            }
            talks.into_iter().map(|talk| talk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        progress.end();
        let folder = &work.dataset.storage().folder;
        written.map_err(|error| StorageError::of(folder, error))?;
        let said = said.into_iter().collect::<Result<Vec<_>, _>>()?;
        let joint = Joint::of(&said).map_err(|what| {
            RunError::Row(format!(
                "{}: two processes of the engine {what}: what a name stands for must not depend on positions",
                self.command.text
            ))
        })?;
        let rows = work.dataset.len() as u64 - skipped.0.values().sum::<u64>();
        if rows == 0 {
            return Err(RunError::Row(format!(
                "{}: the engine has skipped all positions: {skipped}",
                self.command.text
            )));
        }
        let mut told = String::new();
        _ = write_files(&mut told, work.dataset.files());
        _ = write_skipped(&mut told, work.dataset.skipped());
        told += &format!("asked        {}: {rows} rows", self.command.text);
        if !skipped.0.is_empty() {
            told += &format!(", skipped {skipped}");
        }
        told.push('\n');
        if let Some(flipped) = flipped.told() {
            told += &flipped;
        }
        Ok(Answered { file, joint, pieces, told })
    }

    /// Talks to one process until there is nothing more to ask.
    fn talk(&self, number: usize, work: &Arc<Work>, to: &Sender<ChunkAnswers>) -> Result<Declarations, RunError> {
        let name = &self.command.text;
        let fault = |fault: String| RunError::Row(fault);
        let mut process = Process::start(&self.command, work, self.timeout)
            .map_err(|error| fault(format!("{name}: cannot be started: {error}")))?;
        let mut said = process.said.take().expect("nobody has taken it");
        let mut answers = Answers::open(name, &mut said).map_err(|error| {
            fault(format!(
                "{error}; an engine that is asked begins with `{VERSION_2}`, its sums and its formula, unasked, and flushes \
                 its output{}",
                ending(&mut process)
            ))
        })?;
        let groups = work.dataset.grouping() != Grouping::Positions;
        loop {
            process.since.set(Instant::now());
            let chunk = match process.chunks.recv_timeout(self.timeout) {
                Ok(chunk) => chunk,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(_) => {
                    return Err(fault(format!(
                        "{name}: says more than it is asked and does not read on: a row a FEN is wanted"
                    )));
                }
            };
            let mut found = ChunkAnswers { chunk: chunk.number, process: number, ..ChunkAnswers::default() };
            found.skipped.count("mate", chunk.mates);
            found.asked = chunk.mates;
            let mut before = None;
            for Question { index, fen, is_flipped } in &chunk.questions {
                process.since.set(Instant::now());
                let label = work.dataset.label(*index);
                let asked = Asked { fen, result: label.outcome.points(), group: groups.then_some(label.group) };
                let start = found.rows.len();
                let answer = answers.answer(&asked, &mut found.rows).map_err(|error| {
                    fault(format!(
                        "{error}{}; at the position {fen}: let the engine have it alone, `echo '{fen}' | {name}`",
                        ending(&mut process)
                    ))
                })?;
                if *is_flipped {
                    found.rows.truncate(start);
                    found.flipped.compare(before, answer, fen);
                    continue;
                }
                found.asked += 1;
                before = match answer {
                    Answer::Row(score) => score,
                    Answer::Skip(reason) => {
                        found.skipped.count(&reason, 1);
                        None
                    }
                };
            }
            answers.forget();
            // Whoever takes no more has found a fault.
            if to.send(found).is_err() {
                break;
            }
        }
        process.since.set(Instant::now());
        // An engine that does not end with its input has answered all the same.
        if let Ok(false) = answers.is_over() {
            return Err(fault(format!("{name}: says more than it is asked: a row, or `skip`, a FEN is wanted")));
        }
        Ok(answers.declarations())
    }
}

/// How a process has ended, if it has, behind a message.
fn ending(process: &mut Process) -> String {
    process.status().map_or_else(String::new, |status| format!(" ({status})"))
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

impl AskedRows {
    /// The text, from its beginning.
    pub(super) fn text(&self) -> io::Result<Box<dyn BufRead>> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        decode_text(Box::new(file))
    }

    fn lines(&self) -> Result<io::Lines<Box<dyn BufRead>>, TextError> {
        Ok(self.text().map_err(|error| TextError::unreadable(&self.name, &error))?.lines())
    }

    /// Names the rows of a check by their positions.
    pub(super) fn name_rows(&self, check: &mut Check) -> Result<(), TextError> {
        if check.worst.is_empty() {
            return Ok(());
        }
        for (number, line) in (1_u64..).zip(self.lines()?) {
            let Ok(line) = line else { break };
            for worst in check.worst.iter_mut().filter(|worst| worst.line == number) {
                worst.place = line.split_once(" # ").map_or(&line[..], |(_, fen)| fen).to_owned();
            }
        }
        Ok(())
    }
}

/// What a process has answered to a chunk.
#[derive(Default)]
struct ChunkAnswers {
    chunk: usize,
    process: usize,
    rows: String,
    asked: u64,
    skipped: Skipped,
    flipped: Flipped,
}

/// Where the rows of a chunk stand, and whose numbers they have.
#[derive(Clone, Default)]
struct Piece {
    start: u64,
    bytes: usize,
    process: usize,
}

/// All that was answered, with the numbers of the processes.
struct Answered {
    file: File,
    joint: Joint,
    pieces: Vec<Piece>,
    told: String,
}

impl Answered {
    /// Writes the text of rows, compressed.
    fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut packed = zstd::Encoder::new(to, 1)?;
        packed.include_checksum(true)?;
        writeln!(packed, "{VERSION_2}")?;
        self.told.lines().try_for_each(|line| writeln!(packed, "{TOLD}{line}"))?;
        packed.write_all(self.joint.head.as_bytes())?;
        let mut file = BufReader::new(&self.file);
        let mut rows = String::new();
        for Piece { start, bytes, process } in &self.pieces {
            file.seek(SeekFrom::Start(*start))?;
            let mut piece = vec![0; *bytes];
            file.read_exact(&mut piece)?;
            rows.clear();
            let piece = String::from_utf8(piece).map_err(io::Error::other)?;
            piece.lines().for_each(|row| renumber(row, &self.joint.numbers[*process], &mut rows));
            packed.write_all(rows.as_bytes())?;
        }
        packed.finish().map(drop)
    }
}

/// Positions without a row, by reason.
#[derive(Default)]
struct Skipped(BTreeMap<String, u64>);

impl Skipped {
    fn count(&mut self, reason: &str, count: u64) {
        let reason = match reason {
            "" => "without a reason",
            _ if self.0.len() < KEPT_REASONS || self.0.contains_key(reason) => reason,
            _ => "for other reasons",
        };
        if count > 0 {
            *self.0.entry(reason.to_owned()).or_default() += count;
        }
    }

    fn add(&mut self, other: Skipped) {
        other.0.iter().for_each(|(reason, &count)| self.count(reason, count));
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<_> = self.0.iter().collect();
        reasons.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let told = reasons.iter().take(TOLD_REASONS).map(|(reason, count)| format!("{count} {reason}"));
        write!(f, "{}", told.collect::<Vec<_>>().join(", "))?;
        if reasons.len() > TOLD_REASONS { write!(f, ", …") } else { Ok(()) }
    }
}

/// Scores of positions beside those with the colours exchanged.
#[derive(Default)]
struct Flipped {
    compared: u64,
    off: u64,
    /// How far the worst are apart, and what it is.
    worst: Option<(f32, String)>,
}

impl Flipped {
    fn compare(&mut self, score: Option<f32>, flipped: Answer, fen: &str) {
        let (Some(score), Answer::Row(Some(flipped))) = (score, flipped) else { return };
        self.compared += 1;
        let apart = (score + flipped).abs();
        if apart > ROUNDING {
            self.off += 1;
            self.keep((apart, format!("{fen} has {flipped}, the same with the colours exchanged {score}")));
        }
    }

    fn keep(&mut self, other: (f32, String)) {
        let is_worse = |one: &(f32, String)| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)).is_gt();
        if self.worst.as_ref().is_none_or(is_worse) {
            self.worst = Some(other);
        }
    }

    fn add(&mut self, other: Flipped) {
        self.compared += other.compared;
        self.off += other.off;
        other.worst.into_iter().for_each(|worst| self.keep(worst));
    }

    fn told(&self) -> Option<String> {
        let worst = self.worst.as_ref()?;
        Some(format!(
            "warning      {} of {} scores are not negated when the colours are exchanged: {}\n",
            self.off, self.compared, worst.1
        ))
    }
}
