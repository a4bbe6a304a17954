//! Making data with its progress and Ctrl-C.

use std::time::Instant;

use anyhow::{Context, Result};
use arena::datagen::{Store, Tally, run, state_path};
use arena::player::{Effort, Failure, UciEngine};
use common::files::{JSON, Kind, RunFiles};
use common::note;

use crate::args::DatagenArgs;
use crate::interrupt::listen;
use crate::output::reads_engine;
use crate::status::Status;

/// Plays until there are enough positions, or until Ctrl-C; has the tally printed, and returns it.
pub(crate) fn generate(args: &DatagenArgs, print: impl FnOnce(String)) -> Result<Tally> {
    let mut files = RunFiles::default();
    for (what, path) in args.inputs() {
        files.reads(what, path)?;
    }
    files.writes("--output", &args.output, Kind::ANY)?;
    files.writes("the state of --output", &state_path(&args.output), JSON)?;
    let (settings, extent) = (args.settings()?, args.extent());
    if let Some(engine) = &settings.engine {
        reads_engine(&mut files, &engine.spec)?;
        try_out(engine, settings.effort)?;
    }
    let mut store = if args.resume {
        Store::resume(&args.output, &settings)?
    } else {
        Store::create(&args.output, &settings, args.force)?
    };
    if store.next_game() > 0 {
        let kept = store.tally().kept();
        note!("{}: resumed after {} games, {kept} positions", args.output.display(), store.next_game());
    }
    let stop = listen()?;
    let mut bar = Status::new(extent.positions);
    let (started, before) = (Instant::now(), store.tally().clone());
    let mut failures = 0;
    let result = run(&settings, &extent, &mut store, &stop, |tally, failure| {
        if let Some(failure) = failure {
            failures += 1;
            say_failure(&bar, failures, failure);
        }
        bar.show(tally.kept(), extent.positions, line(tally, &before, started));
    });
    bar.end();
    print(store.tally().to_string());
    result?;
    Ok(store.tally().clone())
}

/// Starts an engine, and warns if its answers depend on what it searched before.
pub(crate) fn try_out(engine: &UciEngine, effort: Effort) -> Result<()> {
    let name = &engine.spec.name;
    if !engine.forgets(effort).with_context(|| name.clone())? {
        let advice = if engine.spec.restart {
            "a new start"
        } else {
            "`ucinewgame`, so the output cannot be reproduced; restart=on in its description starts it anew for each game"
        };
        note!("warning: {name}: answers differently after {advice}");
    }
    Ok(())
}

/// Prints a failure of an engine, unless there were many.
pub(crate) fn say_failure(bar: &Status, number: u32, failure: &Failure) {
    const MOST: u32 = 5;
    if number <= MOST {
        bar.say(&failure.to_string());
    }
}

/// Progress, by the counts since the start of this run.
fn line(tally: &Tally, before: &Tally, started: Instant) -> String {
    let hours = started.elapsed().as_secs_f64().max(1e-9) / 3600.0;
    let share = 100.0 * tally.kept() as f64 / tally.positions().max(1) as f64;
    format!(
        "{} kept ({share:.0} %), {:.0} an hour, {:.0} games an hour",
        tally.kept(),
        (tally.kept() - before.kept()) as f64 / hours,
        (tally.games() - before.games()) as f64 / hours
    )
}
