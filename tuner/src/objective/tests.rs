//! Tests of the objective with plain arithmetic, on a model with every feature of a layout.

use super::*;
use crate::model::layout::{Layout, Leaf, Sum, SumKind};
use crate::model::rows::{RowBuilder, RowsWriter};
use crate::model::tape::{Op, Tape};
use engine::random::Random;

/// Number of parameters: three pairs, five of a sided sum, two of another; the total is odd.
pub(crate) const SIZE: usize = 13;
/// Units of the leaves of the first two sums.
const UNITS: ([f64; 3], [f64; 5]) = ([1.0, 0.5, 1.0], [1.0, 1.0, 2.0, 1.0, 1.0]);
/// Counts of the last two parameters in the common total.
const FULL: [f64; 2] = [3.0, 4.0];

pub(crate) const THETA: [f64; SIZE] = [50.0, -20.0, 80.0, 60.0, -35.0, 15.0, 12.0, 30.0, -8.0, 20.0, 5.0, 10.0, 21.0];

/// A row as plain counts.
pub(crate) struct Plain {
    main: [i32; 3],
    danger: [[i32; 5]; 2],
    phase: [i32; 2],
    fact: f32,
}

impl Plain {
    fn drawn(random: &mut Random) -> Self {
        let mut below = |bound: u64| random.below(bound) as i32;
        Plain {
            main: [0; 3].map(|_| below(7) - 3),
            danger: [[0; 5]; 2].map(|side| side.map(|_| below(4) / 2)),
            phase: [1 + below(3), below(5)],
            fact: if below(10) == 0 { 25.0 } else { 0.0 },
        }
    }

    /// Returns the score by plain arithmetic.
    pub(crate) fn score(&self, theta: &[f64]) -> f64 {
        let main = |half: usize| -> f64 {
            (0..3).map(|leaf| f64::from(self.main[leaf]) * UNITS.0[leaf] * theta[2 * leaf + half]).sum()
        };
        let danger = |side: usize| -> f64 {
            let sum: f64 =
                (0..5).map(|leaf| f64::from(self.danger[side][leaf]) * UNITS.1[leaf] * theta[6 + leaf]).sum();
            (sum + sum.max(0.0) * sum / 64.0) / 4.0
        };
        let phase = f64::from(self.phase[0]) * theta[11] + f64::from(self.phase[1]) * theta[12];
        let fraction = phase / (FULL[0] * theta[11] + FULL[1] * theta[12]);
        let (mg, eg) = (main(0) + danger(0) - danger(1), main(1));
        f64::from(self.fact) + fraction * mg + (1.0 - fraction) * eg
    }

    /// Returns the gradient of the score by finite differences.
    pub(crate) fn slopes(&self, theta: &[f64]) -> Vec<f64> {
        let at = |j: usize, by: f64| self.score(&moved(theta, j, by));
        (0..SIZE).map(|j| (at(j, 1e-3) - at(j, -1e-3)) / 2e-3).collect()
    }
}

pub(crate) fn moved(theta: &[f64], j: usize, by: f64) -> Vec<f64> {
    let mut theta = theta.to_vec();
    theta[j] += by;
    theta
}

