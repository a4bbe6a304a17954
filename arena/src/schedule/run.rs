//! Playing a match.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Instant;

use engine::chess::{Color, GameResult, Position};
use thiserror::Error;

use super::{Live, LiveGame, Match, Pairing, Stop, Tally};
use crate::game::{GameRecord, GameSummary, Note, Opening, Played, PlayedMove, Player, loss_by, play};
use crate::uci_client::{Engine, EngineError};

/// After so many games in a row that could not begin, one thread gives the match up.
const MAX_FAILED_STARTS: u32 = 10;

/// Why a match cannot be played, or not to its end.
#[derive(Debug, Error)]
pub enum MatchError {
    /// An engine cannot be used.
    #[error("{name}: {error}")]
    Engine {
        /// Its name.
        name: String,
        /// The fault.
        error: EngineError,
    },
    /// An engine could be used at first, but cannot be started any more.
    #[error("{name}: could not be started for {MAX_FAILED_STARTS} games in a row: {error}")]
    Failing {
        /// Its name.
        name: String,
        /// The last fault.
        error: EngineError,
    },
    /// A game cannot have its processors any more.
    #[error("processors cannot be chosen: {0}")]
    Pin(io::Error),
}

/// Plays a match from where `tally` is: games that are counted there are not played. Every finished game is shown to
/// `watch` with the counts so far, in the order they end; while it looks, no more than `concurrency` further games end.
/// `live` has the games in progress.
///
/// All engines are started once before the first game, so that a match that cannot be played fails at once.
///
/// # Errors
/// If an engine cannot be started at the beginning, or any more. `tally` has the games played until then.
pub fn run(
    plan: &Match,
    tally: &mut Tally,
    stop: &Stop,
    live: Option<&Live>,
    mut watch: impl FnMut(&GameRecord, &Tally),
) -> Result<(), MatchError> {
    let left: Vec<u32> = (0..plan.total_games()).filter(|number| !tally.has(*number)).collect();
    if left.is_empty() {
        return Ok(());
    }
    let mut first_engines = check_engines(plan)?;
    let next = AtomicUsize::new(0);
    let is_broken = AtomicBool::new(false);
    let mut error = None;
    std::thread::scope(|scope| {
        let (sender, games) = sync_channel(plan.concurrency);
        for index in 0..plan.concurrency.clamp(1, left.len()) {
            let engines = std::mem::replace(&mut first_engines, no_engines(plan));
            let (next, is_broken) = (&next, &is_broken);
            let slot = Slot { plan, stop, live, index, left: &left, next, is_broken, engines, failed_starts: 0 };
            let sender = sender.clone();
            scope.spawn(move || slot.work(&sender));
        }
        drop(sender);
        for message in games {
            match message {
                // A game that arrives after the stop does not count.
                Ok(_) if stop.is_immediate() => {}
                Ok(game) => {
                    tally.add(&GameSummary::from(&game));
                    watch(&game, tally);
                }
                Err(failure) => error = Some(failure),
            }
        }
    });
    error.map_or(Ok(()), Err)
}

/// Starts every engine once. The two of a match are kept for the first game, unless they are to run elsewhere.
fn check_engines(plan: &Match) -> Result<Engines, MatchError> {
    let mut engines = no_engines(plan);
    for (index, engine) in engines.iter_mut().enumerate() {
        let name = || plan.engines[index].name.clone();
        *engine = Some(plan.start_engine(index).map_err(|error| MatchError::Engine { name: name(), error })?);
        if (plan.engines.len() > 2 || plan.pinning.is_some())
            && let Some(engine) = engine.take()
        {
            engine.quit();
        }
    }
    Ok(engines)
}

/// The engines of a slot, by their number in the match; at most two of them run.
type Engines = Vec<Option<Engine>>;

fn no_engines(plan: &Match) -> Engines {
    plan.engines.iter().map(|_| None).collect()
}

/// One of the games that are played at a time, with its own two engines.
struct Slot<'a> {
    plan: &'a Match,
    stop: &'a Stop,
    live: Option<&'a Live>,
    /// The number of the slot, from 0.
    index: usize,
    left: &'a [u32],
    /// The number of games of `left` that were begun.
    next: &'a AtomicUsize,
    is_broken: &'a AtomicBool,
    engines: Engines,
    failed_starts: u32,
}

