//! Calibration of the predictions: expected against actual results by expectation and, if positions are known, by phase
//! and material; and the rows with the largest residuals.
//!
//! One pass over the rows in their order computes all sums.

mod bins;

use engine::chess::Position;
use serde::Serialize;

use crate::data::{FULL_PHASE, MOST_PAWNS, ResultLabel, material_balance, phase};
use crate::model::rows::{CHUNK, Weighted};
use crate::objective::{Difference, SampleLoss, expectation, loss_difference};
use crate::progress::{Progress, Unit};
use crate::source::Problem;
pub(crate) use bins::Bin;

/// The number of bins of equal width for expectations from 0 to 1.
pub(crate) const EXPECTATIONS: usize = 20;

/// The absolute residual above which an expectation is far off.
pub(crate) const FAR_OFF: f64 = 0.9;

/// Rows with scores and targets.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) problem: &'a Problem,
    /// The scale from centipawns to expected results.
    pub(crate) k: f64,
    /// Scores by row, in centipawns, White's view.
    pub(crate) scores: &'a [f32],
    /// Targets by row, 0..=1, White's view.
    pub(crate) targets: &'a [f32],
    /// Weights by row; empty if all rows have weight 1.
    pub(crate) weights: &'a [f32],
    /// Indices of the rows counted in bins, ascending; `None` for all. Statistics of files and the worst positions
    /// always cover all rows.
    pub(crate) counted: Option<&'a [u32]>,
}

/// The number of worst positions for a page, and the smallest distance between two of them, by index in the data.
const WORST: (usize, usize) = (12, 100);

/// The ratio of candidates to selected positions if some candidates are skipped.
const POOL: usize = 20;

/// A comparison of expectations with results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The scale from centipawns to expected results.
    pub(crate) k: f64,
    pub(crate) all: Bin,
    /// Bins by expectation: [`EXPECTATIONS`] bins from a certain win of Black to a certain win of White.
    pub(crate) calibration: Vec<Bin>,
    /// Bins by White's [`material_balance`], from −[`MOST_PAWNS`] to [`MOST_PAWNS`].
    pub(crate) by_material: Vec<Bin>,
    /// Bins by [`phase`], from 0 to [`FULL_PHASE`].
    pub(crate) by_phase: Vec<Bin>,
    /// Agreement of the labels with the expectations, by file in order.
    pub(crate) files: Vec<Agreement>,
    /// The positions with the largest residuals, worst first.
    pub worst: Vec<Misjudged>,
}

impl Explanation {
    /// Returns an explanation without rows.
    fn of_nothing(case: &Case<'_>) -> Self {
        let bins = |count| vec![Bin::default(); count];
        // Rows without positions have no phase and no material.
        let known = |count| bins(if case.problem.dataset().is_some() { count } else { 0 });
        Explanation {
            k: case.k,
            calibration: bins(EXPECTATIONS),
            by_material: known(2 * MOST_PAWNS as usize + 1),
            by_phase: known(FULL_PHASE + 1),
            ..Explanation::default()
        }
    }

    /// Adds a row to its bins. Returns its absolute residual.
    fn add(&mut self, case: &Case<'_>, row: usize) -> f64 {
        let expected = expectation(case.k, case.scores[row].into());
        let target = f64::from(case.targets[row]);
        if case.counted.is_none_or(|counted| counted.binary_search(&(row as u32)).is_ok()) {
            let weight = case.weights.get(row).map_or(1.0, |&weight| f64::from(weight));
            let add = |bin: &mut Bin| bin.add(expected, target, weight, case.problem.groups[row]);
            add(&mut self.all);
            add(&mut self.calibration[((expected * EXPECTATIONS as f64) as usize).min(EXPECTATIONS - 1)]);
            if let Some((index, dataset)) = case.problem.position_of(row).zip(case.problem.dataset()) {
                let position = dataset.position(index);
                add(&mut self.by_material[(material_balance(&position) + MOST_PAWNS) as usize]);
                add(&mut self.by_phase[phase(&position)]);
            }
        }
        (target - expected).abs()
    }
}

/// The agreement of the labels of a file with the expectations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Agreement {
    pub(crate) file: String,
    pub(crate) positions: u64,
    /// The number of positions with an absolute residual above [`FAR_OFF`].
    pub(crate) far_off: u64,
}

