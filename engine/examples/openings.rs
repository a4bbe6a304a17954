//! Makes the opening book of the arena, `data/openings.epd.zst`:
//!
//!     cargo run --release -p merino-engine --example openings -- 50000 1 > openings.epd
//!
//! Random legal moves from the start ([`engine::genfens`]) give positions in which both sides have a game. Of these are
//! kept the ones that a search of [`NODES`] nodes judges [`EDGE`] centipawns ahead for either side: fewer games are drawn
//! from positions that are not quite level, and each is played with both colours. No position is written twice, however
//! it was reached. The lines of a smaller count are the first ones of a larger.

use std::collections::HashSet;
use std::env;
use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;

use anyhow::{Context, bail};
use engine::chess::{Game, Position};
use engine::eval::Evaluator;
use engine::genfens::{self, Request};
use engine::search::{Limits, Searcher, Signals};

/// How far one side is ahead, whichever it is, centipawns.
const EDGE: RangeInclusive<i32> = 20..=90;
/// Nodes of the search that says so.
const NODES: u64 = 20_000;
/// How many positions are asked for at a time; each time the seed is one higher.
const BATCH: u64 = 1000;

/// Judges positions, and keeps count.
struct Sieve {
    searcher: Searcher,
    seen: HashSet<u64>,
    tried: u64,
    repeated: u64,
}

impl Sieve {
    fn keeps(&mut self, position: &Position) -> bool {
        self.tried += 1;
        if !self.seen.insert(position.key()) {
            self.repeated += 1;
            return false;
        }
        // What is kept must not depend on what was searched before.
        self.searcher.clear();
        let found = self.searcher.search(&Game::new(position.clone()), Limits::nodes(NODES), &mut ());
        EDGE.contains(&found.value.abs())
    }
}

fn main() -> anyhow::Result<()> {
    let numbers: Vec<u64> = env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let [wanted, mut seed] = numbers[..] else { bail!("expected COUNT SEED") };
    let mut sieve =
        Sieve { searcher: Searcher::new(1).context("no memory")?, seen: HashSet::new(), tried: 0, repeated: 0 };
    let (evaluator, signals) = (Arc::new(Evaluator::default()), Signals::default());
    let mut lines = io::stdout().lock();
    let mut written = 0;
    while written < wanted {
        let mut batch = Vec::new();
        let request = Request { count: BATCH, seed, book: None };
        genfens::generate(&request, Arc::clone(&evaluator), &signals, |position| batch.push(position.clone()))?;
        for position in batch.iter().filter(|position| sieve.keeps(position)).take((wanted - written) as usize) {
            writeln!(lines, "{}", position.to_epd_fields())?;
            written += 1;
        }
        lines.flush()?;
        eprintln!("{written} kept of {} tried, {} repeated", sieve.tried, sieve.repeated);
        seed = seed.wrapping_add(1);
    }
    Ok(())
}
