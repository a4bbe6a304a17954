//! A process of an engine, and the threads that write to it and read from it.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
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

/// The number of positions in a batch.
pub(super) const BATCH: usize = 512;

/// The size of a block of output, in bytes.
const BLOCK: usize = 1 << 16;
/// The number of blocks that are buffered before the process has to wait.
const BLOCKS: usize = 16;

/// The queue of batches that all processes take from.
pub(super) struct BatchQueue {
    pub(super) dataset: Arc<Dataset>,
    pub(super) resolve: Resolve,
    /// The interval, in positions, at which one is also asked for with the colours exchanged.
    pub(super) flip_every: usize,
    /// The number of the next batch.
    pub(super) next: AtomicUsize,
    /// True once any process has failed. The others stop at their next batch.
    pub(super) has_failed: AtomicBool,
}

/// A batch of positions that a process is asked for, in order.
pub(super) struct QuestionBatch {
    pub(super) number: usize,
    pub(super) questions: Vec<Question>,
    /// Positions whose quiescence search ends in mate. They get no row, as no evaluation applies.
    pub(super) mates: Vec<usize>,
}

/// A position that a process is asked for.
pub(super) struct Question {
    /// Index in the data set.
    pub(super) index: usize,
    pub(super) fen: String,
    /// True if the position is the preceding one with the colours exchanged.
    pub(super) is_flipped: bool,
}

/// A running process of an engine. Dropping it ends the process and its children.
pub(super) struct Process {
    group: ProcessGroup,
    /// The batches, each received before it is written to the process.
    pub(super) batches: Receiver<QuestionBatch>,
    /// The time from which the timeout of the next answer counts.
    pub(super) since: Rc<Cell<Instant>>,
}

impl Process {
    /// Starts a process and the threads that write to it and read from it. Returns the standard output and
    /// the process.
    ///
    /// Both threads end when the pipes are closed. They are not joined: processes that outlive this one may have
    /// inherited the pipes.
    pub(super) fn start(
        command: &CommandLine,
        queue: &Arc<BatchQueue>,
        timeout: Duration,
    ) -> io::Result<(BufReader<TimedOutput>, Self)> {
        let (program, arguments) = (&command.words[0], &command.words[1..]);
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut group = ProcessGroup::spawn(&mut command)?;
        let child = group.child();
        let (Some(input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("has no pipes"));
        };
        let (to_reader, blocks) = sync_channel(BLOCKS);
        let (to_asker, batches) = sync_channel(1);
        let queue = queue.clone();
        thread::Builder::new().spawn(move || send_batches(&queue, input, &to_asker))?;
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
        let output = TimedOutput { blocks, block: Cursor::default(), since: since.clone(), timeout };
        Ok((BufReader::new(output), Process { group, batches, since }))
    }

    /// Returns the exit status of the process, if it has ended.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        // A process that has closed its output is about to end.
        thread::sleep(Duration::from_millis(50));
        self.group.child().try_wait().ok().flatten()
    }
}

/// The output of a process, with a timeout of reads.
pub(super) struct TimedOutput {
    blocks: Receiver<Vec<u8>>,
    block: Cursor<Vec<u8>>,
    since: Rc<Cell<Instant>>,
    timeout: Duration,
}

impl Read for TimedOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = (self.since.get() + self.timeout).saturating_duration_since(Instant::now());
        if self.block.fill_buf()?.is_empty() {
            match self.blocks.recv_timeout(left) {
                Ok(block) => self.block = Cursor::new(block),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) => return Err(self.timed_out()),
            }
        } else if left.is_zero() {
            return Err(self.timed_out());
        }
        self.block.read(buffer)
    }
}

impl TimedOutput {
    fn timed_out(&self) -> io::Error {
        io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {} s (--timeout)", self.timeout.as_secs_f64()))
    }
}

/// Sends batches to a process until the queue is empty, a process has failed, or this one reads no more.
fn send_batches(queue: &BatchQueue, mut input: ChildStdin, sent: &SyncSender<QuestionBatch>) {
    let evaluator = Evaluator::default();
    let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
    while !queue.has_failed.load(Ordering::Relaxed) {
        let number = queue.next.fetch_add(1, Ordering::Relaxed);
        let start = number * BATCH;
        if start >= queue.dataset.len() {
            return;
        }
        let mut batch = QuestionBatch { number, questions: Vec::new(), mates: Vec::new() };
        let end = queue.dataset.len().min(start + BATCH);
        for (index, (position, _)) in (start..).zip(queue.dataset.samples(start..end)) {
            let (leaf, mate) = queue.resolve.leaf(position, &mut quiescence);
            if mate.is_some() {
                batch.mates.push(index);
                continue;
            }
            let mut add = |position: &Position, is_flipped| {
                batch.questions.push(Question { index, fen: position.to_fen(), is_flipped });
            };
            add(&leaf, false);
            if index % queue.flip_every == 0 {
                add(&leaf.color_flipped(), true);
            }
        }
        let text: String = batch.questions.iter().flat_map(|question| [&question.fen, "\n"]).collect();
        // The reader must know the questions before their answers arrive.
        if sent.send(batch).is_err() || input.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}
