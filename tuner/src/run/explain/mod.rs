//! Calibration of the predictions: expected against actual results by expectation and, if positions are known, by phase
//! and material; and the rows with the largest residuals.
//!
//! One pass over the rows computes all sums. Chunks are merged in order, so the result does not depend on the number of
//! threads.

mod bins;

use std::ops::Range;

use engine::chess::Position;
use serde::Serialize;

use crate::data::{FULL_PHASE, MOST_PAWNS, ResultLabel, Weight, material_balance, phase};
use crate::model::rows::{CHUNK, Weighted};
use crate::objective::{Difference, SampleLoss, expectation, loss_difference};
use crate::parallel;
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

/// The selection for a page.
pub(crate) const WORST: WorstSelection = WorstSelection { count: 12, apart: 100 };

/// The selection of the worst positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WorstSelection {
    /// The largest number of positions.
    pub(crate) count: usize,
    /// The smallest distance between two selected positions, by index in the data; 1 for no restriction. Adjacent
    /// positions are mostly of one game and show the same fault.
    pub(crate) apart: usize,
}

/// The ratio of candidates to selected positions if some candidates are skipped.
const POOL: usize = 20;

impl WorstSelection {
    /// Returns the number of candidates to collect.
    fn pool(self) -> usize {
        if self.apart > 1 { self.count.saturating_mul(POOL) } else { self.count }
    }

    /// Selects positions from the candidates, worst first.
    fn pick(self, pool: &[(f64, usize)]) -> Vec<usize> {
        let mut picked: Vec<usize> = Vec::new();
        for &(_, sample) in pool {
            if picked.iter().all(|other| other.abs_diff(sample) >= self.apart) {
                picked.push(sample);
            }
        }
        picked.truncate(self.count);
        picked
    }
}

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
    fn bins(&mut self) -> impl Iterator<Item = &mut Bin> {
        let lists = [&mut self.calibration, &mut self.by_material, &mut self.by_phase];
        lists.into_iter().flatten().chain([&mut self.all])
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
    worst: WorstSelection,
    progress: &dyn Progress,
) -> ([Explanation; 2], Difference) {
    let sides =
        both.map(|(k, scores)| explain(&Case { problem, k, scores, targets, weights, counted }, worst, progress));
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

/// Compares expectations with targets.
pub(crate) fn explain(case: &Case<'_>, worst: WorstSelection, progress: &dyn Progress) -> Explanation {
    assert_eq!(case.targets.len(), case.scores.len(), "a target for every score");
    progress.begin("explaining", case.scores.len() as u64, Unit::Positions);
    let parts: Vec<Range<usize>> =
        (0..case.scores.len()).step_by(CHUNK).map(|start| start..(start + CHUNK).min(case.scores.len())).collect();
    let judge = |range: Range<usize>| {
        let mut part = ExplanationSums::new(case);
        part.add_all(case, range.clone(), worst.pool());
        progress.advance(range.len() as u64);
        part
    };
    let mut sums = ExplanationSums::new(case);
    parallel::map(parts, judge).into_iter().for_each(|part| sums.merge(part, worst.pool()));
    progress.end();
    let worst = worst.pick(&sums.worst).into_iter().map(|row| misjudged(case, row)).collect();
    let agreement = |((file, _, positions), far_off): ((&str, Weight, usize), u64)| Agreement {
        file: file.to_owned(),
        positions: positions as u64,
        far_off,
    };
    let files = case.problem.sets().zip(sums.far_off).map(agreement).collect();
    Explanation { worst, files, ..sums.explanation }
}

/// The sums of a chunk of rows and its worst positions.
struct ExplanationSums {
    /// The bins.
    explanation: Explanation,
    /// By file, the number of rows with an absolute residual above [`FAR_OFF`].
    far_off: Vec<u64>,
    /// Absolute residual and row index, worst first.
    worst: Vec<(f64, usize)>,
}

impl ExplanationSums {
    fn new(case: &Case<'_>) -> Self {
        let bins = |count| vec![Bin::default(); count];
        // Rows without positions have no phase and no material.
        let known = |count| bins(if case.problem.dataset().is_some() { count } else { 0 });
        let explanation = Explanation {
            k: case.k,
            calibration: bins(EXPECTATIONS),
            by_material: known(2 * MOST_PAWNS as usize + 1),
            by_phase: known(FULL_PHASE + 1),
            ..Explanation::default()
        };
        ExplanationSums { explanation, far_off: vec![0; case.problem.sets().count()], worst: Vec::new() }
    }

    fn add_all(&mut self, case: &Case<'_>, range: Range<usize>, pool: usize) {
        let problem = case.problem;
        let end = |end: &mut usize, set: (&str, Weight, usize)| {
            *end += set.2;
            Some(*end)
        };
        let ends: Vec<usize> = problem.sets().scan(0, end).collect();
        let explanation = &mut self.explanation;
        for row in range {
            let expected = expectation(case.k, case.scores[row].into());
            let target = f64::from(case.targets[row]);
            let residual = (target - expected).abs();
            self.far_off[ends.partition_point(|&end| end <= row)] += u64::from(residual > FAR_OFF);
            self.worst.push((residual, row));
            if case.counted.is_some_and(|counted| counted.binary_search(&(row as u32)).is_err()) {
                continue;
            }
            let weight = case.weights.get(row).map_or(1.0, |&weight| f64::from(weight));
            let bin = ((expected * EXPECTATIONS as f64) as usize).min(EXPECTATIONS - 1);
            let add = |bin: &mut Bin| bin.add(expected, target, weight, problem.groups[row]);
            add(&mut explanation.all);
            add(&mut explanation.calibration[bin]);
            if let Some((index, dataset)) = problem.position_of(row).zip(problem.dataset()) {
                let position = dataset.position(index);
                let (phase, material) = (phase(&position), material_balance(&position) + MOST_PAWNS);
                add(&mut explanation.by_material[material as usize]);
                add(&mut explanation.by_phase[phase]);
            }
        }
        self.keep(pool);
    }

    /// Sorts the worst rows and keeps `pool` of them. Among equal residuals, earlier rows come first.
    fn keep(&mut self, pool: usize) {
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if pool < self.worst.len() {
            self.worst.select_nth_unstable_by(pool, order);
            self.worst.truncate(pool);
        }
        self.worst.sort_unstable_by(order);
    }

    fn merge(&mut self, mut other: Self, pool: usize) {
        self.explanation.bins().zip(other.explanation.bins()).for_each(|(bin, other)| bin.merge(*other));
        self.far_off.iter_mut().zip(other.far_off).for_each(|(sum, more)| *sum += more);
        self.worst.extend(other.worst);
        self.keep(pool);
    }
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
