//! The public interface of the search: settings, state kept between moves, and threads.
//!
//! All threads search the same root and share only the table (Lazy SMP). The first one checks the clock and reports; at
//! the end the threads vote for the move. See <https://www.chessprogramming.org/Lazy_SMP>.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use memmap2::MmapMut;

use super::limits::{Budget, Limits};
use super::params::SearchParams;
use super::prune::Reductions;
use super::report::{Handler, Info, SearchResult};
use super::signals::Signals;
use super::strength::{MAX_ELO, Strength};
use super::table::{Bound, Table};
use super::tablebase::{Endings, TablebaseUse};
use super::thread::{JobThread, on_large_stack};
use super::value::{DRAW, INFINITE, Value, is_decided, mated_in};
use super::worker::{Kept, Shared, Worker};
use crate::chess::{Game, Move};
use crate::eval::Evaluator;
use crate::random::Random;

/// Default size of the table, mebibytes.
pub const DEFAULT_HASH: usize = 16;

/// The most threads a search may have.
pub const MAX_THREADS: usize = 512;

/// The most lines a search may report.
pub const MAX_MULTIPV: usize = 256;

/// Memory that creating threads must leave for the search, bytes: less than the C library reserves for the allocations
/// of one thread, so that a new thread does not take it either.
const RESERVED_MEMORY: usize = 32 << 20;

/// A search with its settings, tables and threads.
pub struct Searcher {
    table: Arc<Table>,
    evaluator: Arc<Evaluator>,
    signals: Arc<Signals>,
    /// One for each thread.
    kept: Vec<Kept>,
    /// The threads but the first, which is the caller's.
    helpers: Vec<JobThread>,
    /// The search parameters.
    pub params: SearchParams,
    /// The number of best lines that are reported, at least 1.
    pub multipv: usize,
    /// The tablebase, and how it is used.
    pub tablebase: TablebaseUse,
    /// Time lost between the GUI's clock and the engine.
    pub overhead: Duration,
    /// True if a position with a single legal move is searched like any other.
    pub analyse: bool,
    /// True to play at the strength of `elo`, with one thread and without tablebases.
    pub limit_strength: bool,
    /// Elo to play at, from [`MIN_ELO`](super::MIN_ELO) to [`MAX_ELO`].
    pub elo: i32,
    /// Random numbers of limited strength.
    pub(crate) random: Random,
}

impl Searcher {
    /// A search with one thread and a table of `mebibytes`.
    ///
    /// # Errors
    /// If there is not that much memory.
    pub fn new(mebibytes: usize) -> io::Result<Self> {
        Ok(Searcher {
            table: Arc::new(Table::new(mebibytes)?),
            evaluator: Arc::default(),
            signals: Arc::default(),
            kept: vec![Kept::new().ok_or(io::ErrorKind::OutOfMemory)?],
            helpers: Vec::new(),
            params: SearchParams::default(),
            multipv: 1,
            tablebase: TablebaseUse::default(),
            overhead: Duration::from_millis(10),
            analyse: false,
            limit_strength: false,
            elo: MAX_ELO,
            random: Random::unpredictable(),
        })
    }

    /// A search with one thread and a table of `mebibytes` that shares this one's evaluator, parameters and signals.
    ///
    /// # Errors
    /// If there is not that much memory.
    pub fn sibling(&self, mebibytes: usize) -> io::Result<Self> {
        let mut sibling = Searcher::new(mebibytes)?;
        sibling.evaluator = Arc::clone(&self.evaluator);
        sibling.signals = Arc::clone(&self.signals);
        sibling.params = self.params.clone();
        Ok(sibling)
    }

    /// The signals to the search while it runs.
    pub fn signals(&self) -> Arc<Signals> {
        Arc::clone(&self.signals)
    }

    /// The evaluator.
    pub fn evaluator(&self) -> &Evaluator {
        &self.evaluator
    }

    /// The evaluator, to share with other searches.
    pub fn shared_evaluator(&self) -> Arc<Evaluator> {
        Arc::clone(&self.evaluator)
    }

    /// Replaces the evaluator and clears the tables.
    pub fn set_evaluator(&mut self, evaluator: Arc<Evaluator>) {
        self.evaluator = evaluator;
        self.clear();
    }

    /// The size of the table, mebibytes.
    pub fn hash(&self) -> usize {
        self.table.mebibytes()
    }

    /// Resizes the table.
    ///
    /// # Errors
    /// If there is not that much memory; the old table stays.
    pub fn set_hash(&mut self, mebibytes: usize) -> io::Result<()> {
        if mebibytes != self.hash() {
            self.table = Arc::new(Table::new(mebibytes)?);
        }
        Ok(())
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.kept.len()
    }

