//! The dialogue with a process of an engine: FENs out, rows in.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::Instant;

use anyhow::{Error, Result, anyhow, bail};

use super::process::{BatchQueue, Process, Question};
use super::{Accept, Engine};
use crate::data::Grouping;
use crate::data::io::StorageError;
use crate::model::text::RowLabels;
use crate::model::text::answers::{Answer, Answers};
use crate::model::text::merge::{Portion, ProcessRows};

/// Largest difference, in centipawns, between a score and the negated score of the mirror image: engines round.
const ROUNDING: f32 = 1.0;

/// The counts of a batch's answers.
#[derive(Clone, Default)]
pub(super) struct BatchAnswers {
    /// The number of positions.
    pub(super) asked: u64,
    /// The rows, in order.
    pub(super) portions: Vec<Portion>,
    /// Indices of the positions without a row.
    pub(super) without: Vec<usize>,
    /// The number of positions without a row, by reason.
    pub(super) skipped: BTreeMap<String, u64>,
    /// The number of positions that were compared with their mirror images (colours exchanged).
    pub(super) compared: u64,
    /// The number of these whose mirror image does not have the negated score.
    pub(super) asymmetric: u64,
    /// The largest such difference, in centipawns, and its message.
    pub(super) worst: Option<(f32, String)>,
}

impl Engine {
    /// Runs one process until the queue is empty, and returns its rows. Sends the number and the counts of each batch to
    /// `to`.
    pub(super) fn talk(
        &self,
        number: usize,
        queue: &Arc<BatchQueue>,
        accept: Accept<'_>,
        to: &Sender<(usize, BatchAnswers)>,
    ) -> Result<ProcessRows> {
        let name = &self.command.text;
        let started = Process::start(&self.command, queue, self.timeout);
        // Drop order: the process is ended before its pipe is closed, so that it cannot report a broken pipe.
        let (mut output, mut process) = started.map_err(|error| self.unstarted(&error))?;
        let storage = queue.dataset.storage().divided(self.processes);
        let mut answers =
            Answers::open(name, &mut output, &storage).map_err(|error| anyhow!("{error}{}", ending(&mut process)))?;
        accept(answers.parameters()).map_err(|error| anyhow!("{name}: {error}"))?;
        let groups = queue.dataset.grouping() != Grouping::Positions;
        loop {
            process.since.set(Instant::now());
            let batch = match process.batches.recv_timeout(self.timeout) {
                Ok(batch) => batch,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(_) => bail!("{name}: says more than it is asked and does not read on: a row a FEN is wanted"),
            };
            let mates = batch.mates.len() as u64;
            let mut summary = BatchAnswers { asked: mates, without: batch.mates, ..BatchAnswers::default() };
            if mates > 0 {
                summary.skipped.insert("mate".to_owned(), mates);
            }
            let mut before = None;
            for Question { index, fen, is_flipped } in &batch.questions {
                process.since.set(Instant::now());
                let label = queue.dataset.label(*index);
                let labels = RowLabels {
                    result: label.outcome.points(),
                    group: groups.then_some(label.group),
                    search: label.score,
                };
                let answer = answers.answer((!is_flipped).then_some(labels)).map_err(|error| {
                    match error.is::<StorageError>() {
                        true => error,
                        false => anyhow!(
                            "{error}{}; at the position {fen}: let the engine have it alone, `echo '{fen}' | {name}`",
                            ending(&mut process)
                        ),
                    }
                })?;
                if *is_flipped {
                    summary.compare(before, answer, fen);
                    continue;
                }
                summary.asked += 1;
                before = match answer {
                    Answer::Row(score) => {
                        summary.add_row(number, queue.dataset.file_of(*index));
                        score
                    }
                    Answer::Skip(reason) => {
                        *summary.skipped.entry(reason).or_default() += 1;
                        summary.without.push(*index);
                        None
                    }
                };
            }
            // The receiver hangs up after a fault.
            if to.send((batch.number, summary)).is_err() {
                break;
            }
        }
        process.since.set(Instant::now());
        // An engine that does not exit at the end of its input has answered everything, too.
        if let Ok(false) = answers.is_over() {
            bail!("{name}: says more than it is asked: a row, or `skip`, a FEN is wanted");
        }
        answers.finish()
    }

    /// Makes the error of a process, or of a thread for it, that the system cannot start.
    pub(super) fn unstarted(&self, error: &io::Error) -> Error {
        let advice = match error.kind() {
            io::ErrorKind::WouldBlock => format!(
                "; {} processes of it were asked for, more than the system allows: lower --threads",
                self.processes
            ),
            _ => String::new(),
        };
        anyhow!("{}: cannot be started: {error}{advice}", self.command.text)
    }
}

/// Returns the exit status of a process as the end of a message; empty if it still runs.
fn ending(process: &mut Process) -> String {
    process.status().map_or_else(String::new, |status| format!(" ({status})"))
}

impl BatchAnswers {
    /// Counts a row that a process answered to a position of a data file.
    fn add_row(&mut self, process: usize, file: usize) {
        match self.portions.last_mut() {
            Some(last) if last.file == file => last.rows += 1,
            _ => self.portions.push(Portion { process, file, rows: 1 }),
        }
    }

    /// Compares the score of a position with that of its mirror image (colours exchanged).
    fn compare(&mut self, score: Option<f32>, flipped: Answer, fen: &str) {
        let (Some(score), Answer::Row(Some(flipped))) = (score, flipped) else { return };
        self.compared += 1;
        let difference = (score + flipped).abs();
        if difference > ROUNDING {
            self.asymmetric += 1;
            if self.worst.as_ref().is_none_or(|worst| worst.0 < difference) {
                let message = format!("{fen} has {flipped}, the same with the colours exchanged {score}");
                self.worst = Some((difference, message));
            }
        }
    }
}
