//! Results and faults, counted while games come in, in whatever order.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use engine::chess::Color;

use super::Schedule;
use crate::game::{Ending, Faults, GameSummary, SearchTotals};
use crate::stats::Counts;
use crate::uci_client::MAX_NOTES;

/// The counts of one engine.
#[derive(Clone, Debug, Default)]
pub struct EngineTally {
    /// Its losses, draws and wins.
    pub results: [u64; 3],
    /// Losses, draws and wins among them that ended so, by [`Ending::index`].
    pub endings: [[u64; 3]; Ending::ALL.len()],
    /// Its faults.
    pub faults: Faults,
    /// Its search totals.
    pub search_total: SearchTotals,
    /// The first faults with their circumstances.
    pub notes: Vec<String>,
}

/// The results of two engines against each other, from the view of the first.
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

/// Halves of pairs whose other game is still missing: half points of an encounter's first engine, by the number of the pair.
#[derive(Clone, Debug, Default)]
struct Halves(BTreeMap<u32, u8>);

impl Halves {
    /// Adds a game to its encounter, and its pair where it is the second of it.
    fn add(&mut self, encounter: &mut Encounter, result: &PlayedGame) {
        encounter.results[usize::from(result.half_points)] += 1;
        match self.0.remove(&(result.number / 2)) {
            Some(other) => encounter.pairs[usize::from(result.half_points + other)] += 1,
            None => {
                self.0.insert(result.number / 2, result.half_points);
            }
        }
    }
}

/// A game and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PlayedGame {
    number: u32,
    /// The half points of the first engine of its encounter.
    half_points: u8,
}

/// The counts of a match so far; they do not depend on the order of the games.
#[derive(Clone, Debug)]
pub struct Tally {
    schedule: Schedule,
    /// By engine.
    pub engines: Vec<EngineTally>,
    /// By encounter, as [`Schedule::encounters`] lists them.
    pub encounters: Vec<Encounter>,
    /// The number of games with each ending, by [`Ending::index`].
    pub endings: [u64; Ending::ALL.len()],
    /// Games added.
    pub games: u64,
    /// Plies of all games.
    pub plies: u64,
    /// The numbers of the games added.
    numbers: BTreeSet<u32>,
    /// Different games: by who played whom from where and how.
    distinct: HashSet<u64>,
    halves: Halves,
    /// The games in the order they were added.
    history: Vec<PlayedGame>,
}

impl Tally {
    /// Nothing yet.
    pub fn new(schedule: Schedule) -> Self {
        Tally {
            schedule,
            engines: vec![EngineTally::default(); schedule.engines],
            encounters: vec![Encounter::default(); schedule.encounters().len()],
            endings: [0; Ending::ALL.len()],
            games: 0,
            plies: 0,
            numbers: BTreeSet::new(),
            distinct: HashSet::new(),
            halves: Halves::default(),
            history: Vec::new(),
        }
    }

    /// Adds a game of the match.
    pub fn add(&mut self, game: &GameSummary) {
        self.games += 1;
        self.numbers.insert(game.number);
        self.distinct.insert(game.fingerprint);
        self.plies += game.plies();
        self.endings[game.ending.index()] += 1;
        for (color, index) in Color::ALL.into_iter().zip(game.players) {
            let engine = &mut self.engines[index];
            let result = usize::from(game.outcome.half_points(color));
            engine.results[result] += 1;
            engine.endings[game.ending.index()][result] += 1;
            engine.search_total.add(&game.search_totals[color.index()]);
            for note in game.notes.iter().filter(|note| note.color == color) {
                engine.faults.add(note.fault, note.times);
                if engine.notes.len() < MAX_NOTES {
                    let more = if note.times > 1 { format!(", and {} more", note.times - 1) } else { String::new() };
                    let (number, fault) = (u64::from(game.number) + 1, note.fault.name());
                    engine.notes.push(format!("game {number}: {fault}: {}{more}", note.text));
                }
            }
        }
        // The first engine of an encounter has White in games with even numbers.
        let color = if game.number.is_multiple_of(2) { Color::White } else { Color::Black };
        let result = PlayedGame { number: game.number, half_points: game.outcome.half_points(color) };
        self.halves.add(&mut self.encounters[self.schedule.pairing(game.number).encounter], &result);
        self.history.push(result);
    }

    /// Returns true if a game was added.
    pub fn has(&self, number: u32) -> bool {
        self.numbers.contains(&number)
    }

    /// The encounters as they were after so many games each, in the order the games were added.
    ///
    /// # Panics
    /// If the numbers do not rise, or one is beyond the games added.
    pub fn history(&self, after: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Vec<Encounter>> {
        let mut encounters = vec![Encounter::default(); self.encounters.len()];
        let mut halves = Halves::default();
        let mut done = 0;
        after.into_iter().map(move |games| {
            for result in &self.history[done..games] {
                halves.add(&mut encounters[self.schedule.pairing(result.number).encounter], result);
            }
            done = games;
            encounters.clone()
        })
    }

    /// Complete pairs of the first encounter, from the first engine's view.
    pub fn pairs(&self) -> Counts {
        Counts::Pairs(self.encounters.first().map_or([0; 5], |encounter| encounter.pairs))
    }

    /// The number of distinct games. Repeated games carry no information.
    pub fn distinct_games(&self) -> u64 {
        self.distinct.len() as u64
    }
}
