//! `tuner`, the program: parameters and labelled positions in, better parameters out.

mod args;
mod bars;
mod interrupt;

use std::io::{self, Write};
use std::sync::atomic::Ordering;

use args::Cli;
use bars::Bars;

/// Exit status of a check that found something wrong.
const WRONG: i32 = 1;

/// Exit status of a run that failed, as clap's for bad arguments.
const FAILURE: i32 = 2;

engine::ask_for_a_fit_machine!();

fn main() {
    let bars = Bars::default();
    let run = || {
        let cli = Cli::from_command_line()?;
        interrupt::listen()?;
        cli.run(&bars)
    };
    match run() {
        Ok(answer) => {
            print(&answer.text);
            if !answer.is_good {
                std::process::exit(WRONG);
            }
            if interrupt::STOP.load(Ordering::Relaxed) {
                std::process::exit(interrupt::INTERRUPTED);
            }
        }
        Err(error) => {
            bars.clear();
            eprintln!("error: {error:#}");
            std::process::exit(FAILURE);
        }
    }
}

/// Prints the result, unless nobody reads it any more.
fn print(text: &str) {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error: standard output: {error}");
            std::process::exit(FAILURE);
        }
        _ => {}
    }
}
