//! Job files.
#![no_main]

use libfuzzer_sys::fuzz_target;

/// A part of the program, which stands here as there; the path of its files begins at the folder of this one.
#[path = "."]
mod cli {
    use std::ffi::OsString;
    use std::path::PathBuf;

    use clap::{Args, CommandFactory, Parser};

    #[allow(dead_code, reason = "a part of the program, of which this takes one function")]
    #[path = "../../tuner/src/cli/input.rs"]
    mod input;
    #[allow(dead_code, reason = "a part of the program, of which this takes one function")]
    #[path = "../../tuner/src/cli/job.rs"]
    mod job;

    mod interrupt {
        pub(crate) use common::files::write_whole as write;
    }

    /// Flags of every kind that there is.
    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        job: job::JobArgs,
        #[command(flatten)]
        table: Table,
        #[arg(long)]
        epd: Vec<PathBuf>,
        #[arg(long)]
        skip_bad: Option<usize>,
        #[arg(long)]
        prior: Option<f64>,
        #[arg(long)]
        json: bool,
    }

    #[derive(Args)]
    #[group(id = job::TABLE)]
    struct Table {
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
    }

    /// Reads the command line that a job file stands for.
    pub(super) fn read(data: &[u8]) {
        let (_folder, path) = fuzz::file(data);
        let arguments: Vec<OsString> = vec!["tuner".into(), "--job".into(), path.into_os_string()];
        let command = Flags::command();
        if let Ok(arguments) = job::expand(&command, arguments) {
            let _ = command.try_get_matches_from(arguments);
        }
    }
}

fuzz_target!(|data: &[u8]| cli::read(data));
