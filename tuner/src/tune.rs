//! A whole run: read, resolve, fit K, minimise, resolve again until the true loss stops falling, round.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::time::Instant;

use engine::eval::Evaluator;
use engine::eval::params::{PAIRS, Weights, ranges_of};
use serde::Serialize;
use thiserror::Error;

use crate::dataset::{Dataset, FileSummary, Skipped, Source};
use crate::features::{self, ReadError, Resolve, Resolved, Scores, resolve, score};
use crate::objective::{FitKError, Objective, ObjectiveError, Rows, RowsError, fit_k, score_loss};
use crate::optimize::{Fit, Limits, LimitsError, Method, OptimizeError, Optimizer, Stop};
use crate::progress::{Progress, Unit};
use crate::selection::{Selection, SelectionError};

/// Strength of the prior per position, where none is given: λ = this / number of positions.
///
/// README.md, "The prior", shows the hold-out losses it was chosen by.
pub const PRIOR_PER_POSITION: f64 = 5e-5;

/// Rounds of resolving and minimising at most.
const MAX_ROUNDS: usize = 12;

/// A round that lowers the true loss by less than this share of it is the last.
const LEAST_PROGRESS: f64 = 1e-5;

/// What is to be tuned, to what, and how.
pub struct Job {
    /// Labelled positions.
    pub sources: Vec<Source>,
    /// The parameters to start from, and to be pulled to.
    pub start: Weights,
    /// Which parameters are tuned.
    pub selection: Selection,
    /// Which evaluation of a position is fitted to its result.
    pub resolve: Resolve,
    /// How the objective is minimised.
    pub method: Method,
    /// What decides the choices that a method leaves to chance.
    pub seed: u64,
    /// Rows a step of Adam looks at; `None` for all.
    pub batch: Option<usize>,
    /// λ, the strength of the pull, at least 0; `None` for [`PRIOR_PER_POSITION`] over the number of positions.
    pub prior: Option<f64>,
    /// The scale from centipawns to expected results, positive; `None` to fit it to the start.
    pub k: Option<f64>,
    /// How many lines that cannot be read are passed over.
    pub skip_bad: usize,
}

/// Why a run failed.
#[derive(Debug, Error)]
pub enum TuneError {
    /// The data.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Too many positions.
    #[error(transparent)]
    Rows(#[from] RowsError),
    /// The data do not determine K.
    #[error("{0}; check the results, or give the scale with --k")]
    K(#[from] FitKError),
    /// The objective.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The choice of the parameters.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// The bounds of the parameters.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The optimiser.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// No piece has a phase weight any more.
    #[error("all phase weights were tuned to 0: the data do not tell midgame from endgame; give a stronger --prior")]
    NoPhase,
}

/// Mean squared errors of the engine's integer scores.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Of the evaluation itself.
    #[serde(rename = "static")]
    pub still: f64,
    /// Of the quiescence search.
    pub qsearch: f64,
}

impl Loss {
    /// Of scores under a scale.
    pub(crate) fn of(scores: &Scores, rows: &Rows, k: f64) -> Self {
        let loss = |scores: &[i16]| score_loss(k, scores, rows.targets());
        Loss { still: loss(&scores.still), qsearch: loss(&scores.qsearch) }
    }

    /// The one that a way of resolving minimises.
    fn by(&self, how: Resolve) -> f64 {
        match how {
            Resolve::Static => self.still,
            Resolve::Qsearch => self.qsearch,
        }
    }
}

/// Mean squared errors with the parameters of the start and with those that came out, rounded.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Losses {
    /// With the parameters of the start.
    pub before: Loss,
    /// With the tuned parameters after rounding.
    pub after: Loss,
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
    /// Minimising, all rounds.
    pub optimize: f64,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The files.
    pub files: Vec<FileSummary>,
    /// Positions used.
    pub positions: u64,
    /// Lines passed over, by reason.
    pub skipped: BTreeMap<&'static str, Skipped>,
    /// The parameters of the start.
    pub start: Weights,
    /// The tuned parameters.
    pub tuned: Weights,
    /// How positions were resolved.
    pub resolve: Resolve,
    /// How the objective was minimised.
    pub method: Method,
    /// The scale from centipawns to expected results.
    pub k: f64,
    /// λ.
    pub prior: f64,
    /// How well scores predict results.
    pub loss: Losses,
    /// Steps of the optimiser, all rounds.
    pub iterations: u64,
    /// Rounds of resolving and minimising that were kept.
    pub rounds: u64,
    /// Norm of the gradient at the end relative to the start.
    pub gradient_ratio: f64,
    /// Whether the last fit ended where its loss can fall no further, and not at the largest number of steps.
    pub converged: bool,
    /// Numbers that were not to be tuned.
    pub frozen: usize,
    /// Parameters that occur in no row, and therefore kept their start.
    pub unseen: usize,
    /// Numbers that reached the end of their range.
    pub at_bound: usize,
    /// How long it took.
    pub seconds: Seconds,
}

