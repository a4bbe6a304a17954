//! `tuner report`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::{HTML, RunFiles};
use tuner::features::Resolve;
use tuner::inspect::report::{Named, compare, page};
use tuner::params_file::provenance_of;

use super::parameters::{BASELINE, ParamsFile, TUNED};
use super::{DataArgs, MachineArgs, SampleArgs, scale};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// The arguments of `tuner report`.
#[derive(Args)]
pub(crate) struct ReportArgs {
    /// The parameters of the page.
    #[arg(long, value_name = "FILE", default_value = TUNED, help_heading = "Parameters")]
    params: PathBuf,

    /// Parameters to compare them with.
    #[arg(long, value_name = "FILE", default_value = BASELINE, help_heading = "Parameters")]
    against: PathBuf,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

    /// The position that counts: the leaf of the quiescence search, or the position itself.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch, help_heading = "Objective")]
    resolve: Resolve,

    /// K, the scale from centipawns to expected results, for both; fitted to each if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    k: Option<f64>,

    /// Where the page goes.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    machine: MachineArgs,
}

impl ReportArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let mut files = RunFiles::default();
        self.data.register(&mut files)?;
        files.reads("--params", &self.params)?;
        files.reads("--against", &self.against)?;
        files.writes("--output", &self.output, HTML)?;
        let (tuned, against) = (ParamsFile::open(&self.params)?, ParamsFile::open(&self.against)?);
        let provenance = provenance_of(&tuned.text).unwrap_or_default();
        let [tuned, against] = [tuned, against].map(|file| Named { name: file.name, weights: file.weights });
        self.machine.use_threads()?;
        let (sources, options) = (self.data.sources()?, self.sample.of(self.data.options()));
        let mut told = compare(tuned, against, sources, self.resolve, self.k, &options, bars)?;
        told.provenance = provenance;
        interrupt::write(&self.output, page(&told))?;
        Ok(format!("wrote {}", self.output.display()))
    }
}
