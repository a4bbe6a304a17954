//! The protocol: from `uci` to `quit`.

use std::io;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::bounds::{LastLines, MAX_OPTIONS, shortened};
use super::option::EngineOption;
use super::process::{ExitInfo, Process, ReadOutcome};
use super::{EngineSpec, Info};

/// Timeouts of an engine for everything without a clock.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From its start to `uciok`.
    pub start: Duration,
    /// From `isready` to `readyok`; after `ucinewgame` large tables are cleared.
    pub ready: Duration,
    /// From `stop`, which is sent when its time is up, to `bestmove`: then it is killed.
    pub stop: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts { start: Duration::from_secs(10), ready: Duration::from_secs(60), stop: Duration::from_millis(1500) }
    }
}

/// Why an engine cannot be used any more.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Its program cannot be started.
    #[error("{command}: cannot be started: {error}")]
    Start {
        /// The program.
        command: String,
        /// The system's error.
        error: io::Error,
    },
    /// It ended, or closed its output.
    #[error("ended instead of sending {expected} ({exit})")]
    Crashed {
        /// The expected word.
        expected: &'static str,
        /// The exit of its process.
        exit: ExitInfo,
    },
    /// It did not answer, and was killed.
    #[error("did not send {expected} within {} ms, and was killed{stderr}", waited.as_millis())]
    Stalled {
        /// The expected word.
        expected: &'static str,
        /// The time that it had.
        waited: Duration,
        /// The last lines of its standard error, as they follow a message, or nothing.
        stderr: String,
    },
    /// It did not read its input, and was killed.
    #[error("did not read its input within {} ms, and was killed", waited.as_millis())]
    NotReading {
        /// The time that it had.
        waited: Duration,
    },
    /// It reported an error during its start.
    #[error("reports: {0}")]
    ReportsError(String),
    /// An option to be set is not among those it has.
    #[error("has no option `{0}`")]
    NoOption(String),
    /// The engine declares other values for an option.
    #[error("its option `{name}` is {expected}, not {value:?}")]
    OptionValue {
        /// The option.
        name: String,
        /// The values it takes.
        expected: String,
        /// The value given.
        value: String,
    },
}

/// A search request.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// The `position` command.
    pub position: &'a str,
    /// The `go` command.
    pub go: &'a str,
    /// When time is up, from `go` on: then `stop` is sent.
    pub time: Duration,
    /// `stop` is sent once an exact score comes with so many nodes.
    pub stop_at_nodes: Option<u64>,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The move as it was sent; empty if there was none.
    pub best_move: String,
    /// From sending `go` to reading `bestmove`.
    pub elapsed: Duration,
    /// The `info` lines with a score or a line, in order; of a flood the last ones.
    pub infos: Vec<String>,
}

/// An engine that has said `uciok`.
pub struct Engine {
    process: Process,
    timeouts: Timeouts,
    options: Vec<EngineOption>,
}

impl Engine {
    /// Starts an engine and sets its options, then `extra` ones.
    ///
    /// # Errors
    /// If it cannot be started, ends, stays silent, does not have an option, or says `info string error …`.
    pub fn start(spec: &EngineSpec, extra: &[(&str, &str)], timeouts: Timeouts) -> Result<Self, EngineError> {
        let process = Process::spawn(spec)
            .map_err(|error| EngineError::Start { command: spec.command.display().to_string(), error })?;
        let mut engine = Engine { process, timeouts, options: Vec::new() };
        engine.handshake()?;
        let given = spec.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in given.chain(extra.iter().copied()) {
            engine.set_option(name, value)?;
        }
        match engine.ready()? {
            Some(reported) => Err(EngineError::ReportsError(reported)),
            None => Ok(engine),
        }
    }

    fn handshake(&mut self) -> Result<(), EngineError> {
        const EXPECTED: &str = "uciok";
        let deadline = self.process.now() + self.timeouts.start;
        self.send("uci\n", EXPECTED, deadline, self.timeouts.start)?;
        loop {
            let line = self.expect(EXPECTED, deadline, self.timeouts.start)?;
            if line == EXPECTED {
                return Ok(());
            }
            if self.options.len() < MAX_OPTIONS {
                self.options.extend(EngineOption::parse(&line));
            }
        }
    }

