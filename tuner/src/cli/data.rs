//! `tuner data`.

use anyhow::Result;
use clap::Args;
use tuner::data::stats;

use super::{InputArgs, PrintArgs};
use crate::cli::bars::Bars;

/// The arguments of `tuner data`.
#[derive(Args)]
pub(crate) struct DataReportArgs {
    #[command(flatten)]
    input: InputArgs,

    /// List at most N positions with implausible results.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    count: u32,

    #[command(flatten)]
    print: PrintArgs,
}

impl DataReportArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        self.input.machine.use_threads()?;
        let sources = self.input.sources()?;
        let found = stats::collect(sources, &self.input.data.options, self.count as usize, bars)?;
        Ok(self.print.form(found.to_table(), &found))
    }
}
