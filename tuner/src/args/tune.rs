//! A tuning run: what `tuner` does without a command.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use engine::eval::params::Weights;
use tuner::features::Resolve;
use tuner::optimize::Method;
use tuner::params_file::{check_writable, render, write_atomically};
use tuner::selection::Selection;
use tuner::tune::{Job, PRIOR_PER_POSITION, run};

use super::{DataArgs, MachineArgs, PrintArgs, not_negative, positive};
use crate::bars::Bars;
use crate::interrupt::uninterrupted;

/// Where the tuned parameters go if nothing else is said.
const DEFAULT_OUTPUT: &str = "params/tuned.toml";

/// The arguments of a tuning run.
#[derive(Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    parameters: ParameterArgs,

    #[command(flatten)]
    objective: ObjectiveArgs,

    #[command(flatten)]
    method: MethodArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    print: PrintArgs,
}

/// What is tuned, and from where.
#[derive(Args)]
#[command(next_help_heading = "Parameters")]
struct ParameterArgs {
    /// Parameters to start from, and to be pulled to.
    #[arg(long, value_name = "FILE", default_value = "params/baseline.toml")]
    params: PathBuf,

    /// Tune these parameters only: a path of the parameter file such as material.queen, psqt.knight, phase; `*` stands
    /// for anything, `:mg` or `:eg` behind it for one number of each pair. May be given several times.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,

    /// Leave these parameters as they are: patterns as for --only.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    freeze: Vec<String>,
}

/// What is minimised.
#[derive(Args)]
#[command(next_help_heading = "Objective")]
struct ObjectiveArgs {
    /// What a position is judged by: the leaf of its quiescence search, or at once.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch)]
    resolve: Resolve,

    /// λ, the strength of the pull to the start, per squared centipawn. Little data wants more, much data less.
    #[arg(long, value_name = "λ", value_parser = not_negative, help = prior_help())]
    prior: Option<f64>,

    /// K, the scale from centipawns to expected results; fitted to the parameters of the start if not given.
    #[arg(long, value_name = "K", value_parser = positive)]
    k: Option<f64>,
}

fn prior_help() -> String {
    format!(
        "λ, the strength of the pull to the start, per squared centipawn [default: {PRIOR_PER_POSITION:e} / positions]"
    )
}

/// How it is minimised.
#[derive(Args)]
#[command(next_help_heading = "Method")]
struct MethodArgs {
    /// How the minimum is found; all methods find the same.
    #[arg(long, value_enum, default_value_t = Method::Newton)]
    method: Method,

    /// Positions a step of Adam looks at; all if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,

    /// Seed for methods that draw random numbers: local search, and Adam with --batch.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

impl MethodArgs {
    /// Rows a step looks at.
    fn batch(&self) -> Result<Option<usize>> {
        if self.batch.is_some() && self.method != Method::Adam {
            bail!("--batch is for --method adam; {} looks at all positions", self.method.name());
        }
        Ok(self.batch.map(|size| size as usize))
    }
}

/// What is written.
#[derive(Args)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Where the tuned parameters go. The input file is overwritten only if it is named here.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl OutputArgs {
    /// Where to write: as told, else to [`DEFAULT_OUTPUT`], but never silently over the input.
    fn path(&self, input: &Path) -> Result<PathBuf> {
        if let Some(output) = &self.output {
            return Ok(output.clone());
        }
        let output = Path::new(DEFAULT_OUTPUT);
        if let (Ok(input), Ok(target)) = (fs::canonicalize(input), fs::canonicalize(output))
            && input == target
        {
            bail!("{}: is the input; name it with --output to overwrite it", output.display());
        }
        Ok(output.to_owned())
    }
}

impl TuneArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let params = &self.parameters.params;
        let output = self.output.path(params)?;
        check_writable(&output)?;
        let start = Weights::load(params)?;
        let input = fs::read_to_string(params).with_context(|| params.display().to_string())?;
        self.machine.use_threads()?;
        let report = run(self.job(start)?, bars)?;
        let text = render(&input, &report.tuned, Some(&report.provenance()))?;
        uninterrupted(|| write_atomically(&output, &text))?;
        let output = output.display().to_string();
        Ok(if self.print.json { format!("{:#}", report.to_json(&output)) } else { report.to_table(&output) })
    }

    /// What the library is to do.
    fn job(&self, start: Weights) -> Result<Job> {
        Ok(Job {
            sources: self.data.sources()?,
            start,
            selection: Selection { only: self.parameters.only.clone(), freeze: self.parameters.freeze.clone() },
            resolve: self.objective.resolve,
            method: self.method.method,
            seed: self.method.seed,
            batch: self.method.batch()?,
            prior: self.objective.prior,
            k: self.objective.k,
            skip_bad: self.data.skip_bad,
        })
    }
}
