//! `tuner gradient-check`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use tuner::inspect::gradient_check::{Task, check};

use super::parameters::{ParamsFile, TUNED};
use super::{Answer, DataArgs, MachineArgs, MeasureArgs, PrintArgs, positive};
use crate::cli::bars::Bars;

/// The arguments of `tuner gradient-check`.
#[derive(Args)]
pub(crate) struct GradientCheckArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    /// The parameters to check at.
    #[arg(long, value_name = "FILE", default_value = TUNED, help_heading = "Parameters")]
    params: PathBuf,

    /// Check only N parameters, drawn at random.
    #[arg(long, value_name = "N", help_heading = "Parameters")]
    sample: Option<usize>,

    #[command(flatten)]
    measure: MeasureArgs,

    /// The largest error of a derivative, as a share of the largest possible derivative.
    #[arg(long, value_name = "SHARE", value_parser = positive, default_value_t = 1e-6, help_heading = "Method")]
    tolerance: f64,

    /// Seed of the random choices.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    seed: u64,

    #[command(flatten)]
    print: PrintArgs,
}

impl GradientCheckArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<Answer> {
        let weights = ParamsFile::open(&self.params)?.weights;
        self.machine.use_threads()?;
        let task = Task {
            sources: self.data.sources()?,
            weights,
            resolve: self.measure.position.resolve,
            target: self.measure.target.target,
            loss: self.measure.loss,
            k: self.measure.k,
            reading: self.data.options(),
            sample: self.sample,
            seed: self.seed,
            tolerance: self.tolerance,
        };
        let found = check(task, bars)?;
        let text = if self.print.json { format!("{:#}", found.to_json()) } else { found.to_table() };
        Ok(Answer::new(text, found.is_good()))
    }
}
