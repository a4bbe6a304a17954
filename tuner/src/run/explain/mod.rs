//! Calibration of the predictions: expected against actual results by expectation and, if positions are known, by phase
//! and material; and the rows with the largest residuals.
//!
//! One pass over the rows computes all sums. Chunks are merged in order, so the result does not depend on the number of
//! threads.

mod bins;

use std::ops::Range;

use engine::chess::Position;

use crate::data::{FULL_PHASE, MOST_PAWNS, PHASE_PARTS, ResultLabel, material_balance, phase, phase_part};
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

impl Case<'_> {
    fn is_counted(&self, row: usize) -> bool {
        self.counted.is_none_or(|counted| counted.binary_search(&(row as u32)).is_ok())
    }
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
    /// Calibration by third of the phase range, endgame first.
    pub(crate) calibration_by_phase: [Vec<Bin>; PHASE_PARTS],
    /// Bins by White's [`material_balance`], from −[`MOST_PAWNS`] to [`MOST_PAWNS`].
    pub(crate) by_material: Vec<Bin>,
    /// Bins by [`phase`], from 0 to [`FULL_PHASE`].
    pub(crate) by_phase: Vec<Bin>,
    /// Agreement of the labels with the expectations, by file in order.
    pub(crate) files: Vec<Agreement>,
    /// The positions with the largest residuals, worst first.
    pub worst: Vec<Misjudged>,
}

/// Returns the bin of an expectation.
fn bin_of(expected: f64) -> usize {
    ((expected * EXPECTATIONS as f64) as usize).min(EXPECTATIONS - 1)
}

/// The agreement of the labels of a file with the expectations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Agreement {
    pub(crate) file: String,
    pub(crate) positions: u64,
    /// The number of positions with an absolute residual above [`FAR_OFF`].
    pub(crate) far_off: u64,
}

impl Agreement {
    fn add(&mut self, target: f64, expected: f64) {
        self.positions += 1;
        self.far_off += u64::from((target - expected).abs() > FAR_OFF);
    }

    fn merge(&mut self, other: &Self) {
        self.positions += other.positions;
        self.far_off += other.far_off;
    }
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
    Explanation { worst, ..sums.explanation }
}

/// The sums of a chunk of rows and its worst positions.
struct ExplanationSums {
    /// Bins and statistics, without the worst positions.
    explanation: Explanation,
    /// Absolute residual and row index, worst first.
    worst: Vec<(f64, usize)>,
}

impl ExplanationSums {
    fn new(case: &Case<'_>) -> Self {
        let bins = |count| vec![Bin::default(); count];
        // Rows without positions have no phase and no material.
        let known = |count| bins(if case.problem.dataset().is_some() { count } else { 0 });
        let agreement = |name: &str| Agreement { file: name.to_owned(), ..Agreement::default() };
        let files: Vec<&str> = case.problem.sets().map(|set| set.0).collect();
        let explanation = Explanation {
            k: case.k,
            calibration: bins(EXPECTATIONS),
            calibration_by_phase: std::array::from_fn(|_| known(EXPECTATIONS)),
            by_material: known(2 * MOST_PAWNS as usize + 1),
            by_phase: known(FULL_PHASE + 1),
            files: files.into_iter().map(agreement).collect(),
            ..Explanation::default()
        };
        ExplanationSums { explanation, worst: Vec::new() }
    }

    fn add_all(&mut self, case: &Case<'_>, range: Range<usize>, pool: usize) {
        let dataset = case.problem.dataset();
        let ends: Vec<usize> = case
            .problem
            .sets()
            .map(|set| set.2)
            .scan(0, |end, count| {
                *end += count;
                Some(*end)
            })
            .collect();
        let explanation = &mut self.explanation;
        for row in range {
            let expected = expectation(case.k, case.scores[row].into());
            let target = f64::from(case.targets[row]);
            let weight = case.weights.get(row).map_or(1.0, |&weight| f64::from(weight));
            let file = ends.partition_point(|&end| end <= row);
            explanation.files[file].add(target, expected);
            self.worst.push(((target - expected).abs(), row));
            if !case.is_counted(row) {
                continue;
            }
            let group = case.problem.groups[row];
            let bin = bin_of(expected);
            let add = |bin: &mut Bin| bin.add(expected, target, weight, group);
            add(&mut explanation.all);
            add(&mut explanation.calibration[bin]);
            let position = case.problem.position_of(row).zip(dataset).map(|(index, dataset)| dataset.position(index));
            if let Some(position) = position {
                let (phase, material) = (phase(&position), material_balance(&position) + MOST_PAWNS);
                add(&mut explanation.calibration_by_phase[phase_part(phase)][bin]);
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

    fn merge(&mut self, other: Self, pool: usize) {
        let merge = |bins: &mut [Bin], others: &[Bin]| {
            bins.iter_mut().zip(others).for_each(|(bin, other)| bin.merge(other));
        };
        self.worst.extend(other.worst);
        let (explanation, other) = (&mut self.explanation, other.explanation);
        explanation.all.merge(&other.all);
        merge(&mut explanation.calibration, &other.calibration);
        for (bins, others) in explanation.calibration_by_phase.iter_mut().zip(&other.calibration_by_phase) {
            merge(bins, others);
        }
        merge(&mut explanation.by_material, &other.by_material);
        merge(&mut explanation.by_phase, &other.by_phase);
        explanation.files.iter_mut().zip(&other.files).for_each(|(file, other)| file.merge(other));
        self.keep(pool);
    }
}

fn misjudged(case: &Case<'_>, row: usize) -> Misjudged {
    let position = case.problem.position_of(row).zip(case.problem.dataset());
    let source = position.map(|(index, dataset)| {
        let place = dataset.place(index);
        (place.file.to_owned(), place.record.name(), place.number)
    });
    Misjudged {
        row,
        source,
        place: case.problem.place(row),
        position: position.map(|(index, dataset)| (dataset.position(index), dataset.label(index).outcome)),
        target: case.targets[row].into(),
        expected: expectation(case.k, case.scores[row].into()),
        score: case.scores[row].into(),
    }
}
