//! `tuner simplify`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::{PARAMETERS, RunFiles};
use tuner::inspect::simplify::{Grouping, Task, simplify};
use tuner::params_file::render;
use tuner::run::MIN_SEEN;

use super::parameters::{ParamsFile, TUNED};
use super::{ConstraintArgs, DataArgs, MachineArgs, MeasureArgs, PrintArgs, SampleArgs, strength};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// The arguments of `tuner simplify`.
#[derive(Args)]
pub(crate) struct SimplifyArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

    /// Parameters of the start, and the centre of the prior.
    #[arg(long, value_name = "FILE", default_value = TUNED, help_heading = "Parameters")]
    params: PathBuf,

    /// The unit to remove.
    #[arg(long, value_enum, default_value_t = Grouping::Table, help_heading = "Parameters")]
    by: Grouping,

    #[command(flatten)]
    constraints: ConstraintArgs,

    /// Remove single numbers only if they occur in N positions or more.
    #[arg(long, value_name = "N", default_value_t = MIN_SEEN, help_heading = "Parameters")]
    min_seen: u32,

    #[command(flatten)]
    measure: MeasureArgs,

    /// λ, the strength of the prior, per squared centipawn; chosen by cross-validation if not given.
    #[arg(long, value_name = "λ", value_parser = strength, help_heading = "Objective")]
    prior: Option<f64>,

    /// Seed of the folds.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    seed: u64,

    /// Write the parameters without the removed terms to this file.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    print: PrintArgs,
}

impl SimplifyArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let mut files = RunFiles::default();
        self.data.register(&mut files)?;
        files.reads("--params", &self.params)?;
        self.output.iter().try_for_each(|output| files.writes("--output", output, PARAMETERS))?;
        let ParamsFile { text: input, weights: start, .. } = ParamsFile::open(&self.params)?;
        self.machine.use_threads()?;
        let task = Task {
            sources: self.data.sources()?,
            start,
            constraints: self.constraints.constraints(),
            min_seen: self.min_seen,
            by: self.by,
            resolve: self.measure.position.resolve,
            target: self.measure.target.target,
            loss: self.measure.loss,
            prior: self.prior,
            k: self.measure.k,
            seed: self.seed,
            reading: self.sample.of(self.data.options()),
        };
        let found = simplify(task, bars)?;
        if let Some(output) = &self.output {
            let text = render(&input, &found.weights, Some(&found.provenance()))?;
            interrupt::write(output, &text)?;
        }
        Ok(if self.print.json { format!("{:#}", found.to_json()) } else { found.to_table() })
    }
}