/// Runs a job.
///
/// # Errors
/// The first fault of the data, or why they cannot be fitted.
pub fn run(job: Job, progress: &dyn Progress) -> Result<Report, TuneError> {
    let started = Instant::now();
    let frozen = job.selection.frozen()?;
    let limits = limits(&frozen)?;
    let mut seconds = Seconds::default();
    let start = Evaluator::new(job.start.clone());
    let read = || features::read(job.sources, job.skip_bad, &start, job.resolve, progress);
    let (dataset, Resolved { rows, scores }) = timed(&mut seconds.read, read)?;
    let k = match job.k {
        Some(k) => k,
        None => {
            timed(&mut seconds.fit_k, || {
                let scores: Vec<f64> = scores.of(job.resolve).iter().map(|&score| f64::from(score)).collect();
                fit_k(&scores, rows.targets())
            })?
            .k
        }
    };
    let prior = job.prior.unwrap_or(PRIOR_PER_POSITION / dataset.len() as f64);
    let before = Loss::of(&scores, &rows, k);
    drop(scores);

    let unseen = rows.occurrences().iter().filter(|&&count| count == 0).count();
    let optimizer = job.method.optimizer(job.seed, job.batch);
    let mut tuning =
        Tuning { dataset: &dataset, resolve: job.resolve, optimizer: &*optimizer, limits, k, prior, seconds, progress };
    let (best, rounds) = tuning.rounds(rows, &job.start, before)?;
    let mut seconds = tuning.seconds;
    seconds.total = started.elapsed().as_secs_f64();
    Ok(Report {
        files: dataset.files().to_vec(),
        positions: dataset.len() as u64,
        skipped: dataset.skipped().clone(),
        start: job.start,
        at_bound: at_bound(&best.weights),
        tuned: best.weights,
        resolve: job.resolve,
        method: job.method,
        k,
        prior,
        loss: Losses { before, after: best.loss },
        iterations: best.iterations,
        rounds,
        gradient_ratio: best.gradient_ratio,
        converged: best.converged,
        frozen: frozen.iter().filter(|&&frozen| frozen).count(),
        unseen,
        seconds,
    })
}

fn timed<T>(seconds: &mut f64, step: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = step();
    *seconds += started.elapsed().as_secs_f64();
    result
}

/// Numbers of pairs that ended at an end of their range; phase weights may well be 0.
fn at_bound(weights: &Weights) -> usize {
    let pairs = weights.to_vector().into_iter().zip(ranges_of::<Weights>()).take(2 * PAIRS);
    pairs.filter(|(value, range)| *value == f64::from(*range.start()) || *value == f64::from(*range.end())).count()
}

/// The best parameters so far.
struct Best {
    weights: Weights,
    /// True losses of the rounded weights, without the prior.
    loss: Loss,
    iterations: u64,
    gradient_ratio: f64,
    converged: bool,
}

struct Tuning<'a> {
    dataset: &'a Dataset,
    resolve: Resolve,
    optimizer: &'a dyn Optimizer,
    limits: Limits,
    k: f64,
    prior: f64,
    seconds: Seconds,
    progress: &'a dyn Progress,
}