    /// Sets the number of threads, 1 to [`MAX_THREADS`]; returns how many the system gives.
    pub fn set_threads(&mut self, threads: usize) -> usize {
        let threads = threads.clamp(1, MAX_THREADS);
        self.helpers.truncate(threads - 1);
        self.kept.truncate(threads);
        // Threads must not take the last of the memory.
        let room = MmapMut::map_anon(RESERVED_MEMORY);
        while self.threads() < threads
            && room.is_ok()
            && let Ok(helper) = JobThread::start()
            && let Some(kept) = Kept::new()
        {
            self.helpers.push(helper);
            self.kept.push(kept);
        }
        self.threads()
    }

    /// Empties the table.
    pub fn clear_hash(&self) {
        self.table.clear(&self.helpers);
    }

    /// Clears the table and the histories, for a new game.
    pub fn clear(&mut self) {
        self.clear_hash();
        self.kept.iter_mut().for_each(Kept::clear);
    }

    /// The strength to play at, if it is limited.
    fn strength(&self) -> Option<Strength> {
        self.limit_strength.then(|| Strength::of_elo(self.elo))
    }

    /// Searches until a limit is reached or [`Signals::stop`] is called.
    pub fn search(&mut self, game: &Game, limits: Limits, handler: &mut dyn Handler) -> SearchResult {
        on_large_stack(|| self.search_here(game, limits.clone(), handler))
    }

    /// [`Searcher::search`] for a caller whose own stack is as large as [`STACK_SIZE`](super::STACK_SIZE).
    pub fn search_here(&mut self, game: &Game, limits: Limits, handler: &mut dyn Handler) -> SearchResult {
        self.signals.reset(limits.ponder);
        self.search_since(Instant::now(), game, limits, handler)
    }

    /// [`Searcher::search_here`] for a caller that has reset the signals itself when the command came, at `start`.
    pub fn search_since(
        &mut self,
        start: Instant,
        game: &Game,
        mut limits: Limits,
        handler: &mut dyn Handler,
    ) -> SearchResult {
        let legal = game.position().legal_moves();
        let is_wanted = |mv: &Move| limits.search_moves.contains(mv);
        let mut moves: Vec<Move> = legal.iter().copied().filter(is_wanted).collect();
        if moves.is_empty() {
            moves = legal.to_vec();
        }
        let waits_for_stop = limits.infinite || limits.ponder;
        if moves.is_empty() {
            let value = if game.position().is_check() { mated_in(0) } else { DRAW };
            handler.no_moves(value);
            if waits_for_stop {
                self.signals.wait(limits.infinite);
            }
            return SearchResult { best: None, ponder: None, value, depth: 0, nodes: 0 };
        }
        let infinite = limits.infinite;
        self.table.begin_search();
        let strength = self.strength();
        // The other threads rest: they would search more than a small number of nodes before they see the limit.
        let resting = self.kept.split_off(if strength.is_some() { 1 } else { self.kept.len() });
        strength.iter().for_each(|strength| strength.restrict(&mut limits));
        let (shared, mut workers) = self.start(start, game, limits, &moves);
        workers[0].watcher = handler.watcher();
        let mut workers = self.run(workers, game, handler);
        let best = vote(&workers);
        if let Some(strength) = strength {
            strength.choose(&mut workers[best].root_moves, &mut self.random);
        }
        if let Some(fault) = shared.endings.take_fault() {
            handler.fault(&fault);
        }
        let outcome = self.finish(&shared, &workers[best], game, handler);
        let kept = |Worker { histories, pawns, evals, .. }| Kept { histories, pawns, evals };
        self.kept = workers.into_iter().map(kept).chain(resting).collect();
        if waits_for_stop {
            self.signals.wait(infinite);
        }
        outcome
    }

    /// Prepares the shared state and the workers.
    pub(super) fn start(
        &mut self,
        start: Instant,
        game: &Game,
        limits: Limits,
        moves: &[Move],
    ) -> (Arc<Shared>, Vec<Worker>) {
        let budget = Budget::new(&limits, self.overhead, &self.params);
        let kept = std::mem::take(&mut self.kept);
        let multipv = self.multipv.max(1);
        let strength = self.strength();
        let plays_without_tables = limits.mate.is_some() || strength.is_some();
        let (endings, moves) = Endings::new(&self.tablebase, game, moves, plays_without_tables);
        let shared = Arc::new(Shared {
            table: Arc::clone(&self.table),
            signals: Arc::clone(&self.signals),
            evaluator: Arc::clone(&self.evaluator),
            params: self.params.clone(),
            reductions: Reductions::new(&self.params),
            hard: budget.hard,
            soft: budget.soft,
            start,
            nodes: kept.iter().map(|_| AtomicU64::new(0)).collect(),
            is_over: AtomicBool::new(false),
            multipv,
            lines: strength.map_or(1, Strength::lines).max(multipv),
            only_move: !self.analyse && game.position().legal_moves().len() == 1,
            endings,
            limits,
        });
        let worker = |(id, kept)| Worker::new(id, Arc::clone(&shared), kept, &moves);
        let workers = kept.into_iter().enumerate().map(worker).collect();
        (shared, workers)
    }

