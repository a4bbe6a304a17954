//! `tuner evaluate`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use engine::eval::params::Weights;
use serde_json::{Value, json};
use tuner::inspect::evaluate::{evaluate, table};

use super::parameters::ParamsFile;
use super::{DataArgs, MachineArgs, PrintArgs, SampleArgs, scale};
use crate::cli::bars::Bars;

/// The arguments of `tuner evaluate`.
#[derive(Args)]
pub(crate) struct EvaluateArgs {
    /// Parameter files; the changes are against the first.
    #[arg(value_name = "PARAMS", required = true)]
    params: Vec<PathBuf>,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

    /// K, the scale from centipawns to expected results, for all; fitted to each file if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    k: Option<f64>,

    #[command(flatten)]
    print: PrintArgs,
}

impl EvaluateArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let files = self.params.iter().map(|path| ParamsFile::open(path)).collect::<Result<Vec<_>>>()?;
        let (names, parameters): (Vec<String>, Vec<Weights>) =
            files.into_iter().map(|file| (file.name, file.weights)).unzip();
        self.machine.use_threads()?;
        let (positions, found) =
            evaluate(self.data.sources()?, &parameters, self.k, &self.sample.of(self.data.options()), bars)?;
        if !self.print.json {
            return Ok(table(&names, positions, &found));
        }
        let files: serde_json::Map<String, Value> =
            names.into_iter().zip(&found).map(|(name, found)| (name, json!(found))).collect();
        Ok(format!("{:#}", json!({ "positions": positions, "parameters": files })))
    }
}
