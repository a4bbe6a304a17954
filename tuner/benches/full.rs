//! A fit of the size of a full evaluation, on made-up rows: pairs, a sided sum with a danger curve, a factor and a scale
//! of the endgame.
//!
//! `MERINO_ROWS=100000 cargo bench -p merino-tuner --bench full`; without the variable, 678,383 rows, about 400 MB.
//! Results are drawn from parameters that are known, beside which the fit begins; the pull to it is no part of error bars.

use std::fs;
use std::time::Instant;

use engine::random::Random;
use tuner::model::Model;
use tuner::model::centre::Centring;
use tuner::model::layout::{Layout, Leaf, Sum, SumKind};
use tuner::model::rows::{RowBuilder, Rows, RowsWriter};
use tuner::model::tape::{Op, Tape};
use tuner::objective::{HessianKind, Objective, PriorScale, expectation, scores};
use tuner::optimize::{Lbfgs, Limits, Solver};
use tuner::run::standard_errors;

const ROWS: usize = 678_383;
const PAIRS: usize = 1000;
/// Single numbers of the sums danger, complexity and scale.
const SINGLES: [usize; 3] = [40, 8, 12];
const SIZE: usize = 2 * PAIRS + SINGLES[0] + SINGLES[1] + SINGLES[2];
/// Entries that are drawn for a row: of pairs, of each side's danger, of complexity, of the scale. Those of one leaf are
/// one, so that 120 are left.
const ENTRIES: [usize; 4] = [126, 6, 3, 1];
/// How far the start is from the truth, and how the truth is spread: of pairs and of the three sums of singles.
const APART: [f64; 4] = [12.0, 4.0, 2.0, 8.0];
const TRUTH: [(f64, f64); 4] = [(0.0, 25.0), (15.0, 12.0), (-3.0, 3.0), (95.0, 9.0)];
/// λ, unless MERINO_PRIOR says otherwise.
const PRIOR: f64 = 1e-9;

fn main() {
    let count = std::env::var("MERINO_ROWS").map_or(ROWS, |rows| rows.parse().expect("a number of rows"));
    let prior = std::env::var("MERINO_PRIOR").map_or(PRIOR, |prior| prior.parse().expect("a number"));
    let model = model();
    let mut random = Random::seeded(1);
    let drawn = |random: &mut Random, j: usize| TRUTH[kind(j)].0 + TRUTH[kind(j)].1 * normal(random);
    let truth: Vec<f64> = (0..SIZE).map(|j| drawn(&mut random, j)).collect();
    let start: Vec<f64> = truth.iter().enumerate().map(|(j, v)| v + APART[kind(j)] * normal(&mut random)).collect();
    let rows = timed("rows", || rows(&model, &truth, count, &mut random));
    println!("{} rows, {:.1} entries each, {} MiB", count, rows.entries() as f64 / count as f64, rows.bytes() >> 20);
    let objective = Objective::new(&rows, &model, 1.0).expect("rows");
    let objective = objective.with_prior(prior, &start, PriorScale::Free).expect("a prior");
    (0..3).for_each(|_| drop(timed("pass", || objective.loss_and_gradient(&start))));
    let sixteenth = rows.pick((0..count).step_by(16));
    timed("Gauss-Newton matrix of a sixteenth", || {
        objective.over(&sixteenth).hessian(&start, HessianKind::GaussNewton)
    });
    let limits = Limits::none(SIZE);
    let fit = timed("fit", || Lbfgs::default().minimize(&objective, &start, &limits).expect("a fit"));
    for step in &fit.history {
        println!("  {:>4}  {:.10}  {:.2e}", step.iteration, step.loss, step.gradient_norm);
    }
    println!("{:?} at {:.1e} of the gradient, {:?}", fit.termination, fit.gradient_ratio, fit.work);
    let errors = timed("error bars", || standard_errors(&objective, &fit.theta, &limits, &Centring::default(), None));
    let errors = errors.expect("a finite matrix").by_parameter;
    for (number, name) in ["pairs", "danger", "complexity", "scale"].into_iter().enumerate() {
        let own: Vec<usize> = (0..SIZE).filter(|&j| kind(j) == number).collect();
        let off = |j: usize| (fit.theta[j] - truth[j]).abs();
        let holds = |&&j: &&usize| errors[j].is_some_and(|error| off(j) < 1.96 * error);
        let held = own.iter().filter(holds).count() as f64 / own.len() as f64;
        let root = (own.iter().map(|&j| off(j).powi(2)).sum::<f64>() / own.len() as f64).sqrt();
        println!("{name}: off by {root:.2}, {:.1} % of the 95 % intervals hold the truth", 100.0 * held);
    }
    println!("peak memory {} MiB", peak() >> 10);
}

