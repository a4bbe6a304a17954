//! Blocks on all threads, written in the order of their numbers.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use engine::chess::{Color, Game, Position};
use thiserror::Error;

use super::line::Line;
use super::{Input, InputError, LineFault, MATE_SCORE, Settings, Tally};
use crate::chunks::{self, Collect, NoThread, StoreError, work_in_order};
use crate::datagen::{Format, bullet};
use crate::player::{Failure, FailureKind, Found, MAX_FAILURES, Player, Question};
use crate::schedule::Stop;
use crate::uci_client::Score;

/// The blocks of a frame of zstd, which are written together.
const BLOCKS_OF_FRAME: u32 = 10;

/// Why a run ends early. The output stays, and the run can be resumed.
#[derive(Debug, Error)]
pub enum RelabelError {
    /// The output cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The lines cannot be read any more.
    #[error(transparent)]
    Input(#[from] InputError),
    /// There is no memory for the searches.
    #[error("no memory for a search: {0}")]
    Memory(io::Error),
    /// There is no thread to search on.
    #[error(transparent)]
    NoThread(#[from] NoThread),
    /// The engine failed at too many lines in a row. What was not written before is searched again by a resumed run.
    #[error("{MAX_FAILURES} lines in a row were left out, the last one for this: {0}")]
    Failing(Failure),
}

/// A file that is written to, block by block.
#[derive(Debug)]
pub struct Store(chunks::Store<Tally>);

impl Store {
    /// Begins a file, or goes on with one: `is_resumed`. One that is there is overwritten only by `force`.
    ///
    /// # Errors
    /// If it is there, was written with other settings or from other lines, or cannot be written.
    pub fn open(
        path: &Path,
        settings: &Settings,
        input: &Input,
        is_resumed: bool,
        force: bool,
    ) -> Result<Self, StoreError> {
        let refused = |error| StoreError::Refused { path: path.to_owned(), error };
        let identity = settings.identity(input).map_err(refused)?;
        let store = if is_resumed {
            chunks::Store::resume(path, identity, |_| Ok::<_, io::Error>(()))
        } else {
            chunks::Store::create(path, identity, force)
        };
        store.map(Store)
    }

    /// The counts of the lines that were written.
    pub fn tally(&self) -> &Tally {
        self.0.counts()
    }
}

/// The outcome of a line.
enum Labelled {
    /// The search gave a score; `record` goes to the output.
    Scored { record: Vec<u8>, is_mate: bool, nodes: u64 },
    /// There is no legal move.
    NoMove,
    /// The engine failed.
    Failed(Failure),
}

/// The lines of a block, and what they took. It ends early where the engine has failed too often in a row.
struct Block {
    lines: Vec<Labelled>,
    spent: Duration,
    searching: Duration,
}

/// A thread's player.
struct Worker<'a> {
    settings: &'a Settings,
    player: Box<dyn Player + 'a>,
    /// When its last block was done.
    since: Instant,
    searching: Duration,
}

/// Scores the lines of `input` from the state of `store` until all are done or `stop` is requested: the first request
/// finishes the blocks in hand, the second one abandons them. After every block, `watch` gets the counts, unwritten
/// blocks included, and the failures of the block.
///
/// # Errors
/// If the output cannot be written, or the engine fails at everything.
pub fn run(
    settings: &Settings,
    input: &Input,
    store: &mut Store,
    threads: usize,
    stop: &Stop,
    watch: impl FnMut(&Tally, &[Failure]),
) -> Result<(), RelabelError> {
    let worker = |_| {
        let (player, since) = (settings.player()?, Instant::now());
        Ok(Worker { settings, player, since, searching: Duration::ZERO })
    };
    let workers: io::Result<Vec<Worker<'_>>> = (0..threads.max(1)).map(worker).collect();
    let first = store.0.next();
    let blocks = input.blocks(first)?;
    let work = |worker: &mut Worker<'_>, _, texts: Result<Vec<String>, InputError>, is_cancelled: &dyn Fn() -> bool| {
        match texts {
            Ok(texts) => worker.block(&texts, is_cancelled).map(Ok),
            Err(error) => Some(Err(error)),
        }
    };
    let mut collector = Collector::new(settings, store, watch);
    let is_whole = work_in_order(workers.map_err(RelabelError::Memory)?, first, blocks, stop, work, &mut collector)?;
    if is_whole { collector.commit() } else { Ok(()) }
}

impl Worker<'_> {
    /// Scores a block; `None` if it is cancelled.
    fn block(&mut self, texts: &[String], is_cancelled: &dyn Fn() -> bool) -> Option<Block> {
        let (mut lines, mut failures, mut is_new) = (Vec::new(), 0, false);
        self.searching = Duration::ZERO;
        for text in texts {
            let labelled = self.labelled(text, &mut is_new);
            // Engines are killed when a run ends at once.
            if is_cancelled() {
                return None;
            }
            failures = match labelled {
                Labelled::Failed(_) => failures + 1,
                Labelled::Scored { .. } => 0,
                Labelled::NoMove => failures,
            };
            lines.push(labelled);
            if failures >= MAX_FAILURES {
                break;
            }
        }
        let spent = self.since.elapsed();
        self.since = Instant::now();
        Some(Block { lines, spent, searching: self.searching })
    }

    /// Scores a line. `is_new`: the player has forgotten what was before the block.
    fn labelled(&mut self, text: &str, is_new: &mut bool) -> Labelled {
        let line = match Line::parse(text) {
            Ok(line) => line,
            Err(fault) => return Labelled::Failed(changed(&fault)),
        };
        if !line.position.has_legal_move() {
            return Labelled::NoMove;
        }
        if !*is_new {
            if let Err(failure) = self.player.new_game() {
                return Labelled::Failed(failure);
            }
            *is_new = true;
        }
        let game = Game::new(line.position.clone());
        let question = Question { start: &line.position, moves: &[], game: &game };
        match self.player.search(&question, self.settings.effort) {
            Ok(found) => {
                self.searching += found.time;
                self.settings.record(&line, &found)
            }
            Err(failure) => Labelled::Failed(failure),
        }
    }
}

