//! Merino's own search, in process.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use engine::bench;
use engine::chess::Move;
use engine::eval::Evaluator;
use engine::search::{Bound, Handler, Info, Searcher, mate_distance};
use serde_json::{Value as Json, json};

use super::{Effort, Failure, Found, Player, Question};
use crate::uci_client::Score;

/// The depth of the bench that identifies the engine, plies.
const SIGNATURE_DEPTH: i32 = 5;
/// The table of the search whose parameters the bench takes, mebibytes; it is not used.
const LEAST_HASH: usize = 1;

/// Merino, as a player.
pub(super) struct Merino(Searcher);

impl Merino {
    /// A search with a table of so many mebibytes.
    ///
    /// # Errors
    /// If there is no memory for the table.
    pub(super) fn new(hash: usize, evaluator: &Arc<Evaluator>) -> io::Result<Self> {
        let mut searcher = Searcher::new(hash)?;
        searcher.set_evaluator(Arc::clone(evaluator));
        Ok(Merino(searcher))
    }
}

/// Merino in JSON: its version and the nodes of a bench, which change with its search and its parameters.
///
/// # Errors
/// If there is no memory for the bench.
pub(crate) fn merino_identity(evaluator: &Arc<Evaluator>) -> io::Result<Json> {
    let mut searcher = Searcher::new(LEAST_HASH)?;
    searcher.set_evaluator(Arc::clone(evaluator));
    let bench = bench::run(SIGNATURE_DEPTH, &searcher, |_, _| {})?;
    Ok(json!({ "version": env!("CARGO_PKG_VERSION"), "bench_depth_5": bench.nodes }))
}

/// Keeps the best line of a search.
#[derive(Default)]
struct BestLine(Vec<Move>);

impl Handler for BestLine {
    fn line(&mut self, info: &Info<'_>) {
        // Lines of a search that fell out of its window end early.
        if info.bound == Bound::Exact {
            info.line.clone_into(&mut self.0);
        }
    }
}

impl Player for Merino {
    fn new_game(&mut self) -> Result<(), Failure> {
        self.0.clear();
        Ok(())
    }

    fn search(&mut self, question: &Question<'_>, effort: Effort) -> Result<Found, Failure> {
        let started = Instant::now();
        let mut line = BestLine::default();
        let found = self.0.search_here(question.game, effort.limits(), &mut line);
        let score = mate_distance(found.value).map_or(Score::Centipawns(found.value), Score::Mate);
        Ok(Found {
            best: found.best,
            score: Some(score),
            chances: None,
            line: line.0,
            nodes: found.nodes,
            time: started.elapsed(),
        })
    }
}
