//! The summary of a game, without position and moves.

use engine::chess::GameResult;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::{Ending, GameRecord, Note};

/// Totals of a side's searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchTotals {
    /// Moves it made.
    pub moves: u64,
    /// Reported nodes.
    pub nodes: u64,
    /// The sum of reported depths.
    pub depths: u64,
    /// Time it took.
    pub time: Duration,
}

impl SearchTotals {
    /// Adds a move.
    pub fn add_move(&mut self, depth: Option<u32>, nodes: Option<u64>, time: Duration) {
        self.add(&SearchTotals { moves: 1, nodes: nodes.unwrap_or(0), depths: depth.unwrap_or(0).into(), time });
    }

    /// Adds other totals. The numbers come from engines and journals, so sums saturate.
    pub fn add(&mut self, other: &SearchTotals) {
        self.moves = self.moves.saturating_add(other.moves);
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.depths = self.depths.saturating_add(other.depths);
        self.time = self.time.saturating_add(other.time);
    }
}

/// The summary of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSummary {
    /// Its number in the match, from 0.
    pub number: u32,
    /// Which of the engines played, White first.
    pub players: [usize; 2],
    /// The result.
    pub outcome: GameResult,
    /// Why it ended.
    pub ending: Ending,
    /// Faults, in order.
    pub notes: Vec<Note>,
    /// White's and Black's.
    pub search_totals: [SearchTotals; 2],
    /// Equal for games with the same players, start and moves; most likely for no others.
    pub fingerprint: u64,
}

impl GameSummary {
    /// Moves of both sides.
    pub fn plies(&self) -> u64 {
        self.search_totals.iter().map(|search_total| search_total.moves).sum()
    }
}

impl From<&GameRecord> for GameSummary {
    fn from(game: &GameRecord) -> Self {
        let mut search_totals = [SearchTotals::default(); 2];
        let start = game.opening.position();
        let mut fingerprint = Fingerprint::new(game.players, start.key());
        let mut color = start.side_to_move();
        for played in &game.moves {
            // Rounded as in journals, so that both give the same sums.
            let micros = u64::try_from(played.time.as_micros()).unwrap_or(u64::MAX);
            search_totals[color.index()].add_move(played.depth, played.nodes, Duration::from_micros(micros));
            fingerprint.add_move(&played.mv.to_uci(true));
            color = !color;
        }
        GameSummary {
            number: game.number,
            players: game.players,
            outcome: game.outcome,
            ending: game.ending,
            notes: game.notes.clone(),
            search_totals,
            fingerprint: fingerprint.finish(),
        }
    }
}

/// The fingerprint of a game, move by move.
pub(crate) struct Fingerprint(DefaultHasher);

impl Fingerprint {
    /// Of a game between these from a start with this key.
    pub(crate) fn new(players: [usize; 2], start: u64) -> Self {
        let mut hasher = DefaultHasher::new();
        (players, start).hash(&mut hasher);
        Fingerprint(hasher)
    }

    /// Adds a move in the notation of UCI, castling being king takes rook.
    pub(crate) fn add_move(&mut self, text: &str) {
        text.hash(&mut self.0);
    }

    pub(crate) fn finish(&self) -> u64 {
        self.0.finish()
    }
}
