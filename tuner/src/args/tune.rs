//! A tuning run: what `tuner` does without a command.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use clap::Args;
use common::files::{HTML, RunFiles, TOML, WriteError};
use engine::eval::params::Weights;
use tuner::cache::Cache;
use tuner::features::Resolve;
use tuner::objective::{PriorScale, SampleLoss};
use tuner::optimize::Method;
use tuner::params_file::render;
use tuner::report::{Page, page};
use tuner::target::Target;
use tuner::tune::{CHECKPOINT, Checkpoint, Hooks, Job, MIN_SEEN, run};

use super::job::JobArgs;
use super::parameters::{BASELINE, ParamsFile};
use super::{ConstraintArgs, DataArgs, MachineArgs, PrintArgs, Prior, SampleArgs, scale, share};
use crate::bars::Bars;
use crate::interrupt::{self, STOP, fitting};

/// Where tuned parameters go if nothing else is said: into the folder at hand, not over what the engine ships with.
const OUTPUT: &str = "tuned.toml";

/// The arguments of a tuning run.
#[derive(Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    pub(super) job: JobArgs,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

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
    #[arg(long, value_name = "FILE", default_value = BASELINE)]
    params: PathBuf,

    #[command(flatten)]
    constraints: ConstraintArgs,

    /// Leave pairs of parameters that occur in fewer positions as they are; 0 tunes whatever occurs.
    #[arg(long, value_name = "N", default_value_t = MIN_SEEN)]
    min_seen: u32,

    /// Scale all parameters so that K is 1, frozen and bounded ones too: a score of 400 centipawns then means 10 of 11
    /// points.
    #[arg(long)]
    normalize: bool,

    /// Leave tables where the fit has put them. Otherwise each is centred, stage by stage, and its piece's material takes
    /// over what its squares share, which changes no evaluation.
    #[arg(long)]
    no_centre: bool,
}

/// What is minimised.
#[derive(Args)]
#[command(next_help_heading = "Objective")]
struct ObjectiveArgs {
    /// What a position is judged by: the leaf of its quiescence search, or at once.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch)]
    resolve: Resolve,

    /// What a wrong prediction costs: its square, or the surprise of the result in nats.
    #[arg(long, value_enum, default_value_t = SampleLoss::SquaredError)]
    loss: SampleLoss,

    /// What positions are to predict: `result` of the game, `score` of a search as the data give it (EPD's `ce`), or
    /// `mix:α`, with α the share of the result.
    #[arg(long, value_name = "TARGET", default_value_t = Target::Result)]
    target: Target,

    /// λ, the strength of the pull to the start, per squared centipawn; `auto` chooses it by cross-validation. Little
    /// data wants more, much data less.
    #[arg(long, value_name = "λ", default_value_t = Prior::Auto, allow_hyphen_values = true)]
    prior: Prior,

    /// What is pulled to: the shape of the start, at whatever scale fits best, or the start itself.
    #[arg(long, value_enum, default_value_t = PriorScale::Free)]
    prior_scale: PriorScale,

    /// Hold out this share of the positions, whole games where they have names: they are not fitted, but decide which
    /// parameters of those found on the way are kept.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    validation: Option<f64>,

    /// K, the scale from centipawns to expected results; fitted to the parameters of the start if not given.
    #[arg(long, value_name = "K", value_parser = scale)]
    k: Option<f64>,
}

/// How it is minimised.
#[derive(Args)]
#[command(next_help_heading = "Method")]
struct MethodArgs {
    /// How the minimum is found; all methods find the same.
    #[arg(long, value_enum, default_value_t = Method::Lbfgs)]
    method: Method,

    /// Positions a step of Adam looks at; all if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,

    /// Seed of all that is left to chance: what is held out, the folds of --prior auto, the bootstrap, local search and
    /// Adam with --batch.
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
    /// Where the tuned parameters go; never over the file that --params names.
    #[arg(long, value_name = "FILE", default_value = OUTPUT)]
    output: PathBuf,

