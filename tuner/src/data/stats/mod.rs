//! Statistics of data before tuning: counts, duplicates, and checks of the labels.
//!
//! One pass computes all of them. The data alone determine its division into parts, and all sums are of integers, so
//! the result does not depend on the number of threads. Besides the data set itself, eight bytes per position are kept,
//! to find duplicates.

mod show;
mod sums;

use std::ops::Range;

use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use super::judge::Correlation;
use crate::data::{Dataset, DatasetError, Label, ReadOptions, ResultLabel, Source, material_balance};
use crate::progress::Progress;
use sums::{LABELS, SCORES, StatsTotals};

/// The largest difference between the quiescence score and the evaluation of a quiet position, centipawns.
const QUIET_MARGIN: i32 = 50;

/// The least absolute score of a decided game, centipawns.
const DECIDED: u16 = 1500;

/// The least material balance of a decided game, pawns.
const MUCH_MATERIAL: i32 = 9;

/// A reason to doubt the result of a position, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Suspicion {
    /// A checkmate that the mated side has not lost.
    Mate,
    /// A win or loss in a position that is a draw by the rules.
    Draw,
    /// A loss of the side that the score sees winning.
    Score,
    /// A loss of the side with much more material.
    Material,
}

impl Suspicion {
    const ALL: [Self; 4] = [Suspicion::Mate, Suspicion::Draw, Suspicion::Score, Suspicion::Material];

    fn name(self) -> &'static str {
        match self {
            Suspicion::Mate => "mated, but not lost",
            Suspicion::Draw => "won, but a draw by the rules",
            Suspicion::Score => "lost against the score",
            Suspicion::Material => "lost against the material",
        }
    }

    /// Returns the strongest reason to doubt a label.
    fn of(position: &Position, label: Label) -> Option<Self> {
        let (points, mover) = (won(label.outcome), position.side_to_move().sign());
        let against = |sign: i32| points != 0 && points == -sign.signum();
        if position.is_check() && points != -mover && !position.has_legal_move() {
            Some(Suspicion::Mate)
        } else if points != 0 && (position.is_insufficient_material() || is_stalemate(position)) {
            Some(Suspicion::Draw)
        } else if label.score.is_some_and(|score| score.unsigned_abs() >= DECIDED && against(score.into())) {
            Some(Suspicion::Score)
        } else if material_balance(position).abs() >= MUCH_MATERIAL && against(material_balance(position)) {
            Some(Suspicion::Material)
        } else {
            None
        }
    }
}

/// Returns 1 if White won, -1 if Black won, and 0 for a draw or a share of the point.
fn won(outcome: ResultLabel) -> i32 {
    match outcome {
        ResultLabel::Win => 1,
        ResultLabel::Loss => -1,
        ResultLabel::Draw | ResultLabel::Share(_) => 0,
    }
}

fn is_stalemate(position: &Position) -> bool {
    !position.is_check() && !position.has_legal_move()
}

/// A position with a doubtful result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Suspect {
    suspicion: Suspicion,
    /// Index of the position in the data set.
    sample: usize,
}

/// Counts of positions that occur more than once, clocks aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Duplicates {
    /// The number of positions that occurred before.
    again: u64,
    /// The number of different positions that occur with more than one result.
    disputed: u64,
}

impl Duplicates {
    /// Counts the duplicates among keys with the result in their two lowest bits.
    fn of(mut keys: Vec<u64>) -> Self {
        keys.sort_unstable();
        let mut found = Duplicates::default();
        for same in keys.chunk_by(|a, b| a >> 2 == b >> 2) {
            found.again += same.len() as u64 - 1;
            found.disputed += u64::from(same.first() != same.last());
        }
        found
    }
}

/// The number and lengths of games, if games can be distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Games {
    count: u64,
    /// The number of positions of the shortest and of the longest game.
    positions: (u64, u64),
}

impl Games {
    fn of(groups: &[u32]) -> Self {
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        let lengths = groups.chunk_by(|a, b| a == b).map(|game| game.len() as u64);
        let mut games = Games { count: 0, positions: (u64::MAX, 0) };
        for length in lengths {
            games.count += 1;
            games.positions = (games.positions.0.min(length), games.positions.1.max(length));
        }
        games
    }
}

