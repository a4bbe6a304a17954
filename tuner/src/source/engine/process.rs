//! A process of an engine, and the threads that talk to it.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};
use tools::children::ProcessGroup;

use super::CommandLine;
use crate::data::Dataset;
use crate::source::Resolve;

/// Positions that are handed to a process at once.
pub(super) const CHUNK: usize = 512;

/// Bytes that are read from a process at once, and how often until it has to wait.
const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 16;

/// What all processes work on.
pub(super) struct Work {
    pub(super) dataset: Arc<Dataset>,
    pub(super) resolve: Resolve,
    /// Every so many positions, one is asked for with the colours exchanged, too.
    pub(super) flip_every: usize,
    /// The first chunk that no process has begun with.
    pub(super) next: AtomicUsize,
    pub(super) has_failed: AtomicBool,
}

/// Positions that a process is asked for, in order.
pub(super) struct Chunk {
    pub(super) number: usize,
    pub(super) questions: Vec<Question>,
    /// Positions whose quiescence search ends in mate: no evaluation tells of them.
    pub(super) mates: Vec<usize>,
}

pub(super) struct Question {
    pub(super) index: usize,
    pub(super) fen: String,
    /// Whether the position is the one before with the colours exchanged.
    pub(super) is_flipped: bool,
}

/// A process that runs, and ends with this, as do its children.
pub(super) struct Process {
    group: ProcessGroup,
    /// What it is asked, as soon as it is written to it.
    pub(super) chunks: Receiver<Chunk>,
    /// What it says.
    pub(super) said: Option<BufReader<Said>>,
    /// When it began to think about what it has not answered yet.
    pub(super) since: Rc<Cell<Instant>>,
}

impl Process {
    /// Starts a process and the threads that write to it and read from it.
    ///
    /// Both threads end when the pipes are closed. A process may have left them to others that live on, so nobody waits
    /// for these threads.
    pub(super) fn start(command: &CommandLine, work: &Arc<Work>, timeout: Duration) -> io::Result<Self> {
        let (program, arguments) = (&command.words[0], &command.words[1..]);
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut group = ProcessGroup::spawn(&mut command)?;
        let child = group.child();
        let (Some(input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("has no pipes"));
        };
        let (to_reader, blocks) = sync_channel(BLOCKS);
        let (to_asker, chunks) = sync_channel(1);
        let work = work.clone();
        thread::Builder::new().spawn(move || ask(&work, input, &to_asker))?;
        thread::Builder::new().spawn(move || {
            loop {
                let mut block = vec![0; BLOCK];
                let length = output.read(&mut block).unwrap_or(0);
                block.truncate(length);
                if length == 0 || to_reader.send(block).is_err() {
                    return;
                }
            }
        })?;
        let since = Rc::new(Cell::new(Instant::now()));
        let said = Said { blocks, block: Vec::new(), read: 0, since: since.clone(), timeout };
        Ok(Process { group, chunks, said: Some(BufReader::new(said)), since })
    }

    /// How the process has ended, if it has.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        // What has closed its output is about to end.
        thread::sleep(Duration::from_millis(50));
        self.group.child().try_wait().ok().flatten()
    }
}

/// What a process says, which must not wait too long.
pub(super) struct Said {
    blocks: Receiver<Vec<u8>>,
    block: Vec<u8>,
    read: usize,
    since: Rc<Cell<Instant>>,
    timeout: Duration,
}

impl Read for Said {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = (self.since.get() + self.timeout).saturating_duration_since(Instant::now());
        if self.read == self.block.len() {
            match self.blocks.recv_timeout(left) {
                Ok(block) => (self.block, self.read) = (block, 0),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) => return Err(self.too_late()),
            }
        } else if left.is_zero() {
            return Err(self.too_late());
        }
        let length = buffer.len().min(self.block.len() - self.read);
        buffer[..length].copy_from_slice(&self.block[self.read..self.read + length]);
        self.read += length;
        Ok(length)
    }
}

impl Said {
    fn too_late(&self) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {} s", self.timeout.as_secs_f64()))
    }
}

/// Asks a process for one chunk after the other, until there are no more, or it takes no more.
fn ask(work: &Work, mut input: ChildStdin, asked: &SyncSender<Chunk>) {
    let evaluator = Evaluator::default();
    let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
    while !work.has_failed.load(Ordering::Relaxed) {
        let number = work.next.fetch_add(1, Ordering::Relaxed);
        let start = number * CHUNK;
        if start >= work.dataset.len() {
            return;
        }
        let mut chunk = Chunk { number, questions: Vec::new(), mates: Vec::new() };
        for (index, (position, _)) in (start..).zip(work.dataset.samples(start..work.dataset.len().min(start + CHUNK)))
        {
            let leaf = match work.resolve {
                Resolve::Static => position,
                Resolve::Qsearch => {
                    let leaf = quiescence.resolve(&position);
                    if leaf.is_mate() {
                        chunk.mates.push(index);
                        continue;
                    }
                    leaf.position
                }
            };
            let mut add = |position: &Position, is_flipped| {
                chunk.questions.push(Question { index, fen: position.to_fen(), is_flipped });
            };
            add(&leaf, false);
            if index % work.flip_every == 0 {
                add(&leaf.color_flipped(), true);
            }
        }
        let text: String = chunk.questions.iter().flat_map(|question| [&question.fen, "\n"]).collect();
        // The reader of an answer knows the question before.
        if asked.send(chunk).is_err() || input.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}
