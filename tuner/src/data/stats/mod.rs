//! Statistics of data before tuning: counts, duplicates, and checks of the labels.
//!
//! One pass computes all of them. The data alone determine its division into parts, and all sums are of integers, so
//! the result does not depend on the number of threads. Besides the data set itself, eight bytes per position are kept,
//! to find duplicates.

mod show;

use std::ops::Range;

use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use super::judge::Correlation;
use super::{Dataset, DatasetError, Grouping, Label, ReadOptions, ResultLabel, Source};
use super::{PHASE_PARTS, material_balance, phase, phase_part};
use crate::progress::Progress;

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
    /// The names, in the order of the declaration.
    const NAMES: [&str; 4] =
        ["mated, but not lost", "won, but a draw by the rules", "lost against the score", "lost against the material"];

    fn name(self) -> &'static str {
        Self::NAMES[self as usize]
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
        let lengths = || groups.chunk_by(|a, b| a == b).map(|game| game.len() as u64);
        let (fewest, most) = (lengths().min().unwrap_or(u64::MAX), lengths().max().unwrap_or(0));
        Games { count: lengths().count() as u64, positions: (fewest, most) }
    }
}

/// Index of the correlations of results with material.
const LABELS: usize = 0;

/// Index of the correlations of scores with material.
const SCORES: usize = 1;

/// The statistics of a data set.
pub struct Stats {
    dataset: Dataset,
    sums: StatsTotals,
    duplicates: Duplicates,
    /// The games, if every position is of a game with a name.
    games: Option<Games>,
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
    let measure = |chunk: Range<usize>| {
        let mut quiescence = Quiescence::new(&evaluator, Pruning::Exact);
        let measured = |(position, label)| Measured {
            is_quiet: quiescence.is_quiet(&position, QUIET_MARGIN),
            suspicion: Suspicion::of(&position, label),
            position,
            label,
        };
        dataset.samples(chunk).map(measured).collect::<Vec<_>>()
    };
    let mut sums = StatsTotals::default();
    let add = |measured: Vec<Measured>| measured.iter().for_each(|measured| sums.add(measured, count));
    dataset.each_chunk("measuring", measure, add, progress);
    sums.suspects.sort_unstable();
    sums.suspects.truncate(count);
    let games = (dataset.grouping() == Grouping::Games).then(|| Games::of(dataset.groups()));
    let duplicates = Duplicates::of(std::mem::take(&mut sums.keys));
    Ok(Stats { dataset, sums, duplicates, games })
}

/// A position with the properties that take time to find.
struct Measured {
    position: Position,
    label: Label,
    is_quiet: bool,
    suspicion: Option<Suspicion>,
}

/// Sums over positions.
#[derive(Default)]
struct StatsTotals {
    /// Results of all positions.
    all: ResultCounts,
    /// Results by side to move: White, Black.
    by_side: [ResultCounts; 2],
    /// Results by phase, the endgame first.
    by_phase: [ResultCounts; PHASE_PARTS],
    /// The number of positions by number of pieces, kings and pawns included; index 0 is one piece.
    by_pieces: [u64; 32],
    checks: u64,
    /// The number of positions that are not quiet.
    noisy: u64,
    scores: u64,
    /// The lowest and the highest score, centipawns, White's view.
    score_range: Option<(i16, i16)>,
    /// The sum of the absolute scores.
    score_sizes: u64,
    /// Correlations of results ([`LABELS`]) and scores ([`SCORES`]) with material, by side to move.
    with_material: [[Correlation; 2]; 2],
    /// The number of suspects, by [`Suspicion`].
    suspicions: [u64; Suspicion::NAMES.len()],
    /// The first positions of each kind with a doubtful result, by index; the strongest suspicion first.
    suspects: Vec<(Suspicion, usize)>,
    /// The key of each position, with the result in the two lowest bits.
    keys: Vec<u64>,
}

impl StatsTotals {
    /// Adds the next position; keeps at most `most` suspects of each kind.
    fn add(&mut self, measured: &Measured, most: usize) {
        let Measured { position, label, is_quiet, suspicion } = measured;
        let (side, outcome) = (position.side_to_move().index(), label.outcome);
        let material = i64::from(material_balance(position));
        self.all.add(outcome);
        self.by_side[side].add(outcome);
        self.by_phase[phase_part(phase(position))].add(outcome);
        self.by_pieces[position.occupied().count() as usize - 1] += 1;
        self.checks += u64::from(position.is_check());
        self.noisy += u64::from(!is_quiet);
        self.with_material[LABELS][side].add(material, outcome.units().into(), label.group);
        if let Some(score) = label.score {
            let (low, high) = self.score_range.unwrap_or((score, score));
            self.score_range = Some((low.min(score), high.max(score)));
            self.score_sizes += u64::from(score.unsigned_abs());
            self.scores += 1;
            self.with_material[SCORES][side].add(material, score.into(), label.group);
        }
        if let Some(suspicion) = *suspicion {
            let count = &mut self.suspicions[suspicion as usize];
            *count += 1;
            if *count <= most as u64 {
                self.suspects.push((suspicion, self.keys.len()));
            }
        }
        self.keys.push(position.key() & !3 | outcome.kind() as u64);
    }

    /// Returns the mean absolute score.
    fn mean_score_size(&self) -> f64 {
        self.score_sizes as f64 / self.scores.max(1) as f64
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
