//! Tuning options with its files, its progress and Ctrl-C.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use arena::report::spsa_to_html;
use arena::schedule::Match;
use arena::spsa::{SpsaJournal, Tuning, is_of_options, is_settings, options_text, run_spsa, spsa_identity};
use arena::uci_client::EngineSpec;
use common::files::{Kind, RunFiles, write_whole};
use common::{note, out};

use crate::args::SpsaArgs;
use crate::interrupt::listen;
use crate::output::reads_engines;
use crate::status::Status;

/// The output, in lines and in TOML.
const LINES: Kind = Kind { name: "a file of options", is_own: |head| is_of_options(head, false) };
const TABLE: Kind = Kind { name: "a file of options alone in TOML", is_own: |head| is_of_options(head, true) };

/// The most failures of the engine printed during a run.
const MAX_PRINTED_FAILURES: usize = 10;

/// Points of a way in the report.
const POINTS: u32 = 400;

/// Options named in the progress.
const NAMED: usize = 3;

/// Options as an engine receives them: names and values.
type Values = Vec<(String, String)>;

/// Plays until all pairs are played, or until Ctrl-C; writes and prints what was found. Returns what was found and what
/// the options began with then; none if not all pairs were played.
pub(crate) fn tune(args: &SpsaArgs) -> Result<Option<[Values; 2]>> {
    let (plan, (mut tuning, options)) = (args.plan()?, args.tuning()?);
    check_files(args, &plan, &options)?;
    args.open_log()?;
    let mut way = Vec::new();
    let (mut journal, failed) = open(args, &plan, &mut tuning, &mut way)?;
    let played = play((&plan, args.batch, failed), &mut tuning, &mut way, journal.as_mut());
    // A run that is refused before its first pair leaves no files.
    if tuning.done() == 0 {
        return played.map(|()| None);
    }
    let found = tuning.found();
    let written = write_whole(&args.output, options_text(&args.output, tuning.options(), &found));
    let page = args
        .keep
        .report
        .as_ref()
        .map(|path| write_whole(path, spsa_to_html(&plan.engines[0].name, &plan.limit.to_string(), &tuning, &way)));
    // The table comes before what failed, which must not hide it.
    out!("{}", table(&tuning));
    written?;
    page.transpose()?;
    played?;
    out!("wrote        {}", args.output.display());
    let starts: Vec<f64> = tuning.options().iter().map(|option| option.start).collect();
    let sides = [&found, &starts].map(|values| set(&tuning, values));
    out!("test with    arena sprt {}", test(args, &plan, &sides));
    let (done, pairs) = (tuning.done(), tuning.gains().pairs);
    if done < pairs && args.keep.journal.is_some() {
        note!("{done} of {pairs} pairs were played; --resume continues");
    }
    Ok((done == pairs).then_some(sides))
}

/// Sees, before the work, that no file of the run is lost and that all could be written.
fn check_files(args: &SpsaArgs, plan: &Match, options: &Path) -> Result<()> {
    let mut files = RunFiles::default();
    reads_engines(&mut files, plan)?;
    files.reads("the options", options)?;
    args.inputs().try_for_each(|(what, path)| files.reads(what, path))?;
    files.writes("--output", &args.output, if is_settings(&args.output) { TABLE } else { LINES })?;
    args.register(&mut files)
}

/// Plays what is left, in batches of `size`, and shows how it goes; `failed` is the number of pairs that failed before.
fn play(
    (plan, size, failed): (&Match, u32, u32),
    tuning: &mut Tuning,
    way: &mut Vec<(u32, Vec<f64>)>,
    journal: Option<&mut SpsaJournal>,
) -> Result<()> {
    let stop = listen()?;
    let pairs = tuning.gains().pairs;
    let mut bar = Status::new(pairs.into());
    let (started, before, mut printed) = (Instant::now(), tuning.done(), 0);
    let played = run_spsa(plan, tuning, (size, failed), journal, &stop, |batch, tuning| {
        for (pair, fault) in batch.failures.iter().take(MAX_PRINTED_FAILURES.saturating_sub(printed)) {
            bar.say(&format!("pair {}: {fault}", pair + 1));
        }
        printed += batch.failures.len();
        note_way(way, tuning);
        let hours = started.elapsed().as_secs_f64().max(1e-9) / 3600.0;
        let (done, rate) = (tuning.done(), 2.0 * f64::from(tuning.done() - before) / hours);
        bar.show(
            done.into(),
            pairs.into(),
            format!("{done} of {pairs} pairs, {rate:.0} games an hour, {}", moved(tuning)),
        );
    });
    bar.end();
    Ok(played?)
}

