//! Playing a match.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Instant;

use engine::chess::Color;
use thiserror::Error;

use super::Tally;
use crate::game::{Book, Conditions, Ending, Fault, GameRecord, Note, Outcome, Played, Seat, Variant, play};
use crate::uci_client::{Engine, EngineError, EngineSpec, Limit, Timeouts, kill_all};

/// After so many games in a row that could not begin, one thread gives the match up.
const MOST_FAILED_STARTS: u32 = 10;

/// A match between two engines.
#[derive(Clone, Debug)]
pub struct Match {
    /// Who plays; counts are from the first one's view.
    pub engines: [EngineSpec; 2],
    /// What an engine may spend that has no limit of its own.
    pub limit: Limit,
    /// What holds for both.
    pub conditions: Conditions,
    /// Where games begin: two of them at every opening, colours reversed.
    pub book: Book,
    /// How many games.
    pub games: u32,
    /// How many at a time.
    pub concurrency: usize,
    /// How long engines may take for what has no clock.
    pub timeouts: Timeouts,
}

impl Match {
    /// What an engine may spend.
    pub fn limit_of(&self, engine: usize) -> Limit {
        self.engines[engine].limit.unwrap_or(self.limit)
    }

    fn start_engine(&self, index: usize) -> Result<Engine, EngineError> {
        let extra: &[(&str, &str)] = match self.conditions.variant {
            Variant::Standard => &[],
            Variant::Chess960 => &[("UCI_Chess960", "true")],
        };
        Engine::start(&self.engines[index], extra, self.timeouts)
    }
}

/// Why a match cannot be played, or not to its end.
#[derive(Debug, Error)]
pub enum MatchError {
    /// An engine cannot be used.
    #[error("{name}: {error}")]
    Engine {
        /// Its name.
        name: String,
        /// What is wrong with it.
        error: EngineError,
    },
    /// An engine could be used at first, but cannot be started any more.
    #[error("{name}: could not be started for {MOST_FAILED_STARTS} games in a row")]
    Failing {
        /// Its name.
        name: String,
    },
}

/// Asks a match to end; shared with whoever may ask.
#[derive(Debug, Default)]
pub struct Stop(AtomicU8);

impl Stop {
    const SOON: u8 = 1;
    const NOW: u8 = 2;

    /// Asks to end: first when the running games are over, the second time at once.
    pub fn ask(&self) {
        if self.0.fetch_max(Self::SOON, Ordering::SeqCst) >= Self::SOON {
            self.end_now();
        }
    }

    /// Asks to end when the running games are over.
    pub fn ask_soon(&self) {
        self.0.fetch_max(Self::SOON, Ordering::SeqCst);
    }

    /// Ends the match at once: the running games are given up and count for nothing.
    pub fn end_now(&self) {
        self.0.store(Self::NOW, Ordering::SeqCst);
        kill_all();
    }

    /// Whether anybody has asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= Self::SOON
    }

    fn is_now(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= Self::NOW
    }
}

/// Plays a match from where `tally` is: games that are counted there are not played. Every finished game is shown to
/// `watch` with the counts so far, in the order they end; while it looks, no more than `concurrency` further games end.
///
/// Both engines are started once before the first game, so that a match that cannot be played is told at once.
///
/// # Errors
/// If an engine cannot be started at the beginning, or any more.
pub fn run(
    plan: &Match,
    mut tally: Tally,
    stop: &Stop,
    mut watch: impl FnMut(&GameRecord, &Tally),
) -> Result<Tally, MatchError> {
    let left: Vec<u32> = (0..plan.games).filter(|number| !tally.numbers.contains(number)).collect();
    if left.is_empty() {
        return Ok(tally);
    }
    let mut first_engines = [None, None];
    for (index, first) in first_engines.iter_mut().enumerate() {
        let name = || plan.engines[index].name.clone();
        *first = Some(plan.start_engine(index).map_err(|error| MatchError::Engine { name: name(), error })?);
    }
    let next = AtomicUsize::new(0);
    let is_broken = AtomicBool::new(false);
    let mut error = None;
    std::thread::scope(|scope| {
        let (sender, games) = sync_channel(plan.concurrency);
        for _ in 0..plan.concurrency.clamp(1, left.len()) {
            let engines = std::mem::take(&mut first_engines);
            let slot = Slot { plan, stop, left: &left, next: &next, is_broken: &is_broken, engines, failed_starts: 0 };
            let sender = sender.clone();
            scope.spawn(move || slot.work(&sender));
        }
        drop(sender);
        for message in games {
            match message {
                // What was finished before the end was asked for, and is only shown now, came too late.
                Ok(_) if stop.is_now() => {}
                Ok(game) => {
                    tally.add(&game);
                    watch(&game, &tally);
                }
                Err(failure) => error = Some(failure),
            }
        }
    });
    error.map_or(Ok(tally), Err)
}