/// The statistics of a data set.
pub struct Stats {
    dataset: Dataset,
    sums: StatsTotals,
    duplicates: Duplicates,
    /// The games, if every position is of a game with a name.
    games: Option<Games>,
    /// The number of suspects, by [`Suspicion`].
    suspicions: [u64; Suspicion::ALL.len()],
    /// The first suspects of each kind, the strongest suspicion first.
    suspects: Vec<Suspect>,
}

/// Reads data and examines every position; keeps at most `count` suspects.
///
/// # Errors
/// The first error of the data.
pub fn collect(
    sources: Vec<Source>,
    options: &ReadOptions,
    count: usize,
    progress: &dyn Progress,
) -> Result<Stats, DatasetError> {
    let evaluator = Evaluator::default();
    let dataset = Dataset::read(sources, options, progress)?;
    let mut whole = Whole::default();
    let look = |chunk: Range<usize>| {
        let mut collector = Collector::new(&evaluator, count);
        dataset.samples(chunk).for_each(|(position, label)| collector.add(&position, label));
        collector
    };
    dataset.each_chunk("measuring", look, |part| whole.add(part, count), progress);
    let is_of_games = dataset.grouping() == crate::data::Grouping::Games;
    let games = is_of_games.then(|| Games::of(dataset.groups()));
    let Whole { sums, keys, suspicions, mut suspects } = whole;
    suspects.sort_unstable();
    suspects.truncate(count);
    Ok(Stats { dataset, sums, duplicates: Duplicates::of(keys), games, suspicions, suspects })
}

/// A collector of the statistics of one chunk.
struct Collector<'e> {
    quiescence: Quiescence<'e>,
    most: usize,
    sums: StatsTotals,
    keys: Vec<u64>,
    suspicions: [u64; Suspicion::ALL.len()],
    suspects: Vec<Suspect>,
}

impl<'e> Collector<'e> {
    fn new(evaluator: &'e Evaluator, most: usize) -> Self {
        Collector {
            quiescence: Quiescence::new(evaluator, Pruning::Exact),
            most,
            sums: StatsTotals::default(),
            keys: Vec::new(),
            suspicions: Default::default(),
            suspects: Vec::new(),
        }
    }

    fn add(&mut self, position: &Position, label: Label) {
        let is_quiet = self.quiescence.is_quiet(position, QUIET_MARGIN);
        self.sums.add(position, label, is_quiet);
        if let Some(suspicion) = Suspicion::of(position, label) {
            let count = &mut self.suspicions[suspicion as usize];
            *count += 1;
            if *count <= self.most as u64 {
                self.suspects.push(Suspect { suspicion, sample: self.keys.len() });
            }
        }
        self.keys.push(position.key() & !3 | label.outcome.kind() as u64);
    }
}

/// The sum of the statistics of all chunks.
#[derive(Default)]
struct Whole {
    sums: StatsTotals,
    keys: Vec<u64>,
    suspicions: [u64; Suspicion::ALL.len()],
    suspects: Vec<Suspect>,
}

impl Whole {
    fn add(&mut self, part: Collector<'_>, most: usize) {
        let before = self.keys.len();
        for mut suspect in part.suspects {
            suspect.sample += before;
            self.suspects.push(suspect);
        }
        if self.suspects.len() > 1000.max(16 * most) {
            self.suspects.sort_unstable();
            self.suspects.truncate(most);
        }
        self.suspicions.iter_mut().zip(part.suspicions).for_each(|(count, more)| *count += more);
        self.keys.extend_from_slice(&part.keys);
        self.sums.merge(&part.sums);
    }
}

/// Counts of the results of a set of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ResultCounts {
    /// The number of positions by result: losses, draws and wins of White, and shares.
    counts: [u64; 4],
    /// The sum of White's points, in units of a share.
    units: u64,
}

impl ResultCounts {
    fn add(&mut self, outcome: ResultLabel) {
        self.counts[outcome.kind()] += 1;
        self.units += u64::from(outcome.units());
    }

    fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.units += other.units;
    }

    fn positions(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns White's mean points.
    fn points(&self) -> f64 {
        self.units as f64 / f64::from(ResultLabel::Win.units()) / self.positions().max(1) as f64
    }
}

#[cfg(test)]
mod tests;
