//! Which positions of a game are kept.

use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence, Value, is_mate};

use super::ScoredMove;
use crate::game::named_enum;

named_enum! {
    /// The result of filtering a position.
    FilterOutcome {
        /// It is written.
        Kept = "kept",
        /// It is among the first of its game.
        Early = "too early",
        /// The side to move is in check.
        InCheck = "in check",
        /// The move played captures or promotes.
        NoisyMove = "noisy move",
        /// The search gave no score, or only bounds.
        NoScore = "no score",
        /// The search saw a forced mate, which is not a number of centipawns.
        MateSeen = "mate seen",
        /// The game would be over there.
        Over = "no legal move",
        /// The quiescence search finds a better score than the static one.
        NotQuiet = "not quiet",
        /// It was kept before.
        Duplicate = "duplicate",
        /// Its game has given enough.
        Beyond = "beyond the most of a game",
    }
}

named_enum! {
    /// The source of positions.
    Source {
        /// The positions of the game in which moves were played.
        Game = "game",
        /// The end of the best line of each search: what the engine evaluated, rather than what came about.
        PvEnd = "pv-end",
    }
}

/// Which positions are kept; the rest is the same for all: see [`FilterOutcome`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The source of the positions.
    pub source: Source,
    /// The number of positions skipped after the opening, in which pieces may hang after random moves.
    pub skip_plies: usize,
    /// By how much Merino's quiescence score may be above its static one, centipawns; if not given, by any number.
    pub margin: Option<Value>,
    /// The most positions of a game, drawn at random.
    pub per_game: usize,
}

impl Filter {
    /// Filters a position that comes from the search `ply` plies after the opening, which had `played` played;
    /// duplicates are found later.
    pub(super) fn filter_outcome(
        &self,
        ply: usize,
        position: &Position,
        played: ScoredMove,
        evaluator: &Evaluator,
    ) -> FilterOutcome {
        let quiescence = || Quiescence::new(evaluator, Pruning::Exact);
        if ply < self.skip_plies {
            FilterOutcome::Early
        } else if position.is_check() {
            FilterOutcome::InCheck
        } else if self.source == Source::Game && position.is_noisy(played.mv) {
            FilterOutcome::NoisyMove
        } else if played.value.is_none() {
            FilterOutcome::NoScore
        } else if played.value.is_some_and(is_mate) {
            FilterOutcome::MateSeen
        } else if !position.has_legal_move() {
            FilterOutcome::Over
        } else if self.margin.is_some_and(|margin| !quiescence().is_quiet(position, margin)) {
            FilterOutcome::NotQuiet
        } else {
            FilterOutcome::Kept
        }
    }
}