impl Tuning<'_> {
    /// Minimises on the rows, resolves with what came out, and so on while the true objective falls.
    ///
    /// Rows of the static evaluation do not depend on the parameters: one round is all there is.
    fn rounds(&mut self, mut rows: Rows, start: &Weights, loss: Loss) -> Result<(Best, u64), TuneError> {
        let centre = start.to_vector();
        let mut theta = centre.clone();
        let mut best = Best { weights: start.clone(), loss, iterations: 0, gradient_ratio: 0.0, converged: true };
        let mut best_objective = loss.by(self.resolve);
        let mut iterations = 0;
        let mut first_norm = None;
        let mut rounds = 0;
        while rounds < MAX_ROUNDS as u64 {
            let fit = self.minimize(&rows, &centre, &theta)?;
            iterations += fit.history.len().saturating_sub(1) as u64;
            let (begin, end) = gradient_norms(&fit);
            let first_norm = *first_norm.get_or_insert(begin);
            let (weights, _) = Weights::from_vector(&fit.theta);
            if !weights.has_phase() {
                return Err(TuneError::NoPhase);
            }
            let (loss, next_rows) = self.judge(&weights, rows)?;
            let pull: f64 = weights.to_vector().iter().zip(&centre).map(|(new, old)| (new - old).powi(2)).sum();
            let objective = loss.by(self.resolve) + self.prior * pull;
            if objective >= best_objective {
                break;
            }
            let gain = 1.0 - objective / best_objective;
            let gradient_ratio = if first_norm > 0.0 { end / first_norm } else { 0.0 };
            let converged = fit.stop != Stop::StepLimit;
            best = Best { weights, loss, iterations, gradient_ratio, converged };
            best_objective = objective;
            (rows, theta) = (next_rows, fit.theta);
            rounds += 1;
            if self.resolve == Resolve::Static || gain < LEAST_PROGRESS {
                break;
            }
        }
        Ok((best, rounds))
    }

    /// The true losses of parameters, and the rows that belong to them; those of the static evaluation never change.
    fn judge(&mut self, weights: &Weights, rows: Rows) -> Result<(Loss, Rows), TuneError> {
        let evaluator = Evaluator::new(weights.clone());
        let progress = self.progress;
        let (scores, rows) = match self.resolve {
            Resolve::Static => (timed(&mut self.seconds.resolve, || score(self.dataset, &evaluator, progress)), rows),
            Resolve::Qsearch => {
                // The old rows make room for the new ones.
                drop(rows);
                let resolve = || resolve(self.dataset, &evaluator, self.resolve, progress);
                let resolved = timed(&mut self.seconds.resolve, resolve)?;
                (resolved.scores, resolved.rows)
            }
        };
        Ok((Loss::of(&scores, &rows, self.k), rows))
    }

    fn minimize(&mut self, rows: &Rows, centre: &[f64], theta: &[f64]) -> Result<Fit, TuneError> {
        let objective = Objective::new(rows, self.k)?.with_prior(self.prior, centre)?;
        let progress = self.progress;
        progress.begin("minimising", 0, Unit::Iterations);
        let mut watch = |step: &crate::optimize::Step| {
            progress.advance(1);
            progress.message(format!("loss {:.7}, gradient {:.1e}", step.loss, step.gradient_norm));
            ControlFlow::Continue(())
        };
        let (optimizer, limits) = (self.optimizer, &self.limits);
        let fit = timed(&mut self.seconds.optimize, || optimizer.minimize(&objective, theta, limits, None, &mut watch));
        progress.end();
        Ok(fit?)
    }
}

/// Norms of the gradient over all rows at the start and at the end of a fit.
fn gradient_norms(fit: &Fit) -> (f64, f64) {
    let begin = fit.history.first().map_or(0.0, |step| step.gradient_norm);
    (begin, begin * fit.gradient_ratio)
}

/// The declared ranges of the parameters, without those that are frozen.
fn limits(frozen: &[bool]) -> Result<Limits, LimitsError> {
    let ends = |range: RangeInclusive<i32>| (f64::from(*range.start()), f64::from(*range.end()));
    let (lower, upper) = ranges_of::<Weights>().map(ends).unzip();
    let mut limits = Limits::new(lower, upper)?;
    for index in (0..frozen.len()).filter(|&index| frozen[index]) {
        limits.freeze(index)?;
    }
    Ok(limits)
}
