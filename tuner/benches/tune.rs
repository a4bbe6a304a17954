//! Whole runs, from a file to tuned parameters.
//!
//! `MERINO_DATA=engine_games_678k.epd cargo bench -p merino-tuner --bench tune`; without the variable, the embedded set.

use std::path::Path;
use std::sync::Arc;

use common::benchmark::print_rate;
use engine::eval::params::Weights;
use tuner::data::{Dataset, ReadOptions, Source};
use tuner::run::{Hooks, Outcome, Seconds, Settings, run};
use tuner::source::{Own, Resolve};

const EMBEDDED: &[u8] = include_bytes!("../../data/quiet.epd.zst");
const BASELINE: &str = include_str!("../../params/baseline.toml");

fn tune(resolve: Resolve) -> Outcome {
    let source = match std::env::var_os("MERINO_DATA") {
        Some(path) => Source::open(Path::new(&path)),
        None => Source::in_memory("embedded", EMBEDDED),
    };
    let source = source.expect("readable data");
    let dataset = Dataset::read(vec![source], &ReadOptions::default(), &()).expect("sound data");
    let own = Own { start: Weights::from_toml(BASELINE).expect("sound parameters"), resolve };
    let problem = own.problem(Arc::new(dataset), &()).expect("rows");
    let settings = Settings { prior: Some(1e-13), errors: false, ..Settings::default() };
    run(problem, Vec::new(), &settings, Seconds::default(), Hooks::new(&())).expect("a run")
}

fn main() {
    for (name, resolve) in [("static", Resolve::Static), ("qsearch", Resolve::Qsearch)] {
        let outcome = tune(resolve);
        assert!(outcome.gradient_ratio <= 1e-3);
        let positions = outcome.fitted as u64;
        print_rate(&format!("{positions} positions, {name}"), positions, || tune(resolve));
    }
}
