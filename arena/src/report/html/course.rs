//! How the result of a match of two came about, game by game.

use crate::report::html::Story;
use crate::schedule::Encounter;
use crate::stats::{Counts, Estimate, estimate};

/// A course has no more points than this: more cannot be told apart.
const POINTS: usize = 160;

/// How the match stood.
pub(super) struct Point {
    /// After so many games.
    pub(super) games: u64,
    /// Losses, draws and wins of the first.
    pub(super) results: [u64; 3],
    pub(super) judged: Estimate,
    /// Of the test, if there is one.
    pub(super) llr: Option<f64>,
}

impl Point {
    /// Elo with the ends of its 95 % interval, as far as both can be told.
    pub(super) fn interval(&self) -> Option<[f64; 3]> {
        let (elo, error) = (self.judged.elo?, self.judged.elo_error?);
        Some([elo - error, elo, elo + error])
    }
}

/// The course of a match of two, evenly over its games; the last point is the end.
pub(super) fn course(story: &Story<'_>) -> Vec<Point> {
    let games = usize::try_from(story.tally.games).unwrap_or(usize::MAX);
    let count = games.min(POINTS);
    let after: Vec<usize> = (1..=count).map(|point| games * point / count).collect();
    let states = story.tally.course(after.clone());
    after.into_iter().zip(states).map(|(games, encounters)| point(story, games as u64, &encounters[0])).collect()
}

fn point(story: &Story<'_>, games: u64, encounter: &Encounter) -> Point {
    let llr = story.setup.sprt.and_then(|sprt| sprt.llr(&Counts::Pairs(encounter.pairs)).ok());
    Point { games, results: encounter.results, judged: estimate(&encounter.counts()), llr }
}
