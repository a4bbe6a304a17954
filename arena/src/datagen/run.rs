//! Games on all threads, written in the order of their numbers.

use std::io;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::formats::Record;
use super::play::{Played, Table, random_of_game};
use super::{FilterOutcome, Format, SelfGame, Settings, Store, StoreError, Tally};
use crate::chunks::{Collect, List, NoThread, work_in_order};
use crate::game::Ending;
use crate::player::{Failure, MAX_FAILURES, Player};
use crate::schedule::Stop;

/// After so many games in a row of which nothing was kept, nothing more is expected.
const MAX_EMPTY: u32 = 1000;

/// Why a run ends early. The output stays, and the run can be resumed.
#[derive(Debug, Error)]
pub enum DatagenError {
    /// The file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no memory for the searches.
    #[error("no memory for a search: {0}")]
    Memory(io::Error),
    /// There is no thread to play on.
    #[error(transparent)]
    NoThread(#[from] NoThread),
    /// The engine failed in too many games in a row. They are not counted, and a resumed run plays them.
    #[error("{MAX_FAILURES} games in a row were left out, the last one for this: {0}")]
    Failing(Failure),
    /// The games repeat themselves, or the filter lets nothing through.
    #[error("{MAX_EMPTY} games in a row gave nothing new: more random plies or another book are needed")]
    Exhausted,
    /// Every game that the seed has was played.
    #[error("all {MAX_GAMES} games of this seed were played: another seed or another book has more")]
    OutOfGames,
}

/// The games of a seed.
const MAX_GAMES: u32 = u32::MAX;

/// The length of a run, its threads and its chunks.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The run ends with the game that reaches this many positions in all.
    pub positions: u64,
    /// Games at a time.
    pub threads: usize,
    /// Games that are written at a time.
    pub chunk: u32,
}

/// The outcome of a game number, and its cost.
struct GameData {
    played: Played,
    filtered: List<{ FilterOutcome::ALL.len() }>,
    /// The records to keep, in order of preference.
    records: Vec<Record>,
    /// The time of its thread, and how much of it was searching.
    spent: Duration,
    searching: Duration,
}

/// A thread's player.
struct Worker<'a> {
    player: Box<dyn Player + 'a>,
    /// When its last game was done.
    since: Instant,
}

/// Plays games from the state of `store` until `extent` is reached or `stop` is requested: the first request finishes the
/// chunk, the second one abandons it. After every game, `watch` gets the counts, unwritten games included, and why the
/// game was left out, if it was.
///
/// # Errors
/// If the file cannot be written, or the games give nothing more.
pub fn run(
    settings: &Settings,
    extent: &Extent,
    store: &mut Store,
    stop: &Stop,
    watch: impl FnMut(&Tally, Option<&Failure>),
) -> Result<(), DatagenError> {
    if store.tally().kept() >= extent.positions {
        return Ok(());
    }
    let worker = |_| Ok(Worker { player: settings.player()?, since: Instant::now() });
    let workers: io::Result<Vec<Worker<'_>>> = (0..extent.threads.max(1)).map(worker).collect();
    let first = store.next_game();
    let numbers = std::iter::repeat_n((), (MAX_GAMES - first) as usize);
    let mut collector = Collector::new(settings, extent, store, watch);
    let workers = workers.map_err(DatagenError::Memory)?;
    let work = |worker: &mut Worker<'_>, number, (), is_cancelled: &dyn Fn() -> bool| {
        let mut table = Table::new(settings, worker.player.as_mut());
        let played = table.play(number, is_cancelled)?;
        let searching = table.searching;
        let mut data = extract(settings, number, played);
        data.searching = searching;
        data.spent = worker.since.elapsed();
        worker.since = Instant::now();
        Some(data)
    };
    let is_out = work_in_order(workers, first, numbers, stop, work, &mut collector)?;
    if is_out { Err(DatagenError::OutOfGames) } else { Ok(()) }
}

/// Selects the records of a game.
fn extract(settings: &Settings, number: u32, played: Played) -> GameData {
    let (spent, searching) = (Duration::ZERO, Duration::ZERO);
    let mut data = GameData { played, filtered: [0; _], records: Vec::new(), spent, searching };
    let Played::Game(game) = &data.played else { return data };
    if game.ending == Ending::MaxPlies {
        // Its result is unknown.
    } else if settings.format.is_of_games() {
        data.records.push(Format::game_record(game));
    } else {
        for (ply, (position, played)) in game.candidates().enumerate() {
            let outcome = settings.filter.filter_outcome(ply, &position, played, &settings.evaluator);
            match (outcome, played.value) {
                (FilterOutcome::Kept, Some(value)) => {
                    data.records.push(settings.format.position_record(game, ply, &position, value))
                }
                (other, _) => data.filtered[other.index()] += 1,
            }
        }
        // A generator other than that of the opening.
        let mut random = random_of_game(!settings.seed, number);
        for last in (1..data.records.len()).rev() {
            data.records.swap(last, random.below(last as u64 + 1) as usize);
        }
    }
    data
}

