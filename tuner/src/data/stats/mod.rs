//! Statistics of data before tuning: counts, duplicates, and checks of the labels.
//!
//! One pass computes all of them. The data alone determine its division into parts, and all sums are of integers, so
//! the result does not depend on the number of threads. Besides the data set itself, eight bytes per position are kept,
//! to find duplicates.

mod show;

use std::collections::BTreeMap;
use std::ops::Range;

use engine::chess::Position;
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};
use serde::{Serialize, Serializer};

use super::judge::{self, PHASES};
use super::{Dataset, DatasetError, FileSummary, Grouping, Label, LeftOutCounts, Place, ReadOptions, ResultLabel};
use super::{Evidence, PHASE_PARTS, Skipped, Source, material_balance, phase, phase_part};
use crate::progress::Progress;

/// The largest difference between the quiescence score and the evaluation of a quiet position, centipawns.
const QUIET_MARGIN: i32 = 50;

/// The least absolute score of a decided game, centipawns.
const DECIDED: u16 = 1500;

/// The least material balance of a decided game, pawns.
const MUCH_MATERIAL: i32 = 9;

/// The upper bounds of the classes by number of pieces, with their names.
const PIECES: [(u32, &str); 6] = [(5, "2-5"), (10, "6-10"), (15, "11-15"), (20, "16-20"), (25, "21-25"), (32, "26-32")];

/// The reasons to doubt the result of a position, the strongest first.
const SUSPICIONS: [&str; 4] =
    ["mated, but not lost", "won, but a draw by the rules", "lost against the score", "lost against the material"];

/// Returns the index of the strongest reason to doubt a label. A loss against the material is that of the side with
/// much more of it.
fn suspicion(position: &Position, label: Label) -> Option<usize> {
    let points = label.outcome.half_points().map_or(0, |half_points| i32::from(half_points) - 1);
    let against = |sign: i32| points != 0 && points == -sign.signum();
    let is_at_end = || !position.has_legal_move();
    let balance = material_balance(position);
    let reasons: [&dyn Fn() -> bool; SUSPICIONS.len()] = [
        &|| position.is_check() && points != -position.side_to_move().sign() && is_at_end(),
        &|| points != 0 && (position.is_insufficient_material() || (!position.is_check() && is_at_end())),
        &|| label.score.is_some_and(|score| score.unsigned_abs() >= DECIDED && against(score.into())),
        &|| balance.abs() >= MUCH_MATERIAL && against(balance),
    ];
    reasons.iter().position(|holds| holds())
}

/// Counts of positions that occur more than once, clocks aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
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

/// The number and lengths of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Games {
    count: u64,
    fewest_positions: u64,
    most_positions: u64,
}

impl Games {
    fn of(groups: &[u32]) -> Self {
        let mut groups = groups.to_vec();
        groups.sort_unstable();
        let lengths = || groups.chunk_by(|a, b| a == b).map(|game| game.len() as u64);
        Games {
            count: lengths().count() as u64,
            fewest_positions: lengths().min().unwrap_or(u64::MAX),
            most_positions: lengths().max().unwrap_or(0),
        }
    }
}

/// The statistics of a data set. Serialised, they are the JSON form.
#[derive(Serialize)]
pub struct Stats {
    /// The description of the data set.
    #[serde(skip)]
    description: String,
    #[serde(skip)]
    grouping: Grouping,
    files: Vec<FileSummary>,
    /// The number of skipped records.
    skipped: u64,
    skipped_by_reason: BTreeMap<&'static str, Skipped>,
    left_out: LeftOutCounts,
    #[serde(flatten)]
    sums: StatsTotals,
    /// The games, if every position is of a game with a name.
    games: Option<Games>,
    duplicates: Duplicates,
    /// The evidence of all files together.
    correlation: Evidence,
    /// The warnings to heed before a fit.
    warnings: Vec<String>,
    suspects: Vec<Suspect>,
}

