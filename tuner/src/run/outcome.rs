//! The outcome of a run, the same for every evaluation.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::explain::Explanation;
use super::{Errors, PriorChoice, Reference, Settings};
use crate::data::{Dataset, FileSummary, Grouping, LeftOutCounts, Skipped, Weight};
use crate::model::centre::Centring;
use crate::objective::{Difference, PriorScale, SampleLoss, score_loss};
use crate::optimize::Limits;
use crate::source::numbers::{Number, Numbers};
use crate::source::{Check, Problem};

/// Mean losses at the start and with the rounded result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// With the parameters of the start.
    pub before: f64,
    /// With the tuned parameters after rounding.
    pub after: f64,
}

impl Losses {
    /// Returns the relative change.
    pub fn change(&self) -> f64 {
        self.after / self.before - 1.0
    }
}

/// The mean losses on a set of positions, fitted or held out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetLoss {
    /// Name of the set.
    pub name: String,
    /// The number of positions.
    pub positions: usize,
    /// The weight of each position.
    pub weight: Weight,
    /// Mean loss of the set.
    pub loss: Losses,
}

impl SetLoss {
    /// Returns the losses of consecutive sets, each given by name, weight and number of positions. Scores before and
    /// after come with their K.
    pub(super) fn of<'s>(
        sets: impl Iterator<Item = (&'s str, Weight, usize)>,
        (loss, targets): (SampleLoss, &[f32]),
        both: [(f64, &[f32]); 2],
    ) -> Vec<Self> {
        let mut end = 0;
        let set = |(name, weight, positions): (&str, Weight, usize)| {
            let own = end..end + positions;
            end = own.end;
            let [before, after] =
                both.map(|(k, scores)| score_loss(loss, k, &scores[own.clone()], &targets[own.clone()]));
            SetLoss { name: name.to_owned(), positions, weight, loss: Losses { before, after } }
        };
        sets.map(set).filter(|set| set.positions > 0).collect()
    }

    /// Formats the losses as one line per set below a title; empty without sets.
    pub(crate) fn table(sets: &[SetLoss]) -> String {
        let width = sets.iter().map(|set| set.name.chars().count()).max().unwrap_or(0).max(18);
        let title = format!("\n{:<width$} {:>12}{:>12} {:>11}  weight\n", "by set", "before", "after", "positions");
        let line = |SetLoss { name, positions, weight, loss: Losses { before, after } }: &SetLoss| {
            format!("{name:<width$} {before:>12.7}{after:>12.7} {positions:>11}  {weight}\n")
        };
        if sets.is_empty() { String::new() } else { title + &sets.iter().map(line).collect::<String>() }
    }
}

/// A step of a run, as a point of the loss curve. Steps are counted through all rounds, the start of each included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Objective over the fitted rows, prior included.
    pub objective: f64,
    /// Mean loss of the rows held out.
    pub held: Option<f64>,
}

/// The wall-clock seconds of the parts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Total time up to the tuned parameters.
    pub total: f64,
    /// Time to read and check the data, resolve the positions and trace them into rows.
    pub read: f64,
    /// Time to resolve the positions again with new parameters and measure their losses, all rounds.
    pub resolve: f64,
    /// Time to fit K.
    pub fit_k: f64,
    /// Time to choose the strength of the prior.
    pub choose_prior: f64,
    /// Time to minimise, all rounds.
    pub optimize: f64,
    /// Time to compute standard errors.
    pub errors: f64,
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seconds { total, read, resolve, fit_k, choose_prior, optimize, errors } = self;
        write!(f, "read {read:.2}, fit K {fit_k:.2}, choose prior {choose_prior:.2}, minimise {optimize:.2}, ")?;
        write!(f, "resolve again {resolve:.2}, errors {errors:.2}, total {total:.2}")
    }
}

/// The largest share of the gain that rounding may lose without a warning.
const MOST_LOST: f64 = 0.02;

/// A parameter before and after the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Name: `psqt.knight.e4:mg`.
    pub name: String,
    /// Value at the start.
    pub before: f64,
    /// Rounded value at the end.
    pub after: f64,
    /// Standard error, if it is known.
    pub error: Option<f64>,
    /// Change of the centred parameter, to which the standard error belongs.
    #[serde(skip)]
    pub(crate) moved: f64,
    /// The number of digits after the decimal point.
    #[serde(skip)]
    pub(crate) decimals: usize,
}

impl Change {
    /// Returns the value at the end minus the value at the start.
    pub(crate) fn change(&self) -> f64 {
        self.after - self.before
    }

