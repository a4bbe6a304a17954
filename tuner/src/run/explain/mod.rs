//! Right and wrong predictions: expected against actual results by expectation, and by phase and material where positions
//! are known, and the rows that are misjudged most.
//!
//! One pass over the rows sums all of it, in parts by their number and added up in their order: the same bits come out
//! of any number of threads.

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

/// Bins of equal width that expectations from 0 to 1 are divided into.
pub(crate) const EXPECTATIONS: usize = 20;

/// An expectation further than this from the result is far off.
pub(crate) const FAR_OFF: f64 = 0.9;

/// Rows with scores and targets.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) problem: &'a Problem,
    /// The scale from centipawns to expected results.
    pub(crate) k: f64,
    /// By row: centipawns, White's view.
    pub(crate) scores: &'a [f32],
    /// By row: what its expectation is held against, 0..=1, White's view.
    pub(crate) targets: &'a [f32],
    /// By row: how much it counts; empty if all count alike.
    pub(crate) weights: &'a [f32],
    /// The rows that are counted in bins, by ascending number; `None` for all. Labels and the worst positions are always
    /// sought among all.
    pub(crate) counted: Option<&'a [u32]>,
}

impl Case<'_> {
    fn is_counted(&self, row: usize) -> bool {
        self.counted.is_none_or(|counted| counted.binary_search(&(row as u32)).is_ok())
    }
}

/// What is asked of an explanation for a page.
pub(crate) const WORST: Worst = Worst { count: 12, apart: 100 };

/// Which of the worst positions are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Worst {
    /// How many at most.
    pub(crate) count: usize,
    /// Positions nearer than this to a worse one, by their number in the data, are passed over; 1 for none. Positions
    /// near one another are mostly of one game, and tell the same.
    pub(crate) apart: usize,
}

/// So many times as many positions are looked at as are wanted, where some are passed over.
const POOL: usize = 20;

impl Worst {
    /// How many have to be looked at.
    fn pool(self) -> usize {
        if self.apart > 1 { self.count.saturating_mul(POOL) } else { self.count }
    }

    /// Those that are wanted, of the pool.
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

/// How expectations and results compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The scale from centipawns to expected results.
    pub(crate) k: f64,
    pub(crate) all: Bin,
    /// By expectation: [`EXPECTATIONS`] bins from Black's certain win to White's.
    pub(crate) calibration: Vec<Bin>,
    /// The same for each third of the phases, the endgame first.
    pub(crate) calibration_by_phase: [Vec<Bin>; PHASE_PARTS],
    /// By White's [`material_balance`], from −[`MOST_PAWNS`] to [`MOST_PAWNS`].
    pub(crate) by_material: Vec<Bin>,
    /// By [`phase`], from 0 to [`FULL_PHASE`].
    pub(crate) by_phase: Vec<Bin>,
    /// How far the labels of each file are from the expectations, in order.
    pub(crate) files: Vec<Agreement>,
    /// The positions whose expectation is furthest from their result, worst first.
    pub worst: Vec<Misjudged>,
}

/// The bin of an expectation.
fn bin_of(expected: f64) -> usize {
    ((expected * EXPECTATIONS as f64) as usize).min(EXPECTATIONS - 1)
}

/// How far the labels of a file are from the expectations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Agreement {
    pub(crate) file: String,
    pub(crate) positions: u64,
    /// Those whose expectation is more than [`FAR_OFF`] from their result.
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

/// A row whose expectation is far from its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Misjudged {
    /// Its number.
    pub(crate) row: usize,
    /// File and line, or file and game.
    pub(crate) place: String,
    /// The file, what it counts, and the number there, if the position is known.
    pub(crate) source: Option<(String, &'static str, u64)>,
    /// The position, if it is known, and the result of its game.
    pub(crate) position: Option<(Position, ResultLabel)>,
    /// Expected points of White by the target.
    pub(crate) target: f64,
    /// Expected points of White by the score.
    pub(crate) expected: f64,
    /// In centipawns, White's view.
    pub(crate) score: f64,
}

