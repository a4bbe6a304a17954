//! One game of the engine against itself.

use std::io;

use engine::chess::{Game, GameResult, Move, Position};
use engine::genfens::{is_balanced, play_randomly};
use engine::random::Random;
use engine::search::{Bound, Handler, Info, Limits, STACK_SIZE, Searcher, Value, mate_distance};

use super::{Settings, Source};
use crate::game::{Adjudicator, Ending, double_chess960};
use crate::uci_client::Score;

/// An opening that takes more tries than this is given up, and with it the game.
const MAX_TRIES: u32 = 200;

/// A move with the value of its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredMove {
    /// The move.
    pub mv: Move,
    /// The value of the position it was played in, White's view; mates as the engine has them.
    pub value: Value,
}

/// A game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelfGame {
    /// The seed of its run.
    pub seed: u64,
    /// Its number in the run, from 0.
    pub number: u32,
    /// Where it began, after the opening.
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

/// A game was cancelled because the run ends at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cancelled;

/// Plays the game of a number by itself; `None` if no opening for it was balanced.
///
/// # Errors
/// If there is no memory for a search, or no thread.
pub fn play_game(settings: &Settings, number: u32) -> io::Result<Option<SelfGame>> {
    let mut player = Player::new(settings)?;
    let play = || player.play(number, &|| false).unwrap_or(None);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, play)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Plays games one after another, on a thread with a stack of [`STACK_SIZE`]. None depends on those before it.
pub(super) struct Player<'a> {
    settings: &'a Settings,
    searcher: Searcher,
}

impl<'a> Player<'a> {
    /// # Errors
    /// If there is no memory for a search.
    pub(super) fn new(settings: &'a Settings) -> io::Result<Self> {
        Ok(Player { settings, searcher: settings.searcher()? })
    }

    /// Plays the game of a number; `None` if no opening for it was balanced.
    ///
    /// # Errors
    /// If the game is cancelled.
    pub(super) fn play(&mut self, number: u32, is_cancelled: &dyn Fn() -> bool) -> Result<Option<SelfGame>, Cancelled> {
        let Some(start) = self.opening(number) else { return Ok(None) };
        let mut game = Game::new(start.clone());
        let mut adjudicator = Adjudicator::new(self.settings.adjudication);
        let (mut moves, mut line_ends, mut nodes) = (Vec::new(), Vec::new(), 0);
        loop {
            if is_cancelled() {
                return Err(Cancelled);
            }
            let mut line = BestLine::default();
            let found = self.searcher.search_here(&game, self.settings.limits(), &mut line);
            let mv = found.best.expect("a game that goes on has a legal move");
            let (color, move_number) = (game.position().side_to_move(), game.position().fullmove_number());
            moves.push(ScoredMove { mv, value: found.value * color.sign() });
            nodes += found.nodes;
            if self.settings.filter.source == Source::PvEnd {
                line_ends.push(line.0.iter().fold(game.position().clone(), |position, &mv| position.after(mv)));
            }
            game.play(mv);
            let score = mate_distance(found.value).map_or(Score::Centipawns(found.value), Score::Mate);
            let is_zeroing = game.position().halfmove_clock() == 0;
            let end = game.end().map(|end| (end.result(), end.into()));
            let end = end.or_else(|| adjudicator.update(color, move_number, Some(score), is_zeroing));
            if let Some((outcome, ending)) = end {
                let seed = self.settings.seed;
                return Ok(Some(SelfGame { seed, number, start, moves, line_ends, outcome, ending, nodes }));
            }
        }
    }

    /// The start of a game. The tables of the searcher then hold only the search that checked the balance.
    fn opening(&mut self, number: u32) -> Option<Position> {
        let settings = self.settings;
        let mut random = random_of_game(settings.seed, number);
        let start = if settings.chess960 > 0 && random.below(100) < settings.chess960 {
            double_chess960(random.below(u64::MAX), random.below(u64::MAX))
        } else {
            settings.book.as_ref().map_or_else(Position::start, |book| book.opening(number))
        };
        // Without random moves, all tries are the same.
        let tries = if settings.random_plies == 0 { 1 } else { MAX_TRIES };
        (0..tries).find_map(|_| {
            let more = if settings.random_plies == 0 { 0 } else { random.below(2) };
            let game = play_randomly(start.clone(), settings.random_plies + more, &mut random)?;
            let limits = Limits::nodes(settings.balance_nodes);
            is_balanced(&mut self.searcher, &game, limits, settings.balance).then(|| game.position().clone())
        })
    }
}

/// The random numbers of a game.
pub(super) fn random_of_game(seed: u64, number: u32) -> Random {
    // The first number of a seed lies anywhere: neighbouring seeds have no games in common.
    let first = Random::seeded(seed).below(u64::MAX);
    Random::seeded(first.wrapping_add(number.into()))
}
