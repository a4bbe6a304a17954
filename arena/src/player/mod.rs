//! One interface to who searches: Merino within this program, or any UCI engine as a child process.
//!
//! A player that forgets everything when a new game begins gives the same answers to the same questions thereafter. What
//! a run writes then follows from its settings alone, whatever the threads and the interruptions.

mod merino;
mod uci;

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use engine::chess::{Game, Move, Position};
use engine::eval::Evaluator;
use engine::search::{Limits, MATE, MAX_PLY, Value, mate_in, mated_in};
use serde_json::{Value as Json, json};

use merino::Merino;
pub(crate) use merino::merino_identity;
pub use uci::UciEngine;
use uci::UciPlayer;

use crate::game::{Variant, named_enum};
use crate::uci_client::{EngineError, Score};

/// Failures in a row after which a run ends: the engine is at fault, and not a position.
pub(crate) const MAX_FAILURES: u32 = 10;

/// The limit of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A number of nodes.
    Nodes {
        /// The most nodes.
        most: u64,
        /// No iteration begins after so many nodes. A UCI engine receives `stop` once it reports as many.
        soft: Option<u64>,
    },
    /// Iterations, plies.
    Depth(u32),
    /// Time.
    MoveTime(Duration),
}

impl Effort {
    /// A number of nodes.
    pub fn nodes(most: u64) -> Self {
        Effort::Nodes { most, soft: None }
    }

    /// Returns true if the same engine answers the same to the same question. `is_uci`: the engine is a process of its
    /// own.
    pub fn is_reproducible(self, is_uci: bool) -> bool {
        match self {
            Effort::Nodes { soft, .. } => soft.is_none() || !is_uci,
            Effort::Depth(_) => true,
            Effort::MoveTime(_) => false,
        }
    }

    /// The limit in JSON, which becomes part of the identity of a run.
    pub(crate) fn identify(self, identity: &mut Json) {
        let (nodes, soft) = match self {
            Effort::Nodes { most, soft } => (Some(most), soft),
            _ => (None, None),
        };
        (identity["nodes"], identity["soft_nodes"]) = (json!(nodes), json!(soft));
        match self {
            Effort::Nodes { .. } => {}
            Effort::Depth(depth) => identity["depth"] = depth.into(),
            Effort::MoveTime(time) => identity["movetime_ms"] = json!(u64::try_from(time.as_millis()).ok()),
        }
    }

    fn limits(self) -> Limits {
        match self {
            Effort::Nodes { most, soft } => Limits { soft_nodes: soft, ..Limits::nodes(most) },
            Effort::Depth(depth) => Limits::depth(depth.try_into().unwrap_or(i32::MAX)),
            Effort::MoveTime(time) => Limits { move_time: Some(time), ..Limits::default() },
        }
    }
}

/// A position to be searched, with the moves that led to it.
pub(crate) struct Question<'a> {
    /// The position before the moves.
    pub(crate) start: &'a Position,
    /// The moves.
    pub(crate) moves: &'a [Move],
    /// The game that they make.
    pub(crate) game: &'a Game,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The move to play; `None` if none was given that is legal.
    pub(crate) best: Option<Move>,
    /// The last exact score, in the view of the side to move.
    pub(crate) score: Option<Score>,
    /// The chances of win, draw and loss of the side to move, in thousandths, where they were asked for.
    pub(crate) chances: Option<[u16; 3]>,
    /// The line of the score, up to its first illegal move.
    pub(crate) line: Vec<Move>,
    /// Nodes searched, as far as they are known.
    pub(crate) nodes: u64,
    /// The time that the search took.
    pub(crate) time: Duration,
}

named_enum! {
    /// Why an engine gave no answer that can be used.
    FailureKind {
        /// It cannot be started any more.
        NotStarted = "engine not started",
        /// Its program ended.
        Crashed = "engine crashed",
        /// It did not answer in time, and was killed.
        Stalled = "engine did not answer",
        /// Its move was not legal.
        IllegalMove = "illegal move",
        /// It gave no score in centipawns where one was needed.
        NoScore = "no score",
    }
}