    /// Sets an option.
    ///
    /// # Errors
    /// If it does not have the option, declares other values for it, or is gone.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        let option = self.option(name)?;
        let command = option.command(value).map_err(|expected| EngineError::OptionValue {
            name: option.name.clone(),
            expected,
            value: value.to_owned(),
        })?;
        self.send_soon(&format!("{command}\n"))
    }

    /// Returns the least and the greatest value of an option, if the engine declares them.
    ///
    /// # Errors
    /// If it does not have the option.
    pub fn option_range(&self, name: &str) -> Result<Option<[f64; 2]>, EngineError> {
        Ok(self.option(name)?.range)
    }

    fn option(&self, name: &str) -> Result<&EngineOption, EngineError> {
        let known = self.options.iter().find(|known| known.name.eq_ignore_ascii_case(name));
        known.ok_or_else(|| EngineError::NoOption(name.to_owned()))
    }

    /// Prepares for another game.
    ///
    /// # Errors
    /// If it is gone or stays silent.
    pub fn new_game(&mut self) -> Result<(), EngineError> {
        self.send_soon("ucinewgame\n")?;
        self.ready().map(drop)
    }

    /// Waits for `readyok`; returns the first error reported meanwhile.
    fn ready(&mut self) -> Result<Option<String>, EngineError> {
        const EXPECTED: &str = "readyok";
        let deadline = self.process.now() + self.timeouts.ready;
        self.send("isready\n", EXPECTED, deadline, self.timeouts.ready)?;
        let mut reported = None;
        loop {
            let line = self.expect(EXPECTED, deadline, self.timeouts.ready)?;
            if line == EXPECTED {
                return Ok(reported);
            }
            if let Some(text) = line.strip_prefix("info string ")
                && text.to_ascii_lowercase().starts_with("error")
            {
                reported.get_or_insert_with(|| shortened(text));
            }
        }
    }

    /// Searches. When the time is up, sends `stop` and allows [`Timeouts::stop`] for the answer, which has the elapsed time.
    ///
    /// # Errors
    /// If it ends or never answers.
    pub fn search(&mut self, search: Search<'_>) -> Result<Answer, EngineError> {
        const EXPECTED: &str = "bestmove";
        // Lines after its last move, such as a second move, belong to no search.
        self.ready()?;
        let started = self.process.now();
        let mut deadline = started + search.time;
        let longest = search.time + self.timeouts.stop;
        let commands = format!("{}\n{}\n", search.position, search.go);
        self.send(&commands, EXPECTED, started + longest, longest)?;
        let mut is_stopped = false;
        let mut infos = LastLines::default();
        loop {
            match self.process.line(deadline) {
                ReadOutcome::Line(line, read_at) => {
                    let mut words = line.split_ascii_whitespace();
                    let first = words.next();
                    if first == Some("info") {
                        if !is_stopped && search.stop_at_nodes.is_some_and(|nodes| has_reached(&line, nodes)) {
                            is_stopped = true;
                            deadline = deadline.min(read_at + self.timeouts.stop);
                            self.send("stop\n", EXPECTED, deadline, longest)?;
                        }
                        if words.any(|word| word == "score" || word == "pv") {
                            infos.push(line);
                        }
                    } else if first == Some(EXPECTED) {
                        let best_move = words.next().unwrap_or("").to_owned();
                        return Ok(Answer { best_move, elapsed: read_at - started, infos: infos.into_lines() });
                    }
                }
                ReadOutcome::TimedOut if !is_stopped => {
                    is_stopped = true;
                    deadline += self.timeouts.stop;
                    self.send("stop\n", EXPECTED, deadline, longest)?;
                }
                ReadOutcome::TimedOut => return Err(self.stalled(EXPECTED, longest)),
                ReadOutcome::Closed => return Err(self.crashed(EXPECTED)),
            }
        }
    }

    /// Begins the record of another game, of this number from 0; see [`Engine::exchange`].
    pub fn begin_game(&mut self, number: u32) {
        self.process.exchange().begin_game(number);
    }

    /// The last lines exchanged with the engine, of its present game if one was begun: each with the time in seconds, the
    /// direction (`>` to the engine, `<` from it, `!` its standard error) and a line end.
    pub fn exchange(&mut self) -> String {
        self.process.exchange().text()
    }

    /// Lets the engine leave.
    pub fn quit(mut self) {
        self.process.quit();
    }

    /// Sends lines without an answer, under the timeout of `readyok`.
    fn send_soon(&mut self, lines: &str) -> Result<(), EngineError> {
        let waited = self.timeouts.ready;
        self.send(lines, "readyok", self.process.now() + waited, waited)
    }

    /// Sends lines that `expected` answers; `waited` is the time until the deadline.
    fn send(
        &mut self,
        lines: &str,
        expected: &'static str,
        deadline: Instant,
        waited: Duration,
    ) -> Result<(), EngineError> {
        self.process.send(lines, deadline).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => {
                self.process.kill();
                EngineError::NotReading { waited }
            }
            _ => self.crashed(expected),
        })
    }

    fn expect(&mut self, expected: &'static str, deadline: Instant, waited: Duration) -> Result<String, EngineError> {
        match self.process.line(deadline) {
            ReadOutcome::Line(line, _) => Ok(line),
            ReadOutcome::TimedOut => Err(self.stalled(expected, waited)),
            ReadOutcome::Closed => Err(self.crashed(expected)),
        }
    }

    fn crashed(&mut self, expected: &'static str) -> EngineError {
        EngineError::Crashed { expected, exit: self.process.end() }
    }

    fn stalled(&mut self, expected: &'static str, waited: Duration) -> EngineError {
        let stderr = self.process.last_errors();
        self.process.kill();
        EngineError::Stalled { expected, waited, stderr }
    }
}

/// Returns true if an `info` line has an exact score after so many nodes.
fn has_reached(line: &str, nodes: u64) -> bool {
    Info::parse(line).is_some_and(|info| info.exact_score().is_some() && info.nodes.is_some_and(|found| found >= nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts =
        Timeouts { start: Duration::from_secs(60), ready: Duration::from_millis(50), stop: Duration::from_millis(50) };

    /// An engine that greets and then reads nothing.
    fn unreading(value: usize) -> EngineSpec {
        let mut spec = EngineSpec::new("sh");
        let script = "echo 'option name Foo type string'; echo uciok; exec sleep 1000";
        spec.args = ["-c", script].map(str::to_owned).into();
        spec.options = vec![("foo".to_owned(), "a".repeat(value))];
        spec
    }

    #[test]
    fn an_engine_that_does_not_read_is_killed() {
        let stderr = |value| Engine::start(&unreading(value), &[], TIMEOUTS).err().unwrap().to_string();
        // More than a pipe holds.
        assert_eq!(stderr(1 << 20), "did not read its input within 50 ms, and was killed");
        assert_eq!(stderr(1), "did not send readyok within 50 ms, and was killed");
    }

    #[test]
    fn an_engine_that_does_not_read_can_be_dropped() {
        let mut process = Process::spawn(&unreading(0)).unwrap();
        let text = "a".repeat(1 << 20);
        let error = process.send(&text, Instant::now() + TIMEOUTS.ready).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        process.quit();
        assert!(process.has_ended());
    }
}