/// Games in a row that were left out.
struct Streak {
    games: u32,
    /// The first of them, and the counts before it.
    first: u32,
    before: Tally,
}

/// Drops duplicates, and writes.
struct Collector<'a, W> {
    settings: &'a Settings,
    extent: &'a Extent,
    store: &'a mut Store,
    watch: W,
    /// The number of the next game to take.
    next: u32,
    /// Bytes not yet written.
    chunk: Vec<u8>,
    tally: Tally,
    empty_games: u32,
    streak: Option<Streak>,
    started: Instant,
    before: Duration,
}

impl<W: FnMut(&Tally, Option<&Failure>)> Collect<GameData> for Collector<'_, W> {
    type Error = DatagenError;

    fn take(&mut self, data: GameData) -> Result<bool, DatagenError> {
        self.count_times(&data);
        if let Played::LeftOut(failure) = data.played {
            self.leave_out(failure)?;
        } else {
            self.streak = None;
            self.add(data);
            self.next += 1;
            (self.watch)(&self.tally, None);
        }
        let is_reached = self.tally.kept() >= self.extent.positions;
        let is_exhausted = self.empty_games >= MAX_EMPTY;
        if is_reached || is_exhausted || self.next == self.end(self.next, 0) {
            self.store.commit(&self.chunk, self.next, &self.tally)?;
            self.chunk.clear();
        }
        if is_exhausted && !is_reached { Err(DatagenError::Exhausted) } else { Ok(is_reached) }
    }

    /// The first game after the chunk that is being filled.
    fn end(&self, next: u32, _begun: u32) -> u32 {
        next.checked_next_multiple_of(self.extent.chunk.max(1)).unwrap_or(MAX_GAMES)
    }
}

impl<'a, W: FnMut(&Tally, Option<&Failure>)> Collector<'a, W> {
    fn new(settings: &'a Settings, extent: &'a Extent, store: &'a mut Store, watch: W) -> Self {
        let (next, tally) = (store.next_game(), store.tally().clone());
        let before = tally.elapsed;
        let (chunk, empty_games, streak, started) = (Vec::new(), 0, None, Instant::now());
        Collector { settings, extent, store, watch, next, chunk, tally, empty_games, streak, started, before }
    }

    fn count_times(&mut self, data: &GameData) {
        self.tally.elapsed = self.before + self.started.elapsed();
        self.tally.threads += data.spent;
        self.tally.searching += data.searching;
    }

    /// Counts a game that the engine failed in. Too many in a row end the run, which then stands where they began.
    fn leave_out(&mut self, failure: Failure) -> Result<(), DatagenError> {
        let (first, before) = (self.next, &self.tally);
        let streak = self.streak.get_or_insert_with(|| Streak { games: 0, first, before: before.clone() });
        streak.games += 1;
        if streak.games >= MAX_FAILURES {
            self.store.commit(&self.chunk, streak.first, &streak.before)?;
            return Err(DatagenError::Failing(failure));
        }
        self.tally.left_out[failure.kind.index()] += 1;
        self.next += 1;
        (self.watch)(&self.tally, Some(&failure));
        Ok(())
    }

    fn add(&mut self, data: GameData) {
        for (total, count) in self.tally.filtered.iter_mut().zip(data.filtered) {
            *total += count;
        }
        let Played::Game(game) = data.played else {
            self.tally.without_opening += 1;
            self.empty_games += 1;
            return;
        };
        self.tally.add_game(&game);
        let kept = self.keep(&game, data.records);
        self.empty_games = if kept.is_empty() { self.empty_games + 1 } else { 0 };
        kept.iter().for_each(|record| self.chunk.extend_from_slice(&record.bytes));
    }

    /// The records of a game that are kept, in the order of the game.
    fn keep(&mut self, game: &SelfGame, records: Vec<Record>) -> Vec<Record> {
        let is_of_games = self.settings.format.is_of_games();
        let (weight, most) =
            if is_of_games { (game.moves.len() as u64, 1) } else { (1, self.settings.filter.per_game) };
        let is_repeated = self.is_repeated(&records, most);
        let mut kept: Vec<Record> = Vec::new();
        for record in records {
            let filter_outcome = if is_repeated {
                FilterOutcome::Duplicate
            } else if kept.len() >= most {
                FilterOutcome::Beyond
            } else if !self.store.is_new(record.key) {
                FilterOutcome::Duplicate
            } else {
                kept.push(record);
                FilterOutcome::Kept
            };
            self.tally.filtered[filter_outcome.index()] += weight;
        }
        kept.sort_by_key(|record| record.ply);
        kept
    }

    /// Returns true if a UCI engine has played a game before: as many of its records are known as a game may give.
    /// Another draw of them would be more of the same game, under another number.
    fn is_repeated(&self, records: &[Record], most: usize) -> bool {
        let known = || records.iter().filter(|record| self.store.has(record.key)).count();
        self.settings.engine.is_some() && !records.is_empty() && known() >= most.min(records.len())
    }
}
