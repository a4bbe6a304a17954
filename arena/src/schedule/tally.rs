//! Results and faults, counted while games come in, in whatever order.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use engine::chess::Color;

use super::Match;
use crate::game::{Ending, Faults, GameRecord};
use crate::stats::Counts;

/// How many notes of an engine are kept.
const MOST_NOTES: usize = 50;

/// What one engine did.
#[derive(Clone, Debug, Default)]
pub struct EngineTally {
    /// Its losses, draws and wins.
    pub results: [u64; 3],
    /// What it did wrong.
    pub faults: Faults,
    /// Moves it made.
    pub moves: u64,
    /// Nodes it said it searched.
    pub nodes: u64,
    /// The sum of the depths it said it reached.
    pub depths: u64,
    /// Time it took.
    pub time: Duration,
    /// The first faults with their circumstances.
    pub notes: Vec<String>,
}

/// What two engines did against each other, from the view of the first.
#[derive(Clone, Debug, Default)]
pub struct Encounter {
    /// Losses, draws and wins.
    pub results: [u64; 3],
    /// Complete pairs by their half points.
    pub pairs: [u64; 5],
}

impl Encounter {
    /// The pairs, or the games as long as there is no pair.
    pub fn counts(&self) -> Counts {
        if self.pairs == [0; 5] { Counts::Games(self.results) } else { Counts::Pairs(self.pairs) }
    }
}

/// What is known of a match so far. The order in which games were added makes no difference to the counts.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// By engine.
    pub engines: Vec<EngineTally>,
    /// By encounter, as [`Match::encounters`] lists them.
    pub encounters: Vec<Encounter>,
    /// How often games ended so, by [`Ending::index`].
    pub endings: [u64; Ending::ALL.len()],
    /// Games added.
    pub games: u64,
    /// Plies of all games.
    pub plies: u64,
    /// The numbers of the games added.
    pub(super) numbers: BTreeSet<u32>,
    /// Different games: by who played whom from where and how.
    distinct: HashSet<u64>,
    /// Half points of an encounter's first engine in pairs of which one game is still missing.
    halves: BTreeMap<u32, u8>,
}

impl Tally {
    /// Nothing yet.
    pub fn new(plan: &Match) -> Self {
        Tally {
            engines: vec![EngineTally::default(); plan.engines.len()],
            encounters: vec![Encounter::default(); plan.encounters().len()],
            ..Tally::default()
        }
    }

    /// Adds a game of the match.
    pub fn add(&mut self, plan: &Match, game: &GameRecord) {
        self.games += 1;
        self.numbers.insert(game.number);
        self.distinct.insert(fingerprint(game));
        self.plies += game.moves.len() as u64;
        self.endings[game.ending.index()] += 1;
        for (color, index) in Color::ALL.into_iter().zip(game.players) {
            let engine = &mut self.engines[index];
            engine.results[usize::from(game.outcome.half_points(color))] += 1;
            for note in game.notes.iter().filter(|note| note.color == color) {
                engine.faults.add(note.fault);
                if engine.notes.len() < MOST_NOTES {
                    engine.notes.push(format!("game {}: {}: {}", game.number + 1, note.fault.name(), note.text));
                }
            }
        }
        let mut color = game.start.side_to_move();
        for played in &game.moves {
            let engine = &mut self.engines[game.players[color.index()]];
            engine.moves += 1;
            engine.nodes += played.nodes.unwrap_or(0);
            engine.depths += u64::from(played.depth.unwrap_or(0));
            engine.time += played.time;
            color = !color;
        }
        self.add_result(plan, game);
    }

    fn add_result(&mut self, plan: &Match, game: &GameRecord) {
        let seating = plan.seating(game.number);
        let encounter = &mut self.encounters[seating.encounter];
        // The first engine of an encounter has White in games with even numbers.
        let color = if game.number.is_multiple_of(2) { Color::White } else { Color::Black };
        let half_points = game.outcome.half_points(color);
        encounter.results[usize::from(half_points)] += 1;
        match self.halves.remove(&(game.number / 2)) {
            Some(other) => encounter.pairs[usize::from(half_points + other)] += 1,
            None => {
                self.halves.insert(game.number / 2, half_points);
            }
        }
    }

    /// Complete pairs of the first encounter, from the first engine's view.
    pub fn pairs(&self) -> Counts {
        Counts::Pairs(self.encounters.first().map_or([0; 5], |encounter| encounter.pairs))
    }

    /// How many games were different. Those that are not tell nothing new, whatever a test makes of them.
    pub fn distinct_games(&self) -> u64 {
        self.distinct.len() as u64
    }
}

/// Equal for games with the same players, start and moves; most likely for no others.
fn fingerprint(game: &GameRecord) -> u64 {
    let mut hasher = DefaultHasher::new();
    (game.players, game.start.key()).hash(&mut hasher);
    for played in &game.moves {
        played.mv.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}
