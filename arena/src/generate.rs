//! Making data with its progress and Ctrl-C.

use std::time::Instant;

use anyhow::Result;
use arena::datagen::{Store, Tally, run, state_path};
use common::files::{JSON, Kind, RunFiles};
use common::note;

use crate::args::DatagenArgs;
use crate::interrupt::listen;
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
    let result = run(&settings, &extent, &mut store, &stop, |tally| {
        bar.show(tally.kept(), extent.positions, line(tally, &before, started));
    });
    bar.end();
    print(store.tally().to_string());
    result?;
    Ok(store.tally().clone())
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
