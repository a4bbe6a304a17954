//! The history of the result of a match of two.

use crate::report::html::MatchReport;
use crate::schedule::Encounter;
use crate::stats::{Counts, Estimate, estimate};

/// The most points of a history; a chart cannot resolve more.
const POINTS: usize = 160;

/// The standing of a match.
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
    /// Elo with the ends of its 95 % interval, if both are known.
    pub(super) fn interval(&self) -> Option<[f64; 3]> {
        let (elo, error) = (self.judged.elo?, self.judged.elo_error?);
        Some([elo - error, elo, elo + error])
    }
}

/// The history of a match of two at evenly spaced games; the last point is the end.
pub(super) fn history(report: &MatchReport<'_>) -> Vec<Point> {
    let games = usize::try_from(report.tally.games).unwrap_or(usize::MAX);
    let count = games.min(POINTS);
    let after: Vec<usize> = (1..=count).map(|point| games * point / count).collect();
    let states = report.tally.history(after.clone());
    after.into_iter().zip(states).map(|(games, encounters)| point(report, games as u64, &encounters[0])).collect()
}

fn point(report: &MatchReport<'_>, games: u64, encounter: &Encounter) -> Point {
    let llr = report.setup.sprt.and_then(|sprt| sprt.llr(&Counts::Pairs(encounter.pairs)).ok());
    Point { games, results: encounter.results, judged: estimate(&encounter.counts()), llr }
}
