//! One game of an engine against itself.

use std::io;
use std::time::Duration;

use engine::chess::{Game, GameResult, Move, Position};
use engine::genfens::play_randomly;
use engine::random::Random;
use engine::search::{STACK_SIZE, Value, is_mate};

use super::{Settings, Source};
use crate::game::{Adjudicator, Ending, double_chess960};
use crate::player::{Effort, Failure, FailureKind, Found, Player, Question, value_of};

/// An opening that takes more tries than this is given up, and with it the game.
const MAX_TRIES: u32 = 200;
/// After so many tries in a row without a score in centipawns, a UCI engine is not asked again.
const MAX_UNSCORED: u32 = 10;

/// A move with the value of its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// The value of the position it was played in, White's view; mates as Merino has them. `None` if the engine gave no
    /// exact score.
    pub value: Option<Value>,
}

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfGame {
    /// The seed of its run.
    pub seed: u64,
    /// Its number in the run, from 0.
    pub number: u32,
    /// Its start, the position after the opening.
    pub start: Position,
    /// Its moves.
    pub moves: Vec<ScoredMove>,
    /// For each of them, the end of the best line that its search found; empty where positions come from the game.
    pub line_ends: Vec<Position>,
    /// Its result.
    pub outcome: GameResult,
    /// Why it ended.
    pub ending: Ending,
    /// The nodes of its searches.
    pub nodes: u64,
}

impl SelfGame {
    /// Its name in data: the seed, a point, its number.
    pub fn name(&self) -> String {
        format!("{}.{}", self.seed, self.number)
    }

    /// The positions to keep, if the filter wants them, with the moves that were played after their searches.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (Position, ScoredMove)> {
        let ends = self.line_ends.iter().map(Some).chain(std::iter::repeat(None));
        self.positions().zip(ends).map(|((position, played), end)| (end.cloned().unwrap_or(position), played))
    }

    /// The positions in which moves were played, with the moves.
    pub fn positions(&self) -> impl Iterator<Item = (Position, ScoredMove)> {
        let mut position = self.start.clone();
        self.moves.iter().map(move |&played| {
            let before = position.clone();
            position.play(played.mv);
            (before, played)
        })
    }
}

/// The outcome of a game number.
#[derive(Debug)]
pub(super) enum Played {
    /// A game.
    Game(Box<SelfGame>),
    /// No opening for it was balanced.
    NoOpening,
    /// The engine failed.
    LeftOut(Failure),
}

/// Why there is no game.
enum NoGame {
    /// The run ends at once.
    Cancelled,
    /// The engine failed.
    Failed(Failure),
}

impl From<Failure> for NoGame {
    fn from(failure: Failure) -> Self {
        NoGame::Failed(failure)
    }
}

/// Plays the game of a number by itself; `None` if no opening for it was balanced, or if the engine failed.
///
/// # Errors
/// If there is no memory for a search, or no thread.
pub fn play_game(settings: &Settings, number: u32) -> io::Result<Option<SelfGame>> {
    let mut player = settings.player()?;
    let play = || match Table::new(settings, player.as_mut()).play(number, &|| false) {
        Some(Played::Game(game)) => Some(*game),
        _ => None,
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, play)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// A table at which one player plays both sides. No game depends on those before it.
pub(super) struct Table<'a> {
    settings: &'a Settings,
    player: &'a mut dyn Player,
    /// The time that the player has searched.
    pub(super) searching: Duration,
}

impl<'a> Table<'a> {
    pub(super) fn new(settings: &'a Settings, player: &'a mut dyn Player) -> Self {
        Table { settings, player, searching: Duration::ZERO }
    }

    /// Plays the game of a number; `None` if it is cancelled.
    pub(super) fn play(&mut self, number: u32, is_cancelled: &dyn Fn() -> bool) -> Option<Played> {
        match self.game(number, is_cancelled) {
            Ok(Some(game)) => Some(Played::Game(Box::new(game))),
            Ok(None) => Some(Played::NoOpening),
            // Engines are killed when a run ends at once.
            Err(NoGame::Failed(_)) if is_cancelled() => None,
            Err(NoGame::Failed(failure)) => Some(Played::LeftOut(failure)),
            Err(NoGame::Cancelled) => None,
        }
    }

