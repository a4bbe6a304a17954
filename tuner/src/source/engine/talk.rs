//! What is said to a process of an engine, and what it answers.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::time::Instant;

use anyhow::{Error, Result, anyhow};

use super::process::{Process, Question, Work};
use super::rows::Piece;
use super::{Accept, Engine};
use crate::data::Grouping;
use crate::model::text::VERSION;
use crate::model::text::answers::{Answer, Answers, Declarations, PositionQuery};

/// Centipawns by which a score may differ from that with the colours exchanged: engines round.
const ROUNDING: f32 = 1.0;

impl Engine {
    /// Talks to one process until there is nothing more to ask.
    pub(super) fn talk(
        &self,
        number: usize,
        work: &Arc<Work>,
        accept: Accept<'_>,
        to: &Sender<(usize, String, Piece)>,
    ) -> Result<Declarations> {
        let name = &self.command.text;
        let fault = |fault: String| anyhow!(fault);
        let mut started = Process::start(&self.command, work, self.timeout).map_err(|error| self.unstarted(&error))?;
        let mut said = started.said.take().expect("nobody has taken it");
        // A process is ended before its pipe is closed, so that it has no time to complain of that.
        let mut process = started;
        let mut answers = Answers::open(name, &mut said).map_err(|error| {
            let error = error.to_string();
            let advice = format!(
                "; an engine that is asked begins with `{VERSION}`, its sums and its formula, unasked, and flushes its output"
            );
            let advice = if has_begun(&error, name) { "" } else { &advice };
            fault(format!("{error}{advice}{}", ending(&mut process)))
        })?;
        accept(answers.parameters()).map_err(|error| fault(format!("{name}: {error}")))?;
        let groups = work.dataset.grouping() != Grouping::Positions;
        loop {
            process.since.set(Instant::now());
            let chunk = match process.chunks.recv_timeout(self.timeout) {
                Ok(chunk) => chunk,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(_) => {
                    return Err(fault(format!(
                        "{name}: says more than it is asked and does not read on: a row a FEN is wanted"
                    )));
                }
            };
            let mates = chunk.mates.len() as u64;
            let mut piece = Piece { process: number, asked: mates, without: chunk.mates, ..Piece::default() };
            if mates > 0 {
                piece.skipped.insert("mate".to_owned(), mates);
            }
            let (mut rows, mut before) = (String::new(), None);
            for Question { index, fen, is_flipped } in &chunk.questions {
                process.since.set(Instant::now());
                let label = work.dataset.label(*index);
                let group = groups.then_some(label.group);
                let asked = PositionQuery { fen, result: label.outcome.points(), search: label.score, group };
                let start = rows.len();
                let answer = answers.answer(&asked, &mut rows).map_err(|error| {
                    fault(format!(
                        "{error}{}; at the position {fen}: let the engine have it alone, `echo '{fen}' | {name}`",
                        ending(&mut process)
                    ))
                })?;
                if *is_flipped {
                    rows.truncate(start);
                    piece.compare(before, answer, fen);
                    continue;
                }
                piece.asked += 1;
                before = match answer {
                    Answer::Row(score) => {
                        *piece.of_files.entry(work.dataset.file_of(*index)).or_default() += 1;
                        score
                    }
                    Answer::Skip(reason) => {
                        *piece.skipped.entry(reason).or_default() += 1;
                        piece.without.push(*index);
                        None
                    }
                };
            }
            answers.forget();
            // A receiver that takes no more has found a fault.
            if to.send((chunk.number, rows, piece)).is_err() {
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

impl Engine {
    /// The error of a process, or of a thread that talks to it, that the system does not start.
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

/// How a process has ended, if it has, behind a message.
fn ending(process: &mut Process) -> String {
    process.status().map_or_else(String::new, |status| format!(" ({status})"))
}

impl Piece {
    /// Compares the score of a position with that of the same with the colours exchanged.
    fn compare(&mut self, score: Option<f32>, flipped: Answer, fen: &str) {
        let (Some(score), Answer::Row(Some(flipped))) = (score, flipped) else { return };
        self.compared += 1;
        let difference = (score + flipped).abs();
        if difference > ROUNDING {
            self.off += 1;
            if self.worst.as_ref().is_none_or(|worst| worst.0 < difference) {
                let told = format!("{fen} has {flipped}, the same with the colours exchanged {score}");
                self.worst = Some((difference, told));
            }
        }
    }
}

/// Whether a fault is in a line behind the first, so that the engine speaks the protocol.
fn has_begun(fault: &str, name: &str) -> bool {
    let place = fault.strip_prefix(name).and_then(|rest| rest.strip_prefix(':'));
    let line = place.and_then(|place| place.split(':').next()?.parse::<u64>().ok());
    line.is_some_and(|line| line > 1)
}
