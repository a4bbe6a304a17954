//! `tuner gradient-check`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use engine::eval::params::Weights;
use tuner::features::Resolve;
use tuner::gradient_check::{Task, check};
use tuner::objective::SampleLoss;
use tuner::target::Target;

use super::{Answer, DataArgs, MachineArgs, PrintArgs, positive};
use crate::bars::Bars;

/// The arguments of `tuner gradient-check`.
#[derive(Args)]
pub(crate) struct GradientCheckArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    /// The parameters to look at.
    #[arg(long, value_name = "FILE", default_value = "params/tuned.toml", help_heading = "Parameters")]
    params: PathBuf,

    /// Look at N of the parameters only, drawn at random.
    #[arg(long, value_name = "N", help_heading = "Parameters")]
    sample: Option<usize>,

    /// What a position is judged by, as for tuning.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch, help_heading = "Objective")]
    resolve: Resolve,

    /// What positions are to predict, as for tuning.
    #[arg(long, value_name = "TARGET", default_value_t = Target::Result, help_heading = "Objective")]
    target: Target,

    /// What a wrong prediction costs.
    #[arg(long, value_enum, default_value_t = SampleLoss::default(), help_heading = "Objective")]
    loss: SampleLoss,

    /// K, the scale from centipawns to expected results; fitted to the parameters if not given.
    #[arg(long, value_name = "K", value_parser = positive, help_heading = "Objective")]
    k: Option<f64>,

    /// How much a slope may be off, as a share of the largest that it could be.
    #[arg(long, value_name = "SHARE", value_parser = positive, default_value_t = 1e-6, help_heading = "Method")]
    tolerance: f64,

    /// Seed of what is drawn at random.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    seed: u64,

    #[command(flatten)]
    print: PrintArgs,
}

impl GradientCheckArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<Answer> {
        let weights = Weights::load(&self.params)?;
        self.machine.use_threads()?;
        let task = Task {
            sources: self.data.sources()?,
            weights,
            resolve: self.resolve,
            target: self.target,
            loss: self.loss,
            k: self.k,
            skip_bad: self.data.skip_bad,
            sample: self.sample,
            seed: self.seed,
            tolerance: self.tolerance,
        };
        let found = check(task, bars)?;
        let text = if self.print.json { format!("{:#}", found.to_json()) } else { found.to_table() };
        Ok(Answer { text, is_good: found.is_good() })
    }
}
