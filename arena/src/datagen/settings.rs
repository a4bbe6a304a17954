//! The settings of a run.

use std::io;
use std::sync::Arc;

use engine::bench;
use engine::eval::Evaluator;
use engine::search::{Limits, Searcher, Value};
use serde_json::{Value as Json, json};

use super::{Filter, Format, Source};
use crate::game::{Adjudication, Book};

/// The depth of the bench that identifies the engine, plies.
const SIGNATURE_DEPTH: i32 = 5;

/// Everything that determines the output.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the random numbers begin.
    pub seed: u64,
    /// Positions to begin with, game by game; without it, the start of chess.
    pub book: Option<Book>,
    /// How many of a hundred games begin in double Chess960 instead.
    pub chess960: u64,
    /// Random legal moves before the engine plays: so many plies, or one more.
    pub random_plies: u64,
    /// The most by which either side may then be ahead, centipawns.
    pub balance: Value,
    /// The nodes of the search that judges it.
    pub balance_nodes: u64,
    /// The most nodes for a move.
    pub nodes: u64,
    /// No iteration is begun after so many nodes.
    pub soft_nodes: Option<u64>,
    /// The size of each thread's table, mebibytes.
    pub hash: usize,
    /// Adjudication. Games that end by [`Adjudication::max_plies`] are discarded: their result is unknown.
    pub adjudication: Adjudication,
    /// The filter of positions.
    pub filter: Filter,
    /// How it is written.
    pub format: Format,
    /// The evaluator of the engine.
    pub evaluator: Arc<Evaluator>,
}

impl Settings {
    /// The limits of every search of a game.
    pub(super) fn limits(&self) -> Limits {
        Limits { soft_nodes: self.soft_nodes, ..Limits::nodes(self.nodes) }
    }

    /// A search as each thread has it.
    ///
    /// # Errors
    /// If there is no memory for its table.
    pub(super) fn searcher(&self) -> io::Result<Searcher> {
        let mut searcher = Searcher::new(self.hash)?;
        searcher.set_evaluator(Arc::clone(&self.evaluator));
        Ok(searcher)
    }

    /// The settings in JSON: two runs with the same write the same. The engine is in it by the nodes of a bench, which
    /// change with the search and with the parameters of its evaluation.
    ///
    /// # Errors
    /// If there is no memory for the bench.
    pub fn identity(&self) -> io::Result<Json> {
        let bench = bench::run(SIGNATURE_DEPTH, &self.searcher()?, |_, _| {})?;
        let rules = &self.adjudication;
        let mut identity = json!({
            "engine": { "version": env!("CARGO_PKG_VERSION"), "bench_depth_5": bench.nodes },
            "format": self.format.name(),
            "seed": self.seed,
            "book_sha256": self.book.as_ref().map(Book::sha256),
            "random_plies": self.random_plies,
            "balance": self.balance,
            "balance_nodes": self.balance_nodes,
            "nodes": self.nodes,
            "soft_nodes": self.soft_nodes,
            "hash": self.hash,
            "draw": rules.draw.map(|rule| json!([rule.from_move, rule.moves, rule.score])),
            "resign": rules.resign.map(|rule| json!([rule.moves, rule.score, rule.both])),
            "max_plies": rules.max_plies,
            "skip_plies": self.filter.skip_plies,
            "margin": self.filter.margin,
            "per_game": self.filter.per_game,
        });
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
