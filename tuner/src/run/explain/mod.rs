//! What parameters get right and wrong: expected against actual results by expectation, phase and material, and the
//! positions that are misjudged most.
//!
//! All of it comes of one pass over the positions. It is divided by their number alone and added up in their order:
//! the same bits come out of any number of threads.

mod bins;

use std::ops::Range;

use engine::chess::{Move, Position};
use engine::eval::Evaluator;
use engine::search::{Pruning, Quiescence};

use crate::data::{
    Dataset, FULL_PHASE, MOST_PAWNS, Outcome, PHASE_PARTS, Place, Record, material_balance, phase, phase_part,
};
use crate::features::Resolve;
use crate::model::rows::Weighted;
use crate::objective::{Difference, SampleLoss, expectation, loss_difference};
use crate::parallel;
use crate::progress::Progress;
pub use bins::{Bin, Moments};

/// Bins of equal width that expectations from 0 to 1 are divided into.
pub(crate) const EXPECTATIONS: usize = 20;

/// An expectation further than this from the result is far off.
pub(crate) const FAR_OFF: f64 = 0.9;

/// Positions and the parameters that judge them.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) dataset: &'a Dataset,
    pub(crate) evaluator: &'a Evaluator,
    pub(crate) resolve: Resolve,
    /// The scale from centipawns to expected results.
    pub(crate) k: f64,
    /// What the expectation of each position is held against, 0..=1, White's view.
    pub(crate) targets: &'a [f32],
    /// The positions that are counted in bins, by ascending number; `None` for all. Labels and the worst positions are
    /// always sought among all.
    pub(crate) counted: Option<&'a [u32]>,
}

