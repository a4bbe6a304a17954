//! Playing the pairs of a run, batch after batch.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::chess::{Color, GameResult};
use thiserror::Error;

use super::{SpsaJournal, Trial, Tuning};
use crate::game::{Player, play};
use crate::schedule::{JournalError, Match, Stop};
use crate::uci_client::{Engine, EngineError};

/// After so many games in a row that could not begin, one thread gives the run up.
const MAX_FAILED_STARTS: u32 = 10;

/// The interval between checks whether the run is to end at once.
const PATIENCE: Duration = Duration::from_millis(200);

/// One pair of so many may fail, and the first one that does in any case.
const PAIRS_PER_FAILURE: u32 = 20;

/// Why a run ends early. What was found until then stays.
#[derive(Debug, Error)]
pub enum SpsaError {
    /// The engine cannot be used, or not with these options.
    #[error("{name}: {fault}")]
    Engine {
        /// Its name.
        name: String,
        /// The fault.
        fault: String,
    },
    /// It fails too often, so that what is found would be where it fails the least.
    #[error(
        "{name} failed in {failed} of {pairs} pairs, more than one in {PAIRS_PER_FAILURE}: narrow the bounds of its options"
    )]
    Failures {
        /// The engine's name.
        name: String,
        /// Pairs in which it failed.
        failed: u32,
        /// Pairs that were played.
        pairs: u32,
    },
    /// A game cannot have its processors.
    #[error("processors cannot be chosen: {0}")]
    Pin(io::Error),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The results of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// By pair: the points that the first engine won more than the second, −2 to 2.
    pub points: Vec<i32>,
    /// By failure: which pair, and what went wrong.
    pub failures: Vec<(u32, String)>,
}

/// Plays pairs in batches of `size`, from where `tuning` is to the end of its gains or until `stop` is requested: the first
/// request finishes the batch, the second one abandons it. Every batch is in the journal before `watch` sees it; `failed` is
/// the number of pairs that failed before.
///
/// # Errors
/// If the engine cannot be started, has other options, or fails too often, or if the journal cannot be written.
pub fn run_spsa(
    plan: &Match,
    tuning: &mut Tuning,
    (size, mut failed): (u32, u32),
    mut journal: Option<&mut SpsaJournal>,
    stop: &Stop,
    mut watch: impl FnMut(&Batch, &Tuning),
) -> Result<(), SpsaError> {
    check_options(plan, tuning)?;
    std::thread::scope(|scope| {
        let (tasks, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let (sender, finished) = channel();
        let names: Arc<[String]> = tuning.options().iter().map(|option| option.name.clone()).collect();
        for index in 0..plan.concurrency.clamp(1, 2 * size as usize) {
            let (queue, sender, names) = (Arc::clone(&queue), sender.clone(), Arc::clone(&names));
            let slot = Slot { plan, stop, index, names, engines: [None, None], failed_starts: 0 };
            scope.spawn(move || slot.work(&queue, &sender));
        }
        drop(sender);
        while tuning.done() < tuning.gains().pairs && !stop.is_requested() {
            let first = tuning.done();
            let pairs = first..(first + size).min(tuning.gains().pairs);
            let trials: Vec<Trial> = pairs.clone().map(|pair| tuning.trial(pair)).collect();
            let Some(batch) = play_batch(first, &trials, tuning, (&tasks, &finished), stop)? else { break };
            let results: Vec<(Trial, i32)> = trials.into_iter().zip(batch.points.iter().copied()).collect();
            tuning.learn(&results);
            if let Some(journal) = &mut journal {
                journal.add(&batch, tuning)?;
            }
            watch(&batch, tuning);
            failed += batch.failed_pairs();
            if failed > (tuning.done() / PAIRS_PER_FAILURE).max(1) {
                let name = plan.engines[0].name.clone();
                return Err(SpsaError::Failures { name, failed, pairs: tuning.done() });
            }
        }
        Ok(())
    })
}

impl Batch {
    /// Pairs with a failure.
    pub fn failed_pairs(&self) -> u32 {
        let mut pairs: Vec<u32> = self.failures.iter().map(|(pair, _)| *pair).collect();
        pairs.dedup();
        pairs.len() as u32
    }
}

/// Plays the pairs of a batch, the first of which is pair `first`; none if it was abandoned.
fn play_batch(
    first: u32,
    trials: &[Trial],
    tuning: &Tuning,
    (tasks, finished): (&Sender<Task>, &Receiver<Result<Ended, SpsaError>>),
    stop: &Stop,
) -> Result<Option<Batch>, SpsaError> {
    for (pair, trial) in (first..).zip(trials) {
        let texts = trial.values.each_ref().map(|values| {
            tuning.options().iter().zip(values).map(|(option, &value)| option.text(value)).collect::<Vec<String>>()
        });
        let values = Arc::new(texts);
        for number in [2 * pair, 2 * pair + 1] {
            // No worker takes it if all have given up; the error follows below.
            let _ = tasks.send(Task { number, values: Arc::clone(&values) });
        }
    }
    let mut games: Vec<Ended> = Vec::new();
    while games.len() < 2 * trials.len() {
        match finished.recv_timeout(PATIENCE) {
            Ok(game) => games.push(game?),
            Err(RecvTimeoutError::Timeout) if !stop.is_immediate() => {}
            Err(_) => return Ok(None),
        }
    }
    games.sort_by_key(|game| game.number);
    let of_pair = |pair: &[Ended]| -> i32 {
        let failed = |side: usize| pair.iter().any(|game| game.failed[side].is_some());
        match [failed(0), failed(1)] {
            [false, false] => pair.iter().map(|game| game.points).sum(),
            [first, second] => 2 * (i32::from(second) - i32::from(first)),
        }
    };
    let points = games.chunks(2).map(of_pair).collect();
    let failures =
        games.into_iter().flat_map(|game| game.failed.into_iter().flatten().map(move |fault| (game.number / 2, fault)));
    Ok(Some(Batch { points, failures: failures.collect() }))
}

/// Looks whether the engine has the options, and takes all of their values.
fn check_options(plan: &Match, tuning: &Tuning) -> Result<(), SpsaError> {
    let name = &plan.engines[0].name;
    let fault = |fault: String| SpsaError::Engine { name: name.clone(), fault };
    let engine = plan.start_engine(0).map_err(|error| fault(error.to_string()))?;
    for option in tuning.options() {
        let range = engine.option_range(&option.name).map_err(|error| fault(error.to_string()))?;
        if let Some([min, max]) = range.filter(|[min, max]| option.min < *min || option.max > *max) {
            let (low, high) = (option.min, option.max);
            return Err(fault(format!("takes {} from {min} to {max}, not from {low} to {high}", option.name)));
        }
    }
    engine.quit();
    Ok(())
}

/// A game to be played.
struct Task {
    number: u32,
    /// By engine, by option.
    values: Arc<[Vec<String>; 2]>,
}

/// A game that was played.
struct Ended {
    number: u32,
    /// 1 if the first engine won, −1 if the second.
    points: i32,
    /// By engine: why it cannot play with these values.
    failed: [Option<String>; 2],
}

/// One of the games that are played at a time, with its own two engines.
struct Slot<'a> {
    plan: &'a Match,
    stop: &'a Stop,
    index: usize,
    names: Arc<[String]>,
    engines: [Option<Engine>; 2],
    failed_starts: u32,
}

