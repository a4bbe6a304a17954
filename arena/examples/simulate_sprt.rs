//! Simulates sequential tests and prints how often they err, how long they take, and what their estimates are worth:
//!
//!     cargo run --release -p merino-arena --example simulate_sprt -- 10000 0,10
//!
//! `errors` should be 5 % at the bounds; `too high` 50 % for an estimate without bias; `in interval` 95 %.

#[path = "../tests/sprt/simulation.rs"]
#[allow(dead_code, reason = "the example asks for less than the test does")]
mod simulation;

use anyhow::{Context, bail};
use arena::stats::{Bounds, Model, Sprt};
use simulation::simulate;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [runs, bounds] = &words[..] else { bail!("expected RUNS ELO0,ELO1") };
    let runs = runs.parse().with_context(|| runs.clone())?;
    let bounds: Bounds = bounds.parse()?;
    let [elo0, elo1] = bounds.as_array();
    println!("{runs} tests each, bounds {bounds}, α 0.05, β 0.05; ± is three standard deviations\n");
    println!("                    H1 accepted     games   planned   naive too high   unbiased too high   in interval");
    for model in [Model::Normalized, Model::Logistic] {
        let sprt = Sprt { model, bounds, alpha: 0.05, beta: 0.05 };
        for part in [-0.5, 0.0, 0.5, 1.0, 2.0] {
            let elo = elo0 + part * (elo1 - elo0);
            let figures = simulate(&sprt, elo, runs, u64::MAX, 1);
            let passed = figures.share(figures.passed);
            let percent = |share: f64| format!("{:.2} %", 100.0 * share);
            let planned = match model {
                Model::Normalized => format!("{:.0}", sprt.prospect(0.0, elo).games),
                _ => String::new(),
            };
            println!(
                "{:<10} {elo:>6.1}  {:>8} ± {:.2}  {:>8.0}  {planned:>8}   {:>14}   {:>17}   {:>11}",
                model.name(),
                percent(passed),
                100.0 * figures.tolerance(passed),
                figures.games as f64 / runs as f64,
                percent(figures.share(figures.naive_high)),
                percent(figures.share(figures.unbiased_high)),
                percent(figures.share(figures.covered)),
            );
        }
    }
    Ok(())
}
