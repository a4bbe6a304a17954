//! `tuner fit`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use common::files::RunFiles;
use common::note;
use serde_json::json;
use tuner::constraints::Constraints;
use tuner::data::Source;
use tuner::fit::{Language, Problem, Settings};
use tuner::objective::{PriorScale, SampleLoss};
use tuner::optimize::Method;
use tuner::processes::is_first;
use tuner::run::{Hooks, MIN_SEEN};

use super::{MachineArgs, MemoryArgs, PrintArgs, Prior, scale, share};
use crate::bars::Bars;
use crate::interrupt::{self, STOP, fitting};

/// What an author of another engine has to know first.
const FORMAT: &str = "\
The rows are text that your engine writes, in any language; docs/rows.md has all of the format:

  merino-rows 2
  sum main pair                           a sum of midgame and endgame values
  sum tempo single                        a sum of single values
  fact phase 0 1                          a number of each position: 1 in the opening, 0 in the endgame
  score = taper(main.mg, main.eg, phase) + tempo
  pair main PawnDoubled -13 -42           parameter 0, with the values that it has now
  pair main Mobility[0][3] -5 12          parameter 1
  single tempo Tempo 18                   parameter 2
  rows result score group phase           the columns of the lines that follow, a line a position
  0.5 -31 17 0.75 0:1 1:-2 2:1            a draw, the engine says -31, game 17; then parameter:count

All numbers are White's view: scores in centipawns, results 1, 0.5 and 0, counts White's minus Black's. Write `-` as the
group if you do not know the game. Give the engine's own score: the run then checks whether the rows add up to it, and
what the formula does not have (endgame tables, rounding) follows by itself.

Examples:
  myengine trace quiet.epd | tuner fit --rows - --emit c --output params.h
  tuner fit --rows a.rows.zst --rows b.rows.gz --emit cpp --freeze Tempo --bound 'PSQT=-200..200'
  tuner fit --rows a.rows.zst --validation 0.1 --json --output params.toml";

/// The arguments of `tuner fit`.
#[derive(Args)]
#[command(after_help = FORMAT)]
pub(crate) struct FitArgs {
    /// Rows as text: declarations of sums, parameters and the score, then a line a position; see below. Plain, or
    /// compressed with gzip, zstd, xz or bzip2; `-` for standard input. May be given several times: all files then have
    /// the same declarations, and games of their own.
    #[arg(long, value_name = "FILE", required = true, help_heading = "Data")]
    rows: Vec<PathBuf>,

    /// Fit rows although more than a tenth of them differ from the engine's own scores by more than 1 centipawn.
    #[arg(long, help_heading = "Data")]
    trust_rows: bool,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    parameters: ParameterArgs,

    #[command(flatten)]
    objective: ObjectiveArgs,

    /// How the minimum is found; all methods find the same.
    #[arg(long, value_enum, default_value_t = Method::Lbfgs, help_heading = "Method")]
    method: Method,

    /// Rows a step of Adam looks at; all if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Method")]
    batch: Option<u32>,

    /// Seed of all that is left to chance: what is held out, the folds of --prior auto, local search and Adam with --batch.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    seed: u64,

    /// The language that the tuned parameters are written in.
    #[arg(long, value_enum, default_value_t = Language::Toml, help_heading = "Output")]
    emit: Language,

    /// Where they go; to standard output if not given, and the table of the run to standard error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Do without the standard errors of the parameters.
    #[arg(long, help_heading = "Output")]
    no_errors: bool,

    #[command(flatten)]
    print: PrintArgs,
}

/// What is tuned.
#[derive(Args)]
#[command(next_help_heading = "Parameters")]
struct ParameterArgs {
    /// Tune these parameters only: names as the rows declare them (PawnDoubled), the beginning of a name up to a bracket or
    /// dot (Mobility, Mobility[0]), `*` for anything; `:mg` or `:eg` behind it for one number of each pair. May be given
    /// several times.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,

    /// Leave these parameters as they are: patterns as for --only.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    freeze: Vec<String>,

    /// Give parameters one value, number by number: patterns of equal shape, such as PSQT[1]=PSQT[2]. They start at their
    /// mean.
    #[arg(long, value_name = "PATTERN=PATTERN", value_delimiter = ',')]
    tie: Vec<String>,

