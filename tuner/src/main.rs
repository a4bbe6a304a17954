//! `tuner`, the program: parameters and labelled positions in, better parameters out.

mod allocator;
mod args;
mod bars;
mod interrupt;
#[cfg(feature = "mpi")]
mod world;

use std::io::{self, Write};
use std::sync::atomic::Ordering;

use args::Cli;
use bars::Bars;
use engine::fault;
use tuner::processes::is_first;

/// Exit status of a check that found something wrong.
const WRONG: i32 = 1;

/// Exit status of a run that failed, as clap's for bad arguments.
const FAILURE: i32 = 2;

engine::ask_for_a_fit_machine!();

fn main() {
    #[cfg(feature = "mpi")]
    let world = world::connect();
    allocator::keep_memory();
    let bars = Bars::default();
    let run = || {
        #[cfg(feature = "mpi")]
        world.as_ref().map_err(|error| anyhow::anyhow!(fault::in_words(error.as_ref())))?;
        let cli = Cli::from_command_line()?;
        interrupt::listen()?;
        cli.run(&bars)
    };
    let status = match run() {
        Ok(answer) => {
            print(&answer.text);
            if !answer.is_good {
                WRONG
            } else if interrupt::STOP.load(Ordering::Relaxed) {
                interrupt::INTERRUPTED
            } else {
                0
            }
        }
        Err(error) if error.is::<clap::Error>() => {
            // Help is no failure; every process has the same to say.
            let told = error.downcast::<clap::Error>().expect("looked at above");
            if is_first() {
                _ = told.print();
            }
            told.exit_code()
        }
        Err(error) => {
            bars.clear();
            #[cfg(feature = "mpi")]
            world::fail(&world, &error, FAILURE);
            eprintln!("error: {}", fault::in_words(error.as_ref()));
            FAILURE
        }
    };
    #[cfg(feature = "mpi")]
    drop(world);
    std::process::exit(status);
}

/// Prints the result, unless nobody reads it any more.
fn print(text: &str) {
    if !is_first() {
        return;
    }
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            eprintln!("error: standard output: {error}");
            std::process::exit(FAILURE);
        }
        _ => {}
    }
}
