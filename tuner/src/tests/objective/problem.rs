//! Synthetic problems: rows with results drawn from known parameters.

use engine::random::Random;
use std::sync::LazyLock;

use crate::model::Model;
use crate::model::layout::{Layout, Leaf, Sum, SumKind};
use crate::model::rows::{RowBuilder, Rows, RowsWriter};
use crate::model::tape::{Op, Tape};
use crate::objective::{Objective, PriorScale};
use crate::optimize::{Adam, Fit, Lbfgs, Limits, LocalSearch, Solver};

/// The number of pair features of the synthetic problems; the last never occurs.
pub(crate) const FEATURES: usize = 12;
pub(crate) const SIZE: usize = parameters(FEATURES);

/// The number of pieces of each kind with a phase weight at the start of a game.
const PIECES: [i32; 5] = [16, 4, 4, 4, 2];
pub(crate) type PhaseCounts = [i32; 5];

/// Returns the number of parameters of a model with `pairs` pairs.
pub(crate) const fn parameters(pairs: usize) -> usize {
    2 * pairs + PIECES.len()
}

/// Returns a tapered model: `pairs` pairs, five phase weights that blend midgame and endgame, and a constant.
pub(crate) fn tapered(pairs: usize) -> Model {
    let leaf = |parameter| Leaf { parameter, unit: 1.0 };
    let sum = |name: &str, kind, leaves| Sum { name: name.to_owned(), kind, is_sided: false, leaves };
    let sums = vec![
        sum("main", SumKind::Pair, (0..pairs).map(|pair| leaf(2 * pair)).collect()),
        sum("phase", SumKind::Single, (2 * pairs..parameters(pairs)).map(leaf).collect()),
    ];
    let full = PIECES.iter().enumerate().map(|(piece, &count)| (2 * pairs + piece, f64::from(count))).collect();
    let layout = Layout::new(parameters(pairs), sums, vec!["constant".to_owned()], vec![full]);
    let mut tape = Tape::default();
    let [mg, eg, phase, full] = [0, 1, 2, 3].map(|slot| tape.push(Op::Slot(slot)));
    let [tiny, one, zero] = [1e-12, 1.0, 0.0].map(|number| tape.push(Op::Constant(number)));
    let [phase, full] = [phase, full].map(|total| tape.push(Op::Add(total, tiny)));
    let share = tape.push(Op::Div(phase, full));
    let share = tape.push(Op::Min(one, share));
    let share = tape.push(Op::Max(zero, share));
    let range = tape.push(Op::Sub(mg, eg));
    let part = tape.push(Op::Mul(share, range));
    let blend = tape.push(Op::Add(eg, part));
    let constant = tape.push(Op::Fact(0));
    tape.push(Op::Add(blend, constant));
    Model { layout, tape }
}

/// Returns the model of the synthetic problems.
pub(crate) fn model() -> &'static Model {
    static MODEL: LazyLock<Model> = LazyLock::new(|| tapered(FEATURES));
    &MODEL
}

pub(crate) fn objective(rows: &Rows, k: f64) -> Objective<'_> {
    Objective::new(rows, model(), k).unwrap()
}

/// Returns the objective with a prior centred at `start`, its scale included.
pub(crate) fn objective_with_prior<'r>(rows: &'r Rows, k: f64, strength: f64, start: &[f64]) -> Objective<'r> {
    objective(rows, k).with_prior(strength, start, PriorScale::Fixed).unwrap()
}

/// Appends a row of a tapered model.
pub(crate) fn push(writer: &mut RowsWriter, entries: &[(u16, i8)], phase: PhaseCounts, target: f32, constant: f32) {
    let mut row = RowBuilder::default();
    row.clear(1);
    entries.iter().for_each(|&(leaf, count)| row.add(0, usize::from(leaf), i32::from(count)));
    phase.iter().enumerate().for_each(|(piece, &count)| row.add(1, piece, count));
    row.set_fact(0, constant);
    writer.push(&mut row, target).unwrap();
}

/// Returns the entries, phase counts and constant of a row, as appended.
pub(crate) fn appended(rows: &Rows, row: usize) -> (Vec<(u16, i8)>, PhaseCounts, f32) {
    let segments = rows.row(row);
    let entries = segments[0].leaves.iter().copied().zip(segments[0].counts.iter().copied()).collect();
    let mut phase = [0; 5];
    for (&piece, &count) in segments[1].leaves.iter().zip(segments[1].counts) {
        phase[usize::from(piece)] += i32::from(count);
    }
    (entries, phase, rows.facts(row)[0])
}

/// Returns the parameters that results are drawn from.
pub(crate) fn truth() -> Vec<f64> {
    let mut theta: Vec<f64> = (0..2 * FEATURES).map(|j| 40.0 + 17.0 * ((j * 7 % 11) as f64 - 3.0)).collect();
    theta.extend([1.0, 9.0, 11.0, 18.0, 42.0]);
    theta
}