/// The file was another one when it was read first.
fn changed(fault: &LineFault) -> Failure {
    Failure { kind: FailureKind::NoScore, text: format!("the line has changed: {fault}") }
}

impl Settings {
    /// Builds the record of a line that was searched. Fails without a score, chances or a result that it needs.
    fn record(&self, line: &Line<'_>, found: &Found) -> Labelled {
        let failed = |what: &str| {
            let text = format!("the search gave no {what} [{}]", line.position.to_fen());
            Labelled::Failed(Failure { kind: FailureKind::NoScore, text })
        };
        let Some(score) = found.score else { return failed("exact score") };
        let points = match (self.writes_points(), found.chances) {
            (false, _) => None,
            (true, Some(chances)) => Some(points(&line.position, chances)),
            (true, None) => return failed("chances of win, draw and loss"),
        };
        let (value, is_mate) = match score {
            Score::Centipawns(value) => (value, false),
            Score::Mate(moves) => (if moves > 0 { MATE_SCORE } else { -MATE_SCORE }, true),
        };
        let record = if self.format == Format::Bullet {
            let Some(outcome) = line.outcome() else { return Labelled::Failed(changed(&LineFault::NoResult)) };
            let white = value.saturating_mul(line.position.side_to_move().sign());
            bullet::encode(&line.position, white, outcome)
        } else {
            (line.with(value, points) + "\n").into_bytes()
        };
        Labelled::Scored { record, is_mate, nodes: found.nodes }
    }
}

/// White's expected points, from chances of the side to move.
fn points(position: &Position, [win, draw, _]: [u16; 3]) -> f64 {
    let points = (2 * u32::from(win) + u32::from(draw)) as f64 / 2000.0;
    if position.side_to_move() == Color::White { points } else { 1.0 - points }
}

/// Counts blocks, and writes.
struct Collector<'a, W> {
    settings: &'a Settings,
    store: &'a mut Store,
    watch: W,
    /// The number of the next block to take.
    next: u32,
    /// Bytes not yet written.
    chunk: Vec<u8>,
    tally: Tally,
    /// Lines in a row that the engine failed at.
    failures: u32,
    started: Instant,
    before: Duration,
}

impl<W: FnMut(&Tally, &[Failure])> Collect<Result<Block, InputError>> for Collector<'_, W> {
    type Error = RelabelError;

    fn take(&mut self, block: Result<Block, InputError>) -> Result<bool, RelabelError> {
        let Block { lines, spent, searching } = block?;
        let mut failures = Vec::new();
        for line in lines {
            match line {
                Labelled::Scored { record, is_mate, nodes } => {
                    self.chunk.extend_from_slice(&record);
                    self.tally.scored += 1;
                    self.tally.mates += u64::from(is_mate);
                    self.tally.nodes += nodes;
                    self.failures = 0;
                }
                Labelled::NoMove => self.tally.without_move += 1,
                Labelled::Failed(failure) => {
                    self.failures += 1;
                    if self.failures >= MAX_FAILURES {
                        return Err(RelabelError::Failing(failure));
                    }
                    self.tally.left_out[failure.kind.index()] += 1;
                    failures.push(failure);
                }
            }
        }
        self.next += 1;
        self.tally.blocks += 1;
        self.tally.elapsed = self.before + self.started.elapsed();
        self.tally.threads += spent;
        self.tally.searching += searching;
        if self.next == self.end(self.next, self.next) {
            self.commit()?;
        }
        (self.watch)(&self.tally, &failures);
        Ok(false)
    }

    fn end(&self, _next: u32, begun: u32) -> u32 {
        let blocks = if self.settings.format == Format::EpdZstd { BLOCKS_OF_FRAME } else { 1 };
        begun.checked_next_multiple_of(blocks).unwrap_or(u32::MAX)
    }
}

impl<'a, W> Collector<'a, W> {
    fn new(settings: &'a Settings, store: &'a mut Store, watch: W) -> Self {
        let (next, tally) = (store.0.next(), store.tally().clone());
        let before = tally.elapsed;
        let (chunk, failures, started) = (Vec::new(), 0, Instant::now());
        Collector { settings, store, watch, next, chunk, tally, failures, started, before }
    }

    /// Writes what was taken.
    fn commit(&mut self) -> Result<(), RelabelError> {
        let is_packed = self.settings.format == Format::EpdZstd;
        self.store.0.commit(&self.chunk, is_packed, self.next, &self.tally)?;
        self.chunk.clear();
        Ok(())
    }
}
