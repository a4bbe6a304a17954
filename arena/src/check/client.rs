//! Client of an engine under test.

use std::time::Duration;

use engine::chess::{Move, Position};

use super::{CheckError, CheckResult, fail};
use crate::game::Variant;
use crate::uci_client::{EngineSpec, Info, Reply, Session, WaitError};

/// Timeout of answers that need no computation.
pub(super) const SHORT_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout of the start and of short searches.
pub(super) const LONG_TIMEOUT: Duration = Duration::from_secs(20);

/// An engine under test.
pub(super) struct Client {
    pub(super) session: Session,
    options: Vec<(String, String)>,
    /// The lines it answered `uci` with.
    pub(super) greeting: Vec<String>,
}

/// Result of a search.
pub(super) struct SearchOutput {
    pub(super) position: Position,
    pub(super) lines: Vec<String>,
    /// The words after `bestmove`.
    pub(super) best: Vec<String>,
    pub(super) elapsed: Duration,
}

impl SearchOutput {
    pub(super) fn infos(&self) -> impl DoubleEndedIterator<Item = (Info<'_>, &str)> {
        self.lines.iter().filter_map(|line| Some((Info::parse(line)?, line.as_str())))
    }

    pub(super) fn best_move(&self) -> &str {
        self.best.first().map_or("", String::as_str)
    }

    /// The move it played.
    pub(super) fn legal_move(&self, variant: Variant) -> Result<Move, CheckError> {
        let mv = crate::game::parse_move(&self.position, self.best_move(), variant);
        let illegal = || CheckError::Failed(format!("bestmove {} in {}", self.best_move(), self.position.to_fen()));
        mv.ok_or_else(illegal)
    }
}

/// The position of a FEN, or the start for an empty one, after moves.
pub(super) fn position(fen: &str, moves: &str) -> Position {
    let mut position = if fen.is_empty() {
        Position::start()
    } else {
        Position::from_fen(fen).expect("the checks' positions are legal")
    };
    for text in moves.split_ascii_whitespace() {
        position.play(position.parse_uci(text).expect("the checks' moves are legal"));
    }
    position
}

impl Client {
    pub(super) fn start(spec: &EngineSpec) -> std::io::Result<Self> {
        Ok(Client { session: Session::start(spec)?, options: spec.options.clone(), greeting: Vec::new() })
    }

    pub(super) fn send(&mut self, line: &str) {
        self.session.send(line);
    }

    /// Waits for a line that begins with a word.
    pub(super) fn wait(&mut self, word: &str, time: Duration) -> Result<Reply, CheckError> {
        self.session.wait_for(word, time).map_err(|(error, lines)| {
            let why = match error {
                WaitError::TimeUp => format!("no {word} within {} ms", time.as_millis()),
                WaitError::Ended => format!("ended instead of sending {word}"),
                WaitError::Unread => format!("closed its input, or does not read it, instead of sending {word}"),
            };
            let last = lines.last().map_or(String::new(), |line| format!(", last line: {line}"));
            CheckError::Failed(why + &last)
        })
    }

    /// Fails if the engine sends a line that begins with a word.
    pub(super) fn expect_silence(&mut self, word: &str, time: Duration) -> CheckResult {
        match self.session.wait_for(word, time) {
            Ok(reply) => fail(format!("sent {} too early", reply.lines.last().map_or("", String::as_str))),
            Err((WaitError::Ended, _)) => fail("ended"),
            Err((WaitError::Unread, _)) => fail("closed its input, or does not read it"),
            Err((WaitError::TimeUp, _)) => Ok(()),
        }
    }

    /// From `uci` to `readyok`, options set.
    pub(super) fn handshake(&mut self) -> CheckResult {
        self.send("uci");
        self.greeting = self.wait("uciok", LONG_TIMEOUT)?.lines;
        for (name, value) in self.options.clone() {
            self.send(&format!("setoption name {name} value {value}"));
        }
        self.ready()
    }

    pub(super) fn ready(&mut self) -> CheckResult {
        self.send("isready");
        self.wait("readyok", LONG_TIMEOUT).map(drop)
    }

    /// The rest of the line that declares an option, from its type on.
    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.greeting.iter().find_map(|line| {
            let (found, rest) = line.strip_prefix("option name ")?.split_once(" type ")?;
            found.trim().eq_ignore_ascii_case(name).then_some(rest)
        })
    }

    /// Skips the check if the engine does not have an option.
    pub(super) fn need_option(&self, name: &str) -> CheckResult {
        match self.option(name) {
            Some(_) => Ok(()),
            None => Err(CheckError::Skipped(format!("no option {name}"))),
        }
    }

    /// Greets, sets up a position and searches until `bestmove`.
    pub(super) fn search(&mut self, fen: &str, moves: &str, go: &str) -> Result<SearchOutput, CheckError> {
        if self.greeting.is_empty() {
            self.handshake()?;
        }
        self.set_position(fen, moves);
        self.send(go);
        self.output(fen, moves, LONG_TIMEOUT)
    }

    pub(super) fn set_position(&mut self, fen: &str, moves: &str) {
        let start = if fen.is_empty() { "startpos".to_owned() } else { format!("fen {fen}") };
        let moves = if moves.is_empty() { String::new() } else { format!(" moves {moves}") };
        self.send(&format!("position {start}{moves}"));
    }

    /// Waits for the end of a search that was begun.
    pub(super) fn output(&mut self, fen: &str, moves: &str, time: Duration) -> Result<SearchOutput, CheckError> {
        let Reply { mut lines, elapsed } = self.wait("bestmove", time)?;
        let last = lines.pop().unwrap_or_default();
        let best = last.split_ascii_whitespace().skip(1).map(str::to_owned).collect();
        Ok(SearchOutput { position: position(fen, moves), lines, best, elapsed })
    }
}
