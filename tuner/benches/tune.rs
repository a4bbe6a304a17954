//! Whole runs, from a file to tuned parameters.
//!
//! `MERINO_DATA=engine_games_678k.epd cargo bench -p merino-tuner --bench tune`; without the variable, the embedded set.

use std::path::Path;

use common::benchmark::print_rate;
use engine::eval::params::Weights;
use tuner::data::Source;
use tuner::features::Resolve;
use tuner::run::{Hooks, Settings};
use tuner::tune::{Job, run};

const EMBEDDED: &[u8] = include_bytes!("../../data/quiet.epd.zst");
const BASELINE: &str = include_str!("../../params/baseline.toml");

fn job(resolve: Resolve) -> Job {
    let source = match std::env::var_os("MERINO_DATA") {
        Some(path) => Source::open(Path::new(&path)),
        None => Source::embedded("embedded", EMBEDDED),
    };
    let start = Weights::from_toml(BASELINE).expect("sound parameters");
    let settings = Settings { prior: Some(1e-13), errors: false, ..Settings::default() };
    Job { resolve, ..Job::new(vec![source.expect("readable data")], start, settings) }
}

fn main() {
    for (name, resolve) in [("static", Resolve::Static), ("qsearch", Resolve::Qsearch)] {
        let report = run(job(resolve), Hooks::new(&())).expect("a run");
        assert!(report.gradient_ratio <= 1e-8);
        print_rate(&format!("{} positions, {name}", report.positions), report.positions, || {
            run(job(resolve), Hooks::new(&())).expect("a run")
        });
    }
}