impl Case<'_> {
    fn is_counted(&self, sample: usize) -> bool {
        self.counted.is_none_or(|counted| counted.binary_search(&(sample as u32)).is_ok())
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
    /// The score of each position that was counted, in order, in centipawns, White's view.
    pub(crate) scores: Vec<i16>,
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

impl Explanation {
    /// Of scores alone, in groups that follow one another: nothing is told by phase or material.
    pub(crate) fn of_scores(k: f64, scores: impl Iterator<Item = f64>, weighted: Weighted<'_>, groups: &[u32]) -> Self {
        let calibration = vec![Bin::default(); EXPECTATIONS];
        let mut told = Explanation { k, calibration, ..Explanation::default() };
        for (place, (score, &group)) in scores.zip(groups).enumerate() {
            let target = f64::from(weighted.targets[place]);
            let expected = expectation(k, score);
            told.scores.push(score.round() as i16);
            for bin in [&mut told.all, &mut told.calibration[bin_of(expected)]] {
                bin.add(expected, target, weighted.weight(place), group);
            }
        }
        told
    }
}

/// The bin of an expectation.
fn bin_of(expected: f64) -> usize {
    ((expected * EXPECTATIONS as f64) as usize).min(EXPECTATIONS - 1)
}

/// How far the labels of a file are from the expectations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agreement {
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

/// A position whose expectation is far from its result.
#[derive(Clone, Debug, PartialEq)]
pub struct Misjudged {
    /// Its number in the data.
    pub(crate) sample: usize,
    pub(crate) file: String,
    /// What the file counts.
    pub(crate) record: Record,
    /// Its line or game there, 1 for the first.
    pub(crate) number: u64,
    pub(crate) position: Position,
    pub(crate) outcome: Outcome,
    /// What its expectation was held against, White's view.
    pub(crate) target: f64,
    /// Expected points of White, 0..=1.
    pub(crate) expected: f64,
    /// Its evaluation, in centipawns, White's view.
    pub(crate) static_score: i32,
    /// The score of its quiescence search, in centipawns, White's view.
    pub(crate) qsearch: i32,
    /// The moves that lead to the leaf of that search.
    pub(crate) moves: Vec<Move>,
    pub(crate) leaf: Position,
}

impl Misjudged {
    /// Where it stands, in a file called so.
    pub(crate) fn place(&self, file: &str) -> String {
        Place { file, record: self.record, number: self.number }.to_string()
    }

    /// The moves to the leaf, as people write them.
    pub(crate) fn line_to_leaf(&self) -> String {
        let mut position = self.position.clone();
        let mut words = Vec::with_capacity(self.moves.len());
        for &mv in &self.moves {
            words.push(position.to_san(mv));
            position.play(mv);
        }
        words.join(" ")
    }
}

/// Compares expectations with results.
pub(crate) fn explain(case: &Case<'_>, worst: Worst, progress: &dyn Progress) -> Explanation {
    assert_eq!(case.targets.len(), case.dataset.len(), "a target for every position");
    let mut sums = Sums::new(case);
    let judge = |range: Range<usize>| {
        let mut part = Sums::new(case);
        part.add_all(case, range, worst.pool());
        part
    };
    case.dataset.each_chunk("explaining", judge, |part| sums.merge(part, worst.pool()), progress);
    let worst = parallel::map(worst.pick(&sums.worst), |sample| misjudged(case, sample));
    Explanation { worst, ..sums.told }
}

/// By how much the mean loss of `after` differs from that of `before`, which both explain the positions of `case`.
pub(crate) fn loss_change(case: &Case<'_>, loss: SampleLoss, before: &Explanation, after: &Explanation) -> Difference {
    let samples: Vec<usize> = match case.counted {
        Some(counted) => counted.iter().map(|&sample| sample as usize).collect(),
        None => (0..case.dataset.len()).collect(),
    };
    let is_same = |explained: &Explanation| explained.scores.len() == samples.len();
    assert!(is_same(before) && is_same(after), "explanations of other positions");
    let targets: Vec<f32> = samples.iter().map(|&sample| case.targets[sample]).collect();
    let weights = case.dataset.weights();
    let weights: Vec<f32> = samples.iter().filter_map(|&sample| weights.get(sample).copied()).collect();
    let groups: Vec<u32> = samples.iter().map(|&sample| case.dataset.groups()[sample]).collect();
    let weighted = Weighted { targets: &targets, weights: &weights };
    loss_difference(loss, (before.k, &before.scores), (after.k, &after.scores), weighted, &groups)
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
        let agreement = |name: &String| Agreement { file: name.clone(), ..Agreement::default() };
        let told = Explanation {
            k: case.k,
            calibration: bins(EXPECTATIONS),
            calibration_by_phase: std::array::from_fn(|_| bins(EXPECTATIONS)),
            by_material: bins(2 * MOST_PAWNS as usize + 1),
            by_phase: bins(FULL_PHASE + 1),
            files: case.dataset.files().iter().map(|file| agreement(&file.name)).collect(),
            ..Explanation::default()
        };
        Sums { told, worst: Vec::new() }
    }

    /// Adds positions of one file.
    fn add_all(&mut self, case: &Case<'_>, range: Range<usize>, pool: usize) {
        let mut quiescence = Quiescence::new(case.evaluator, Pruning::Exact);
        let (told, file) = (&mut self.told, case.dataset.file_of(range.start));
        let weight = case.dataset.files()[file].weight.get();
        for (sample, (position, label)) in range.clone().zip(case.dataset.samples(range)) {
            let score = match case.resolve {
                Resolve::Static => case.evaluator.evaluate_for_white(&position),
                Resolve::Qsearch => quiescence.score_for_white(&position),
            };
            let expected = expectation(case.k, score.into());
            let target = f64::from(case.targets[sample]);
            let group = label.group;
            told.files[file].add(target, expected);
            self.worst.push(((target - expected).abs(), sample));
            if !case.is_counted(sample) {
                continue;
            }
            // Evaluations and mates lie within ±32,000 centipawns.
            told.scores.push(score as i16);
            let (phase, material) = (phase(&position), material_balance(&position) + MOST_PAWNS);
            let bin = bin_of(expected);
            for bin in [
                &mut told.all,
                &mut told.calibration[bin],
                &mut told.calibration_by_phase[phase_part(phase)][bin],
                &mut told.by_material[material as usize],
                &mut told.by_phase[phase],
            ] {
                bin.add(expected, target, weight, group);
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
        told.scores.extend(other.scores);
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

fn misjudged(case: &Case<'_>, sample: usize) -> Misjudged {
    let position = case.dataset.position(sample);
    let place = case.dataset.place(sample);
    let leaf = Quiescence::new(case.evaluator, Pruning::Exact).resolve(&position);
    let static_score = case.evaluator.evaluate_for_white(&position);
    let score = match case.resolve {
        Resolve::Static => static_score,
        Resolve::Qsearch => leaf.score,
    };
    Misjudged {
        sample,
        file: place.file.to_owned(),
        record: place.record,
        number: place.number,
        position,
        outcome: case.dataset.label(sample).outcome,
        target: case.targets[sample].into(),
        expected: expectation(case.k, score.into()),
        static_score,
        qsearch: leaf.score,
        moves: leaf.line.to_vec(),
        leaf: leaf.position,
    }
}