/// One of the games that are played at a time, with its own two engines.
struct Slot<'a> {
    plan: &'a Match,
    stop: &'a Stop,
    left: &'a [u32],
    /// How many games of `left` were begun.
    next: &'a AtomicUsize,
    is_broken: &'a AtomicBool,
    engines: [Option<Engine>; 2],
    failed_starts: u32,
}

impl Slot<'_> {
    fn work(mut self, sender: &SyncSender<Result<GameRecord, MatchError>>) {
        while !self.stop.is_asked() && !self.is_broken.load(Ordering::SeqCst) {
            let Some(&number) = self.left.get(self.next.fetch_add(1, Ordering::SeqCst)) else { break };
            let game = self.game(number);
            // A game that was cut short says nothing.
            if self.stop.is_now() {
                break;
            }
            if game.is_err() {
                self.is_broken.store(true, Ordering::SeqCst);
            }
            if sender.send(game).is_err() {
                break;
            }
        }
        self.engines.into_iter().flatten().for_each(Engine::quit);
    }

    fn game(&mut self, number: u32) -> Result<GameRecord, MatchError> {
        let started = Instant::now();
        let white = (number % 2) as usize;
        let start = self.plan.book.opening(number / 2);
        let played = match self.start_engines(white) {
            Ok(()) => {
                self.failed_starts = 0;
                self.play(white, &start)
            }
            Err((color, error)) => {
                self.failed_starts += 1;
                let engine = color.choose(white, 1 - white);
                if self.failed_starts >= MOST_FAILED_STARTS {
                    return Err(MatchError::Failing { name: self.plan.engines[engine].name.clone() });
                }
                lost_at_start(color, &error)
            }
        };
        let Played { moves, outcome, ending, notes, .. } = played;
        Ok(GameRecord { number, white, start, moves, outcome, ending, notes, duration: started.elapsed() })
    }

    /// Sees to it that both engines run.
    fn start_engines(&mut self, white: usize) -> Result<(), (Color, EngineError)> {
        for (index, engine) in self.engines.iter_mut().enumerate() {
            if engine.is_none() {
                let color = if index == white { Color::White } else { Color::Black };
                *engine = Some(self.plan.start_engine(index).map_err(|error| (color, error))?);
            }
        }
        Ok(())
    }

    fn play(&mut self, white: usize, start: &engine::chess::Position) -> Played {
        let [Some(first), Some(second)] = &mut self.engines else {
            unreachable!("both engines have just been started");
        };
        let mut seats = [
            Seat { engine: first, limit: self.plan.limit_of(0) },
            Seat { engine: second, limit: self.plan.limit_of(1) },
        ];
        if white == 1 {
            seats.reverse();
        }
        let played = play(start, seats, &self.plan.conditions);
        for (index, engine) in self.engines.iter_mut().enumerate() {
            let color = if index == white { Color::White } else { Color::Black };
            if played.failed == Some(color) {
                *engine = None;
            } else if self.plan.engines[index].restart
                && let Some(engine) = engine.take()
            {
                engine.quit();
            }
        }
        played
    }
}

/// A game that is lost before its first move.
fn lost_at_start(color: Color, error: &EngineError) -> Played {
    let (fault, ending) = match error {
        EngineError::Stalled { .. } => (Fault::Stall, Ending::Stall),
        _ => (Fault::Crash, Ending::Crash),
    };
    let notes = vec![Note { color, fault, text: format!("at its start: {error}") }];
    Played { moves: Vec::new(), outcome: Outcome::won_by(!color), ending, notes, failed: Some(color) }
}