/// An engine gave no answer that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The engine's last words, or what is wrong with its answer.
    pub text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.text)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let kind = match error {
            EngineError::Crashed { .. } => FailureKind::Crashed,
            EngineError::Stalled { .. } | EngineError::NotReading { .. } => FailureKind::Stalled,
            EngineError::Start { .. }
            | EngineError::ReportsError(_)
            | EngineError::NoOption(_)
            | EngineError::OptionValue { .. } => FailureKind::NotStarted,
        };
        Failure { kind, text: error.to_string() }
    }
}

/// Who searches. Used on a thread with a stack of [`engine::search::STACK_SIZE`].
pub(crate) trait Player: Send {
    /// Forgets everything, for another game. A player that failed is started anew.
    fn new_game(&mut self) -> Result<(), Failure>;

    /// Searches a position that has a legal move.
    fn search(&mut self, question: &Question<'_>, effort: Effort) -> Result<Found, Failure>;
}

/// The engine as a player, or Merino with a table of so many mebibytes. A process is started with its first game.
///
/// # Errors
/// If there is no memory for the table.
pub(crate) fn player<'a>(
    engine: Option<&'a UciEngine>,
    hash: usize,
    evaluator: &Arc<Evaluator>,
) -> io::Result<Box<dyn Player + 'a>> {
    Ok(match engine {
        Some(engine) => Box::new(UciPlayer::new(engine)),
        None => Box::new(Merino::new(hash, evaluator)?),
    })
}

/// Writes into the identity of a run who searches: two players with the same identity give the same answers.
///
/// # Errors
/// If there is no memory for the bench by which Merino is known.
pub(crate) fn identify(
    identity: &mut Json,
    engine: Option<&UciEngine>,
    hash: usize,
    evaluator: &Arc<Evaluator>,
) -> io::Result<()> {
    match engine {
        Some(engine) => {
            identity["engine"] = engine.identity();
            identity["variant"] = if engine.variant == Variant::Chess960 { "chess960" } else { "standard" }.into();
        }
        None => {
            identity["engine"] = merino_identity(evaluator)?;
            identity["hash"] = hash.into();
        }
    }
    Ok(())
}

/// A score as a value of the engine's search. Centipawns stay below all mates.
pub(crate) fn value_of(score: Score) -> Value {
    const MOST: Value = MATE - MAX_PLY as Value;
    // The plies to a mate in so many moves.
    let plies = |moves: i32, less: usize| (2 * moves.unsigned_abs() as usize).saturating_sub(less).min(MAX_PLY);
    match score {
        Score::Centipawns(value) => value.clamp(1 - MOST, MOST - 1),
        Score::Mate(moves) if moves > 0 => mate_in(plies(moves, 1)),
        Score::Mate(moves) => mated_in(plies(moves, 0)),
    }
}

#[cfg(test)]
mod tests {
    use engine::search::{is_mate, mate_distance};

    use super::*;

    #[test]
    fn scores_and_values_say_the_same() {
        for plies in 0..=MAX_PLY {
            let value = if plies % 2 == 1 { mate_in(plies) } else { mated_in(plies) };
            assert_eq!(value_of(Score::Mate(mate_distance(value).unwrap())), value);
        }
        for moves in [i32::MIN, -1000, 0, 1000, i32::MAX] {
            assert!(is_mate(value_of(Score::Mate(moves))), "{moves}");
        }
        for centipawns in [-31_753, -5, 0, 31_753] {
            assert_eq!(value_of(Score::Centipawns(centipawns)), centipawns);
        }
        for far in [i32::MIN, -31_754, 31_754, i32::MAX] {
            assert_eq!(value_of(Score::Centipawns(far)).abs(), 31_753);
        }
    }
}