    /// Returns the change in standard errors, if they are known.
    pub(crate) fn significance(&self) -> Option<f64> {
        self.error.filter(|error| *error > 0.0).map(|error| self.moved.abs() / error)
    }
}

/// The result of a run. `--json` prints it as JSON.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Settings of the fit.
    pub settings: Settings,
    /// The parameters, number by number.
    #[serde(skip)]
    pub numbers: Numbers,
    /// The grouping of positions in folds, in the hold-out set and in standard errors.
    pub grouping: Grouping,
    /// The agreement of the formula with the engine's scores, if the engine gave them.
    pub check: Option<Check>,
    /// A summary of the data, line by line.
    #[serde(skip)]
    pub data_summary: String,
    /// Warnings about the data and the result.
    pub warnings: Vec<String>,
    /// The files of positions.
    #[serde(skip)]
    pub files: Vec<FileSummary>,
    /// The number of positions or rows, held-out ones included.
    pub positions: usize,
    /// The number of skipped records.
    #[serde(rename = "skipped")]
    pub skipped_records: u64,
    /// Skipped records, by reason.
    #[serde(rename = "skipped_by_reason")]
    pub skipped: BTreeMap<&'static str, Skipped>,
    /// Records left out by filters, by reason.
    pub left_out: LeftOutCounts,
    /// Parameters that occur in too few rows and keep their start.
    pub rare: Vec<String>,
    /// Parameters that occur in no row and keep their start.
    pub unseen: Vec<String>,
    /// All parameters, in order.
    pub parameters: Vec<Change>,
    /// The reason why no number differs from its start, if none does.
    pub nothing_tuned: Option<String>,
    /// The start, with equal values for tied parameters.
    #[serde(skip)]
    pub start: Vec<f64>,
    /// The fitted parameters, rounded.
    #[serde(skip)]
    pub theta: Vec<f64>,
    /// K of the start: the scale from centipawns to expected results.
    pub start_k: f64,
    /// K of the result.
    pub k: f64,
    /// λ, the strength of the prior.
    pub prior: f64,
    /// The choice of λ by cross-validation, if λ was not given and there were enough data.
    pub prior_choice: Option<PriorChoice>,
    /// The number of rows fitted.
    pub fitted: usize,
    /// The number of rows held out.
    pub held_out: usize,
    /// Losses of the fitted rows.
    pub loss: Losses,
    /// Losses of the held-out rows, if there are any.
    pub held_loss: Option<Losses>,
    /// The share of the gain on the fitted rows that rounding loses.
    pub rounding_lost: f64,
    /// Losses by set of data, if sets have weights.
    pub sets: Vec<SetLoss>,
    /// The explanations before and after, if they were requested: on the held-out rows if there are any, else on all
    /// rows.
    #[serde(skip)]
    pub explained: Option<[Explanation; 2]>,
    /// The difference of the losses there, with its standard error.
    pub loss_change: Option<Difference>,
    /// The verdicts of the reference sets.
    pub references: Vec<Reference>,
    /// All steps.
    #[serde(skip)]
    pub history: Vec<CurvePoint>,
    /// Standard errors, if they were requested and could be computed.
    #[serde(skip)]
    pub errors: Option<Errors>,
    /// The shifts of whole tables against their counterparts that standard errors ignore.
    #[serde(skip)]
    pub centring: Centring,
    /// By parameter: the number of fitted rows in which it occurs.
    #[serde(skip)]
    pub occurrences: Vec<u32>,
    /// The number of steps of the optimiser, all rounds.
    pub iterations: u64,
    /// The number of rounds of resolving and minimising that were kept.
    pub rounds: u64,
    /// Norm of the gradient at the end relative to the start.
    pub gradient_ratio: f64,
    /// True if the last fit converged or could make no further progress, and did not reach the step limit.
    pub converged: bool,
    /// True if the run was interrupted.
    pub interrupted: bool,
    /// The number of frozen parameters.
    pub frozen: usize,
    /// The number of parameters that follow the leader of their tie.
    pub tied: usize,
    /// The number of parameters with a start that was averaged over a tie.
    pub averaged: usize,
    /// The number of parameters at an end of their range.
    pub at_bound: usize,
    /// The limits of each parameter.
    #[serde(skip)]
    pub limits: Limits,
    /// Durations.
    pub seconds: Seconds,
}

