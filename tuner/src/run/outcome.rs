//! What comes out of a run, whosever evaluation it was about.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::explain::Explanation;
use super::{Errors, PriorChoice, Reference, Settings};
use crate::data::{FileSummary, Grouping, LeftOutCounts, Skipped, Weight};
use crate::model::centre::Centring;
use crate::numbers::{Number, Numbers};
use crate::objective::{Difference, PriorScale, SampleLoss, score_loss};
use crate::optimize::Limits;
use crate::source::Check;

/// Mean losses with the parameters of the start and with those that came out, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// With the parameters of the start.
    pub before: f64,
    /// With the tuned parameters after rounding.
    pub after: f64,
}

/// What parameters lose on a set of positions, fitted or held out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SetLoss {
    /// Its name.
    pub name: String,
    /// Its positions.
    pub positions: usize,
    /// How many each of them counts as.
    pub weight: Weight,
    /// Their mean loss.
    pub loss: Losses,
}

impl SetLoss {
    /// Of sets that follow one another (name, weight and positions of each), by scores before and after, each with its K;
    /// nothing where all count alike.
    pub(super) fn of(
        sets: &[(String, Weight, usize)],
        (loss, targets): (SampleLoss, &[f32]),
        both: [(f64, &[f32]); 2],
    ) -> Vec<Self> {
        let mut end = 0;
        let set = |(name, weight, positions): &(String, Weight, usize)| {
            let own = end..end + positions;
            end = own.end;
            let [before, after] =
                both.map(|(k, scores)| score_loss(loss, k, &scores[own.clone()], &targets[own.clone()]));
            SetLoss { name: name.clone(), positions: *positions, weight: *weight, loss: Losses { before, after } }
        };
        sets.iter().map(set).filter(|set| set.positions > 0).collect()
    }

    /// A line each, below a title; nothing for none.
    pub(crate) fn table(sets: &[SetLoss]) -> String {
        let width = sets.iter().map(|set| set.name.chars().count()).max().unwrap_or(0).max(18);
        let title = format!("\n{:<width$} {:>12}{:>12} {:>11}  weight\n", "by set", "before", "after", "positions");
        let line = |SetLoss { name, positions, weight, loss: Losses { before, after } }: &SetLoss| {
            format!("{name:<width$} {before:>12.7}{after:>12.7} {positions:>11}  {weight}\n")
        };
        if sets.is_empty() { String::new() } else { title + &sets.iter().map(line).collect::<String>() }
    }
}

/// A step of a run, for a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// Round of resolving and minimising, 1 for the first.
    pub round: u64,
    /// Step within the round; its start is 0.
    pub iteration: usize,
    /// The objective over the rows that were looked at, prior included.
    pub objective: f64,
    /// Mean loss of the rows held out.
    pub held: Option<f64>,
}

/// Wall-clock seconds of the steps of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Seconds {
    /// Everything up to the tuned parameters.
    pub total: f64,
    /// Reading and checking the data, resolving the positions and tracing them into rows.
    pub read: f64,
    /// Resolving and measuring them again with new parameters, all rounds.
    pub resolve: f64,
    /// Fitting K.
    pub fit_k: f64,
    /// Choosing the strength of the prior.
    pub choose_prior: f64,
    /// Minimising, all rounds.
    pub optimize: f64,
    /// Standard errors.
    pub errors: f64,
}

/// A share of the gain that rounding may take away without a word.
const MOST_LOST: f64 = 0.02;

/// A number of a parameter before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Its name: `psqt.knight.e4:mg`.
    pub name: String,
    /// At the start.
    pub before: f64,
    /// In the end, rounded.
    pub after: f64,
    /// Standard error, if it is known.
    pub error: Option<f64>,
}

