//! The settings of a run.

use std::io;
use std::sync::Arc;

use engine::eval::Evaluator;
use engine::search::Value;
use serde_json::{Value as Json, json};

use super::{Filter, Format, Source};
use crate::game::{Adjudication, Book};
use crate::player::{Effort, Player, UciEngine, identify, merino_identity, player};

/// Everything that determines the output.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The engine that plays; without it, Merino within this program.
    pub engine: Option<UciEngine>,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Positions to begin with, game by game; without it, the start of chess.
    pub book: Option<Book>,
    /// The chance, in percent, that a game begins in double Chess960 instead.
    pub chess960: u64,
    /// Random legal moves before the engine plays: so many plies, or one more.
    pub random_plies: u64,
    /// The most by which either side may then be ahead, centipawns.
    pub balance: Value,
    /// The nodes of the search that judges it.
    pub balance_nodes: u64,
    /// The limit of every search of a game.
    pub effort: Effort,
    /// The size of the table of each thread on which Merino plays, mebibytes.
    pub hash: usize,
    /// Adjudication. Games that end by [`Adjudication::max_plies`] are discarded: their result is unknown.
    pub adjudication: Adjudication,
    /// The filter of positions.
    pub filter: Filter,
    /// The format of the output.
    pub format: Format,
    /// The evaluator that Merino plays with, and that [`Filter::margin`] is measured by.
    pub evaluator: Arc<Evaluator>,
}

impl Settings {
    /// Who plays, as each thread has it. A process is started with its first game.
    ///
    /// # Errors
    /// If there is no memory for a table.
    pub(super) fn player(&self) -> io::Result<Box<dyn Player + '_>> {
        player(self.engine.as_ref(), self.hash, &self.evaluator)
    }

    /// The settings in JSON: two runs with the same write the same. Merino is in it by the nodes of a bench, which change
    /// with the search and with the parameters of its evaluation; other engines by the hashes of their files.
    ///
    /// # Errors
    /// If there is no memory for the bench.
    pub fn identity(&self) -> io::Result<Json> {
        let rules = &self.adjudication;
        let mut identity = json!({
            "format": self.format.name(),
            "seed": self.seed,
            "book_sha256": self.book.as_ref().map(Book::sha256),
            "random_plies": self.random_plies,
            "balance": self.balance,
            "balance_nodes": self.balance_nodes,
            "draw": rules.draw.map(|rule| json!([rule.from_move, rule.moves, rule.score])),
            "resign": rules.resign.map(|rule| json!([rule.moves, rule.score, rule.both])),
            "max_plies": rules.max_plies,
            "skip_plies": self.filter.skip_plies,
            "margin": self.filter.margin,
            "per_game": self.filter.per_game,
        });
        self.effort.identify(&mut identity);
        identify(&mut identity, self.engine.as_ref(), self.hash, &self.evaluator)?;
        if self.engine.is_some() && self.filter.margin.is_some() {
            identity["margin_by"] = merino_identity(&self.evaluator)?;
        }
        // Runs from before there were these settings can be resumed.
        if self.chess960 > 0 {
            identity["chess960"] = self.chess960.into();
        }
        if self.filter.source != Source::Game {
            identity["from"] = self.filter.source.name().into();
        }
        Ok(identity)
    }
}
