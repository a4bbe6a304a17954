//! Games on all threads, written in the order of their numbers.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::{Duration, Instant};

use engine::search::STACK_SIZE;
use thiserror::Error;

use super::formats::Record;
use super::play::{Player, random_of_game};
use super::tally::Counts;
use super::{FilterOutcome, Format, SelfGame, Settings, Store, StoreError, Tally};
use crate::game::Ending;
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
    #[error("no thread can be started")]
    NoThread,
    /// The games repeat themselves, or the filter lets nothing through.
    #[error("{MAX_EMPTY} games in a row gave nothing new: more random plies or another book are needed")]
    Exhausted,
    /// Every game that the seed has was played.
    #[error("all {MAX_GAMES} games of this seed were played: another seed or another book has more")]
    OutOfGames,
}

/// The games of a seed.
const MAX_GAMES: u32 = u32::MAX;

/// How far a run goes, and how.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The run ends with the game that reaches this many positions in all.
    pub positions: u64,
    /// Games at a time.
    pub threads: usize,
    /// Games that are written at a time.
    pub chunk: u32,
}

/// The data of a game number, with or without a game.
struct GameData {
    number: u32,
    game: Option<SelfGame>,
    filtered: Counts<{ FilterOutcome::ALL.len() }>,
    /// The records to keep, in order of preference.
    records: Vec<Record>,
}

/// Plays games from the state of `store` until `extent` is reached or `stop` is requested: the first request finishes the
/// chunk, the second one abandons it. After every game, `watch` gets the counts, unwritten games included.
///
/// # Errors
/// If the file cannot be written, or the games give nothing more.
pub fn run(
    settings: &Settings,
    extent: &Extent,
    store: &mut Store,
    stop: &Stop,
    mut watch: impl FnMut(&Tally),
) -> Result<(), DatagenError> {
    if store.tally().kept() >= extent.positions {
        return Ok(());
    }
    let threads = extent.threads.max(1);
    let players: Result<Vec<Player<'_>>, io::Error> = (0..threads).map(|_| Player::new(settings)).collect();
    let shared = Shared {
        settings,
        stop,
        next: AtomicU64::new(store.next_game().into()),
        end: AtomicU32::new(MAX_GAMES),
        is_over: AtomicBool::new(false),
    };
    let mut collector = Collector::new(settings, extent, store);
    let (mut result, mut is_manned) = (Ok(()), false);
    let players = players.map_err(DatagenError::Memory)?;
    std::thread::scope(|scope| {
        let (sender, finished) = sync_channel(threads);
        for player in players {
            let (shared, sender) = (&shared, sender.clone());
            let work = move || shared.work(player, &sender);
            let spawned = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, work);
            // Too many threads for this machine: continue with the running ones.
            is_manned |= spawned.is_ok();
        }
        drop(sender);
        if !is_manned {
            result = Err(DatagenError::NoThread);
        }
        for data in finished {
            if shared.is_cancelled() {
                continue;
            }
            let taken = collector.take(data, stop, &mut watch);
            if stop.is_requested() {
                shared.end.fetch_min(collector.end_of_chunk(), SeqCst);
            }
            if !matches!(taken, Ok(false)) {
                shared.is_over.store(true, SeqCst);
                result = taken.map(|_| ());
            }
        }
        if result.is_ok() && !shared.is_cancelled() && !stop.is_requested() {
            result = Err(DatagenError::OutOfGames);
        }
    });
    result
}

/// State shared by the threads.
struct Shared<'a> {
    settings: &'a Settings,
    stop: &'a Stop,
    /// The next game to play.
    next: AtomicU64,
    /// No game from this number on is played.
    end: AtomicU32,
    /// All that is wanted is there; running games are given up.
    is_over: AtomicBool,
}

impl Shared<'_> {
    fn is_cancelled(&self) -> bool {
        self.is_over.load(SeqCst) || self.stop.is_immediate()
    }

    fn work(&self, mut player: Player<'_>, sender: &SyncSender<GameData>) {
        while !self.is_cancelled() {
            let next = self.next.fetch_add(1, SeqCst);
            let Some(number) = u32::try_from(next).ok().filter(|&number| number < self.end.load(SeqCst)) else { break };
            let Ok(game) = player.play(number, &|| self.is_cancelled()) else { break };
            if sender.send(extract(self.settings, number, game)).is_err() {
                break;
            }
        }
    }
}

