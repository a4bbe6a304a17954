//! `arena`, the program: matches between engines, and what they prove.

mod args;
mod output;
mod status;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Exit status of a run that failed, as clap's for bad arguments.
const FAILURE: u8 = 2;

/// Matches between UCI engines, and what they prove.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play a fixed number of games between two engines.
    Match(args::MatchArgs),
}

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(FAILURE)
        }
    }
}

fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Match(args) => play_match(args),
    }
}

fn play_match(args: &args::MatchArgs) -> Result<ExitCode> {
    let plan = args.common.plan(args.games)?;
    output::play(&plan, &args.common, |_| false)?;
    Ok(ExitCode::SUCCESS)
}
