//! `tuner outliers`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::RunFiles;
use tuner::answer::outliers::outliers;
use tuner::data::POSITIONS;
use tuner::run::settings::scale;

use super::PrintArgs;
use super::evaluation::EvaluationArgs;
use super::parameters::{ParamsFile, TUNED};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// The arguments of `tuner outliers`.
#[derive(Args)]
pub(crate) struct OutliersArgs {
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
        self.evaluation.register(&mut files, Some(TUNED))?;
        self.output.iter().try_for_each(|output| files.writes("--output", output, POSITIONS))?;
        self.evaluation.machine.use_threads()?;
        let problem = match self.evaluation.is_own() {
            true => self.evaluation.own_problem(ParamsFile::open(&self.evaluation.params(TUNED))?.weights, bars)?,
            false => self.evaluation.external_problem(&|_| Ok(()), |_| Ok(()), bars)?,
        };
        let found = outliers(&problem, self.k, self.count as usize, bars);
        let mut table = found.to_table();
        if let Some(output) = &self.output {
            interrupt::write(output, found.to_epd())?;
            table += &format!("\nwrote {}", output.display());
        }
        Ok(self.print.form(table, &found.to_json()))
    }
}
