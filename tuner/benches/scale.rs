//! Whether time a row stays flat, and memory bounded, as rows grow beyond memory.
//!
//! `MERINO_SIZES=1e4,1e6,1e8 MERINO_MEMORY=4294967296 cargo bench -p merino-tuner --bench scale`; without the variables, 10,000 to
//! 1,000,000 rows and 64 MiB, so that the largest lie in files. Rows are those of the embedded positions over and over,
//! each with one count changed and some with another result. Files go to the folder that TMPDIR names: about 120 bytes
//! a row.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use engine::eval::params::Weights;
use engine::random::Random;
use tuner::data::io::Storage;
use tuner::data::{Dataset, ReadOptions, Source};
use tuner::model::merino::merino;
use tuner::model::rows::{RowBuilder, Rows, RowsWriter};
use tuner::objective::{HessianKind, Objective, PriorScale, SampleLoss, fit_k, scores};
use tuner::optimize::{Lbfgs, Limits, Solver};
use tuner::run::PRIOR_PER_POSITION;
use tuner::source::{Own, Resolve};

const EMBEDDED: &[u8] = include_bytes!("../../data/quiet.epd.zst");
const BASELINE: &str = include_str!("../../params/baseline.toml");

/// So many rows to one with another result.
const TURNED: u64 = 8;

fn main() {
    let sizes = std::env::var("MERINO_SIZES").unwrap_or("1e4,1e5,1e6".to_owned());
    let memory = std::env::var("MERINO_MEMORY").unwrap_or((64 << 20).to_string());
    let storage = Storage { memory: memory.parse().expect("bytes"), ..Storage::default() };
    let weights = Weights::from_toml(BASELINE).expect("sound parameters");
    let source = Source::in_memory("embedded", EMBEDDED).expect("data");
    let dataset = Dataset::read(vec![source], &ReadOptions::default(), &()).expect("sound data");
    let own = Own { start: weights.clone(), resolve: Resolve::Static };
    let resolved = own.problem(Arc::new(dataset), &()).expect("rows");
    let start = weights.to_vector();
    println!("rows        in      write  gradient     matrix  whole fit  steps  peak memory");
    println!("                   ns/row    ns/row     ns/row     ns/row               MiB");
    for size in sizes.split(',') {
        let size = size.parse::<f64>().expect("a number of rows") as usize;
        let began = Instant::now();
        let rows = noisy(resolved.rows(), size, &storage);
        let written = began.elapsed();
        forget_peak();
        measure(&rows, &start, written.as_secs_f64());
    }
}

/// So many rows made of others.
fn noisy(rows: &Rows, size: usize, storage: &Storage) -> Rows {
    let mut random = Random::seeded(1);
    let mut whole = RowsWriter::new(rows.shape().clone(), storage);
    let mut built = RowBuilder::default();
    for number in 0..size {
        let row = number % rows.len();
        let segments = rows.row(row);
        built.clear(rows.shape().facts);
        rows.facts(row).iter().enumerate().for_each(|(fact, &value)| built.set_fact(fact, value));
        let entries: usize = segments.iter().map(|segment| segment.leaves.len()).sum();
        let changed = random.below(entries.max(1) as u64) as usize;
        let mut place = 0;
        for (number, segment) in segments.iter().enumerate() {
            for (&leaf, &count) in segment.leaves.iter().zip(segment.counts) {
                let count = i32::from(count);
                let other = if count == -1 { 1 } else { count + 1 };
                built.add(number, usize::from(leaf), if place == changed { other } else { count });
                place += 1;
            }
        }
        let target = rows.targets()[row];
        let target = if random.below(TURNED) == 0 { 1.0 - target } else { target };
        whole.push(&mut built, target).expect("room on the disk");
    }
    whole.finish().expect("room on the disk")
}

fn measure(rows: &Rows, start: &[f64], written: f64) {
    let count = rows.len() as f64;
    let nanoseconds = |seconds: f64| 1e9 * seconds / count;
    let timed = |act: &mut dyn FnMut()| {
        let began = Instant::now();
        act();
        nanoseconds(began.elapsed().as_secs_f64())
    };
    let k = fit_k(SampleLoss::SquaredError, &scores(rows, &merino().model, start), rows.targets()).expect("a scale");
    let objective = Objective::new(rows, &merino().model, k).expect("rows and a scale");
    let objective = objective.with_prior(PRIOR_PER_POSITION / count, start, PriorScale::Free).expect("a prior");
    // What is short is done several times.
    let times = (1_000_000 / rows.len()).clamp(3, 50);
    let gradient = timed(&mut || (0..times).for_each(|_| drop(objective.loss_and_gradient(start)))) / times as f64;
    let matrix = timed(&mut || (0..times).for_each(|_| drop(objective.hessian(start, HessianKind::GaussNewton))));
    let mut steps = 0;
    let fit = timed(&mut || {
        let limits = Limits::none(start.len());
        let fit = Lbfgs::default().minimize(&objective, start, &limits).expect("a fit");
        steps = fit.history.len() - 1;
    });
    println!(
        "{:<11} {:<6} {:>6.0} {gradient:>9.1} {:>10.1} {fit:>10.0} {steps:>6} {:>12}",
        rows.len(),
        if rows.is_mapped() { "files" } else { "memory" },
        nanoseconds(written),
        matrix / times as f64,
        peak() >> 10,
    );
}

/// Peak of the resident memory in KiB, where the system tells it.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Has the peak counted from now on, where the system can do that.
fn forget_peak() {
    // See <https://www.kernel.org/doc/html/latest/filesystems/proc.html>: 5 resets the peak.
    _ = fs::write("/proc/self/clear_refs", "5");
}
