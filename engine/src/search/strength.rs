//! Play below full strength, by Elo: fewer nodes, and below Elo 2000 a choice among the best lines whose values are blurred.
//! Few nodes overlook tactics, as weak players do; noise alone would play a strong game with odd moves in it.

use super::limits::Limits;
use super::value::Value;
use super::worker::RootMove;
use crate::random::Random;

/// A strength of play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Strength {
    elo: i32,
    /// No iteration begins after so many.
    nodes: f64,
    /// The largest change of a value to either side, centipawns.
    noise: f64,
}

/// Strengths by games against Stockfish's `UCI_Elo` (docs/benchmarks.md); the first and the last two are extrapolated.
const LEVELS: [Strength; 7] = [
    Strength { elo: 1000, nodes: 1.0, noise: 1400.0 },
    Strength { elo: 1350, nodes: 1.0, noise: 400.0 },
    Strength { elo: 1700, nodes: 180.0, noise: 90.0 },
    Strength { elo: 2000, nodes: 2_500.0, noise: 0.0 },
    Strength { elo: 2300, nodes: 55_000.0, noise: 0.0 },
    Strength { elo: 2600, nodes: 1_800_000.0, noise: 0.0 },
    Strength { elo: 2850, nodes: 20_000_000.0, noise: 0.0 },
];

/// The least Elo to play at.
pub const MIN_ELO: i32 = LEVELS[0].elo;

/// The greatest Elo to play at, less than the full strength.
pub const MAX_ELO: i32 = LEVELS[LEVELS.len() - 1].elo;

/// Lines to choose from.
const LINES: usize = 4;

impl Strength {
    /// The strength of an Elo from [`MIN_ELO`] to [`MAX_ELO`], or of the nearer of the two: between two levels noise is
    /// linear, and so is the logarithm of nodes.
    pub(super) fn of_elo(elo: i32) -> Self {
        let elo = elo.clamp(MIN_ELO, MAX_ELO);
        let above = LEVELS.iter().position(|level| elo < level.elo).unwrap_or(LEVELS.len() - 1);
        let [weaker, stronger] = [LEVELS[above - 1], LEVELS[above]];
        let share = f64::from(elo - weaker.elo) / f64::from(stronger.elo - weaker.elo);
        let nodes = weaker.nodes * (stronger.nodes / weaker.nodes).powf(share);
        Strength { elo, nodes, noise: weaker.noise + (stronger.noise - weaker.noise) * share }
    }

    /// Adds its limit to those of a search. Iterations are finished, so that all lines have values of one depth.
    pub(super) fn restrict(self, limits: &mut Limits) {
        limits.soft_nodes = Some(self.nodes.round() as u64);
    }

    /// The number of lines it needs.
    pub(super) fn lines(self) -> usize {
        if self.noise > 0.0 { LINES } else { 1 }
    }

    /// Brings the move to play to the front: the best of its lines after noise that is most often near 0.
    pub(super) fn choose(self, root_moves: &mut [RootMove], random: &mut Random) {
        let half = self.noise as u64;
        let mut noise = || (random.below(half + 1) + random.below(half + 1)) as Value - half as Value;
        let blurred = root_moves.iter().take(self.lines()).map(|root| root.known_value() + noise()).enumerate();
        let chosen = blurred.max_by_key(|&(place, value)| (value, std::cmp::Reverse(place)));
        root_moves.swap(0, chosen.map_or(0, |(place, _)| place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{Game, Move, Position};
    use crate::search::{Handler, Info, Searcher, mate_in};

    const MIDDLEGAME: &str = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10";

    fn game(fen: &str) -> Game {
        Game::new(Position::from_fen(fen).unwrap())
    }

    fn searcher(elo: i32, seed: u64) -> Searcher {
        let mut searcher = crate::tests::fixture::searcher(1);
        (searcher.limit_strength, searcher.elo, searcher.random) = (true, elo, Random::seeded(seed));
        searcher
    }

    #[test]
    fn more_elo_means_more_nodes_and_no_more_noise() {
        let all: Vec<Strength> = (MIN_ELO..=MAX_ELO).map(Strength::of_elo).collect();
        assert!(all.is_sorted_by(|a, b| a.nodes <= b.nodes && a.noise >= b.noise), "{all:?}");
        assert_eq!([Strength::of_elo(0), Strength::of_elo(i32::MAX)], [LEVELS[0], LEVELS[LEVELS.len() - 1]]);
        assert_eq!(LEVELS.map(|level| Strength::of_elo(level.elo)), LEVELS);
    }

    /// Takes down the index of every line and the first move of the last one.
    #[derive(Default)]
    struct Lines(Vec<usize>, Option<Move>);

    impl Handler for Lines {
        fn line(&mut self, info: &Info<'_>) {
            self.0.push(info.multipv);
            self.1 = info.line.first().copied();
        }
    }

    #[test]
    fn nodes_are_limited_and_the_move_played_is_the_last_line_shown() {
        for (elo, seed, nodes) in [(1000, 1, 1000), (1500, 2, 2000), (1500, 3, 2000), (2000, 4, 10_000)] {
            let mut searcher = searcher(elo, seed);
            searcher.set_threads(2);
            let mut lines = Lines::default();
            let outcome = searcher.search(&game(MIDDLEGAME), Limits::default(), &mut lines);
            assert!(outcome.nodes < nodes, "{}", outcome.nodes);
            assert_eq!(searcher.threads(), 2);
            assert!(lines.0.iter().all(|&index| index == 1));
            assert_eq!(lines.1, outcome.best, "{elo} {seed}");
        }
    }

    #[test]
    fn only_weak_play_varies() {
        let moves = |elo| {
            let mut moves: Vec<_> = (0..12)
                .map(|seed| searcher(elo, seed).search(&game(MIDDLEGAME), Limits::default(), &mut ()).best)
                .map(|mv| mv.map(|mv| mv.to_string()))
                .collect();
            moves.sort();
            moves.dedup();
            moves.len()
        };
        assert!(moves(1000) > 2);
        assert_eq!(moves(2000), 1);
    }

    #[test]
    fn a_mate_that_is_seen_is_played() {
        let back_rank = game("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
        for seed in 0..12 {
            let outcome = searcher(1350, seed).search(&back_rank, Limits::default(), &mut ());
            assert_eq!(outcome.value, mate_in(1), "{seed}");
        }
    }
}