/// Explains the scores of a problem before and after, each with its K, and by how much their losses differ.
pub(crate) fn explained(
    problem: &Problem,
    both: [(f64, &[f32]); 2],
    (targets, weights): (&[f32], &[f32]),
    counted: Option<&[u32]>,
    loss: SampleLoss,
    worst: Worst,
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
pub(crate) fn explain(case: &Case<'_>, worst: Worst, progress: &dyn Progress) -> Explanation {
    assert_eq!(case.targets.len(), case.scores.len(), "a target for every score");
    progress.begin("explaining", case.scores.len() as u64, Unit::Positions);
    let parts: Vec<Range<usize>> =
        (0..case.scores.len()).step_by(CHUNK).map(|start| start..(start + CHUNK).min(case.scores.len())).collect();
    let judge = |range: Range<usize>| {
        let mut part = Sums::new(case);
        part.add_all(case, range.clone(), worst.pool());
        progress.advance(range.len() as u64);
        part
    };
    let mut sums = Sums::new(case);
    parallel::map(parts, judge).into_iter().for_each(|part| sums.merge(part, worst.pool()));
    progress.end();
    let worst = worst.pick(&sums.worst).into_iter().map(|row| misjudged(case, row)).collect();
    Explanation { worst, ..sums.told }
}

/// Sums over positions, and the worst of them.
struct Sums {
    /// Without the worst positions.
    told: Explanation,
    /// Distance of expectation and target, and number, worst first.
    worst: Vec<(f64, usize)>,
}

impl Sums {
    fn new(case: &Case<'_>) -> Self {
        let bins = |count| vec![Bin::default(); count];
        // Rows alone have no phase and no material.
        let known = |count| bins(if case.problem.dataset().is_some() { count } else { 0 });
        let agreement = |name: &str| Agreement { file: name.to_owned(), ..Agreement::default() };
        let files: Vec<&str> = case.problem.sets().map(|set| set.0).collect();
        let told = Explanation {
            k: case.k,
            calibration: bins(EXPECTATIONS),
            calibration_by_phase: std::array::from_fn(|_| known(EXPECTATIONS)),
            by_material: known(2 * MOST_PAWNS as usize + 1),
            by_phase: known(FULL_PHASE + 1),
            files: files.into_iter().map(agreement).collect(),
            ..Explanation::default()
        };
        Sums { told, worst: Vec::new() }
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
        let told = &mut self.told;
        for row in range {
            let expected = expectation(case.k, case.scores[row].into());
            let target = f64::from(case.targets[row]);
            let weight = case.weights.get(row).map_or(1.0, |&weight| f64::from(weight));
            let file = ends.partition_point(|&end| end <= row);
            told.files[file].add(target, expected);
            self.worst.push(((target - expected).abs(), row));
            if !case.is_counted(row) {
                continue;
            }
            let group = case.problem.groups[row];
            let bin = bin_of(expected);
            let add = |bin: &mut Bin| bin.add(expected, target, weight, group);
            add(&mut told.all);
            add(&mut told.calibration[bin]);
            let position = case.problem.position_of(row).zip(dataset).map(|(index, dataset)| dataset.position(index));
            if let Some(position) = position {
                let (phase, material) = (phase(&position), material_balance(&position) + MOST_PAWNS);
                add(&mut told.calibration_by_phase[phase_part(phase)][bin]);
                add(&mut told.by_material[material as usize]);
                add(&mut told.by_phase[phase]);
            }
        }
        self.keep(pool);
    }

    /// Sorts the worst and keeps so many of them; of equals, those that come first.
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
        let (told, other) = (&mut self.told, other.told);
        told.all.merge(&other.all);
        merge(&mut told.calibration, &other.calibration);
        for (bins, others) in told.calibration_by_phase.iter_mut().zip(&other.calibration_by_phase) {
            merge(bins, others);
        }
        merge(&mut told.by_material, &other.by_material);
        merge(&mut told.by_phase, &other.by_phase);
        told.files.iter_mut().zip(&other.files).for_each(|(file, other)| file.merge(other));
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