/// A row with a large residual.
#[derive(Clone, Debug, PartialEq)]
pub struct Misjudged {
    /// Index of the row.
    pub(crate) row: usize,
    /// File and line, or file and game.
    pub(crate) place: String,
    /// The file, the unit that it counts and the number there, if the position is known.
    pub(crate) source: Option<(String, &'static str, u64)>,
    /// The position and the result of its game, if known.
    pub(crate) position: Option<(Position, ResultLabel)>,
    /// Target, in expected points of White.
    pub(crate) target: f64,
    /// Expectation by the score, in points of White.
    pub(crate) expected: f64,
    /// Score in centipawns, White's view.
    pub(crate) score: f64,
}

/// Explains the scores of a problem before and after, each with its K. Returns also the difference of their losses.
pub(crate) fn explained(
    problem: &Problem,
    both: [(f64, &[f32]); 2],
    (targets, weights): (&[f32], &[f32]),
    counted: Option<&[u32]>,
    loss: SampleLoss,
    progress: &dyn Progress,
) -> ([Explanation; 2], Difference) {
    let sides =
        both.map(|(k, scores)| explain(&Case { problem, k, scores, targets, weights, counted }, WORST, progress));
    let rows: Vec<usize> = match counted {
        Some(counted) => counted.iter().map(|&row| row as usize).collect(),
        None => (0..targets.len()).collect(),
    };
    let pick = |of: &[f32]| rows.iter().filter_map(|&row| of.get(row).copied()).collect::<Vec<f32>>();
    let [before, after] = both.map(|(k, scores)| (k, pick(scores)));
    let (targets, weights) = (pick(targets), pick(weights));
    let groups: Vec<u32> = rows.iter().map(|&row| problem.groups[row]).collect();
    let weighted = Weighted { targets: &targets, weights: &weights };
    let change = loss_difference(loss, (before.0, &before.1), (after.0, &after.1), weighted, &groups);
    (sides, change)
}

/// Compares expectations with targets. Selects at most `count` of the worst positions, which are at least `apart` from one
/// another, by index in the data: adjacent positions are mostly of one game and show the same fault.
pub(crate) fn explain(case: &Case<'_>, (count, apart): (usize, usize), progress: &dyn Progress) -> Explanation {
    assert_eq!(case.targets.len(), case.scores.len(), "a target for every score");
    progress.begin("explaining", case.scores.len() as u64, Unit::Positions);
    let candidates = if apart > 1 { count.saturating_mul(POOL) } else { count };
    let (mut explanation, mut pool, mut row) = (Explanation::of_nothing(case), Vec::new(), 0);
    for (file, _, positions) in case.problem.sets() {
        let (end, mut far_off) = ((row + positions).min(case.scores.len()), 0);
        while row < end {
            let chunk = row..(row + CHUNK).min(end);
            row = chunk.end;
            progress.advance(chunk.len() as u64);
            let residuals = chunk.map(|row| (explanation.add(case, row), row));
            far_off += keep_worst(&mut pool, residuals, candidates);
        }
        explanation.files.push(Agreement { file: file.to_owned(), positions: positions as u64, far_off });
    }
    progress.end();
    let mut picked: Vec<usize> = Vec::new();
    for (_, row) in pool {
        if picked.len() < count && picked.iter().all(|other| other.abs_diff(row) >= apart) {
            picked.push(row);
        }
    }
    explanation.worst = picked.into_iter().map(|row| misjudged(case, row)).collect();
    explanation
}

/// Adds rows with their absolute residuals to the worst rows so far, and keeps `count` of all, worst first. Among equal
/// residuals, earlier rows come first. Returns the number of added rows with a residual above [`FAR_OFF`].
fn keep_worst(worst: &mut Vec<(f64, usize)>, more: impl Iterator<Item = (f64, usize)>, count: usize) -> u64 {
    let before = worst.len();
    worst.extend(more);
    let far_off = worst[before..].iter().filter(|row| row.0 > FAR_OFF).count();
    let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count < worst.len() {
        worst.select_nth_unstable_by(count, order);
        worst.truncate(count);
    }
    worst.sort_unstable_by(order);
    far_off as u64
}

fn misjudged(case: &Case<'_>, row: usize) -> Misjudged {
    let known = case.problem.position_of(row).zip(case.problem.dataset());
    let source = known.map(|(index, dataset)| {
        let place = dataset.place(index);
        (place.file, place.record.name(), place.number)
    });
    Misjudged {
        row,
        source,
        place: case.problem.place(row),
        position: known.map(|(index, dataset)| (dataset.position(index), dataset.label(index).outcome)),
        target: case.targets[row].into(),
        expected: expectation(case.k, case.scores[row].into()),
        score: case.scores[row].into(),
    }
}
