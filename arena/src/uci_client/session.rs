//! Raw access to an engine, line by line.

use std::io;
use std::time::Duration;

use super::EngineSpec;
use super::bounds::LastLines;
use super::process::{Process, ReadOutcome};

/// The time within which an engine must read a line.
const READ: Duration = Duration::from_secs(5);
/// The time to wait for an engine that reads nothing any more: earlier lines, and its end, come at once.
const UNREAD: Duration = Duration::from_millis(100);

/// An engine's process, killed when this is dropped.
pub struct Session {
    process: Process,
    /// A line could not be sent.
    is_unread: bool,
}

/// Why an expected line did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitError {
    /// The time was up.
    TimeUp,
    /// The engine has ended, or closed its output.
    Ended,
    /// The engine has closed its input, or does not read it.
    Unread,
}

/// The output up to an expected line.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// All lines, of a flood the last ones; the last is the wanted one.
    pub lines: Vec<String>,
    /// From the begin of waiting.
    pub elapsed: Duration,
}

impl Session {
    /// Starts an engine's program without sending anything.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn start(spec: &EngineSpec) -> io::Result<Self> {
        Process::spawn(spec).map(|process| Session { process, is_unread: false })
    }

    /// Sends a line. A failure shows when waiting for the answer.
    pub fn send(&mut self, line: &str) {
        let deadline = self.process.now() + READ;
        self.is_unread |= self.process.send(&format!("{line}\n"), deadline).is_err();
    }

    /// Closes the engine's input.
    pub fn close_input(&mut self) {
        self.process.close_input();
    }

    /// Waits for a line whose first word is `word`.
    ///
    /// # Errors
    /// If it does not come in time; with the lines sent instead.
    pub fn wait_for(&mut self, word: &str, time: Duration) -> Result<Reply, (WaitError, Vec<String>)> {
        let started = self.process.now();
        let (time, late) =
            if self.is_unread { (time.min(UNREAD), WaitError::Unread) } else { (time, WaitError::TimeUp) };
        let mut lines = LastLines::default();
        loop {
            match self.process.line(started + time) {
                ReadOutcome::Line(line, read_at) => {
                    let is_wanted = line.split_ascii_whitespace().next() == Some(word);
                    lines.push(line);
                    if is_wanted {
                        let elapsed = read_at.saturating_duration_since(started);
                        return Ok(Reply { lines: lines.into_lines(), elapsed });
                    }
                }
                ReadOutcome::TimedOut => return Err((late, lines.into_lines())),
                ReadOutcome::Closed => return Err((WaitError::Ended, lines.into_lines())),
            }
        }
    }

    /// The time until the engine ends by itself; `None` if it does not end in time.
    pub fn ends_within(&mut self, time: Duration) -> Option<Duration> {
        let started = self.process.now();
        loop {
            match self.process.line(started + time) {
                ReadOutcome::Line(..) => {}
                ReadOutcome::TimedOut => return None,
                ReadOutcome::Closed => break,
            }
        }
        while !self.process.has_ended() {
            if self.process.now() > started + time {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Some(self.process.now() - started)
    }
}
