//! `tuner evaluate`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use tuner::answer::evaluate::{Contender, evaluate, evaluate_rows};
use tuner::run::settings::scale;
use tuner::source::{CommandLine, Resolve};

use super::evaluation::TimeoutArgs;
use super::parameters::ParamsFile;
use super::{DataArgs, MachineArgs, PrintArgs};
use crate::cli::bars::Bars;

/// The arguments of `tuner evaluate`.
#[derive(Args)]
pub(crate) struct EvaluateArgs {
    /// Parameter files of Merino; the changes are against the first.
    #[arg(value_name = "PARAMS", required_unless_present_any = ["engine", "rows"])]
    params: Vec<PathBuf>,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    /// An engine that answers FENs with rows, as for `tuner --engine`: its evaluation as it is, on the positions of
    /// --epd. May be given several times, also beside parameter files.
    #[arg(long, value_name = "COMMAND", help_heading = "Data")]
    engine: Vec<CommandLine>,

    #[command(flatten)]
    timeout: TimeoutArgs,

    /// A file of rows, as for `tuner --rows`: the evaluation that it is of, on its own positions. May be given several
    /// times; all files are then of the same positions.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "params", "epd"], help_heading = "Data")]
    rows: Vec<PathBuf>,

    /// The position that counts: the leaf of the quiescence search, or the position itself. An engine gets the leaf of
    /// Merino's.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch, conflicts_with = "rows", help_heading = "Objective")]
    resolve: Resolve,

    /// K, the scale from centipawns to expected results, for all; fitted to each evaluation if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    k: Option<f64>,

    #[command(flatten)]
    print: PrintArgs,
}

impl EvaluateArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        self.machine.use_threads()?;
        let compared = if self.rows.is_empty() {
            evaluate(self.data.sources(&[])?, self.contenders()?, self.resolve, self.k, &self.data.options, bars)?
        } else {
            evaluate_rows(&self.rows, self.k, &self.data.options.storage, bars)?
        };
        if !compared.data_summary.is_empty() {
            bars.note(&compared.data_summary.join("\n"));
        }
        Ok(self.print.form(compared.to_table(), &compared.to_json()))
    }

    /// Returns the parameter files, then the engines.
    fn contenders(&self) -> Result<Vec<(String, Contender)>> {
        let mut contenders = Vec::new();
        for path in &self.params {
            let ParamsFile { name, weights, .. } = ParamsFile::open(path)?;
            contenders.push((name, Contender::Parameters(Box::new(weights))));
        }
        for command in &self.engine {
            let engine = self.timeout.engine(command, self.machine.threads(), self.resolve);
            contenders.push((command.to_string(), Contender::Engine(engine)));
        }
        Ok(contenders)
    }
}
