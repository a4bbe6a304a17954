//! The evaluation that a command applies to: Merino's own, an engine's, or that of files of rows.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use common::files::RunFiles;
use engine::eval::params::Weights;
use tuner::data::{Dataset, Source, Weight};
use tuner::run::settings::positive;
use tuner::source::{CommandLine, Engine, Own, Parameter, Problem, Resolve};

use super::input::Input;
use super::{DataArgs, MachineArgs};
use crate::cli::bars::Bars;

/// The evaluation, its positions, and the options of computing its rows.
#[derive(Args)]
pub(super) struct EvaluationArgs {
    #[command(flatten)]
    pub(super) machine: MachineArgs,

    /// Ask an engine for the rows of the positions in --epd, as many processes of it as --threads. It reads FENs and
    /// answers rows: see docs/your-engine.md. Blanks separate the words of the command, except in quotation marks.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["rows", "params"], help_heading = "Data")]
    pub(super) engine: Option<CommandLine>,

    /// Rows as text: declarations of sums, parameters and the score, then a line a position; see below. Plain, or
    /// compressed with gzip, zstd, xz or bzip2; `-` for standard input. May be given several times: all files then have
    /// the same declarations, and games of their own. Each may have a weight: every row of a.rows=0.5 counts as half a
    /// row.
    #[arg(long, value_name = "FILE[=WEIGHT]", value_parser = Input::parser(), conflicts_with = "params")]
    #[arg(help_heading = "Data")]
    pub(super) rows: Vec<Input>,

    /// Parameters of Merino: those of the start, and the centre of the prior.
    #[arg(long, value_name = "FILE", help_heading = "Parameters")]
    params: Option<PathBuf>,

    /// The position that counts: the leaf of Merino's quiescence search, or the position itself. An engine gets that
    /// position.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch, conflicts_with = "rows", help_heading = "Objective")]
    pub(super) resolve: Resolve,

    #[command(flatten)]
    timeout: TimeoutArgs,

    /// Keep the answers of --engine in this folder: a file of rows, which is used again when data and engine are the
    /// same. The cache does not notice changes of other files that the engine reads.
    #[arg(long, value_name = "FOLDER", requires = "engine", help_heading = "Data")]
    cache: Option<PathBuf>,

    #[command(flatten)]
    data: DataArgs,
}

/// The timeout of an engine.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub(super) struct TimeoutArgs {
    /// The longest time that an engine may take for an answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive)]
    timeout: f64,
}

impl TimeoutArgs {
    /// Makes an engine with this timeout.
    pub(super) fn engine(&self, command: &CommandLine, processes: usize, resolve: Resolve) -> Engine {
        let timeout = Duration::from_secs_f64(self.timeout.min(1e6));
        Engine { command: command.clone(), processes, timeout, resolve }
    }
}

impl EvaluationArgs {
    /// Returns true for Merino's own evaluation.
    pub(super) fn is_own(&self) -> bool {
        self.engine.is_none() && self.rows.is_empty()
    }

    /// Returns the file of Merino's parameters.
    pub(super) fn params(&self, default: &str) -> PathBuf {
        self.params.clone().unwrap_or_else(|| default.into())
    }

    /// Returns the name of an evaluation other than Merino's own.
    pub(super) fn name(&self) -> String {
        match &self.engine {
            Some(command) => format!("rows of `{command}`"),
            None => self.rows.iter().map(|input| input.path.display().to_string()).collect::<Vec<_>>().join(", "),
        }
    }

    /// Registers the data as inputs of the run, and the file of Merino's parameters if a default name of it is given.
    ///
    /// # Errors
    /// If flags have no meaning for this evaluation.
    pub(super) fn register(&self, files: &mut RunFiles, params: Option<&str>) -> Result<()> {
        self.data.register(files)?;
        if !self.rows.is_empty() && !self.data.epd.is_empty() {
            bail!("--epd: rows are data already; positions are for Merino's evaluation and for --engine");
        }
        if self.engine.is_some() && self.data.epd.iter().any(|input| input.weight != Weight::default()) {
            bail!("--epd: weights are for --rows and for Merino's own evaluation; an engine's rows count alike");
        }
        if self.rows.iter().any(Input::has_other_settings) {
            bail!("--rows: a file of rows has a weight and no other settings");
        }
        if self.rows.iter().filter(|input| input.path.as_os_str() == Source::STANDARD_INPUT).count() > 1 {
            bail!("--rows -: standard input can be read only once");
        }
        self.rows.iter().try_for_each(|input| files.reads("--rows", &input.path))?;
        let params = params.filter(|_| self.is_own());
        Ok(params.map_or(Ok(()), |default| files.reads("--params", &self.params(default)))?)
    }

    /// Reads the problem of Merino's own evaluation with these starting values.
    pub(super) fn own_problem(&self, start: Weights, bars: &Bars) -> Result<Problem> {
        let dataset = Dataset::read(self.data.sources(&[])?, &self.data.options, bars)?;
        Own { start, resolve: self.resolve }.problem(Arc::new(dataset), bars)
    }

    /// Reads the problem of another evaluation. `names` checks the parameters before positions are asked for, `accept`
    /// the declarations before the first row is read.
    pub(super) fn external_problem(
        &self,
        names: &(dyn Fn(&[Parameter]) -> Result<(), String> + Sync),
        accept: impl FnOnce(Problem) -> Result<()>,
        bars: &Bars,
    ) -> Result<Problem> {
        let Some(command) = &self.engine else {
            let inputs = self.rows.iter().map(|input| (input.path.clone(), input.weight));
            let (paths, weights): (Vec<_>, Vec<_>) = inputs.unzip();
            return Ok(Problem::read_rows(&paths, &self.data.options.storage, accept, bars)?.with_weights(&weights));
        };
        let engine = self.timeout.engine(command, self.machine.threads(), self.resolve);
        engine.problem(self.data.sources(&[])?, &self.data.options, self.cache.as_deref(), (names, accept), bars)
    }
}
