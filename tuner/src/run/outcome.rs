//! What comes out of a run, whosever evaluation it was about.

use serde::Serialize;

use super::explain::Explanation;
use super::{Errors, PriorChoice, Reference, Settings};
use crate::data::Weight;
use crate::model::centre::Centring;
use crate::objective::{Difference, PriorScale, SampleLoss, Score, score_loss};
use crate::optimize::Limits;

/// Losses of what is fitted, and of what is held out, if anything is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sides<L> {
    /// Of what is fitted.
    pub fitted: L,
    /// Of what is held out.
    pub held: Option<L>,
}

/// Mean losses with the parameters of the start and with those that came out, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses<L> {
    /// With the parameters of the start.
    pub before: L,
    /// With the tuned parameters after rounding.
    pub after: L,
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
    pub loss: Losses<f64>,
}

impl SetLoss {
    /// Of sets that follow one another (name, weight and positions of each), with parameters and K before and after; nothing
    /// where all count alike.
    pub(crate) fn of<'n, S: Score>(
        sets: impl Iterator<Item = (&'n str, Weight, usize)> + Clone,
        (loss, targets): (SampleLoss, &[f32]),
        both: [(&[f64], f64); 2],
        scores: impl Fn(&[f64]) -> Vec<S>,
    ) -> Vec<Self> {
        if !sets.clone().any(|set| set.1 != Weight::default()) {
            return Vec::new();
        }
        let (both, mut end) = (both.map(|(vector, k)| (scores(vector), k)), 0);
        let set = |(name, weight, positions): (&str, Weight, usize)| {
            let own = end..end + positions;
            end = own.end;
            let [before, after] =
                [0, 1].map(|side| score_loss(loss, both[side].1, &both[side].0[own.clone()], &targets[own.clone()]));
            SetLoss { name: name.to_owned(), positions, weight, loss: Losses { before, after } }
        };
        sets.map(set).filter(|set| set.positions > 0).collect()
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

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Outcome<L> {
    /// How it was fitted.
    pub settings: Settings,
    /// Where the parameters started, with one value for all numbers of a tie.
    pub start: Vec<f64>,
    /// What was found, rounded.
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
    pub loss: Losses<L>,
    /// The same of those held out, if there are any.
    pub held_loss: Option<Losses<L>>,
    /// The share of what was gained on the rows fitted that rounding has taken away.
    pub rounding_lost: f64,
    /// What the parameters lose on each set of data, if sets have weights.
    pub sets: Vec<SetLoss>,
    /// What the parameters get right and wrong, before and after, if that was asked: on what was held out, if anything
    /// was, else on all.
    pub explained: Option<[Explanation; 2]>,
    /// The difference of their losses there, with its standard error.
    pub loss_change: Option<Difference>,
    /// The verdicts of the reference sets.
    pub references: Vec<Reference>,
    /// Every step.
    pub history: Vec<CurvePoint>,
    /// Standard errors, if they were asked for and could be had.
    pub errors: Option<Errors>,
    /// What they take for no change: shifts of whole tables against what they are bonuses of.
    pub centring: Centring,
    /// By number: rows that were fitted in which it occurs.
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
    /// Where each number could go.
    pub limits: Limits,
    /// How long it took.
    pub seconds: Seconds,
}

impl<L> Outcome<L> {
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
    pub(crate) fn nothing_tuned(&self) -> Option<String> {
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
