//! Tunes simulated engines, and prints what SPSA and what else one may do leave to be lost, for docs/benchmarks.md:
//!
//!     cargo run --release -p merino-arena --example simulate_spsa -- 200
//!
//! See `tests/spsa/simulation.rs` for what is simulated.

#[path = "../tests/spsa/simulation.rs"]
#[allow(dead_code, reason = "the example asks for less than the test does")]
mod simulation;

use anyhow::{Context, bail};
use simulation::{Engines, METHODS, remaining};

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [seeds] = &words[..] else { bail!("expected how many engines are tuned") };
    let seeds: u64 = seeds.parse().with_context(|| seeds.clone())?;
    println!("mean Elo left over {seeds} engines, ± its standard error\n");
    println!("| optima within | a step costs | options | games | {} |", METHODS.map(|(name, _)| name).join(" | "));
    println!("|---|---|---|---|{}", "---|".repeat(METHODS.len()));
    for (reach, cost) in [(3.0, 2.0), (1.0, 2.0), (10.0, 0.2)] {
        for options in [5, 20] {
            for games in [2_000, 10_000, 40_000] {
                let left = METHODS.map(|(_, method)| {
                    let [mean, error] = remaining(method, Engines { options, reach, cost }, games, seeds);
                    format!("{mean:.1} ± {error:.1}")
                });
                println!("| {reach} steps | {cost} Elo | {options} | {games} | {} |", left.join(" | "));
            }
        }
    }
    Ok(())
}