/// What a parameter is of: pairs, danger, complexity or scale.
fn kind(parameter: usize) -> usize {
    let ends = [2 * PAIRS, 2 * PAIRS + SINGLES[0], 2 * PAIRS + SINGLES[0] + SINGLES[1]];
    ends.iter().filter(|&&end| parameter >= end).count()
}

fn timed<T>(what: &str, act: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = act();
    println!("{what}: {:.3} s", began.elapsed().as_secs_f64());
    result
}

/// About a normal distribution.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

fn model() -> Model {
    let mut next = 2 * PAIRS;
    let mut singles = |count: usize| {
        next += count;
        (next - count..next).map(|parameter| Leaf { parameter, unit: 1.0 }).collect()
    };
    let pairs = (0..PAIRS).map(|pair| Leaf { parameter: 2 * pair, unit: 1.0 }).collect();
    let sum = |name: &str, kind, is_sided, leaves| Sum { name: name.to_owned(), kind, is_sided, leaves };
    let sums = vec![
        sum("main", SumKind::Pair, false, pairs),
        sum("danger", SumKind::Single, true, singles(SINGLES[0])),
        sum("complexity", SumKind::Single, false, singles(SINGLES[1])),
        sum("scale", SumKind::Single, false, singles(SINGLES[2])),
    ];
    let layout = Layout::new(SIZE, sums, ["constant", "phase"].map(str::to_owned).to_vec(), Vec::new());
    let mut tape = Tape::default();
    let [mg, eg, white, black, complexity, scale] = [0, 1, 2, 3, 4, 5].map(|slot| tape.push(Op::Slot(slot)));
    let [zero, two, eighth, steep, whole] =
        [0.0, 2.0, 0.125, 1.0 / 32.0, 1.0 / 128.0].map(|number| tape.push(Op::Constant(number)));
    // (d + max(d, 0) · d / 128) / 8
    let [white, black] = [white, black].map(|danger| {
        let above = tape.push(Op::Max(danger, zero));
        let square = tape.push(Op::Mul(above, danger));
        let square = tape.push(Op::Mul(square, whole));
        let both = tape.push(Op::Add(danger, square));
        tape.push(Op::Mul(both, eighth))
    });
    let danger = tape.push(Op::Sub(white, black));
    let [mg, eg] = [mg, eg].map(|half| tape.push(Op::Add(half, danger)));
    let complexity = tape.push(Op::Mul(complexity, steep));
    let factor = tape.push(Op::Logistic(complexity));
    let factor = tape.push(Op::Mul(factor, two));
    let eg = tape.push(Op::Mul(eg, factor));
    let scale = tape.push(Op::Mul(scale, whole));
    let eg = tape.push(Op::Mul(eg, scale));
    let phase = tape.push(Op::Fact(1));
    let range = tape.push(Op::Sub(mg, eg));
    let part = tape.push(Op::Mul(phase, range));
    tape.push(Op::Add(eg, part));
    Model { layout, tape }
}

/// Rows whose pairs are some common and some rare, with results drawn from the truth.
fn rows(model: &Model, truth: &[f64], count: usize, random: &mut Random) -> Rows {
    let mut ends = Vec::new();
    let mut end = 0.0;
    for _ in 0..PAIRS {
        end += random.unit().powi(3) + 0.01;
        ends.push(end);
    }
    let mut writer = RowsWriter::in_memory((&model.layout).into());
    let mut row = RowBuilder::default();
    for _ in 0..count {
        row.clear(2);
        for _ in 0..ENTRIES[0] {
            let place = random.unit() * end;
            let leaf = ends.partition_point(|&end| end <= place).min(PAIRS - 1);
            row.add(0, leaf, if random.below(2) == 0 { 1 } else { -1 });
        }
        for side in [1, 2] {
            (0..ENTRIES[1]).for_each(|_| row.add(side, below(random, SINGLES[0]), 1 + below(random, 2) as i32));
        }
        (0..ENTRIES[2]).for_each(|_| row.add(3, below(random, SINGLES[1]), 1));
        (0..ENTRIES[3]).for_each(|_| row.add(4, below(random, SINGLES[2]), 1));
        row.set_fact(1, random.unit() as f32);
        writer.push(&mut row, 0.5).expect("a sound row");
    }
    let rows = writer.finish().expect("memory");
    let won = |score: f64| if random.unit() < expectation(1.0, score) { 1.0 } else { 0.0 };
    let targets: Vec<f32> = scores(&rows, model, truth).into_iter().map(won).collect();
    rows.with_targets(&targets).expect("results")
}

fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// Peak of the resident memory in KiB, where the system tells it.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
