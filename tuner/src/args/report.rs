//! `tuner report`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use engine::eval::params::Weights;
use tuner::features::Resolve;
use tuner::params_file::{check_writable, provenance_of, write_atomically};
use tuner::report::{Named, compare, page};

use super::{DataArgs, MachineArgs, positive};
use crate::bars::Bars;
use crate::interrupt::uninterrupted;

/// The arguments of `tuner report`.
#[derive(Args)]
pub(crate) struct ReportArgs {
    /// The parameters to be told of.
    #[arg(long, value_name = "FILE", default_value = "params/tuned.toml", help_heading = "Parameters")]
    params: PathBuf,

    /// Parameters they are compared with.
    #[arg(long, value_name = "FILE", default_value = "params/baseline.toml", help_heading = "Parameters")]
    against: PathBuf,

    #[command(flatten)]
    data: DataArgs,

    /// What a position is judged by: the leaf of its quiescence search, or at once.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch, help_heading = "Objective")]
    resolve: Resolve,

    /// K, the scale from centipawns to expected results, for both; fitted to each if not given.
    #[arg(long, value_name = "K", value_parser = positive, help_heading = "Objective")]
    k: Option<f64>,

    /// Where the page goes.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,

    #[command(flatten)]
    machine: MachineArgs,
}

impl ReportArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        check_writable(&self.output)?;
        let (tuned, against) = (named(&self.params)?, named(&self.against)?);
        self.machine.use_threads()?;
        let (sources, options) = (self.data.sources()?, self.data.options());
        let mut told = compare(tuned, against, sources, self.resolve, self.k, &options, bars)?;
        let text = fs::read_to_string(&self.params).with_context(|| self.params.display().to_string())?;
        told.provenance = provenance_of(&text).unwrap_or_default();
        uninterrupted(|| write_atomically(&self.output, page(&told)))?;
        Ok(format!("wrote {}", self.output.display()))
    }
}

fn named(path: &Path) -> Result<Named> {
    Ok(Named { name: path.display().to_string(), weights: Weights::load(path)? })
}
