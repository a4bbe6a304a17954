//! `tuner fit`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use common::files::RunFiles;
use common::note;
use serde_json::json;
use tuner::fit::{Language, Problem, Settings};
use tuner::objective::{PriorScale, SampleLoss};
use tuner::processes::is_first;
use tuner::tune::MIN_SEEN;

use super::{MachineArgs, MemoryArgs, PrintArgs, Prior, scale};
use crate::bars::Bars;
use crate::interrupt;

/// The arguments of `tuner fit`.
#[derive(Args)]
pub(crate) struct FitArgs {
    /// Rows as text, plain or zstd: parameters with their starts, then a line a position. `tuner::fit` has the format.
    #[arg(long, value_name = "FILE")]
    rows: PathBuf,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    machine: MachineArgs,

    /// What a wrong prediction costs: its square, or the surprise of the result in nats.
    #[arg(long, value_enum, default_value_t = SampleLoss::default(), help_heading = "Objective")]
    loss: SampleLoss,

    /// λ, the strength of the pull to the start, per squared centipawn; `auto` chooses it by cross-validation.
    #[arg(long, value_name = "λ", default_value_t = Prior::Auto, allow_hyphen_values = true, help_heading = "Objective")]
    prior: Prior,

    /// What is pulled to: the shape of the start, at whatever scale fits best, or the start itself.
    #[arg(long, value_enum, default_value_t = PriorScale::Free, help_heading = "Objective")]
    prior_scale: PriorScale,

    /// K, the scale from centipawns to expected results; fitted to the parameters of the start if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    k: Option<f64>,

    /// Leave parameters that occur in fewer rows as they are; 0 tunes whatever occurs.
    #[arg(long, value_name = "N", default_value_t = MIN_SEEN, help_heading = "Parameters")]
    min_seen: u32,

    /// Tune the phase weights, too.
    #[arg(long, help_heading = "Parameters")]
    tune_phase: bool,

    /// Seed of the folds of --prior auto.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    seed: u64,

    /// The language that the tuned parameters are written in.
    #[arg(long, value_enum, default_value_t = Language::Toml, help_heading = "Output")]
    emit: Language,

    /// Where they go; to standard output if not given, and what is to be told to standard error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    print: PrintArgs,
}

impl FitArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let mut files = RunFiles::default();
        files.reads("--rows", &self.rows)?;
        if let Some(output) = &self.output {
            files.writes("--output", output, self.emit.kind())?;
        }
        self.machine.use_threads()?;
        let problem = Problem::read_rows(&self.rows, &self.memory.storage(), bars)?;
        let settings = Settings {
            loss: self.loss,
            k: self.k,
            prior: self.prior.strength(),
            prior_scale: self.prior_scale,
            min_seen: self.min_seen,
            tune_phase: self.tune_phase,
            seed: self.seed,
        };
        let rows = || self.rows.display().to_string();
        problem.check_names(&settings, self.emit).with_context(rows)?;
        let fitted = problem.fit(&settings, bars)?;
        let text = fitted.emit(self.emit).with_context(rows)?;
        let Some(output) = &self.output else {
            bars.clear();
            if is_first() {
                note!("{}", self.told(&fitted.to_table(), fitted.to_json()));
            }
            return Ok(text.trim_end().to_owned());
        };
        interrupt::write(output, &text)?;
        let mut json = fitted.to_json();
        json["output"] = json!(output.display().to_string());
        Ok(self.told(&format!("{}\nwrote        {}", fitted.to_table(), output.display()), json))
    }

    fn told(&self, table: &str, json: serde_json::Value) -> String {
        if self.print.json { format!("{json:#}") } else { table.to_owned() }
    }
}
