//! An engine to talk to line by line, without a protocol between.

use std::io;
use std::time::{Duration, Instant};

use super::EngineSpec;
use super::bounds::LastLines;
use super::process::{Heard, Process};

/// How long an engine has to read a line.
const READ: Duration = Duration::from_secs(5);

/// An engine's process and what it has said. It is dead when this is dropped.
pub struct Session {
    process: Process,
}

/// Why what was waited for has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// The time was up.
    TimeUp,
    /// The engine has ended, or closed its output.
    Ended,
}

/// What was said until a wanted line.
#[derive(Clone, Debug, Default)]
pub struct Heed {
    /// All lines, of a flood the last ones; the last is the wanted one.
    pub lines: Vec<String>,
    /// From the begin of waiting.
    pub elapsed: Duration,
}

impl Session {
    /// Starts an engine's program and says nothing to it.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn start(spec: &EngineSpec) -> io::Result<Self> {
        Process::spawn(spec).map(|process| Session { process })
    }

    /// Sends a line. Whether anybody reads it shows when an answer is waited for.
    pub fn send(&mut self, line: &str) {
        let _ = self.process.send(&format!("{line}\n"), Instant::now() + READ);
    }

    /// Closes the engine's input.
    pub fn close_input(&mut self) {
        self.process.close_input();
    }

    /// Waits for a line whose first word is `word`.
    ///
    /// # Errors
    /// If it does not come in time; with what was said instead.
    pub fn wait_for(&mut self, word: &str, time: Duration) -> Result<Heed, (Silence, Vec<String>)> {
        let started = Instant::now();
        let mut lines = LastLines::default();
        loop {
            match self.process.line(started + time) {
                Heard::Line(line, read_at) => {
                    let is_wanted = line.split_ascii_whitespace().next() == Some(word);
                    lines.push(line);
                    if is_wanted {
                        let elapsed = read_at.saturating_duration_since(started);
                        return Ok(Heed { lines: lines.into_lines(), elapsed });
                    }
                }
                Heard::Nothing => return Err((Silence::TimeUp, lines.into_lines())),
                Heard::Closed => return Err((Silence::Ended, lines.into_lines())),
            }
        }
    }

    /// Whether the engine ends by itself in time; says how long it took.
    pub fn ends_within(&mut self, time: Duration) -> Option<Duration> {
        let started = Instant::now();
        loop {
            match self.process.line(started + time) {
                Heard::Line(..) => {}
                Heard::Nothing => return None,
                Heard::Closed => break,
            }
        }
        while !self.process.has_ended() {
            if started.elapsed() > time {
                return None;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Some(started.elapsed())
    }
}