impl Slot<'_> {
    fn work(mut self, sender: &SyncSender<Result<GameRecord, MatchError>>) {
        // Engines run where the thread runs that starts them.
        if let Some(Err(error)) = self.plan.pinning.as_ref().map(|pinning| pinning.pin_thread(self.index)) {
            self.is_broken.store(true, Ordering::SeqCst);
            // The receiver is gone if the match is over.
            let _ = sender.send(Err(MatchError::Pin(error)));
            return;
        }
        while !self.stop.is_requested() && !self.is_broken.load(Ordering::SeqCst) {
            let Some(&number) = self.left.get(self.next.fetch_add(1, Ordering::SeqCst)) else { break };
            let game = self.game(number);
            // An abandoned game does not count.
            if self.stop.is_immediate() {
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
        let Pairing { players, opening, .. } = self.plan.pairing(number);
        let opening = self.plan.book.opening(opening);
        let played = match self.take_players(players) {
            Ok(mut pair) => {
                self.failed_starts = 0;
                pair.iter_mut().for_each(|engine| engine.begin_game(number));
                self.show(Some(LiveGame { number, players, position: opening.position(), last: [None, None] }));
                self.play(players, pair, &opening)
            }
            Err((color, error)) => {
                self.failed_starts += 1;
                if self.failed_starts >= MAX_FAILED_STARTS {
                    let name = self.plan.engines[players[color.index()]].name.clone();
                    return Err(MatchError::Failing { name, error });
                }
                lost_at_start(color, &error)
            }
        };
        self.show(None);
        let Played { moves, outcome, ending, notes, exchange, .. } = played;
        let duration = started.elapsed();
        Ok(GameRecord { number, players, opening, moves, outcome, ending, notes, duration, exchange })
    }

    fn show(&self, game: Option<LiveGame>) {
        if let Some(live) = self.live {
            live.change(self.index, |slot| *slot = game);
        }
    }

    /// The engines of a game, started if need be. Others that still run leave.
    fn take_players(&mut self, players: [usize; 2]) -> Result<[Engine; 2], (Color, EngineError)> {
        for (index, engine) in self.engines.iter_mut().enumerate() {
            if !players.contains(&index)
                && let Some(engine) = engine.take()
            {
                engine.quit();
            }
        }
        for color in Color::ALL {
            let index = players[color.index()];
            if self.engines[index].is_none() {
                self.engines[index] = Some(self.plan.start_engine(index).map_err(|error| (color, error))?);
            }
        }
        match players.map(|index| self.engines[index].take()) {
            [Some(white), Some(black)] => Ok([white, black]),
            _ => unreachable!("both engines have just been started"),
        }
    }

    fn play(&mut self, players: [usize; 2], mut pair: [Engine; 2], opening: &Opening) -> Played {
        let [white, black] = &mut pair;
        let limits = players.map(|index| self.plan.limit_of(index));
        let sides = [Player { engine: white, limit: limits[0] }, Player { engine: black, limit: limits[1] }];
        let mut watch = |mv: &PlayedMove, position: &Position| {
            if let Some(live) = self.live {
                live.change(self.index, |game| game.iter_mut().for_each(|game| game.advance(mv, position)));
            }
        };
        let played = play(opening, sides, &self.plan.conditions, &mut watch);
        for ((index, engine), color) in players.into_iter().zip(pair).zip(Color::ALL) {
            if played.failed == Some(color) {
                drop(engine);
            } else if self.plan.engines[index].restart {
                engine.quit();
            } else {
                self.engines[index] = Some(engine);
            }
        }
        played
    }
}

/// A game that is lost before its first move.
fn lost_at_start(color: Color, error: &EngineError) -> Played {
    let (fault, ending) = loss_by(error);
    let mut notes = Vec::new();
    Note::add(&mut notes, color, fault, &format!("at its start: {error}"), "");
    Played {
        moves: Vec::new(),
        outcome: GameResult::won_by(!color),
        ending,
        notes,
        failed: Some(color),
        exchange: None,
    }
}
