//! Talking to an engine under test.

use std::time::Duration;

use engine::chess::{Move, Position};

use super::{CheckResult, Miss, fail};
use crate::game::Variant;
use crate::uci_client::{EngineSpec, Heed, Info, Session, Silence};

/// How long an engine may take for what costs no time.
pub(super) const PROMPT: Duration = Duration::from_secs(2);
/// How long it may take to start, or to search a little.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// An engine under test.
pub(super) struct Talk {
    pub(super) session: Session,
    options: Vec<(String, String)>,
    /// The lines it answered `uci` with.
    pub(super) greeting: Vec<String>,
}

/// What a search came to.
pub(super) struct Searched {
    pub(super) position: Position,
    pub(super) lines: Vec<String>,
    /// The words after `bestmove`.
    pub(super) best: Vec<String>,
    pub(super) elapsed: Duration,
}

impl Searched {
    pub(super) fn infos(&self) -> impl DoubleEndedIterator<Item = (Info<'_>, &str)> {
        self.lines.iter().filter_map(|line| Some((Info::parse(line)?, line.as_str())))
    }

    pub(super) fn best_move(&self) -> &str {
        self.best.first().map_or("", String::as_str)
    }

    /// The move it played.
    pub(super) fn legal_move(&self, variant: Variant) -> Result<Move, Miss> {
        let mv = crate::game::parse_move(&self.position, self.best_move(), variant);
        let told = || Miss::Failed(format!("bestmove {} in {}", self.best_move(), self.position.to_fen()));
        mv.ok_or_else(told)
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

impl Talk {
    pub(super) fn start(spec: &EngineSpec) -> std::io::Result<Self> {
        Ok(Talk { session: Session::start(spec)?, options: spec.options.clone(), greeting: Vec::new() })
    }

    pub(super) fn send(&mut self, line: &str) {
        self.session.send(line);
    }

    /// Waits for a line that begins with a word.
    pub(super) fn wait(&mut self, word: &str, time: Duration) -> Result<Heed, Miss> {
        self.session.wait_for(word, time).map_err(|(silence, lines)| {
            let why = match silence {
                Silence::TimeUp => format!("no {word} within {} ms", time.as_millis()),
                Silence::Ended => format!("ended instead of saying {word}"),
            };
            let last = lines.last().map_or(String::new(), |line| format!(", last said: {line}"));
            Miss::Failed(why + &last)
        })
    }

    /// Fails if the engine says a line that begins with a word.
    pub(super) fn wait_in_vain(&mut self, word: &str, time: Duration) -> CheckResult {
        match self.session.wait_for(word, time) {
            Ok(heed) => fail(format!("said {} too early", heed.lines.last().map_or("", String::as_str))),
            Err((Silence::Ended, _)) => fail("ended"),
            Err((Silence::TimeUp, _)) => Ok(()),
        }
    }

    /// From `uci` to `readyok`, options set.
    pub(super) fn greet(&mut self) -> CheckResult {
        self.send("uci");
        self.greeting = self.wait("uciok", PATIENCE)?.lines;
        for (name, value) in self.options.clone() {
            self.send(&format!("setoption name {name} value {value}"));
        }
        self.ready()
    }

    pub(super) fn ready(&mut self) -> CheckResult {
        self.send("isready");
        self.wait("readyok", PATIENCE).map(drop)
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
            None => Err(Miss::Skipped(format!("no option {name}"))),
        }
    }

    /// Greets, sets up a position and searches until `bestmove`.
    pub(super) fn search(&mut self, fen: &str, moves: &str, go: &str) -> Result<Searched, Miss> {
        if self.greeting.is_empty() {
            self.greet()?;
        }
        self.set_position(fen, moves);
        self.send(go);
        self.searched(fen, moves, PATIENCE)
    }

    pub(super) fn set_position(&mut self, fen: &str, moves: &str) {
        let start = if fen.is_empty() { "startpos".to_owned() } else { format!("fen {fen}") };
        let moves = if moves.is_empty() { String::new() } else { format!(" moves {moves}") };
        self.send(&format!("position {start}{moves}"));
    }

    /// Waits for the end of a search that was begun.
    pub(super) fn searched(&mut self, fen: &str, moves: &str, time: Duration) -> Result<Searched, Miss> {
        let Heed { mut lines, elapsed } = self.wait("bestmove", time)?;
        let last = lines.pop().unwrap_or_default();
        let best = last.split_ascii_whitespace().skip(1).map(str::to_owned).collect();
        Ok(Searched { position: position(fen, moves), lines, best, elapsed })
    }
}
