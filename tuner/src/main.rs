//! `tuner`, the program: parameters and labelled positions in, better parameters out.

// What is printed goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod cli;

use std::sync::atomic::Ordering;

#[cfg(feature = "mpi")]
use cli::world;
use cli::{Bars, Cli, allocator, interrupt};
use common::print::{self, FAILURE};
use common::{error_chain, note, out};
use tuner::processes::{is_alone, is_first};

/// Exit status of a check that found something wrong.
const WRONG: i32 = 1;

engine::require_cpu_features!();

fn main() {
    #[cfg(feature = "mpi")]
    let world = world::connect();
    allocator::keep_memory(is_alone());
    // All processes have the same to say.
    print::set_silent(!is_first());
    let bars = Bars::default();
    let run = || {
        #[cfg(feature = "mpi")]
        world.as_ref().map_err(|error| anyhow::anyhow!(error_chain::to_line(error.as_ref())))?;
        let cli = Cli::from_command_line()?;
        interrupt::listen()?;
        let answer = cli.run(&bars)?;
        out!("{}", answer.text);
        Ok::<_, anyhow::Error>(answer)
    };
    let status = match run() {
        Ok(answer) => {
            if !answer.is_good {
                WRONG
            } else if interrupt::STOP.load(Ordering::Relaxed) {
                interrupt::INTERRUPTED
            } else {
                0
            }
        }
        Err(error) if error.is::<clap::Error>() => {
            // Help is no failure.
            let refusal = error.downcast::<clap::Error>().expect("checked above");
            if refusal.use_stderr() {
                note!("{}", refusal.render().to_string().trim_end());
            } else if !print::is_silent() {
                _ = refusal.print();
            }
            refusal.exit_code()
        }
        Err(error) => {
            bars.clear();
            #[cfg(feature = "mpi")]
            world::fail(&world, &error, FAILURE);
            note!("error: {}", error_chain::to_line(error.as_ref()));
            FAILURE
        }
    };
    #[cfg(feature = "mpi")]
    drop(world);
    std::process::exit(status);
}