pub(crate) fn model() -> Model {
    let leaf = |(parameter, unit): (usize, f64)| Leaf { parameter, unit };
    let main = [0, 2, 4].into_iter().zip(UNITS.0).map(leaf).collect();
    let danger = (6..11).zip(UNITS.1).map(leaf).collect();
    let phase = (11..13).map(|parameter| leaf((parameter, 1.0))).collect();
    let sum = |name: &str, kind, is_sided, leaves| Sum { name: name.to_owned(), kind, is_sided, leaves };
    let sums = vec![
        sum("main", SumKind::Pair, false, main),
        sum("danger", SumKind::Single, true, danger),
        sum("phase", SumKind::Single, false, phase),
    ];
    let common = vec![vec![(11, FULL[0]), (12, FULL[1])]];
    let layout = Layout::new(SIZE, sums, vec!["constant".to_owned()], common);
    let mut tape = Tape::default();
    let [mg, eg, white, black, phase, full] = [0, 1, 2, 3, 4, 5].map(|slot| tape.push(Op::Slot(slot)));
    let [zero, bend, share] = [0.0, 1.0 / 64.0, 0.25].map(|number| tape.push(Op::Constant(number)));
    let [white, black] = [white, black].map(|sum| {
        let above = tape.push(Op::Max(sum, zero));
        let square = tape.push(Op::Mul(above, sum));
        let square = tape.push(Op::Mul(square, bend));
        let whole = tape.push(Op::Add(sum, square));
        tape.push(Op::Mul(whole, share))
    });
    let danger = tape.push(Op::Sub(white, black));
    let mg = tape.push(Op::Add(mg, danger));
    let fraction = tape.push(Op::Div(phase, full));
    let range = tape.push(Op::Sub(mg, eg));
    let part = tape.push(Op::Mul(fraction, range));
    let blend = tape.push(Op::Add(eg, part));
    let fact = tape.push(Op::Fact(0));
    tape.push(Op::Add(blend, fact));
    Model { layout, tape }
}

/// Returns rows with random results according to [`THETA`], and the same rows as counts.
pub(crate) fn rows(model: &Model, count: usize) -> (Rows, Vec<Plain>) {
    let mut random = Random::seeded(9);
    let (mut writer, mut row) = (RowsWriter::in_memory((&model.layout).into()), RowBuilder::default());
    let mut plain = Vec::new();
    for _ in 0..count {
        let counts = Plain::drawn(&mut random);
        row.clear(1);
        let segments = [&counts.main[..], &counts.danger[0], &counts.danger[1], &counts.phase];
        for (segment, counts) in segments.into_iter().enumerate() {
            counts.iter().enumerate().for_each(|(leaf, &count)| row.add(segment, leaf, count));
        }
        row.set_fact(0, counts.fact);
        let won = (random.below(1 << 30) as f64) < expectation(1.0, counts.score(&THETA)) * (1 << 30) as f64;
        writer.push(&mut row, f32::from(u8::from(won))).unwrap();
        plain.push(counts);
    }
    (writer.finish().unwrap(), plain)
}

/// Returns the same rows with different weights.
fn weighted(rows: Rows) -> Rows {
    let weights = (0..rows.len()).map(|row| [1.0, 0.25, 3.0][row % 3]).collect();
    rows.with_weights(weights)
}

pub(crate) const LOSSES: [SampleLoss; 2] = [SampleLoss::SquaredError, SampleLoss::CrossEntropy];

fn objectives<'r>(rows: &'r Rows, model: &'r Model) -> [Objective<'r>; 2] {
    let centre = [20.0; SIZE];
    LOSSES.map(|loss| {
        let objective = Objective::new(rows, model, 1.2).unwrap().with_loss(loss);
        objective.with_prior(1e-7, &centre, PriorScale::Free).unwrap()
    })
}

/// Compares matrices entry by entry, relative to their diagonals.
fn assert_close(found: &SymmetricMatrix, expected: impl Fn(usize, usize) -> f64, tolerance: f64) {
    for i in 0..found.size() {
        for j in 0..=i {
            let size = (found.get(i, i) * found.get(j, j)).abs().sqrt().max(1e-12);
            let (found, expected) = (found.get(i, j), expected(i, j));
            assert!((found - expected).abs() <= tolerance * size, "{i}, {j}: {found} for {expected}");
        }
    }
}

