//! What comes out of a run.

use std::collections::BTreeMap;

use engine::eval::params::Weights;
use serde::{Deserialize, Serialize};

use crate::cache::CacheUse;
use crate::constraints::Constraints;
use crate::data::{FileSummary, Grouping, Skipped};
use crate::explain::Explanation;
use crate::features::{Resolve, Scores};
use crate::model::centre::Centring;
use crate::objective::{Difference, PriorScale, SampleLoss, score_loss};
use crate::optimize::{Limits, Method};
use crate::target::Target;
use crate::uncertainty::Errors;
use crate::validation::PriorChoice;

/// Mean losses of the engine's integer scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Of the evaluation itself.
    #[serde(rename = "static")]
    pub still: f64,
    /// Of the quiescence search.
    pub qsearch: f64,
}

impl Loss {
    /// Of scores under a scale.
    pub(crate) fn of(loss: SampleLoss, scores: &Scores, targets: &[f32], k: f64) -> Self {
        let mean = |scores: &[i16]| score_loss(loss, k, scores, targets);
        Loss { still: mean(&scores.static_score), qsearch: mean(&scores.qsearch) }
    }

    /// The one that a way of resolving minimises.
    pub(crate) fn by(&self, how: Resolve) -> f64 {
        match how {
            Resolve::Static => self.still,
            Resolve::Qsearch => self.qsearch,
        }
    }
}

/// Losses of the positions that are fitted, and of those held out, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Sides {
    pub(super) fitted: Loss,
    pub(super) held: Option<Loss>,
}

/// Mean losses with the parameters of the start and with those that came out, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// With the parameters of the start.
    pub before: Loss,
    /// With the tuned parameters after rounding.
    pub after: Loss,
}

/// A step of a run, for a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Standard errors, bootstrap included.
    pub errors: f64,
}

/// Standard errors beside what fits to samples drawn anew say of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// Samples.
    pub samples: usize,
    /// By parameter: the standard deviation over the samples; none where it could not move.
    pub by_parameter: Vec<Option<f64>>,
    /// Median of these over the standard errors.
    pub ratio: f64,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The files.
    pub files: Vec<FileSummary>,
    /// What the cache was good for, if there was one.
    pub cache: Option<CacheUse>,
    /// Positions used, those held out included.
    pub positions: u64,
    /// What positions stayed together by, in folds, in what was held out and in errors.
    pub grouping: Grouping,
    /// Positions held out.
    pub held_out: u64,
    /// Lines passed over, by reason.
    pub skipped: BTreeMap<&'static str, Skipped>,
    /// The parameters of the start, with one value for all numbers of a tie.
    pub start: Weights,
    /// The tuned parameters.
    pub tuned: Weights,
    /// What positions were to predict.
    pub target: Target,
    /// What a wrong prediction cost.
    pub sample_loss: SampleLoss,
    /// How positions were resolved.
    pub resolve: Resolve,
    /// How the objective was minimised.
    pub method: Method,
    /// The scale from centipawns to expected results.
    pub k: f64,
    /// λ.
    pub prior: f64,
    /// Whether the scale of the start was pulled to.
    pub prior_scale: PriorScale,
    /// Whether λ was given.
    pub is_prior_given: bool,
    /// How λ was chosen, if there were enough data to choose by.
    pub prior_choice: Option<PriorChoice>,
    /// How well scores predict results, of the positions that were fitted.
    pub loss: Losses,
    /// The same of those held out, if there are any.
    pub held_loss: Option<Losses>,
    /// Every step.
    pub history: Vec<CurvePoint>,
    /// Standard errors of the tuned parameters, if they were asked for and could be had.
    pub errors: Option<Errors>,
    /// What they take for no change: shifts of whole tables against their material.
    pub centring: Centring,
    /// What a bootstrap says of them.
    pub bootstrap: Option<Bootstrap>,
    /// What the parameters get right and wrong, before and after, if that was asked: on the positions held out, if there
    /// are any, else on all.
    pub explained: Option<[Explanation; 2]>,
    /// The difference of their losses, with its standard error.
    pub loss_change: Option<Difference>,
    /// By pair: positions that were fitted in which it occurs.
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
    /// What it had to keep to, as it was asked.
    pub constraints: Constraints,
    /// Where each number could go.
    pub limits: Limits,
    /// Numbers that follow another one they are tied to.
    pub tied: usize,
    /// Numbers whose start ties have changed, before anything was tuned.
    pub averaged: usize,
    /// Pairs that occur in no row, and therefore kept their start.
    pub unseen: usize,
    /// Pairs that occur in too few rows, and therefore kept their start.
    pub rare: usize,
    /// Numbers that reached the end of their range.
    pub at_bound: usize,
    /// How long it took.
    pub seconds: Seconds,
}
