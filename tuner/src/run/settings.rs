//! The settings of a fit, the same for every evaluation. Flag, help text and JSON of each come from one declaration.

use clap::{ArgAction, Args, Command, FromArgMatches};
use serde::{Serialize, Serializer};

use crate::objective::{K_MAX, K_MIN, PriorScale, SampleLoss};
use crate::optimize::Method;
use crate::source::constraints::Constraints;
use crate::source::target::Target;

/// The settings of a fit.
#[derive(Clone, Debug, PartialEq, Args, Serialize)]
pub struct Settings {
    /// The tuned parameters and their limits.
    #[command(flatten)]
    pub constraints: Constraints,

    /// Leave parameters that occur in fewer positions as they are; 0 tunes every parameter that occurs. Parameters that
    /// are tied count together.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Parameters")]
    pub min_seen: u32,

    /// Scale the start so that its K is 1, frozen parameters too, and fit with that K: a score of 400 centipawns then
    /// means 10 of 11 points. The formula of the score determines the scale of each parameter.
    #[arg(long, help_heading = "Parameters")]
    pub normalize: bool,

    /// Do not centre tables. Otherwise the mean of a table moves into the parameter that occurs as often as its entries
    /// together (the squares of a piece, and its material); no score changes.
    #[arg(long = "no-centre", action = ArgAction::SetFalse, help_heading = "Parameters")]
    pub centre: bool,

    /// The target of predictions: `result` of the game; `score` of a search as the data give it (EPD's `ce`, the column
    /// `search` of rows); `mix:α`, with α the share of the result; or `auto`: the score if every position has one, else
    /// the result. In an outcome, what `auto` came to.
    #[arg(long, value_name = "TARGET", default_value_t = Target::default(), help_heading = "Objective")]
    #[serde(serialize_with = "as_text")]
    pub target: Target,

    /// The loss of a wrong prediction: its square, or the surprise of the result in nats.
    #[arg(long, value_enum, default_value_t = SampleLoss::default(), help_heading = "Objective")]
    pub loss: SampleLoss,

    /// λ, the strength of the prior, per squared centipawn; `auto` chooses it by cross-validation. Little data needs
    /// more, much data less.
    #[arg(
        long,
        value_name = "λ",
        default_value = "auto",
        allow_hyphen_values = true,
        value_parser = strength_or_auto,
        help_heading = "Objective"
    )]
    // The full path keeps clap from reading `None` as a missing flag.
    pub prior: std::option::Option<f64>,

    /// The centre of the prior: the shape of the start at the scale that fits best, or the start itself.
    #[arg(long, value_enum, default_value_t = PriorScale::Free, help_heading = "Objective")]
    pub prior_scale: PriorScale,

    /// Hold out this share of the positions, whole games or groups: the fit does not see them, and the run keeps the
    /// parameters that predict them best.
    #[arg(long, value_name = "SHARE", value_parser = share, help_heading = "Objective")]
    pub validation: Option<f64>,

    /// K, the scale from centipawns to expected results; fitted to the parameters of the start if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    pub k: Option<f64>,

    /// The way to the minimum; all methods find the same.
    #[arg(long, value_enum, default_value_t = Method::Lbfgs, help_heading = "Method")]
    pub method: Method,

    /// Seed of all random choices: the hold-out, the folds of --prior auto and local search.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Method")]
    pub seed: u64,

    /// Skip the standard errors of the parameters.
    #[arg(long = "no-errors", action = ArgAction::SetFalse, help_heading = "Output")]
    pub errors: bool,

    /// True if calibration and worst predictions are computed, before and after.
    #[arg(skip)]
    pub explain: bool,

    /// Centipawns by which a row may differ from the engine's own score. Nothing is fitted if more than a tenth of the
    /// rows differ by more. An engine that divides integers several times is often off by 2 or 3.
    #[arg(
        long,
        value_name = "CENTIPAWNS",
        default_value_t = 1.0,
        value_parser = positive,
        help_heading = "Data"
    )]
    #[serde(skip)]
    pub tolerance: f64,
}

impl Default for Settings {
    /// Returns the settings of a command line without flags.
    fn default() -> Self {
        let matches = Settings::augment_args(Command::new("tuner")).get_matches_from(["tuner"]);
        Settings::from_arg_matches(&matches).expect("every flag has a default")
    }
}

fn as_text<S: Serializer>(target: &Target, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(target)
}

/// Parses λ; `None` for `auto`.
fn strength_or_auto(text: &str) -> Result<Option<f64>, String> {
    match text {
        "auto" => Ok(None),
        // With a larger λ no parameter moves by a centipawn, for any number of positions.
        _ => number(text, |value| (0.0..=1e6).contains(&value), "from 0 to 1000000")
            .map(Some)
            .map_err(|error| format!("{error}, or auto")),
    }
}

/// Parses K, in the range of fitted values.
///
/// # Errors
/// A message with the expected range.
pub fn scale(text: &str) -> Result<f64, String> {
    number(text, |value| (K_MIN..=K_MAX).contains(&value), &format!("from {K_MIN} to {K_MAX}"))
}

/// Parses a finite number above 0.
///
/// # Errors
/// A message with the expected range.
pub fn positive(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0, "positive")
}

/// Parses a number between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0 && value < 1.0, "between 0 and 1")
}

fn number(text: &str, is_good: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && is_good(value) => Ok(value),
        _ => Err(format!("expected a finite number, {expected}")),
    }
}