#[test]
fn a_pass_sums_the_losses_of_the_rows() {
    let model = model();
    let (rows, plain) = rows(&model, 1000);
    for objective in objectives(&rows, &model) {
        let found = scores(&rows, &model, &THETA);
        assert!(found.iter().zip(&plain).all(|(found, row)| (found - row.score(&THETA)).abs() < 1e-9));
        let losses = objective.row_losses(&THETA);
        let mean = losses.iter().sum::<f64>() / losses.len() as f64;
        let (loss, _) = objective.loss_and_gradient(&THETA);
        assert!((objective.data_loss(&THETA) / mean - 1.0).abs() < 1e-14);
        assert_eq!(loss, objective.loss(&THETA));
        assert_eq!(loss, objective.data_loss(&THETA) + objective.prior.loss(&THETA));
        for (row, &found) in losses.iter().enumerate() {
            let p = expectation(1.2, plain[row].score(&THETA));
            let y = f64::from(rows.targets()[row]);
            let expected = match objective.measure().0 {
                SampleLoss::SquaredError => (p - y).powi(2),
                SampleLoss::CrossEntropy => -y * p.ln() - (1.0 - y) * (1.0 - p).ln(),
            };
            assert!((found - expected).abs() < 1e-9, "row {row}: {found} for {expected}");
            assert!((objective.row_cost(plain[row].score(&THETA), row).0 - found).abs() < 1e-12);
        }
    }
}

#[test]
fn the_gradient_agrees_with_finite_differences() {
    let model = model();
    let (rows, _) = rows(&model, 1000);
    let rows = weighted(rows);
    for objective in objectives(&rows, &model) {
        let (_, gradient) = objective.loss_and_gradient(&THETA);
        for (j, &found) in gradient.iter().enumerate() {
            let at = |by: f64| objective.loss(&moved(&THETA, j, by));
            let expected = (8.0 * (at(1e-3) - at(-1e-3)) - (at(2e-3) - at(-2e-3))) / 12e-3;
            assert!((found - expected).abs() < 1e-10 + 1e-6 * found.abs(), "{j}: {found} for {expected}");
        }
    }
}

/// Returns the mean of `weight · slope slopeᵀ` over rows.
fn outer(plain: &[Plain], weight: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
    let mut sum = vec![vec![0.0; SIZE]; SIZE];
    for (row, counts) in plain.iter().enumerate() {
        let (slopes, weight) = (counts.slopes(&THETA), weight(row) / plain.len() as f64);
        for i in 0..SIZE {
            (0..SIZE).for_each(|j| sum[i][j] += weight * slopes[i] * slopes[j]);
        }
    }
    sum
}

#[test]
fn gauss_newton_and_outer_products_agree_with_dense_sums() {
    let model = model();
    let (rows, plain) = rows(&model, 5000);
    let logit = 1.2 * std::f64::consts::LN_10 / 400.0;
    for loss in LOSSES {
        let objective = Objective::new(&rows, &model, 1.2).unwrap().with_loss(loss);
        let p = |row: usize| expectation(1.2, plain[row].score(&THETA));
        let spread = |row: usize| p(row) * (1.0 - p(row));
        let residual = |row: usize| p(row) - f64::from(rows.targets()[row]);
        let bend = |row: usize| match loss {
            SampleLoss::SquaredError => 2.0 * spread(row).powi(2),
            SampleLoss::CrossEntropy => spread(row),
        };
        let slope = |row: usize| match loss {
            SampleLoss::SquaredError => 2.0 * residual(row) * spread(row),
            SampleLoss::CrossEntropy => residual(row),
        };
        let expected = outer(&plain, |row| logit * logit * bend(row));
        let gauss_newton = objective.hessian(&THETA, HessianKind::GaussNewton);
        assert_close(&gauss_newton, |i, j| expected[i][j], 1e-5);
        let expected = outer(&plain, |row| (logit * slope(row)).powi(2));
        assert_close(&objective.hessian(&THETA, HessianKind::Outer), |i, j| expected[i][j], 1e-5);
        let diagonal = objective.gauss_newton_diagonal(&THETA);
        for (j, entry) in diagonal.iter().enumerate() {
            assert!((entry / gauss_newton.get(j, j) - 1.0).abs() < 1e-9, "{j}");
        }
        let prior = objective.clone().with_prior(1e-4, &[20.0; SIZE], PriorScale::Free).unwrap();
        let (with, at) = (prior.hessian(&THETA, HessianKind::GaussNewton), prior.gauss_newton_diagonal(&THETA));
        at.iter().enumerate().for_each(|(j, at)| assert!((at / with.get(j, j) - 1.0).abs() < 1e-9, "{j}"));
    }
}