impl Outcome {
    /// Returns the outcome for the data and the parameters of a problem, with nothing fitted yet.
    pub(crate) fn of_problem(problem: &Problem) -> Self {
        let (dataset, files) = (problem.dataset(), problem.files());
        Outcome {
            numbers: problem.numbers.clone(),
            grouping: problem.grouping,
            check: problem.check.clone(),
            data_summary: problem.description.clone(),
            files: files.to_vec(),
            positions: problem.groups.len(),
            skipped_records: dataset.map_or(0, Dataset::skipped_records),
            skipped: dataset.map(|dataset| dataset.skipped().clone()).unwrap_or_default(),
            left_out: files.iter().map(|file| file.left_out).sum(),
            converged: true,
            ..Outcome::default()
        }
    }

    /// Returns true if no strength of the prior beats the start, so that nothing is fitted.
    pub(crate) fn keeps_start(&self) -> bool {
        self.prior_choice.as_ref().is_some_and(|choice| choice.keeps_start)
    }

    /// Returns all parameters before and after, in the order of their vector.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let mut moved: Vec<f64> = self.start.iter().zip(&self.theta).map(|(before, after)| after - before).collect();
        self.centring.shift(&mut moved);
        let change = |(j, number): (usize, &Number)| Change {
            name: number.name.clone(),
            before: self.start[j],
            after: self.theta[j],
            error: self.errors.as_ref().and_then(|errors| errors.by_parameter[j]),
            moved: moved[j],
            decimals: number.decimals,
        };
        self.numbers.iter().enumerate().map(change).collect()
    }

    /// Fills in the changes, and the parameters that are frozen for their rarity alone.
    pub(super) fn describe(&mut self, asked: &Limits) {
        self.parameters = self.changes();
        self.nothing_tuned = self.nothing_tuned_reason();
        self.at_bound = self.at_bounds().count();
        for (j, number) in self.numbers.iter().enumerate() {
            let kept = if self.occurrences[j] == 0 { &mut self.unseen } else { &mut self.rare };
            let is_new = kept.last().is_none_or(|last| last != number.path());
            if self.limits.is_frozen(j) && !asked.is_frozen(j) && is_new {
                kept.push(number.path().to_owned());
            }
        }
    }

    /// Returns the parameters at an end of their range.
    pub(crate) fn at_bounds(&self) -> impl Iterator<Item = usize> {
        (0..self.theta.len()).filter(|&j| {
            let (lower, upper) = self.limits.bounds(j);
            !self.limits.is_frozen(j) && (self.theta[j] == lower || self.theta[j] == upper)
        })
    }

    /// Returns a warning if rounding loses much of the gain of the fit.
    pub(crate) fn rounding_warning(&self) -> Option<String> {
        (self.rounding_lost > MOST_LOST).then(|| {
            format!(
                "rounding loses {:.0} % of what the fit has gained: some numbers are too small for their digits",
                100.0 * self.rounding_lost
            )
        })
    }

    /// Returns the reason why no parameter differs from its start, if none does.
    fn nothing_tuned_reason(&self) -> Option<String> {
        if self.theta != self.start {
            return None;
        }
        let is_open = |j: usize| !self.limits.is_frozen(j);
        let reason = if !(0..self.theta.len()).any(is_open) {
            "every number is frozen or occurs in too few positions (--min-seen)"
        } else if self.keeps_start() {
            "no strength of the prior predicts held-out games better than the start"
        } else if self.interrupted {
            "the run was interrupted before a step lowered the loss"
        } else if self.rounds == 0 {
            "no step lowers the loss of rounded numbers; a weaker prior (--prior) lets them move further"
        } else {
            "every change rounds to the start; a weaker prior (--prior) lets numbers move further"
        };
        Some(format!("nothing was tuned: {reason}"))
    }

    /// Returns the centre of the prior and the origin of its strength.
    pub(crate) fn prior_origin(&self) -> String {
        let shape = match self.settings.prior_scale {
            PriorScale::Free => "to the shape of the start",
            PriorScale::Fixed => "to the start",
        };
        let origin = match (self.settings.prior.is_some(), &self.prior_choice) {
            (true, _) => "as given",
            (false, Some(PriorChoice { keeps_start: true, .. })) => "the strongest that was tried: the start is better",
            (false, Some(_)) => "chosen by cross-validation",
            (false, None) => "usual for so many positions",
        };
        format!("{shape}, {origin}")
    }

    /// Returns λ and its origin.
    pub(crate) fn prior_words(&self) -> String {
        if self.keeps_start() {
            return "keeps the start, chosen by cross-validation".to_owned();
        }
        format!("{:.3e} {}", self.prior, self.prior_origin())
    }
}