    fn game(&mut self, number: u32, is_cancelled: &dyn Fn() -> bool) -> Result<Option<SelfGame>, NoGame> {
        let settings = self.settings;
        let Some(start) = self.opening(number)? else { return Ok(None) };
        let mut game = Game::new(start.clone());
        let mut adjudicator = Adjudicator::new(settings.adjudication);
        let (mut played, mut moves, mut line_ends, mut nodes) = (Vec::new(), Vec::new(), Vec::new(), 0);
        loop {
            if is_cancelled() {
                return Err(NoGame::Cancelled);
            }
            let found = self.search(&start, &played, &game, settings.effort)?;
            let Some(mv) = found.best else {
                let text = format!("no legal move was played [{}]", game.position().to_fen());
                return Err(Failure { kind: FailureKind::IllegalMove, text }.into());
            };
            let (color, move_number) = (game.position().side_to_move(), game.position().fullmove_number());
            played.push(mv);
            moves.push(ScoredMove { mv, value: found.score.map(|score| value_of(score) * color.sign()) });
            nodes += found.nodes;
            if settings.filter.source == Source::PvEnd {
                line_ends.push(found.line.iter().fold(game.position().clone(), |position, &mv| position.after(mv)));
            }
            game.play(mv);
            let is_zeroing = game.position().halfmove_clock() == 0;
            let end = game.end().map(|end| (end.result(), end.into()));
            let end = end.or_else(|| adjudicator.update(color, move_number, found.score, is_zeroing));
            if let Some((outcome, ending)) = end {
                if settings.format.is_of_games() && moves.iter().any(|played| played.value.is_none()) {
                    let text = "a move of a whole game has none".to_owned();
                    return Err(Failure { kind: FailureKind::NoScore, text }.into());
                }
                let seed = settings.seed;
                return Ok(Some(SelfGame { seed, number, start, moves, line_ends, outcome, ending, nodes }));
            }
        }
    }

    fn search(&mut self, start: &Position, moves: &[Move], game: &Game, effort: Effort) -> Result<Found, Failure> {
        let found = self.player.search(&Question { start, moves, game }, effort)?;
        self.searching += found.time;
        Ok(found)
    }

    /// The start of a game. The player forgets everything before each try, and then knows only the search that checked the
    /// balance.
    fn opening(&mut self, number: u32) -> Result<Option<Position>, Failure> {
        let settings = self.settings;
        let mut random = random_of_game(settings.seed, number);
        let start = if settings.chess960 > 0 && random.below(100) < settings.chess960 {
            double_chess960(random.below(u64::MAX), random.below(u64::MAX))
        } else {
            settings.book.as_ref().map_or_else(Position::start, |book| book.opening(number).position())
        };
        // Without random moves, all tries are the same.
        let tries = if settings.random_plies == 0 { 1 } else { MAX_TRIES };
        let mut unscored = 0;
        for _ in 0..tries {
            let more = if settings.random_plies == 0 { 0 } else { random.below(2) };
            let Some(game) = play_randomly(start.clone(), settings.random_plies + more, &mut random) else { continue };
            self.player.new_game()?;
            let found = self.search(game.position(), &[], &game, Effort::nodes(settings.balance_nodes))?;
            let value = found.score.map(value_of);
            if value.is_some_and(|value| value.abs() <= settings.balance) {
                return Ok(Some(game.position().clone()));
            }
            unscored = if value.is_none_or(is_mate) { unscored + 1 } else { 0 };
            if settings.engine.is_some() && (value.is_none() && tries == 1 || unscored >= MAX_UNSCORED) {
                let text = format!("the search of an opening gave no centipawns [{}]", game.position().to_fen());
                return Err(Failure { kind: FailureKind::NoScore, text });
            }
        }
        Ok(None)
    }
}

/// The random numbers of a game.
pub(super) fn random_of_game(seed: u64, number: u32) -> Random {
    // The first number of a seed lies anywhere: neighbouring seeds have no games in common.
    let first = Random::seeded(seed).below(u64::MAX);
    Random::seeded(first.wrapping_add(number.into()))
}