#[test]
fn matrices_of_some_parameters_agree_with_those_of_all() {
    let model = model();
    let (rows, _) = rows(&model, 1000);
    let objective = Objective::new(&rows, &model, 1.2).unwrap();
    let groups: Vec<u32> = (0..1000).map(|row| row / 3).collect();
    let is_wanted = |parameter: usize| parameter % 3 == 1;
    let compare = |found: SymmetricMatrix, all: SymmetricMatrix| {
        for i in (0..SIZE).filter(|&i| is_wanted(i)) {
            assert_ne!(all.get(i, i), 0.0);
            for j in (0..SIZE).filter(|&j| is_wanted(j)) {
                let (found, all) = (found.get(i, j), all.get(i, j));
                assert!((found - all).abs() <= 1e-12 * all.abs(), "{i}, {j}: {found} for {all}");
            }
        }
    };
    for kind in [HessianKind::GaussNewton, HessianKind::Outer] {
        for stride in [1, 7] {
            let all = objective.hessian_among(&THETA, kind, stride, &|_| true);
            compare(objective.hessian_among(&THETA, kind, stride, &is_wanted), all);
        }
    }
    let [(found, count), (all, of_all)] = [&is_wanted as &dyn Fn(usize) -> bool, &|_| true]
        .map(|wanted| objective.outer_by_group(&THETA, &groups, wanted));
    compare(found, all);
    assert_eq!((count, of_all), (334, 334));
}

#[test]
fn gradients_of_a_group_are_summed_before_the_outer_product() {
    let model = model();
    // There are more groups than are multiplied at once.
    let (rows, plain) = rows(&model, 1501);
    let groups: Vec<u32> = (0..1501).map(|row| 7 * (row / 4)).collect();
    let objective = Objective::new(&rows, &model, 1.2).unwrap().with_loss(SampleLoss::CrossEntropy);
    let (found, count) = objective.outer_by_group(&THETA, &groups, &|_| true);
    assert_eq!(count, 376);
    let logit = 1.2 * std::f64::consts::LN_10 / 400.0;
    let mut expected = vec![vec![0.0; SIZE]; SIZE];
    for first in (0..1501).step_by(4) {
        let mut sum = [0.0; SIZE];
        for (row, counts) in plain.iter().enumerate().skip(first).take(4) {
            let slope = logit * (expectation(1.2, counts.score(&THETA)) - f64::from(rows.targets()[row]));
            sum.iter_mut().zip(counts.slopes(&THETA)).for_each(|(sum, part)| *sum += slope * part);
        }
        for i in 0..SIZE {
            (0..SIZE).for_each(|j| expected[i][j] += sum[i] * sum[j] / 1501.0);
        }
    }
    assert_close(&found, |i, j| expected[i][j], 1e-5);
}

#[test]
fn gathers_tied_parameters_like_dense_arithmetic() {
    let mut matrix = SymmetricMatrix::zeros(6);
    let mut random = Random::seeded(4);
    for _ in 0..9 {
        let v: Vec<f64> = (0..6).map(|_| random.below(100) as f64 - 50.0).collect();
        matrix.add_outer(0.5, &v);
    }
    let leaders = [0, 1, 0, 1, 4, 0];
    let mut expected = vec![vec![0.0; 6]; 6];
    for (i, &leader) in leaders.iter().enumerate() {
        (0..6).for_each(|j| expected[leader][leaders[j]] += matrix.get(i, j));
    }
    let mut gathered = matrix.clone();
    gathered.gather(&leaders);
    for (i, row) in expected.iter().enumerate() {
        (0..6).for_each(|j| assert!((gathered.get(i, j) - row[j]).abs() < 1e-9, "{i}, {j}"));
    }
    let mut alone = matrix.clone();
    alone.gather(&[0, 1, 2, 3, 4, 5]);
    assert_eq!(alone, matrix);
    assert_eq!(matrix.diagonal(), (0..6).map(|i| matrix.get(i, i)).collect::<Vec<f64>>());
    matrix.raise_diagonal(&[1e9; 6]);
    assert!(matrix.diagonal().iter().all(|&entry| entry == 1e9) && matrix.get(1, 0) == alone.get(1, 0));
}