/// Opens the journal, if there is to be one, and brings the values to where it ends; with the number of failed pairs.
fn open(
    args: &SpsaArgs,
    plan: &Match,
    tuning: &mut Tuning,
    way: &mut Vec<(u32, Vec<f64>)>,
) -> Result<(Option<SpsaJournal>, u32)> {
    let Some((path, goes_on)) = args.keep.opens() else { return Ok((None, 0)) };
    let identity = spsa_identity(plan, tuning, args.batch);
    if !goes_on {
        return Ok((Some(SpsaJournal::create(path, &identity)?), 0));
    }
    let (journal, failed) = SpsaJournal::resume(path, &identity, tuning, |tuning| note_way(way, tuning))?;
    note!("{}: resumed after {} pairs", path.display(), tuning.done());
    Ok((Some(journal), failed))
}

/// Notes how far the options have moved, if that is long enough after it was noted last.
fn note_way(way: &mut Vec<(u32, Vec<f64>)>, tuning: &Tuning) {
    let last = way.last().map_or(0, |(pairs, _)| *pairs);
    if tuning.done() - last >= tuning.gains().pairs / POINTS {
        let steps = tuning.options().iter().zip(tuning.values());
        way.push((tuning.done(), steps.map(|(option, value)| (value - option.start) / option.step).collect()));
    }
}

/// The options that have moved farthest.
fn moved(tuning: &Tuning) -> String {
    let steps = tuning.steps();
    let mut order: Vec<usize> = (0..steps.len()).collect();
    order.sort_by(|&a, &b| steps[b].abs().total_cmp(&steps[a].abs()));
    let named = |&number: &usize| format!("{} {:+.1}", tuning.options()[number].name, steps[number]);
    format!("moved by steps: {}", order.iter().take(NAMED).map(named).collect::<Vec<_>>().join(", "))
}

fn table(tuning: &Tuning) -> String {
    let width = tuning.options().iter().map(|option| option.name.len()).max().unwrap_or(0).max("option".len());
    let mut text = format!("{:<width$} {:>10} {:>10} {:>8} {:>8}", "option", "start", "found", "steps", "drift");
    let numbers = tuning.found().into_iter().zip(tuning.steps()).zip(tuning.drifts());
    for (option, ((found, steps), drift)) in tuning.options().iter().zip(numbers) {
        let [start, found] = [option.start, found].map(|value| option.text(value));
        text += &format!("\n{:<width$} {start:>10} {found:>10} {steps:>+8.2} {drift:>+8.1}", option.name);
    }
    text + "\ndrift: the farthest from the start, in standard deviations of what chance alone does; 3.5 and more tell"
}

/// The options with these values. All of them: the engine's own may be others than those of the start.
fn set(tuning: &Tuning, values: &[f64]) -> Values {
    let options = tuning.options().iter().zip(values);
    options.map(|(option, &value)| (option.name.clone(), option.text(value))).collect()
}

/// The arguments of a sequential test of what was found against the start, for a shell.
fn test(args: &SpsaArgs, plan: &Match, [found, start]: &[Values; 2]) -> String {
    let engine = |name: &str, more: &Values| {
        let spec = plan.engines[0].clone().with_options(more);
        for_shell(&EngineSpec { name: name.to_owned(), ..spec }.words())
    };
    let openings = args.inputs().find(|(what, _)| *what == "--openings");
    let openings =
        openings.map_or_else(String::new, |(_, path)| format!(" --openings {}", for_shell(&path.to_string_lossy())));
    format!("--engine {} --engine {} --bounds 0,5{openings}", engine("tuned", found), engine("start", start))
}

/// A text as a word of a shell.
pub(crate) fn for_shell(text: &str) -> String {
    let escaped: String =
        text.chars().flat_map(|c| "\"\\$`".contains(c).then_some('\\').into_iter().chain([c])).collect();
    format!("\"{escaped}\"")
}
