//! How fast the passes over the rows are, beside what the machine can do, and the methods that live on them.
//!
//! `MERINO_DATA=engine_games_678k.epd cargo bench -p merino-tuner --bench passes`; without the variable, the embedded set.
//! Ratios of one run are printed first: figures of different runs on a busy machine are not comparable.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::benchmark::print_rate;
use engine::eval::params::Weights;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tuner::data::{Dataset, ReadOptions, Source};
use tuner::model::merino::merino;
use tuner::model::rows::Rows;
use tuner::objective::{HessianKind, Objective, SampleLoss, fit_k, scores};
use tuner::optimize::{Adam, Fit, Lbfgs, Limits, LocalSearch, Solver};
use tuner::source::{Own, Resolve};

const EMBEDDED: &[u8] = include_bytes!("../../data/quiet.epd.zst");
const BASELINE: &str = include_str!("../../params/baseline.toml");

/// Threads of the figures.
const THREADS: [usize; 2] = [1, 2];
/// Times that something short is done; the shortest counts, as what else goes on only ever adds to it.
const TIMES: usize = 101;
/// Copies of a buffer that are read in turn, so that none is still in a cache.
const COPIES: usize = 8;
/// Epochs that Adam is timed over.
const EPOCHS: usize = 200;

fn weights() -> Weights {
    Weights::from_toml(BASELINE).expect("sound parameters")
}

fn rows() -> Rows {
    let source = match std::env::var_os("MERINO_DATA") {
        Some(path) => Source::open(Path::new(&path)),
        None => Source::in_memory("embedded", EMBEDDED),
    };
    let source = source.expect("readable data");
    let dataset = Dataset::read(vec![source], &ReadOptions::default(), &()).expect("sound data");
    let own = Own { start: weights(), resolve: Resolve::Static };
    own.problem(Arc::new(dataset), &()).expect("rows").rows().clone()
}

fn shortest(mut act: impl FnMut()) -> Duration {
    let times = (0..TIMES).map(|_| {
        let started = Instant::now();
        act();
        started.elapsed()
    });
    times.min().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Time to read so many bytes once, from memory and not from a cache.
fn reading(bytes: usize) -> Duration {
    let copies: Vec<Vec<u64>> = (0..COPIES).map(|copy| vec![copy as u64 + 1; bytes / 8]).collect();
    let mut next = copies.iter().cycle();
    shortest(|| {
        let buffer = next.next().expect("an endless cycle");
        let part = |part: &[u64]| part.iter().fold(0_u64, |sum, &word| sum.wrapping_add(word));
        black_box(buffer.par_chunks(1 << 16).map(part).reduce(|| 0, u64::wrapping_add));
    })
}

fn fit(method: &dyn Solver, objective: &Objective<'_>, start: &[f64]) -> (Fit, f64) {
    let started = Instant::now();
    let fit = method.minimize(objective, start, &Limits::none(start.len())).expect("a fit");
    (fit, started.elapsed().as_secs_f64())
}

fn figures(pool: &ThreadPool, rows: &Rows, k: f64, theta: &[f64]) {
    let objective = objective(rows, k);
    pool.install(|| {
        let threads = rayon::current_num_threads();
        let reading = reading(rows.bytes());
        println!("{threads} threads: {} bytes read in {:.2} ms", rows.bytes(), milliseconds(reading));
        let pass = shortest(|| {
            black_box(objective.loss_and_gradient(theta));
        });
        let ratio = pass.as_secs_f64() / reading.as_secs_f64();
        println!(
            "{threads} threads: loss and gradient in {:.2} ms, {ratio:.1} times as long as reading",
            milliseconds(pass)
        );
    });
}

fn objective(rows: &Rows, k: f64) -> Objective<'_> {
    Objective::new(rows, &merino().model, k).expect("rows and a scale")
}

fn methods(pool: &ThreadPool, rows: &Rows, k: f64, theta: &[f64]) {
    let objective = objective(rows, k);
    pool.install(|| {
        let threads = rayon::current_num_threads();
        let adam = Adam { max_epochs: EPOCHS, ..Adam::default() };
        let (adam, seconds) = fit(&adam, &objective, theta);
        println!("{threads} threads: Adam, {:.0} epochs a second", (adam.history.len() - 1) as f64 / seconds);
        let (lbfgs, seconds) = fit(&Lbfgs::default(), &objective, theta);
        println!("{threads} threads: L-BFGS, loss {:.9} in {seconds:.2} s", lbfgs.loss);
        let (local, seconds) = fit(&LocalSearch::default(), &objective, theta);
        println!("{threads} threads: local search, loss {:.9} in {seconds:.2} s", local.loss);
    });
}

fn main() {
    let (rows, theta) = (rows(), weights().to_vector());
    let k = fit_k(SampleLoss::SquaredError, &scores(&rows, &merino().model, &theta), rows.targets()).expect("a scale");
    let pools = THREADS.map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"));
    println!("{} rows, {} entries", rows.len(), rows.entries());
    pools.iter().for_each(|pool| figures(pool, &rows, k, &theta));
    pools.iter().for_each(|pool| methods(pool, &rows, k, &theta));

    for (pool, threads) in pools.iter().zip(THREADS) {
        let objective = objective(&rows, k);
        let print = |what: &str, act: &(dyn Fn() + Sync)| {
            print_rate(&format!("{what}, {threads} threads"), rows.len() as u64, || pool.install(act));
        };
        print("loss", &|| _ = black_box(objective.loss(&theta)));
        print("gradient", &|| drop(objective.loss_and_gradient(&theta)));
        print("matrix", &|| drop(objective.hessian(&theta, HessianKind::GaussNewton)));
    }
}
