//! `arena`, the program: matches between engines and what they prove, and data from games.

// Output goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod args;
mod elo;
mod failures;
mod generate;
mod interrupt;
mod live;
mod looping;
mod notes;
mod output;
mod rescore;
mod status;
mod tune;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use arena::check;
use arena::report::{MatchReport, calc_json, calc_table, plan_table, to_html, to_json, to_table};
use arena::schedule::{Format, Match, Tally, read_journal};
use arena::stats::{Counts, Sprt, Verdict};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use common::files::{HTML, RunFiles, write_whole};
use common::{error_chain, note, out};
use engine::shell_files;
use tools::children::{run_watchdog, start_watchdog};

/// Exit status of a run that failed, as clap's for bad arguments.
const FAILURE: u8 = 2;
/// Exit status of a match that has not come to its end: a test that is undecided, or games that were not played.
const UNFINISHED: u8 = 3;

/// The command by which the arena starts its watchdog.
const WATCHDOG: &str = "watchdog";

/// Play and analyse matches between UCI engines; tune by games; make data.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play games until a sequential test decides whether one engine is stronger than another.
    ///
    /// Exit status: 0 if H1 is accepted, 1 if H0 is, 3 if neither, 2 if something went wrong.
    Sprt(args::SprtArgs),
    /// Play a fixed number of games between two engines.
    ///
    /// Exit status: 0 if all games were played, 3 if not, as after Ctrl-C, 2 if something went wrong.
    Match(args::MatchArgs),
    /// Play the first engine against each of the others, and rate all.
    ///
    /// Exit status: 0 if all games were played, 3 if not, as after Ctrl-C, 2 if something went wrong.
    Gauntlet(args::TournamentArgs),
    /// Play everybody against everybody, and rate all.
    ///
    /// Exit status: 0 if all games were played, 3 if not, as after Ctrl-C, 2 if something went wrong.
    RoundRobin(args::TournamentArgs),
    /// Tune options of an engine by games: simultaneous perturbation stochastic approximation, as OpenBench and fishtest do.
    ///
    /// Exit status: 0 if all pairs were played, 3 if not, as after Ctrl-C, 2 if something went wrong; with --confirm that of the
    /// test, as of `sprt`.
    Spsa(args::SpsaArgs),
    /// Play, tune, test and adopt the better parameters, again and again.
    Loop(args::LoopArgs),
    /// Make data: an engine plays against itself, and quiet positions are kept with results and scores.
    Datagen(args::DatagenArgs),
    /// Give positions new scores, each by a search of its own.
    ///
    /// Exit status: 0 if all lines are done, 3 if not, as after Ctrl-C, 2 if something went wrong.
    Relabel(args::RelabelArgs),
    /// Check how an engine speaks UCI.
    ///
    /// Exit status: 0 if the engine does what the protocol requires, also where it lacks what is good to have, 1 if not, 2 if
    /// it cannot be started.
    Check(args::CheckArgs),
    /// Predict how many games a sequential test takes, and how likely it is to pass.
    Plan(args::PlanArgs),
    /// Kill the engines that an arena leaves behind which is killed by force; started by the arena itself.
    #[command(hide = true, name = WATCHDOG)]
    Watchdog,
    /// Tell the result of a match from its journal: as a table, in JSON, or as a page.
    Report(args::ReportArgs),
    /// Rate the players of games in PGN.
    Elo(args::EloArgs),
    /// Analyse counts of results: Elo, and the likelihood ratio of a sequential test.
    Calc(args::CalcArgs),
    /// Write shell completions and manual pages.
    ShellFiles {
        /// The folder for them; they go to `completions` and `man` there.
        folder: PathBuf,
    },
}

impl Command {
    fn starts_engines(&self) -> bool {
        match self {
            Command::Sprt(_)
            | Command::Match(_)
            | Command::Gauntlet(_)
            | Command::RoundRobin(_)
            | Command::Spsa(_)
            | Command::Loop(_)
            | Command::Relabel(_)
            | Command::Check(_) => true,
            Command::Datagen(args) => args.player.engine.is_some(),
            Command::Plan(_)
            | Command::Report(_)
            | Command::Elo(_)
            | Command::Watchdog
            | Command::ShellFiles { .. }
            | Command::Calc(_) => false,
        }
    }
}

engine::require_cpu_features!();

fn main() -> ExitCode {
    match read_arguments().and_then(|cli| run(&cli.command)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            note!("error: {}", error_chain::to_line(error.as_ref()));
            ExitCode::from(FAILURE)
        }
    }
}

/// Reads the command line and the file of settings that it may name. Ends the program if clap has a message to print.
fn read_arguments() -> Result<Cli> {
    let matches = args::matches(Cli::command(), std::env::args_os().collect())?;
    Ok(Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()))
}

