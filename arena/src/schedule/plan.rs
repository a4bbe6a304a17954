//! The plan of a match: encounters, openings and limits.

use super::Pinning;
use crate::game::{Book, Conditions, Variant};
use crate::uci_client::{Engine, EngineError, EngineSpec, Limit, Timeouts};

/// The encounters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The first engine meets each of the others. With two engines, a match.
    Gauntlet,
    /// Every engine meets every other.
    RoundRobin,
}

impl Format {
    /// The encounters of so many engines, as their numbers.
    pub fn encounters(self, engines: usize) -> Vec<[usize; 2]> {
        let first = match self {
            Format::Gauntlet => 1,
            Format::RoundRobin => engines,
        };
        (0..first).flat_map(|a| (a + 1..engines).map(move |b| [a, b])).collect()
    }
}

/// The schedule of a tournament: the pairing of every game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The encounters.
    pub format: Format,
    /// The number of engines, at least two.
    pub engines: usize,
}

impl Schedule {
    /// The encounters, as the numbers of the engines.
    pub fn encounters(self) -> Vec<[usize; 2]> {
        self.format.encounters(self.engines)
    }

    /// The pairing of a game. In each round, every encounter has a pair of games with one opening.
    pub fn pairing(self, number: u32) -> Pairing {
        let encounters = self.encounters();
        let pair = number as usize / 2;
        let encounter = pair % encounters.len();
        let mut players = encounters[encounter];
        if number % 2 == 1 {
            players.reverse();
        }
        Pairing { encounter, players, opening: u32::try_from(pair / encounters.len()).unwrap_or(u32::MAX) }
    }
}

/// A match between two engines, or a tournament of more.
#[derive(Clone, Debug)]
pub struct Match {
    /// The engines, at least two; counts are from the first one's view.
    pub engines: Vec<EngineSpec>,
    /// The encounters.
    pub format: Format,
    /// The limit of engines without one of their own.
    pub limit: Limit,
    /// The conditions of all games.
    pub conditions: Conditions,
    /// The openings of the games. Two games begin at each, with colours reversed.
    pub book: Book,
    /// The number of games of each encounter; even if there are several encounters.
    pub games: u32,
    /// The number of games played at a time.
    pub concurrency: usize,
    /// The processors of each concurrent game, if games have processors of their own.
    pub pinning: Option<Pinning>,
    /// Timeouts of engines for everything without a clock.
    pub timeouts: Timeouts,
}

/// The players of a game and its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pairing {
    /// Which encounter the game belongs to.
    pub encounter: usize,
    /// Which engines play, White first.
    pub players: [usize; 2],
    /// Which opening of the book it is; the same for all encounters of a round.
    pub opening: u32,
}

impl Match {
    /// The encounters.
    pub fn schedule(&self) -> Schedule {
        Schedule { format: self.format, engines: self.engines.len() }
    }

    /// The encounters, as the numbers of the engines.
    pub fn encounters(&self) -> Vec<[usize; 2]> {
        self.schedule().encounters()
    }

    /// Returns the number of games to be played in all.
    pub fn total_games(&self) -> u32 {
        let encounters = u32::try_from(self.encounters().len()).unwrap_or(u32::MAX);
        self.games.saturating_mul(encounters)
    }

    /// The pairing of a game; see [`Schedule::pairing`].
    pub fn pairing(&self, number: u32) -> Pairing {
        self.schedule().pairing(number)
    }

    /// The limit of an engine.
    pub fn limit_of(&self, engine: usize) -> Limit {
        self.engines[engine].limit.unwrap_or(self.limit)
    }

    /// The names of the engines.
    pub fn names(&self) -> Vec<&str> {
        self.engines.iter().map(|engine| engine.name.as_str()).collect()
    }

    pub(crate) fn start_engine(&self, index: usize) -> Result<Engine, EngineError> {
        let extra: &[(&str, &str)] = match self.conditions.variant {
            Variant::Standard => &[],
            Variant::Chess960 => &[("UCI_Chess960", "true")],
        };
        Engine::start(&self.engines[index], extra, self.timeouts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_meets_whom_the_format_says() {
        assert_eq!(Format::Gauntlet.encounters(2), [[0, 1]]);
        assert_eq!(Format::Gauntlet.encounters(4), [[0, 1], [0, 2], [0, 3]]);
        assert_eq!(Format::RoundRobin.encounters(4), [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    }
}
