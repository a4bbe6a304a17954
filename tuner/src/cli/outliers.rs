//! `tuner outliers`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::RunFiles;
use tuner::data::POSITIONS;
use tuner::features::Resolve;
use tuner::inspect::outliers::outliers;

use super::parameters::{ParamsFile, TUNED};
use super::{DataArgs, MachineArgs, PrintArgs, SampleArgs, scale};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// The arguments of `tuner outliers`.
#[derive(Args)]
pub(crate) struct OutliersArgs {
    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

    /// Parameters that predict the results.
    #[arg(long, value_name = "FILE", default_value = TUNED, help_heading = "Parameters")]
    params: PathBuf,

    /// The position that counts: the leaf of the quiescence search, or the position itself.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch, help_heading = "Objective")]
    resolve: Resolve,

    /// K, the scale from centipawns to expected results; fitted to the parameters if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    k: Option<f64>,

    /// How many positions to list.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Write them as EPD, too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    print: PrintArgs,

    #[command(flatten)]
    machine: MachineArgs,
}

impl OutliersArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let mut files = RunFiles::default();
        self.data.register(&mut files)?;
        files.reads("--params", &self.params)?;
        self.output.iter().try_for_each(|output| files.writes("--output", output, POSITIONS))?;
        let weights = ParamsFile::open(&self.params)?.weights;
        self.machine.use_threads()?;
        let (sources, count) = (self.data.sources()?, self.count as usize);
        let found =
            outliers(sources, &weights, self.resolve, self.k, &self.sample.of(self.data.options()), count, bars)?;
        if let Some(output) = &self.output {
            interrupt::write(output, found.to_epd())?;
        }
        let wrote = self.output.as_ref().map(|output| format!("\nwrote {}", output.display())).unwrap_or_default();
        Ok(if self.print.json { format!("{:#}", found.to_json()) } else { format!("{}{wrote}", found.to_table()) })
    }
}