/// The answer of a run; as JSON, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// How it was fitted.
    pub settings: Settings,
    /// The parameters, number by number.
    #[serde(skip)]
    pub numbers: Numbers,
    /// What kept positions together in folds, in the hold-out and in errors.
    pub grouping: Grouping,
    /// How well the formula agreed with the engine's own scores, if it gave them.
    pub check: Option<Check>,
    /// What was read, line by line.
    #[serde(skip)]
    pub told: String,
    /// What looks wrong with the data, or with what came of them.
    pub warnings: Vec<String>,
    /// The files of positions.
    #[serde(skip)]
    pub files: Vec<FileSummary>,
    /// Positions or rows, those held out included.
    pub positions: usize,
    /// Records passed over.
    #[serde(rename = "skipped")]
    pub skipped_records: u64,
    /// Records passed over, by reason.
    #[serde(rename = "skipped_by_reason", serialize_with = "counts")]
    pub skipped: BTreeMap<&'static str, Skipped>,
    /// Records left out by filters, by reason.
    pub left_out: LeftOutCounts,
    /// Parameters that occur in too few rows, and therefore kept their start.
    pub rare: Vec<String>,
    /// Parameters that occur in no row, and therefore kept their start.
    pub unseen: Vec<String>,
    /// Every number, in order.
    pub parameters: Vec<Change>,
    /// The reason why no number differs from its start, if none does.
    pub nothing_tuned: Option<String>,
    /// Where the parameters started, with one value for all numbers of a tie.
    #[serde(skip)]
    pub start: Vec<f64>,
    /// What was found, rounded.
    #[serde(skip)]
    pub theta: Vec<f64>,
    /// The scale from centipawns to expected results that belongs to the start.
    pub start_k: f64,
    /// The scale that belongs to what was found.
    pub k: f64,
    /// λ.
    pub prior: f64,
    /// How λ was chosen, if it was not given and there were enough data to choose by.
    pub prior_choice: Option<PriorChoice>,
    /// Rows fitted.
    pub fitted: usize,
    /// Rows held out.
    pub held_out: usize,
    /// Losses of the rows that were fitted.
    pub loss: Losses,
    /// The same of those held out, if there are any.
    pub held_loss: Option<Losses>,
    /// The share of what was gained on the rows fitted that rounding has taken away.
    pub rounding_lost: f64,
    /// What the parameters lose on each set of data, if sets have weights.
    pub sets: Vec<SetLoss>,
    /// What the parameters get right and wrong, before and after, if that was asked: on what was held out, if anything
    /// was, else on all.
    #[serde(skip)]
    pub explained: Option<[Explanation; 2]>,
    /// The difference of their losses there, with its standard error.
    pub loss_change: Option<Difference>,
    /// The verdicts of the reference sets.
    pub references: Vec<Reference>,
    /// Every step.
    #[serde(skip)]
    pub history: Vec<CurvePoint>,
    /// Standard errors, if they were asked for and could be had.
    #[serde(skip)]
    pub errors: Option<Errors>,
    /// What they take for no change: shifts of whole tables against what they are bonuses of.
    #[serde(skip)]
    pub centring: Centring,
    /// By number: rows that were fitted in which it occurs.
    #[serde(skip)]
    pub occurrences: Vec<u32>,
    /// Steps of the optimiser, all rounds.
    pub iterations: u64,
    /// Rounds of resolving and minimising that were kept.
    pub rounds: u64,
    /// Norm of the gradient at the end relative to the start.
    pub gradient_ratio: f64,
    /// Whether the last fit ended where its loss can fall no further, and not at the largest number of steps.
    pub converged: bool,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Numbers that were not to be tuned.
    pub frozen: usize,
    /// Numbers that follow another one they are tied to.
    pub tied: usize,
    /// Numbers whose start ties have changed, before anything was tuned.
    pub averaged: usize,
    /// Numbers that reached an end of the range that they could move in.
    pub at_bound: usize,
    /// Where each number could go.
    #[serde(skip)]
    pub limits: Limits,
    /// How long it took.
    pub seconds: Seconds,
}

impl Outcome {
    /// Puts the numbers of the run into words: every change, and the parameters that only their rarity has kept.
    pub(super) fn describe(&mut self, asked: &Limits) {
        let error = |j: usize| self.errors.as_ref().and_then(|errors| errors.by_parameter[j]);
        let change = |(j, number): (usize, &Number)| Change {
            name: number.name.clone(),
            before: self.start[j],
            after: self.theta[j],
            error: error(j),
        };
        self.parameters = self.numbers.iter().enumerate().map(change).collect();
        self.nothing_tuned = self.why_nothing();
        self.at_bound = self.count_at_bound();
        for (j, number) in self.numbers.iter().enumerate() {
            let kept = if self.occurrences[j] == 0 { &mut self.unseen } else { &mut self.rare };
            let is_new = kept.last().is_none_or(|last| last != number.path());
            if self.limits.is_frozen(j) && !asked.is_frozen(j) && is_new {
                kept.push(number.path().to_owned());
            }
        }
    }

    /// Counts the numbers that reached an end of the range that they could move in.
    fn count_at_bound(&self) -> usize {
        let is_at_bound = |&j: &usize| {
            let (lower, upper) = self.limits.bounds(j);
            !self.limits.is_frozen(j) && (self.theta[j] == lower || self.theta[j] == upper)
        };
        (0..self.theta.len()).filter(is_at_bound).count()
    }

    /// What is wrong with parameters that lose by rounding much of what the fit has gained.
    pub(crate) fn rounding_warning(&self) -> Option<String> {
        (self.rounding_lost > MOST_LOST).then(|| {
            format!(
                "rounding loses {:.0} % of what the fit has gained: some numbers are too small for their digits",
                100.0 * self.rounding_lost
            )
        })
    }

    /// Why no number differs from its start, if none does.
    fn why_nothing(&self) -> Option<String> {
        if self.theta != self.start {
            return None;
        }
        let is_open = |j: usize| !self.limits.is_frozen(j);
        let reason = if !(0..self.theta.len()).any(is_open) {
            "every number is frozen or occurs in too few positions (--min-seen)"
        } else if self.prior_choice.as_ref().is_some_and(|choice| choice.keeps_start) {
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

    /// What the prior pulled to, and where its strength came from.
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

    /// λ, and where it came from.
    pub(crate) fn prior_words(&self) -> String {
        if self.prior_choice.as_ref().is_some_and(|choice| choice.keeps_start) {
            return "keeps the start, chosen by cross-validation".to_owned();
        }
        format!("{:.3e} {}", self.prior, self.prior_origin())
    }
}

/// How many records were skipped, by reason.
fn counts<S: Serializer>(skipped: &BTreeMap<&'static str, Skipped>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(skipped.iter().map(|(reason, skipped)| (reason, skipped.count)))
}
