//! How parameters are fitted and what is kept of a run, whosever evaluation they are of.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::{HTML, RunFiles, WriteError};
use tuner::constraints::Constraints;
use tuner::objective::{PriorScale, SampleLoss};
use tuner::optimize::Method;
use tuner::run::{Hooks, MIN_SEEN, Settings};
use tuner::target::Target;

use super::{Prior, scale, share};
use crate::cli::bars::Bars;
use crate::cli::interrupt::{STOP, fitting};

/// What is tuned, and what it keeps to: by names alone.
#[derive(Args)]
#[command(next_help_heading = "Parameters")]
pub(super) struct PatternArgs {
    /// Tune these parameters only: a name such as material.queen or Mobility[0][3], the beginning of names up to a dot or
    /// bracket (psqt.knight, Mobility), `*` for anything; `:mg` or `:eg` behind it for one number of each pair. May be
    /// given several times.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,

    /// Leave these parameters as they are: patterns as for --only.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    freeze: Vec<String>,

    /// Give parameters one value, number by number: patterns of equal shape, such as psqt.knight=psqt.bishop or
    /// material.knight:mg=material.knight:eg. They start at their mean.
    #[arg(long, value_name = "PATTERN=PATTERN", value_delimiter = ',')]
    tie: Vec<String>,

    /// Keep parameters between bounds, both included: psqt.*=-200..200, material.queen=900.. or phase=..50.
    #[arg(long, value_name = "PATTERN=LOWER..UPPER", value_delimiter = ',')]
    bound: Vec<String>,
}

impl PatternArgs {
    pub(super) fn constraints(&self) -> Constraints {
        Constraints {
            only: self.only.clone(),
            freeze: self.freeze.clone(),
            ties: self.tie.clone(),
            bounds: self.bound.clone(),
            symmetric: Vec::new(),
        }
    }
}

/// How parameters are fitted.
#[derive(Args)]
pub(super) struct SettingsArgs {
    #[command(flatten)]
    parameters: ParameterArgs,

    #[command(flatten)]
    objective: ObjectiveArgs,

    #[command(flatten)]
    method: MethodArgs,
}

/// Which parameters are tuned, and the form they get.
#[derive(Args)]
#[command(next_help_heading = "Parameters")]
struct ParameterArgs {
    /// Leave parameters that occur in fewer positions as they are; 0 tunes every parameter that occurs.
    #[arg(long, value_name = "N", default_value_t = MIN_SEEN)]
    min_seen: u32,

    /// Scale the start so that its K is 1, frozen parameters too, and fit with that K: a score of 400 centipawns then
    /// means 10 of 11 points. The formula of the score determines the scale of each parameter.
    #[arg(long)]
    normalize: bool,

    /// Do not centre tables. Otherwise the mean of a table moves into the parameter that occurs as often as its entries
    /// together (the squares of a piece, and its material); no score changes.
    #[arg(long)]
    no_centre: bool,
}

/// What positions are to predict.
#[derive(Args)]
#[command(next_help_heading = "Objective")]
pub(super) struct TargetArgs {
    /// The target of predictions: `result` of the game; `score` of a search as the data give it (EPD's `ce`, the column
    /// `search` of rows); `mix:α`, with α the share of the result; or `auto`: the score if every position has one, else
    /// the result.
    #[arg(long, value_name = "TARGET", default_value_t = Target::default())]
    pub(super) target: Target,
}

/// What is minimised.
#[derive(Args)]
#[command(next_help_heading = "Objective")]
struct ObjectiveArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// The loss of a wrong prediction: its square, or the surprise of the result in nats.
    #[arg(long, value_enum, default_value_t = SampleLoss::default())]
    loss: SampleLoss,

    /// λ, the strength of the prior, per squared centipawn; `auto` chooses it by cross-validation. Little data needs
    /// more, much data less.
    #[arg(long, value_name = "λ", default_value = "auto", allow_hyphen_values = true)]
    prior: Prior,

    /// The centre of the prior: the shape of the start at the scale that fits best, or the start itself.
    #[arg(long, value_enum, default_value_t = PriorScale::Free)]
    prior_scale: PriorScale,

    /// Hold out this share of the positions, whole games or groups: the fit does not see them, and the run keeps the
    /// parameters that predict them best.
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
    /// The way to the minimum; all methods find the same.
    #[arg(long, value_enum, default_value_t = Method::Lbfgs)]
    method: Method,

    /// Seed of all random choices: the hold-out, the folds of --prior auto and local search.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// What is kept of a run beside the parameters.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(super) struct KeptArgs {
    /// Write a page about the run: its course, calibration, parameters before and after. One file for a browser.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Skip the standard errors of the parameters.
    #[arg(long)]
    no_errors: bool,
}

impl KeptArgs {
    /// Tells the files of the run what is written beside the parameters.
    pub(super) fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        self.report.iter().try_for_each(|path| files.writes("--report", path, HTML))
    }

    /// Where the page about the run goes, if there is to be one.
    pub(super) fn report(&self) -> Option<&PathBuf> {
        self.report.as_ref()
    }

    /// Who watches the run.
    pub(super) fn hooks<'h>(&self, bars: &'h Bars) -> Hooks<'h> {
        Hooks { stop: Some(&STOP), fitting: Some(&fitting), ..Hooks::new(bars) }
    }

    /// The same with what is to be found out beside the parameters.
    pub(super) fn add_to(&self, settings: Settings) -> Settings {
        Settings { errors: !self.no_errors, explain: self.report.is_some(), ..settings }
    }
}

impl SettingsArgs {
    /// What the library is to do, parameters alone.
    pub(super) fn settings(&self, constraints: Constraints) -> Settings {
        let SettingsArgs { parameters, objective, method: MethodArgs { method, seed } } = self;
        Settings {
            constraints,
            min_seen: parameters.min_seen,
            target: objective.target.target,
            loss: objective.loss,
            k: objective.k,
            prior: objective.prior.0,
            prior_scale: objective.prior_scale,
            validation: objective.validation,
            method: *method,
            seed: *seed,
            centre: !parameters.no_centre,
            normalize: parameters.normalize,
            errors: false,
            ..Settings::default()
        }
    }
}
