//! The program `tuner`: reads parameters and labelled positions, writes tuned parameters.

// Output goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod cli;

use std::sync::atomic::Ordering;

use clap::Parser;
#[cfg(feature = "mpi")]
use cli::world;
use cli::{Bars, Cli, interrupt};
use common::print::{self, FAILURE};
use common::{error_chain, note, out};

/// Exit status of a failed check, and of a result that is not written because of a verdict.
const REJECTED: i32 = 1;

engine::require_cpu_features!();

fn main() {
    #[cfg(feature = "mpi")]
    let world = world::connect();
    let bars = Bars::default();
    let run = || {
        #[cfg(feature = "mpi")]
        world.as_ref().map_err(|error| anyhow::anyhow!(error_chain::to_line(error.as_ref())))?;
        let cli = Cli::try_parse()?;
        interrupt::listen()?;
        let output = cli.run(&bars)?;
        out!("{}", output.text);
        Ok::<_, anyhow::Error>(output)
    };
    let status = match run() {
        Ok(output) if !output.is_good => REJECTED,
        Ok(_) if interrupt::STOP.load(Ordering::Relaxed) => interrupt::INTERRUPTED,
        Ok(_) => 0,
        Err(error) if error.is::<clap::Error>() => {
            // Requests for help or the version arrive as errors, too.
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