    /// Put the tuned parameters into the file that --params names, in place of those that are there.
    #[arg(long, requires = "params", conflicts_with = "output")]
    write_back: bool,

    /// Write a page about the run, for a browser.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Do without the standard errors of the parameters.
    #[arg(long)]
    no_errors: bool,

    /// Check the standard errors by fits to N samples, drawn anew from the games.
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "no_errors")]
    bootstrap: usize,

    /// Keep positions and rows in this folder from run to run, and what does not fit into memory, too. They are used
    /// again when data, parameters and engine are the same.
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,

    /// Keep the state of the run in this file, from which --resume goes on. Removed when the run is over.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Go on from the checkpoint, if it is there; the outcome is that of a run never interrupted.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

impl TuneArgs {
    /// Where the tuned parameters go.
    fn output(&self) -> &Path {
        if self.output.write_back { &self.parameters.params } else { &self.output.output }
    }

    /// Sees that no file of the run is lost, and that all could be written.
    pub(super) fn check_files(&self) -> Result<()> {
        let mut files = RunFiles::default();
        self.data.register(&mut files)?;
        if let Some(job) = &self.job.job {
            files.reads("--job", job)?;
        }
        let output = if self.output.write_back {
            "--write-back"
        } else {
            files.reads("--params", &self.parameters.params)?;
            "--output"
        };
        files.writes(output, self.output(), TOML).map_err(|error| match &error {
            WriteError::Same { other, .. } if other == "--params" => anyhow!("{error}, or replace it by --write-back"),
            _ => error.into(),
        })?;
        for (what, path, kind) in [
            ("--report", &self.output.report, HTML),
            ("--checkpoint", &self.output.checkpoint, CHECKPOINT),
            ("--save-job", &self.job.save_job, TOML),
        ] {
            if let Some(path) = path {
                files.writes(what, path, kind)?;
            }
        }
        Ok(())
    }

    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let (params, output) = (&self.parameters.params, self.output());
        let ParamsFile { name, text: input, weights: start } = ParamsFile::open(params)?;
        self.machine.use_threads()?;
        let hooks = Hooks {
            stop: Some(&STOP),
            fitting: Some(&fitting),
            checkpoint: self.output.checkpoint.as_deref().map(Checkpoint::new),
            resume: self.output.resume,
            ..Hooks::new(bars)
        };
        let report = run(self.job(start)?, hooks)?;
        let text = render(&input, &report.tuned, Some(&report.provenance()))?;
        interrupt::write(output, &text)?;
        let output = output.display();
        if let Some(file) = &self.output.report {
            let told = Page::of_run(&report, output.to_string(), name);
            interrupt::write(file, page(&told))?;
        }
        if self.print.json {
            return Ok(format!("{:#}", report.to_json(&output.to_string())));
        }
        let (table, params) = (report.to_table(&output.to_string()), params.display());
        Ok(format!(
            "{table}\nbuild with   MERINO_PARAMS={output} cargo build --release\n\
             test with    arena sprt --params {output} --against {params}"
        ))
    }

    /// What the library is to do.
    fn job(&self, start: Weights) -> Result<Job> {
        let (parameters, objective, output) = (&self.parameters, &self.objective, &self.output);
        Ok(Job {
            constraints: parameters.constraints.constraints(),
            min_seen: parameters.min_seen,
            target: objective.target,
            loss: objective.loss,
            resolve: objective.resolve,
            method: self.method.method,
            seed: self.method.seed,
            batch: self.method.batch()?,
            prior: objective.prior.strength(),
            prior_scale: objective.prior_scale,
            validation: objective.validation,
            k: objective.k,
            centre: !parameters.no_centre,
            normalize: parameters.normalize,
            errors: !output.no_errors,
            bootstrap: output.bootstrap,
            explain: output.report.is_some(),
            cache: output.cache.as_deref().map(Cache::new).transpose()?,
            reading: self.sample.of(self.data.options()),
            ..Job::new(self.data.sources()?, start)
        })
    }
}