pub(crate) fn start() -> Vec<f64> {
    let mut theta = vec![30.0; 2 * FEATURES];
    theta.extend([0.0, 10.0, 10.0, 20.0, 40.0]);
    theta
}

/// Returns lower bounds, upper bounds and a start within them: wide bounds, except for two parameters with an active
/// bound.
pub(crate) fn tight() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut lower, mut upper, mut begin) = (vec![-5000.0; SIZE], vec![5000.0; SIZE], start());
    lower[2 * FEATURES..].fill(0.0);
    (lower[2], upper[2], lower[5], upper[5]) = (10.0, 35.0, 20.0, 41.0);
    begin[2] = 20.0;
    (lower, upper, begin)
}

/// Returns rows in which the last feature never occurs and the last but one rarely; some rows have no entries. `y`
/// gives the targets.
pub(crate) fn rows(count: usize, mut y: impl FnMut(&mut Random, f64) -> f32) -> Rows {
    let (mut random, theta) = (Random::seeded(7), truth());
    let mut writer = RowsWriter::in_memory((&model().layout).into());
    for _ in 0..count {
        let rare = random.below(40) == 0;
        let mut entries = Vec::new();
        for index in 0..FEATURES as u16 - 1 {
            let count = random.below(7) as i8 - 3;
            let seen = random.below(2) == 0 && (rare || usize::from(index) < FEATURES - 2);
            if seen && count != 0 {
                entries.push((index, count));
            }
        }
        let phase: PhaseCounts = PIECES.map(|count| random.below(count as u64 + 1) as i32);
        let constant = if random.below(50) == 0 { 25.0 } else { 0.0 };
        let score = score(&entries, phase, constant, &theta);
        let target = y(&mut random, score);
        push(&mut writer, &entries, phase, target, constant as f32);
    }
    push(&mut writer, &[], [0; 5], 1.0, 30_000.0);
    push(&mut writer, &[], PIECES, 0.5, -30_000.0);
    writer.finish().unwrap()
}

/// Computes the score of a row directly.
pub(crate) fn score(entries: &[(u16, i8)], phase: PhaseCounts, constant: f64, theta: &[f64]) -> f64 {
    let weigh = |counts: PhaseCounts| -> f64 {
        counts.iter().zip(&theta[2 * FEATURES..]).map(|(&count, weight)| f64::from(count) * weight).sum()
    };
    let f = if weigh(PIECES) > 0.0 { (weigh(phase) / weigh(PIECES)).min(1.0) } else { 1.0 };
    let value = |&(index, count): &(u16, i8)| {
        let j = 2 * usize::from(index);
        f64::from(count) * (f * theta[j] + (1.0 - f) * theta[j + 1])
    };
    constant + entries.iter().map(value).sum::<f64>()
}

pub(crate) fn expectation(score: f64) -> f64 {
    1.0 / (1.0 + 10.0_f64.powf(-score / 400.0))
}

/// Draws a result from the expectation of the true score.
pub(crate) fn drawn(random: &mut Random, score: f64) -> f32 {
    let chance = expectation(score);
    match random.unit() {
        x if x < chance * chance => 1.0,
        x if x < chance * (2.0 - chance) => 0.5,
        _ => 0.0,
    }
}

/// Returns the expectation of the true score.
pub(crate) fn exact(_: &mut Random, score: f64) -> f32 {
    expectation(score) as f32
}

pub(crate) fn bounds() -> Limits {
    let lower = (0..SIZE).map(|j| if j < 2 * FEATURES { -5000.0 } else { 0.0 }).collect();
    let upper = (0..SIZE).map(|j| if j < 2 * FEATURES { 5000.0 } else { 1000.0 }).collect();
    Limits::new(lower, upper)
}

pub(crate) fn moved(theta: &[f64], index: usize, by: f64) -> Vec<f64> {
    let mut theta = theta.to_vec();
    theta[index] += by;
    theta
}

pub(crate) fn minimize(objective: &Objective<'_>, start: &[f64], limits: &Limits) -> Fit {
    let solver = Lbfgs { tolerance: 1e-8, ..Lbfgs::default() };
    let fit = solver.minimize(objective, start, limits).unwrap();
    for step in fit.history.windows(2) {
        assert!(step[1].loss <= step[0].loss * (1.0 + 1e-14), "the loss rises: {step:?}");
    }
    fit
}

/// Returns all methods, each with the largest allowed excess of its loss over the minimum, as a ratio.
pub(crate) fn methods() -> [(Box<dyn Solver>, f64); 3] {
    [
        (Box::new(Lbfgs::default()), 1e-12),
        (Box::new(Adam::default()), 1e-6),
        // Local search finds integers only, phase weights included.
        (Box::new(LocalSearch::default()), 2e-4),
    ]
}