    /// Keep parameters between bounds, both included: PSQT=-200..200, Tempo=0.. or Danger=..50.
    #[arg(long, value_name = "PATTERN=LOWER..UPPER", value_delimiter = ',')]
    bound: Vec<String>,

    /// Leave parameters that occur in fewer rows as they are; 0 tunes whatever occurs.
    #[arg(long, value_name = "N", default_value_t = MIN_SEEN)]
    min_seen: u32,

    /// Scale the parameters so that K is 1, frozen and bounded ones too: a score of 400 centipawns then means 10 of 11
    /// points. Pairs and what is added to them are scaled; the formula decides what else.
    #[arg(long)]
    normalize: bool,

    /// Leave tables where the fit has put them. Otherwise the mean of each table whose entries every row counts together
    /// as often as another parameter (the squares of a piece, and its value) becomes 0, and that parameter takes it over,
    /// which changes no score.
    #[arg(long)]
    no_centre: bool,
}

/// What is minimised.
#[derive(Args)]
#[command(next_help_heading = "Objective")]
struct ObjectiveArgs {
    /// What a wrong prediction costs: its square, or the surprise of the result in nats.
    #[arg(long, value_enum, default_value_t = SampleLoss::default())]
    loss: SampleLoss,

    /// λ, the strength of the pull to the start, per squared centipawn; `auto` chooses it by cross-validation.
    #[arg(long, value_name = "λ", default_value_t = Prior::Auto, allow_hyphen_values = true)]
    prior: Prior,

    /// What is pulled to: the shape of the start, at whatever scale fits best, or the start itself.
    #[arg(long, value_enum, default_value_t = PriorScale::Free)]
    prior_scale: PriorScale,

    /// Hold out this share of the rows, whole groups: they are not fitted, but decide which parameters of those found on
    /// the way are kept.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    validation: Option<f64>,

    /// K, the scale from centipawns to expected results; fitted to the parameters of the start if not given.
    #[arg(long, value_name = "K", value_parser = scale)]
    k: Option<f64>,
}

impl FitArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let mut files = RunFiles::default();
        for rows in &self.rows {
            files.reads("--rows", rows)?;
        }
        if let Some(output) = &self.output {
            files.writes("--output", output, self.emit.kind())?;
        }
        let settings = self.settings()?;
        self.machine.use_threads()?;
        let started = Instant::now();
        let problem = Problem::read_rows(&self.rows, &self.memory.storage(), bars)?;
        let read = started.elapsed().as_secs_f64();
        problem.check_names(self.emit).with_context(|| self.rows[0].display().to_string())?;
        let hooks = Hooks { stop: Some(&STOP), fitting: Some(&fitting), ..Hooks::new(bars) };
        let mut fitted = problem.fit(&settings, hooks)?;
        fitted.seconds.read = read;
        let text = fitted.emit(self.emit)?;
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

    /// What the library is to do.
    fn settings(&self) -> Result<Settings> {
        if self.batch.is_some() && self.method != Method::Adam {
            bail!("--batch is for --method adam; {} looks at all rows", self.method.name());
        }
        if self.rows.iter().filter(|path| path.as_os_str() == Source::STANDARD_INPUT).count() > 1 {
            bail!("--rows -: standard input can be read only once");
        }
        let (parameters, objective) = (&self.parameters, &self.objective);
        Ok(Settings {
            constraints: Constraints {
                only: parameters.only.clone(),
                freeze: parameters.freeze.clone(),
                ties: parameters.tie.clone(),
                bounds: parameters.bound.clone(),
                symmetric: Vec::new(),
            },
            min_seen: parameters.min_seen,
            loss: objective.loss,
            k: objective.k,
            prior: objective.prior.strength(),
            prior_scale: objective.prior_scale,
            validation: objective.validation,
            method: self.method,
            batch: self.batch.map(|size| size as usize),
            seed: self.seed,
            centre: !parameters.no_centre,
            normalize: parameters.normalize,
            errors: !self.no_errors,
            trust_rows: self.trust_rows,
            storage: self.memory.storage(),
        })
    }

    fn told(&self, table: &str, json: serde_json::Value) -> String {
        if self.print.json { format!("{json:#}") } else { table.to_owned() }
    }
}