impl Slot<'_> {
    fn work(mut self, queue: &Mutex<Receiver<Task>>, sender: &Sender<Result<Ended, SpsaError>>) {
        // Engines run where the thread runs that starts them.
        if let Some(Err(error)) = self.plan.pinning.as_ref().map(|pinning| pinning.pin_thread(self.index)) {
            // The receiver is gone if the run is over.
            let _ = sender.send(Err(SpsaError::Pin(error)));
            return;
        }
        loop {
            let task = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(task) = task else { break };
            let game = self.game(&task);
            if self.stop.is_immediate() || sender.send(game).is_err() {
                break;
            }
        }
        self.engines.into_iter().flatten().for_each(Engine::quit);
    }

    fn game(&mut self, task: &Task) -> Result<Ended, SpsaError> {
        let mut ended = Ended { number: task.number, points: 0, failed: [None, None] };
        for side in 0..2 {
            if let Err(error) = self.prepare(side, &task.values[side]) {
                self.engines[side] = None;
                self.failed_starts += 1;
                if self.failed_starts >= MAX_FAILED_STARTS {
                    let name = self.plan.engines[side].name.clone();
                    return Err(SpsaError::Engine { name, fault: error.to_string() });
                }
                ended.failed[side] = Some(error.to_string());
            }
        }
        let [Some(first), Some(second)] = &mut self.engines else { return Ok(ended) };
        self.failed_starts = 0;
        [&mut *first, second].into_iter().for_each(|engine| engine.begin_game(task.number));
        let pairing = self.plan.pairing(task.number);
        let opening = self.plan.book.opening(pairing.opening);
        let [first, second] =
            [(first, 0), (second, 1)].map(|(engine, side)| Player { engine, limit: self.plan.limit_of(side) });
        let is_reversed = pairing.players[0] == 1;
        let players = if is_reversed { [second, first] } else { [first, second] };
        let played = play(&opening, players, &self.plan.conditions, &mut |_, _| {});
        let white = if is_reversed { 1 } else { 0 };
        let side_of = |color: Color| if color == Color::White { white } else { 1 - white };
        let of_white = match played.outcome {
            GameResult::WhiteWins => 1,
            GameResult::BlackWins => -1,
            GameResult::Draw => 0,
        };
        ended.points = if is_reversed { -of_white } else { of_white };
        if let Some(side) = played.failed.map(side_of) {
            self.engines[side] = None;
            let fault = played
                .notes
                .last()
                .map_or_else(|| "failed".to_owned(), |note| format!("{}: {}", note.fault.name(), note.text));
            ended.failed[side] = Some(fault);
        }
        Ok(ended)
    }

    /// Starts an engine if need be, and sets its values.
    fn prepare(&mut self, side: usize, values: &[String]) -> Result<(), EngineError> {
        let engine = match &mut self.engines[side] {
            Some(engine) => engine,
            none => none.insert(self.plan.start_engine(side)?),
        };
        self.names.iter().zip(values).try_for_each(|(name, value)| engine.set_option(name, value))
    }
}