/// Selects the records of a game.
fn extract(settings: &Settings, number: u32, game: Option<SelfGame>) -> GameData {
    let mut data = GameData { number, game: None, filtered: [0; _], records: Vec::new() };
    let Some(game) = game else { return data };
    if game.ending == Ending::MaxPlies {
        // Its result is unknown.
    } else if settings.format.is_of_games() {
        data.records.push(Format::game_record(&game));
    } else {
        for (ply, (position, played)) in game.candidates().enumerate() {
            match settings.filter.filter_outcome(ply, &position, played, &settings.evaluator) {
                FilterOutcome::Kept => {
                    data.records.push(settings.format.position_record(&game, ply, &position, played))
                }
                other => data.filtered[other.index()] += 1,
            }
        }
        // A generator other than that of the opening.
        let mut random = random_of_game(!settings.seed, number);
        for last in (1..data.records.len()).rev() {
            data.records.swap(last, random.below(last as u64 + 1) as usize);
        }
    }
    data.game = Some(game);
    data
}

/// Brings games in order, drops duplicates, and writes.
struct Collector<'a> {
    settings: &'a Settings,
    extent: &'a Extent,
    store: &'a mut Store,
    /// Games whose turn has not come.
    waiting: BTreeMap<u32, GameData>,
    /// The number of the next game to take.
    next: u32,
    /// Bytes not yet written.
    chunk: Vec<u8>,
    tally: Tally,
    empty_games: u32,
    started: Instant,
    before: Duration,
}

impl<'a> Collector<'a> {
    fn new(settings: &'a Settings, extent: &'a Extent, store: &'a mut Store) -> Self {
        let (next, tally) = (store.next_game(), store.tally().clone());
        let before = tally.elapsed;
        let (waiting, chunk, empty_games, started) = (BTreeMap::new(), Vec::new(), 0, Instant::now());
        Collector { settings, extent, store, waiting, next, chunk, tally, empty_games, started, before }
    }

    /// The first game after the chunk that is being filled.
    fn end_of_chunk(&self) -> u32 {
        self.next.checked_next_multiple_of(self.extent.chunk.max(1)).unwrap_or(MAX_GAMES)
    }

    /// Adds a game and those that waited for it; returns whether the run is over.
    fn take(&mut self, data: GameData, stop: &Stop, watch: &mut impl FnMut(&Tally)) -> Result<bool, DatagenError> {
        self.waiting.insert(data.number, data);
        while let Some(data) = self.waiting.remove(&self.next) {
            self.add(data);
            self.next += 1;
            self.tally.elapsed = self.before + self.started.elapsed();
            watch(&self.tally);
            let is_reached = self.tally.kept() >= self.extent.positions;
            let is_exhausted = self.empty_games >= MAX_EMPTY;
            if is_reached || is_exhausted || self.next == self.end_of_chunk() {
                self.store.commit(&self.chunk, self.next, &self.tally)?;
                self.chunk.clear();
            }
            if is_exhausted && !is_reached {
                return Err(DatagenError::Exhausted);
            }
            if is_reached || stop.is_immediate() || (stop.is_requested() && self.next == self.end_of_chunk()) {
                return Ok(true);
            }
        }
        Ok(stop.is_requested() && self.next == self.end_of_chunk())
    }

    fn add(&mut self, data: GameData) {
        for (total, count) in self.tally.filtered.iter_mut().zip(data.filtered) {
            *total += count;
        }
        let Some(game) = data.game else {
            self.tally.without_opening += 1;
            self.empty_games += 1;
            return;
        };
        self.tally.add_game(&game);
        let is_of_games = self.settings.format.is_of_games();
        let (weight, most) =
            if is_of_games { (game.moves.len() as u64, 1) } else { (1, self.settings.filter.per_game) };
        let mut kept: Vec<Record> = Vec::new();
        for record in data.records {
            let filter_outcome = if kept.len() >= most {
                FilterOutcome::Beyond
            } else if !self.store.is_new(record.key) {
                FilterOutcome::Duplicate
            } else {
                kept.push(record);
                FilterOutcome::Kept
            };
            self.tally.filtered[filter_outcome.index()] += weight;
        }
        self.empty_games = if kept.is_empty() { self.empty_games + 1 } else { 0 };
        kept.sort_by_key(|record| record.ply);
        kept.iter().for_each(|record| self.chunk.extend_from_slice(&record.bytes));
    }
}