    /// Runs the threads to their end; the first is the caller's.
    fn run(&self, workers: Vec<Worker>, game: &Game, handler: &mut dyn Handler) -> Vec<Worker> {
        let count = workers.len();
        let (sender, done) = mpsc::channel();
        let mut workers = workers.into_iter();
        let mut first = workers.next().expect("there is a thread");
        for (mut worker, helper) in workers.zip(&self.helpers) {
            let (mut game, sender) = (game.clone(), sender.clone());
            helper.run(move || {
                worker.iterate(&mut game, &mut ());
                // If the receiver is gone, the first thread has panicked.
                let _ = sender.send(worker);
            });
        }
        drop(sender);
        first.iterate(&mut game.clone(), handler);
        let mut workers: Vec<Worker> = std::iter::once(first).chain(done).collect();
        assert_eq!(workers.len(), count, "a search thread has panicked");
        workers.sort_by_key(|worker| worker.id);
        workers
    }

    /// Reports the chosen line, unless the last report already had it with the final node count, and returns the result.
    fn finish(&self, shared: &Shared, worker: &Worker, game: &Game, handler: &mut dyn Handler) -> SearchResult {
        shared.nodes[worker.id].store(worker.nodes, std::sync::atomic::Ordering::Relaxed);
        let nodes = shared.total_nodes();
        let best = &worker.root_moves[0];
        let last_report = worker.last_report.as_ref().filter(|(root, _)| worker.id == 0 && root.mv == best.mv);
        // The value of an interrupted iteration may be only a bound.
        let root = last_report.map_or(best, |(root, _)| root);
        let mut value = root.reported_value();
        if value == -INFINITE {
            value = self.evaluator.evaluate(game.position());
        }
        let depth = worker.completed_depth.max(1);
        if last_report.is_none_or(|&(_, nodes_then)| nodes_then != nodes) {
            handler.line(&Info {
                depth,
                seldepth: root.seldepth.max(root.line.len()),
                multipv: 1,
                value,
                bound: Bound::Exact,
                nodes,
                time: shared.start.elapsed(),
                hashfull: self.table.fullness(),
                tbhits: shared.endings.hits(),
                line: &root.line,
            });
        }
        let mut line = root.line.clone();
        self.extend_line(game, &mut line);
        SearchResult { best: Some(root.mv), ponder: line.get(1).copied(), value, depth, nodes }
    }

    /// Adds the table's reply to a line of one move; drops a reply that ends the game, as it cannot be pondered on.
    fn extend_line(&self, game: &Game, line: &mut super::worker::PvLine) {
        let mut next = game.clone();
        next.play(line[0]);
        if line.len() == 1 && !next.is_over() {
            let known = self.table.probe(next.position().key(), 1).and_then(|entry| entry.mv);
            line.extend(known.filter(|&mv| next.position().is_legal(mv)));
        }
        if let Some(&reply) = line.get(1) {
            next.play(reply);
            if next.is_over() {
                line.truncate(1);
            }
        }
    }
}

/// The thread with the most votes for its move; votes are weighted by depth and value.
fn vote(workers: &[Worker]) -> usize {
    let value = |worker: &Worker| worker.root_moves[0].known_value();
    let voters = || workers.iter().filter(|worker| worker.completed_depth > 0);
    let worst = voters().map(value).min().unwrap_or(0);
    let weight = |worker: &Worker| {
        i64::from(value(worker) - worst + worker.shared.params.vote_margin) * i64::from(worker.completed_depth)
    };
    let votes = |mv: Move| -> i64 { voters().filter(|worker| worker.root_moves[0].mv == mv).map(weight).sum() };
    let rank = |worker: &&Worker| -> (Value, i64, i64, std::cmp::Reverse<usize>) {
        let sure = if is_decided(value(worker)) { value(worker) } else { 0 };
        (sure, votes(worker.root_moves[0].mv), weight(worker), std::cmp::Reverse(worker.id))
    };
    if workers[0].shared.multipv > 1 {
        return 0;
    }
    voters().max_by_key(rank).map_or(0, |worker| worker.id)
}