#[test]
fn occurrences_count_each_row_once() {
    let model = model();
    let (rows, plain) = rows(&model, 700);
    let count = |is_there: &dyn Fn(&Plain) -> bool| plain.iter().filter(|row| is_there(row)).count() as u32;
    let found = model.occurrences(&rows);
    (0..6).for_each(|j| assert_eq!(found[j], count(&|row| row.main[j / 2] != 0), "{j}"));
    for leaf in 0..5 {
        let both = count(&|row| row.danger.iter().all(|side| side[leaf] != 0));
        let either = count(&|row| row.danger.iter().any(|side| side[leaf] != 0));
        assert!(found[6 + leaf] == either && both > 0, "{leaf}");
    }
    assert_eq!(found[11..], [700, 700]);
}

/// Returns a model of a random formula over the totals of [`model`].
fn random_model(random: &mut Random) -> Model {
    let Model { layout, .. } = model();
    let mut tape = Tape::default();
    let slots: Vec<u32> = (0..6).map(|slot| tape.push(Op::Slot(slot))).collect();
    let [small, large] = [0.01, 100.0].map(|number| tape.push(Op::Constant(number)));
    // Nodes have a magnitude of about 1.
    let mut nodes: Vec<u32> = slots.iter().map(|&slot| tape.push(Op::Mul(slot, small))).collect();
    let mut result = slots[0];
    for _ in 0..12 {
        let [a, b] = [0, 1].map(|_| nodes[random.below(nodes.len() as u64) as usize]);
        let op = match random.below(6) {
            0 => Op::Add(a, b),
            1 => Op::Sub(a, b),
            2 => Op::Mul(a, b),
            3 => Op::Exp(a),
            4 => Op::Power(a, 2.0),
            _ => Op::Logistic(a),
        };
        // The logistic curve bounds the node.
        let node = tape.push(op);
        let node = tape.push(Op::Logistic(node));
        nodes.push(node);
        let part = tape.push(Op::Mul(node, large));
        result = tape.push(Op::Add(result, part));
    }
    Model { layout, tape: tape.ending(result) }
}

#[test]
fn differentiates_random_formulas() {
    let mut random = Random::seeded(6);
    let (rows, _) = rows(&model(), 300);
    for _ in 0..30 {
        let model = random_model(&mut random);
        let objective = Objective::new(&rows, &model, 1.0).unwrap();
        let (_, gradient) = objective.loss_and_gradient(&THETA);
        let largest = gradient.iter().map(|slope| slope.abs()).fold(0.0, f64::max);
        for (j, slope) in gradient.into_iter().enumerate() {
            let at = |by: f64| objective.loss(&moved(&THETA, j, by));
            let difference = (at(1e-3) - at(-1e-3)) / 2e-3;
            let bound = 1e-6 * largest + 1e-12;
            assert!((slope - difference).abs() < bound, "{j}: {slope} {difference} {:?}", model.tape);
        }
    }
}

#[test]
fn any_number_of_threads_computes_the_same_bits() {
    let model = model();
    // Enough rows for several batches of outer products.
    let (rows, _) = rows(&model, 20_000);
    let rows = weighted(rows);
    let [objective, _] = objectives(&rows, &model);
    let groups: Vec<u32> = (0..20_000).map(|row| row / 5).collect();
    let all = || {
        let (loss, gradient) = objective.loss_and_gradient(&THETA);
        let kinds = [HessianKind::GaussNewton, HessianKind::Outer];
        let matrices = kinds.map(|kind| objective.hessian(&THETA, kind));
        let diagonal = objective.gauss_newton_diagonal(&THETA);
        let rows = (objective.row_losses(&THETA), scores(&rows, &model, &THETA), objective.totals(&THETA));
        (loss, gradient, matrices, diagonal, rows, objective.outer_by_group(&THETA, &groups, &|_| true))
    };
    let with = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(all);
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}