/// A position with a doubtful result.
#[derive(Serialize)]
struct Suspect {
    #[serde(flatten)]
    place: Place,
    suspicion: &'static str,
    result: String,
    score: Option<i16>,
    fen: String,
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
            suspicion: suspicion(&position, label),
            position,
            label,
        };
        dataset.samples(chunk).map(measured).collect::<Vec<_>>()
    };
    let no_results = |name| (name, ResultCounts::default());
    let mut sums = StatsTotals {
        by_side_to_move: ["white", "black"].map(no_results),
        by_phase: PHASES.map(no_results),
        by_pieces: PIECES.map(|(_, name)| (name, 0)),
        suspicions: SUSPICIONS.map(|name| (name, 0)),
        ..StatsTotals::default()
    };
    let add = |measured: Vec<Measured>| measured.iter().for_each(|measured| sums.add(measured, count));
    dataset.each_chunk("measuring", measure, add, progress);
    sums.scores.mean_size = sums.scores.sizes as f64 / sums.scores.count.max(1) as f64;
    let mut suspects = std::mem::take(&mut sums.suspects);
    suspects.sort_unstable();
    suspects.truncate(count);
    let suspect = |(suspicion, index): (usize, usize)| {
        let (label, fen) = (dataset.label(index), dataset.position(index).to_fen());
        let (suspicion, result) = (SUSPICIONS[suspicion], label.outcome.to_string());
        Suspect { place: dataset.place(index), suspicion, result, score: label.score, fen }
    };
    let mut correlation = Evidence::default();
    dataset.files().iter().for_each(|file| correlation.merge(&file.evidence));
    Ok(Stats {
        description: dataset.description(),
        grouping: dataset.grouping(),
        files: dataset.files().to_vec(),
        skipped: dataset.skipped_records(),
        skipped_by_reason: dataset.skipped().clone(),
        left_out: dataset.files().iter().map(|file| file.left_out).sum(),
        duplicates: Duplicates::of(std::mem::take(&mut sums.keys)),
        games: (dataset.grouping() == Grouping::Games).then(|| Games::of(dataset.groups())),
        correlation,
        warnings: judge::warnings(dataset.files(), true),
        suspects: suspects.into_iter().map(suspect).collect(),
        sums,
    })
}

/// A position with the properties that take time to find.
struct Measured {
    position: Position,
    label: Label,
    is_quiet: bool,
    suspicion: Option<usize>,
}

/// Sums over positions.
#[derive(Default, Serialize)]
struct StatsTotals {
    positions: u64,
    results: ResultCounts,
    #[serde(serialize_with = "by_name")]
    by_side_to_move: [(&'static str, ResultCounts); 2],
    /// Results by phase, the endgame first.
    #[serde(serialize_with = "by_name")]
    by_phase: [(&'static str, ResultCounts); PHASE_PARTS],
    /// The number of positions by [`PIECES`].
    #[serde(serialize_with = "by_name")]
    by_pieces: [(&'static str, u64); PIECES.len()],
    in_check: u64,
    not_quiet: u64,
    scores: Scores,
    /// The number of suspects, by [`SUSPICIONS`].
    #[serde(serialize_with = "by_name")]
    suspicions: [(&'static str, u64); SUSPICIONS.len()],
    /// The suspicions and indices of the first positions of each kind with a doubtful result.
    #[serde(skip)]
    suspects: Vec<(usize, usize)>,
    /// The key of each position, with the result in the two lowest bits.
    #[serde(skip)]
    keys: Vec<u64>,
}

/// The scores of positions, centipawns.
#[derive(Default, Serialize)]
struct Scores {
    count: u64,
    /// The lowest and the highest score, White's view.
    range: Option<(i16, i16)>,
    /// The mean absolute score.
    mean_size: f64,
    /// The sum of the absolute scores.
    #[serde(skip)]
    sizes: u64,
}

/// Serialises counts with their names as a map.
fn by_name<T: Serialize, S: Serializer>(counts: &[(&'static str, T)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(counts.iter().map(|(name, count)| (name, count)))
}

impl StatsTotals {
    /// Adds the next position; keeps at most `most` suspects of each kind.
    fn add(&mut self, measured: &Measured, most: usize) {
        let Measured { position, label, is_quiet, suspicion } = measured;
        let (pieces, outcome) = (position.occupied().count(), label.outcome);
        self.results.add(outcome);
        self.by_side_to_move[position.side_to_move().index()].1.add(outcome);
        self.by_phase[phase_part(phase(position))].1.add(outcome);
        self.by_pieces[PIECES.partition_point(|&(bound, _)| bound < pieces)].1 += 1;
        self.in_check += u64::from(position.is_check());
        self.not_quiet += u64::from(!is_quiet);
        if let Some(score) = label.score {
            let (low, high) = self.scores.range.unwrap_or((score, score));
            self.scores.range = Some((low.min(score), high.max(score)));
            self.scores.sizes += u64::from(score.unsigned_abs());
            self.scores.count += 1;
        }
        if let Some(suspicion) = *suspicion {
            let count = &mut self.suspicions[suspicion].1;
            *count += 1;
            if *count <= most as u64 {
                self.suspects.push((suspicion, self.keys.len()));
            }
        }
        self.positions += 1;
        self.keys.push(position.key() & !3 | outcome.kind() as u64);
    }
}

/// Counts of the results of a set of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct ResultCounts {
    white: u64,
    draw: u64,
    black: u64,
    share: u64,
    /// The sum of White's points, in units of a share.
    #[serde(skip)]
    units: u64,
}

impl ResultCounts {
    fn add(&mut self, outcome: ResultLabel) {
        *[&mut self.black, &mut self.draw, &mut self.white, &mut self.share][outcome.kind()] += 1;
        self.units += u64::from(outcome.units());
    }

    fn positions(&self) -> u64 {
        self.white + self.draw + self.black + self.share
    }

    /// Returns White's mean points.
    fn points(&self) -> f64 {
        self.units as f64 / f64::from(ResultLabel::WIN.units()) / self.positions().max(1) as f64
    }
}

#[cfg(test)]
mod tests;
