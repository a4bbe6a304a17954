//! Tuning by games that are drawn at random, where it is known what every value of every option is worth.

use arena::spsa::{Gains, SpsaOption, Trial, Tuning};
use engine::random::Random;

/// How far options are moved, and their bounds: twenty steps, as is usual.
pub(crate) const STEP: f64 = 10.0;
const MIN: f64 = 0.0;
const MAX: f64 = 200.0;

/// Pairs of a batch of SPSA.
const BATCH: u32 = 16;

/// Settings that random search tries.
const CANDIDATES: u32 = 30;

/// How far one at a time moves an option, in steps. Four values, or others, leave more of what three steps cost.
const TRIED: [f64; 2] = [-2.0, 2.0];

/// Engines to be tuned.
#[derive(Clone, Copy)]
pub(crate) struct Engines {
    /// How many options they have.
    pub(crate) options: usize,
    /// Within how many steps of the start the optima are.
    pub(crate) reach: f64,
    /// What a step from the optimum costs, in Elo; two steps cost four times as much, and so on.
    pub(crate) cost: f64,
}

/// One of them. Options without an optimum do nothing.
pub(crate) struct Engine {
    pub(crate) cost: f64,
    pub(crate) starts: Vec<f64>,
    pub(crate) optima: Vec<Option<f64>>,
    pub(crate) random: Random,
}

impl Engine {
    /// One whose options begin in the middle of their bounds, and have their optima anywhere within reach.
    fn drawn(engines: Engines, seed: u64) -> Self {
        let mut random = Random::seeded(seed);
        let starts = vec![(MIN + MAX) / 2.0; engines.options];
        let mut distance = || engines.reach * STEP * (2.0 * random.unit() - 1.0);
        let optima = starts.iter().map(|start| Some(start + distance())).collect();
        Engine { cost: engines.cost, starts, optima, random }
    }

    /// What values lose against the optimum, in Elo.
    pub(crate) fn loss(&self, values: &[f64]) -> f64 {
        let distances = values.iter().zip(&self.optima).filter_map(|(value, best)| Some((value - (*best)?) / STEP));
        distances.map(|distance| self.cost * distance * distance).sum()
    }

    /// The points that one setting wins more than the other in a pair of games, each of which is won, drawn or lost.
    fn points(&mut self, elo: f64) -> i32 {
        let expected = 1.0 / (1.0 + 10_f64.powf(-elo / 400.0));
        // Four games of ten are drawn, fewer where one side is much stronger.
        let draws = expected.min(1.0 - expected).min(0.2);
        let mut game = || {
            let number = self.random.unit();
            if number < expected - draws { 1 } else { -i32::from(number >= expected + draws) }
        };
        game() + game()
    }

    /// The points of so many games between two settings.
    fn plays(&mut self, games: u32, first: &[f64], second: &[f64]) -> i32 {
        let elo = self.loss(second) - self.loss(first);
        (0..games / 2).map(|_| self.points(elo)).sum()
    }

    /// What SPSA finds in so many games.
    pub(crate) fn spsa(&mut self, games: u32, seed: u64) -> Vec<f64> {
        let option = |&start| SpsaOption {
            name: "x".to_owned(),
            is_whole: true,
            start,
            min: MIN,
            max: MAX,
            step: STEP,
            rate: 0.0,
        };
        let pairs = games / 2;
        let mut tuning = Tuning::new(self.starts.iter().map(option).collect(), Gains::new(pairs), seed);
        while tuning.done() < pairs {
            let batch: Vec<(Trial, i32)> = (tuning.done()..pairs.min(tuning.done() + BATCH))
                .map(|pair| {
                    let trial = tuning.trial(pair);
                    let [first, second] = &trial.values;
                    let points = self.plays(2, first, second);
                    (trial, points)
                })
                .collect();
            tuning.learn(&batch);
        }
        tuning.found()
    }

    /// The best of settings drawn from all that the bounds allow, by an equal share of the games of each against the
    /// start; the start, if none wins.
    pub(crate) fn random_search(&mut self, games: u32) -> Vec<f64> {
        let starts = self.starts.clone();
        let mut best = (0, starts.clone());
        for _ in 0..CANDIDATES {
            let drawn: Vec<f64> = starts.iter().map(|_| MIN + (MAX - MIN) * self.random.unit()).collect();
            let points = self.plays(games / CANDIDATES, &drawn, &starts);
            if points > best.0 {
                best = (points, drawn);
            }
        }
        best.1
    }

    /// What is found where each option in turn is tried at several values, each by an equal share of the games against
    /// what was found until then, which stays if no value wins.
    pub(crate) fn one_at_a_time(&mut self, games: u32) -> Vec<f64> {
        let mut found = self.starts.clone();
        let share = games / (found.len() * TRIED.len()) as u32;
        for option in 0..found.len() {
            let mut best = (0, found.clone());
            for steps in TRIED {
                let mut tried = found.clone();
                tried[option] = (tried[option] + steps * STEP).clamp(MIN, MAX);
                let points = self.plays(share, &tried, &found);
                if points > best.0 {
                    best = (points, tried);
                }
            }
            found = best.1;
        }
        found
    }
}

/// A way to tune.
pub(crate) type Method = fn(&mut Engine, u32, u64) -> Vec<f64>;

/// The ways that are compared, with their names.
pub(crate) const METHODS: [(&str, Method); 4] = [
    ("the start", |engine, _, _| engine.starts.clone()),
    ("SPSA", |engine, games, seed| engine.spsa(games, seed)),
    ("one at a time", |engine, games, _| engine.one_at_a_time(games)),
    ("random search", |engine, games, _| engine.random_search(games)),
];

/// What a method leaves to be lost after so many games, in Elo: the mean over so many engines, and its standard error.
pub(crate) fn remaining(method: Method, engines: Engines, games: u32, seeds: u64) -> [f64; 2] {
    let loss = |seed: u64| {
        let mut engine = Engine::drawn(engines, seed);
        let found = method(&mut engine, games, seed);
        engine.loss(&found)
    };
    let losses: Vec<f64> = (0..seeds).map(loss).collect();
    let mean = losses.iter().sum::<f64>() / seeds as f64;
    let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
    [mean, squares.sqrt() / seeds as f64]
}
