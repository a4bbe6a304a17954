//! Giving positions new scores, with progress and Ctrl-C.

use std::time::Instant;

use anyhow::{Context, Result};
use arena::datagen::state_path;
use arena::relabel::{Store, Tally, run};
use common::files::{JSON, Kind, RunFiles};
use common::{note, out};

use crate::args::RelabelArgs;
use crate::generate::{say_failure, try_out};
use crate::interrupt::listen;
use crate::output::reads_engine;
use crate::status::Status;

/// Scores all lines, or until Ctrl-C, and prints the tally. Returns whether all lines are done.
pub(crate) fn relabel(args: &RelabelArgs) -> Result<bool> {
    let mut files = RunFiles::default();
    for (what, path) in args.inputs() {
        files.reads(what, path)?;
    }
    files.writes("--output", &args.output, Kind::ANY)?;
    files.writes("the state of --output", &state_path(&args.output), JSON)?;
    let (input, settings) = args.settings()?;
    if let Some(engine) = &settings.engine {
        reads_engine(&mut files, &engine.spec)?;
        try_out(engine, settings.effort).context(if engine.tells_chances { "--wdl" } else { "--engine" })?;
    }
    let mut store = Store::open(&args.output, &settings, &input, args.resume, args.force)?;
    let before = store.tally().lines();
    if before > 0 {
        note!("{}: resumed after {before} lines", args.output.display());
    }
    let stop = listen()?;
    let mut bar = Status::new(input.lines());
    let (started, mut failed) = (Instant::now(), 0);
    let result = run(&settings, &input, &mut store, args.threads(), &stop, |tally, failures| {
        for failure in failures {
            failed += 1;
            say_failure(&bar, failed, failure);
        }
        bar.show(tally.lines(), input.lines(), line(tally, before, input.lines(), started));
    });
    bar.end();
    out!("{}", store.tally());
    result?;
    let is_whole = store.tally().lines() == input.lines();
    if !is_whole {
        note!("{}: --resume continues it", args.output.display());
    }
    Ok(is_whole)
}

/// Progress, by the lines since the start of this run.
fn line(tally: &Tally, before: u64, lines: u64, started: Instant) -> String {
    let done = tally.lines();
    let rate = (done - before) as f64 / started.elapsed().as_secs_f64().max(1e-9);
    let seconds = (lines - done) as f64 / rate.max(1e-9);
    let left = if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} minutes", seconds / 60.0) };
    format!("{done} of {lines} lines, {rate:.0} a second, {left} left")
}
