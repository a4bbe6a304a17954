//! `tuner outliers`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::RunFiles;
use tuner::answer::outliers::outliers;
use tuner::data::POSITIONS;
use tuner::run::settings::scale;

use super::evaluation::EvaluationArgs;
use super::parameters::{ParamsFile, TUNED};
use super::{DataArgs, MachineArgs, PrintArgs, SampleArgs};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// The arguments of `tuner outliers`.
#[derive(Args)]
pub(crate) struct OutliersArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

    #[command(flatten)]
    evaluation: EvaluationArgs,

    /// K, the scale from centipawns to expected results; fitted to the parameters if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    k: Option<f64>,

    /// The number of positions to list.
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Write them as EPD, too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    print: PrintArgs,
}

impl OutliersArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let mut files = RunFiles::default();
        self.data.register(&mut files)?;
        self.evaluation.register(&self.data, &mut files)?;
        if self.evaluation.is_own() {
            files.reads("--params", &self.evaluation.params(TUNED))?;
        }
        self.output.iter().try_for_each(|output| files.writes("--output", output, POSITIONS))?;
        self.machine.use_threads()?;
        let problem = if self.evaluation.is_own() {
            let start = ParamsFile::open(&self.evaluation.params(TUNED))?.weights;
            self.evaluation.merino_problem(&self.data, &self.sample, start, bars)?
        } else {
            let how = (&self.sample, self.machine.threads());
            self.evaluation.external_problem(&self.data, how, &|_| Ok(()), |_| Ok(()), bars)?
        };
        let found = outliers(&problem, self.k, self.count as usize, bars);
        if let Some(output) = &self.output {
            interrupt::write(output, found.to_epd())?;
        }
        let wrote = self.output.as_ref().map(|output| format!("\nwrote {}", output.display())).unwrap_or_default();
        Ok(if self.print.json { format!("{:#}", found.to_json()) } else { format!("{}{wrote}", found.to_table()) })
    }
}
