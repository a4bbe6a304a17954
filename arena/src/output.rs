//! Playing a match with its files, its progress and Ctrl-C.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use arena::game::{GameRecord, Headers, to_pgn};
use arena::report::{Outcome, status, to_json, to_table};
use arena::schedule::{Match, Stop, Tally, run};
use arena::stats::{Sprt, Verdict};

use crate::args::CommonArgs;
use crate::status::Status;

/// How many faults of an engine are told while the match goes on.
const MOST_TOLD: u64 = 5;

/// Plays a match until its end, until Ctrl-C, or until its test is decided; prints the result.
pub(crate) fn play(plan: &Match, args: &CommonArgs, sprt: Option<&Sprt>) -> Result<Tally> {
    let mut pgn = args.pgn.as_deref().map(open_to_append).transpose()?;
    if let Some(path) = &args.json {
        check_folder(path)?;
    }
    let stop = Arc::new(Stop::default());
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || asked.ask()).context("cannot listen for Ctrl-C")?;
    let mut bar = Status::new(plan.games);
    let mut failure = None;
    let started = Instant::now();
    let (mut told, mut has_wrapped) = ([0; 2], false);
    let played = run(plan, &stop, |game, tally| {
        if let Err(error) = append(pgn.as_mut(), plan, args, game) {
            failure.get_or_insert(error);
            stop.ask_soon();
        }
        tell_faults(&bar, plan, game, &mut told);
        if !has_wrapped && game.number as usize / 2 >= plan.book.len() {
            has_wrapped = true;
            bar.say(&format!(
                "warning: {}: all {} openings have been played: they repeat",
                plan.book.name(),
                plan.book.len()
            ));
        }
        bar.show(tally.games, status(plan, tally, sprt));
        let verdict = sprt.and_then(|sprt| sprt.llr(&tally.pairs()).ok().map(|llr| sprt.verdict(llr)));
        if verdict.is_some_and(|verdict| verdict != Verdict::Undecided) {
            stop.end_now();
        }
    });
    bar.end();
    let tally = played?;
    let outcome = Outcome { plan, tally: &tally, sprt, elapsed: started.elapsed() };
    println!("{}", to_table(&outcome));
    if let Some(path) = &args.json {
        write_whole(path, &format!("{:#}\n", to_json(&outcome)))?;
    }
    failure.map_or(Ok(tally), Err)
}

fn tell_faults(bar: &Status, plan: &Match, game: &GameRecord, told: &mut [u64; 2]) {
    for note in &game.notes {
        let engine = game.engine_of(note.color);
        told[engine] += 1;
        if told[engine] <= MOST_TOLD {
            let name = &plan.engines[engine].name;
            bar.say(&format!("game {}: {name}: {}: {}", game.number + 1, note.fault.name(), note.text));
        }
    }
}

fn append(pgn: Option<&mut (PathBuf, File)>, plan: &Match, args: &CommonArgs, game: &GameRecord) -> Result<()> {
    let Some((path, file)) = pgn else { return Ok(()) };
    let headers = Headers {
        event: &args.event,
        names: [&plan.engines[0].name, &plan.engines[1].name],
        limits: [plan.limit_of(0), plan.limit_of(1)],
        variant: plan.conditions.variant,
    };
    // One write a game, so that a file that is cut short ends with a whole one.
    file.write_all(to_pgn(game, &headers).as_bytes()).with_context(|| path.display().to_string())
}

fn open_to_append(path: &Path) -> Result<(PathBuf, File)> {
    let file = OpenOptions::new().create(true).append(true).open(path).with_context(|| path.display().to_string())?;
    Ok((path.to_owned(), file))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Tells before the match what would go wrong after it.
fn check_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!("{}: is a folder", path.display());
    }
    tempfile::tempfile_in(folder_of(path)).with_context(|| format!("{}: cannot be written", path.display()))?;
    Ok(())
}

/// Writes a file by way of a temporary one beside it, so that it is there whole or not at all.
fn write_whole(path: &Path, text: &str) -> Result<()> {
    let place = || format!("{}: cannot be written", path.display());
    let mut file = tempfile::Builder::new().prefix(".arena-").tempfile_in(folder_of(path)).with_context(place)?;
    file.write_all(text.as_bytes()).with_context(place)?;
    file.as_file().sync_all().with_context(place)?;
    file.persist(path).with_context(place)?;
    Ok(())
}