fn run(command: &Command) -> Result<u8> {
    if command.starts_engines() {
        start_engine_watchdog();
    }
    match command {
        Command::Sprt(args) => {
            let sprt = args.test.sprt(args.bounds);
            // Refuse a model that does not apply to pairs before any game.
            sprt.llr(&Counts::Pairs([0; 5]))?;
            let plan = args.common.play.plan(args.engines()?, Format::Gauntlet, args.games)?;
            test(&plan, &args.common, &sprt)
        }
        Command::Match(args) => {
            let plan = args.common.play.plan(args.common.play.two_engines()?, Format::Gauntlet, args.games)?;
            play_all(&plan, &args.common)
        }
        Command::Gauntlet(args) => play_tournament(args, Format::Gauntlet),
        Command::RoundRobin(args) => play_tournament(args, Format::RoundRobin),
        Command::Spsa(args) => tune_options(args),
        Command::Loop(args) => looping::run(args).map(|is_over| if is_over { 0 } else { UNFINISHED }),
        Command::Datagen(args) => datagen(args).map(|()| 0),
        Command::Relabel(args) => rescore::relabel(args).map(|is_whole| if is_whole { 0 } else { UNFINISHED }),
        Command::Check(args) => check_engine(args),
        Command::Plan(args) => {
            out!("{}", plan_table(&args.sprt(), &args.elo));
            Ok(0)
        }
        Command::Watchdog => {
            run_watchdog();
            Ok(0)
        }
        Command::Report(args) => report(args).map(|()| 0),
        Command::Elo(args) => elo::rate(args).map(|()| 0),
        Command::Calc(args) => calc(args).map(|()| 0),
        Command::ShellFiles { folder } => {
            shell_files::write(env!("CARGO_BIN_NAME"), Cli::command(), folder)?;
            Ok(0)
        }
    }
}

/// Plays a sequential test; the exit status is its decision.
fn test(plan: &Match, args: &args::CommonArgs, sprt: &Sprt) -> Result<u8> {
    let (tally, _) = output::play(plan, args, Some(sprt), |table| out!("{table}"))?;
    Ok(match verdict(sprt, &tally)? {
        Verdict::H1 => 0,
        Verdict::H0 => 1,
        Verdict::Undecided => UNFINISHED,
    })
}

/// Tunes options, and tests what was found if that is asked for.
fn tune_options(args: &args::SpsaArgs) -> Result<u8> {
    match (tune::tune(args)?, args.confirmation()) {
        (None, _) => Ok(UNFINISHED),
        (Some(_), None) => Ok(0),
        (Some(sides), Some((sprt, common))) => test(&args.test_plan(&common.play, &sides)?, &common, &sprt),
    }
}

/// Makes data. Prints the command that continues an interrupted run.
fn datagen(args: &args::DatagenArgs) -> Result<()> {
    generate::generate(args, |table| out!("{table}"))?;
    if interrupt::listen()?.is_requested() {
        note!("{}: --resume continues it", args.output.display());
    }
    Ok(())
}

fn play_tournament(args: &args::TournamentArgs, format: Format) -> Result<u8> {
    let plan = args.common.play.plan(args.common.play.several_engines()?, format, args.games)?;
    play_all(&plan, &args.common)
}

/// Plays a match without a test; the exit status says whether all games were played.
fn play_all(plan: &Match, args: &args::CommonArgs) -> Result<u8> {
    let (tally, _) = output::play(plan, args, None, |table| out!("{table}"))?;
    Ok(if tally.games < u64::from(plan.total_games()) { UNFINISHED } else { 0 })
}

/// Starts the watchdog, so that no engine outlives the arena.
fn start_engine_watchdog() {
    let started = std::env::current_exe().and_then(|program| start_watchdog(&program, WATCHDOG));
    if let Err(error) = started {
        note!("warning: engines will not be killed if the arena is: {error}");
    }
}

fn check_engine(args: &args::CheckArgs) -> Result<u8> {
    let spec = args.spec()?;
    let mut reports = Vec::new();
    for item in check::checks().filter(|check| args.is_wanted(check.name)) {
        reports.push(check::check(&spec, item).with_context(|| spec.command.display().to_string())?);
    }
    out!("{}", if args.json { format!("{:#}", check::to_json(&reports)) } else { check::to_table(&reports) });
    Ok(u8::from(reports.iter().any(check::Report::is_failure)))
}

fn verdict(sprt: &Sprt, tally: &Tally) -> Result<Verdict> {
    Ok(sprt.verdict(sprt.llr(&tally.pairs())?))
}

fn report(args: &args::ReportArgs) -> Result<()> {
    let mut files = RunFiles::default();
    files.reads("the journal", &args.journal)?;
    args.output.iter().try_for_each(|path| files.writes("--output", path, HTML))?;
    let recorded = read_journal(&args.journal)?;
    if recorded.tally.games == 0 {
        bail!("{}: has no games yet", args.journal.display());
    }
    let report = MatchReport::from(&recorded);
    args.output.iter().try_for_each(|path| write_whole(path, to_html(&report)))?;
    match args.output {
        _ if args.json => out!("{:#}", to_json(&report)),
        Some(_) => {}
        None => out!("{}", to_table(&report)),
    }
    Ok(())
}

fn calc(args: &args::CalcArgs) -> Result<()> {
    let counts = args.counts();
    let sprt = args.bounds.map(|bounds| args.test.sprt(bounds));
    if args.json {
        out!("{:#}", calc_json(&counts, sprt.as_ref())?);
    } else {
        out!("{}", calc_table(&counts, sprt.as_ref())?);
    }
    Ok(())
}
