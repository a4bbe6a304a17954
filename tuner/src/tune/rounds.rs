//! Rounds of minimising on the rows and resolving positions anew with what came out, while the true loss falls.

use std::ops::ControlFlow;

use engine::eval::Evaluator;
use engine::eval::params::Weights;
use serde::{Deserialize, Serialize};

use super::report::{CurvePoint, Loss, Seconds, Sides};
use super::{Fingerprint, Hooks, TuneError, timed};
use crate::data::Dataset;
use crate::features::{Resolve, Scores, resolve, score};
use crate::io::Storage;
use crate::model::centre::{Centring, scales};
use crate::model::merino::merino;
use crate::model::rows::{Rows, RowsError};
use crate::objective::{Objective, PriorScale, SampleLoss};
use crate::optimize::{Limits, Observer, Solver, State, Step, Termination};
use crate::progress::Unit;
use crate::run::TimeLeft;
use crate::validation::{PriorChoice, Split};

/// Rounds of resolving and minimising at most.
const MAX_ROUNDS: u64 = 12;

/// A round that lowers the true loss by less than this share of it is the last.
const LEAST_PROGRESS: f64 = 1e-5;

/// What a run has found out so far. It is data, and can be gone on with by another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunState {
    /// SHA-256 of the data files.
    pub(super) data: Vec<String>,
    pub(super) k: f64,
    pub(super) prior: f64,
    pub(super) prior_choice: Option<PriorChoice>,
    /// Losses at the start.
    pub(super) before: Sides,
    /// By pair: rows to fit in which it occurred at the start.
    pub(super) occurrences: Vec<u32>,
    /// Parameters that the present rows were resolved with.
    pub(super) resolved_with: Vec<f64>,
    /// Where the present fit began.
    pub(super) theta: Vec<f64>,
    pub(super) rounds: u64,
    pub(super) iterations: u64,
    /// Norm of the gradient where the first fit began.
    pub(super) first_norm: Option<f64>,
    pub(super) best: Best,
    pub(super) history: Vec<CurvePoint>,
    /// The present fit.
    pub(super) fit: Option<State>,
    /// Of its steps, the one at which the rows held out lost least.
    pub(super) pick: Option<Pick>,
}

impl RunState {
    /// What of it cannot be, whatever it is the state of: a run takes the rest as it is.
    pub(super) fn fault(&self) -> Option<String> {
        let pick = self.pick.as_ref().map(|pick| &pick.theta);
        let vectors = [&self.resolved_with, &self.theta, &self.best.theta, &self.best.vector].into_iter().chain(pick);
        for vector in vectors {
            if vector.len() != Weights::DIMENSIONS {
                return Some(format!("{} parameters where {} are expected", vector.len(), Weights::DIMENSIONS));
            }
            if let Some(value) = vector.iter().find(|value| !value.is_finite()) {
                return Some(format!("a parameter at {value}"));
            }
        }
        if [&self.resolved_with, &self.best.vector].iter().any(|vector| !Weights::from_vector(vector).0.has_phase()) {
            return Some("no piece with a phase weight".to_owned());
        }
        if self.occurrences.len() != Weights::DIMENSIONS {
            return Some(format!(
                "{} counts of parameters where {} are expected",
                self.occurrences.len(),
                Weights::DIMENSIONS
            ));
        }
        if self.rounds > MAX_ROUNDS + 1 || self.iterations > u64::MAX / 2 {
            return Some(format!("{} rounds and {} iterations", self.rounds, self.iterations));
        }
        let is_scale = self.k.is_finite() && self.k > 0.0 && self.prior.is_finite() && self.prior >= 0.0;
        (!is_scale).then(|| format!("K {} and prior {}", self.k, self.prior))
    }

    /// The state, if it is of these data.
    pub(super) fn of_data(self, dataset: &Dataset, hooks: &Hooks<'_>) -> Result<Self, TuneError> {
        let data = super::digests(dataset);
        match &hooks.checkpoint {
            Some(checkpoint) if data != self.data => {
                Err(checkpoint.other_job("the data", data.join(" "), self.data.join(" ")).into())
            }
            _ => Ok(self),
        }
    }
}

/// The best parameters so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Best {
    /// As found.
    pub(super) theta: Vec<f64>,
    /// Rounded.
    pub(super) vector: Vec<f64>,
    /// True losses of the rounded parameters, without the prior.
    pub(super) sides: Sides,
    /// What is to become less from round to round.
    pub(super) measure: f64,
    pub(super) iterations: u64,
    pub(super) gradient_ratio: f64,
    pub(super) converged: bool,
}

/// Parameters, and the mean loss of the rows held out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pick {
    theta: Vec<f64>,
    loss: f64,
}

/// Rows to fit, and rows held out.
pub(super) struct SplitRows {
    pub(super) fitted: Rows,
    pub(super) held: Option<Rows>,
}

impl SplitRows {
    pub(super) fn new(rows: Rows, split: Option<&Split>, storage: &Storage) -> Result<Self, RowsError> {
        let Some(split) = split else { return Ok(SplitRows { fitted: rows, held: None }) };
        let (fitted, held) = split.stored_rows(&rows, storage)?;
        Ok(SplitRows { fitted, held: Some(held) })
    }
}

/// What does not change from round to round.
pub(super) struct Rounds<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) targets: &'a [f32],
    pub(super) split: Option<&'a Split>,
    pub(super) sample_loss: SampleLoss,
    pub(super) resolve: Resolve,
    pub(super) solver: &'a dyn Solver,
    pub(super) limits: &'a Limits,
    /// Numbers that are not to be tuned.
    pub(super) shiftable: &'a [bool],
    /// Rows in which a pair must occur to be tuned.
    pub(super) min_seen: u32,
    /// Where the parameters are pulled to.
    pub(super) centre: &'a [f64],
    pub(super) prior_scale: PriorScale,
    pub(super) job: &'a Fingerprint,
}

impl Rounds<'_> {
    /// Goes on until the true loss stops falling; whether it was interrupted, and the rows resolved last.
    ///
    /// Rows of the static evaluation do not depend on the parameters: one round is all there is.
    pub(super) fn run(
        &self,
        state: &mut RunState,
        mut rows: SplitRows,
        hooks: &mut Hooks<'_>,
        seconds: &mut Seconds,
    ) -> Result<(bool, SplitRows), TuneError> {
        while state.rounds < MAX_ROUNDS {
            let (candidate, interrupted) = self.fit(state, &rows.fitted, rows.held.as_ref(), hooks, seconds)?;
            let pull = self.objective(&rows.fitted, state)?.prior_loss(&candidate.theta);
            let mut theta = candidate.theta.clone();
            enlarge(&mut theta, self.centre, self.limits);
            let (weights, _) = Weights::from_vector(&theta);
            if !weights.has_phase() {
                return Err(TuneError::NoPhase);
            }
            let sides;
            (sides, rows) = self.judge(&weights, rows, state.k, hooks, seconds)?;
            let measure = match sides.held {
                Some(held) => held.by(self.resolve),
                None => sides.fitted.by(self.resolve) + pull,
            };
            let gain = 1.0 - measure / state.best.measure;
            if gain > 0.0 {
                state.best = Best { vector: weights.to_vector(), sides, measure, ..candidate };
                state.theta.clone_from(&state.best.theta);
                state.rounds += 1;
            }
            state.resolved_with = weights.to_vector();
            if interrupted {
                return Ok((true, rows));
            }
            // Where nothing is lost, there is no gain to be told either.
            let is_enough = gain >= LEAST_PROGRESS;
            if self.resolve == Resolve::Static || !is_enough || state.rounds == MAX_ROUNDS {
                break;
            }
        }
        Ok((false, rows))
    }

    /// The tables that can be centred: those of which nothing is frozen, or tied to what is outside. Numbers that occur
    /// too rarely to be tuned are shifted along.
    pub(super) fn centring(&self, state: &RunState) -> Centring {
        Centring::new(
            merino().shifts().to_vec(),
            |j| self.shiftable[j],
            |j| state.occurrences[j] >= self.min_seen.max(1),
        )
    }

    /// The function that a round minimises.
    pub(super) fn objective<'r>(&self, rows: &'r Rows, state: &RunState) -> Result<Objective<'r>, TuneError> {
        let objective = Objective::new(rows, &merino().model, state.k)?.with_loss(self.sample_loss);
        Ok(objective.with_prior(state.prior, self.centre, self.prior_scale)?)
    }

    /// One fit: what it found, its losses still unknown, and whether it was interrupted.
    fn fit(
        &self,
        state: &mut RunState,
        rows: &Rows,
        held: Option<&Rows>,
        hooks: &mut Hooks<'_>,
        seconds: &mut Seconds,
    ) -> Result<(Best, bool), TuneError> {
        let objective = self.objective(rows, state)?;
        let (begin, resume) = (state.theta.clone(), state.fit.take());
        hooks.progress.begin("minimising", 0, Unit::Iterations);
        let mut watcher = Watcher {
            rounds: self,
            objective: &objective,
            held,
            state,
            hooks,
            fault: None,
            time_left: TimeLeft::new(),
        };
        let minimize = || self.solver.minimize(&objective, &begin, self.limits, resume, &mut watcher);
        let fit = timed(&mut seconds.optimize, minimize);
        let fault = watcher.fault.take();
        hooks.progress.end();
        if let Some(fault) = fault {
            return Err(fault);
        }
        let fit = fit?;
        state.iterations += fit.history.len().saturating_sub(1) as u64;
        let begin_norm = fit.history.first().map_or(0.0, |step| step.gradient_norm);
        let first_norm = *state.first_norm.get_or_insert(begin_norm);
        let gradient_ratio = if first_norm > 0.0 { begin_norm * fit.gradient_ratio / first_norm } else { 0.0 };
        let theta = state.pick.take().map_or(fit.theta, |pick| pick.theta);
        let interrupted = fit.termination == Termination::Cancelled;
        let converged = !matches!(fit.termination, Termination::StepLimit | Termination::Cancelled);
        let best = Best { theta, iterations: state.iterations, gradient_ratio, converged, ..state.best.clone() };
        Ok((best, interrupted))
    }

    /// The true losses of parameters, and the rows that belong to them; those of the static evaluation never change.
    fn judge(
        &self,
        weights: &Weights,
        rows: SplitRows,
        k: f64,
        hooks: &Hooks<'_>,
        seconds: &mut Seconds,
    ) -> Result<(Sides, SplitRows), TuneError> {
        let evaluator = Evaluator::new(weights.clone());
        let progress = hooks.progress;
        let (scores, rows) = match self.resolve {
            Resolve::Static => (timed(&mut seconds.resolve, || score(self.dataset, &evaluator, progress)), rows),
            Resolve::Qsearch => {
                // The old rows make room for the new ones.
                drop(rows);
                let resolve = || resolve(self.dataset, &evaluator, self.resolve, progress);
                let resolved = timed(&mut seconds.resolve, resolve)?;
                (
                    resolved.scores,
                    SplitRows::new(resolved.rows.with_targets(self.targets)?, self.split, self.dataset.storage())?,
                )
            }
        };
        Ok((self.sides(&scores, k), rows))
    }

    /// The true losses of scores, of what is fitted and of what is held out.
    pub(super) fn sides(&self, scores: &Scores, k: f64) -> Sides {
        let Some(split) = self.split else {
            return Sides { fitted: Loss::of(self.sample_loss, scores, self.targets, k), held: None };
        };
        let of = |numbers: &[u32]| {
            let targets: Vec<f32> = numbers.iter().map(|&row| self.targets[row as usize]).collect();
            Loss::of(self.sample_loss, &scores.pick(numbers), &targets, k)
        };
        Sides { fitted: of(&split.fitted), held: Some(of(&split.held)) }
    }
}

/// Enlarges, along a scale that no score depends on, what is small beside the start, until the largest is as large as at
/// the start and as far as bounds allow: rounding changes the less the larger numbers are. Whole numbers stay.
fn enlarge(theta: &mut [f64], start: &[f64], limits: &Limits) {
    for powers in scales(&merino().model) {
        let members: Vec<usize> = (0..theta.len()).filter(|&j| powers[j] != 0.0).collect();
        let is_settled = |&j: &usize| {
            let is_alone = powers[limits.leaders()[j]] != 0.0;
            powers[j] != powers[members[0]] || limits.is_frozen(j) && start[j] != 0.0 || !is_alone
        };
        if members.iter().any(is_settled) || members.iter().all(|&j| theta[j].fract() == 0.0) {
            continue;
        }
        let largest = |of: &[f64]| members.iter().map(|&j| of[j]).fold(0.0, f64::max);
        let room = |&j: &usize| if theta[j] > 0.0 { limits.bounds(j).1 / theta[j] } else { f64::INFINITY };
        let scale = members.iter().map(room).fold(largest(start) / largest(theta), f64::min);
        if scale.is_finite() && scale > 1.0 {
            members.iter().for_each(|&j| theta[j] *= scale);
        }
    }
}

/// Watches a fit: shows how it goes, judges every step by the rows held out, and keeps the checkpoint.
struct Watcher<'w, 'h> {
    rounds: &'w Rounds<'w>,
    objective: &'w Objective<'w>,
    held: Option<&'w Rows>,
    state: &'w mut RunState,
    hooks: &'w mut Hooks<'h>,
    fault: Option<TuneError>,
    time_left: TimeLeft,
}

impl Observer for Watcher<'_, '_> {
    fn step(&mut self, step: &Step, theta: &[f64], state: &dyn Fn() -> State) -> ControlFlow<()> {
        let held = self.held.map(|held| self.objective.over(held).data_loss(theta));
        if let Some(loss) = held
            && self.state.pick.as_ref().is_none_or(|pick| loss < pick.loss)
        {
            self.state.pick = Some(Pick { theta: theta.to_vec(), loss });
        }
        self.state.history.push(CurvePoint {
            round: self.state.rounds + 1,
            iteration: step.iteration,
            objective: step.loss,
            held,
        });
        self.hooks.progress.advance(1);
        let held = held.map_or_else(String::new, |loss| format!(", held out {loss:.7}"));
        let left = self.time_left.after(step.loss);
        let left = left.map_or_else(String::new, |left| format!(", about {} s left", left.as_secs_f64().ceil()));
        self.hooks.progress.message(format!("loss {:.7}{held}, gradient {:.1e}{left}", step.loss, step.gradient_norm));
        let interrupted = self.hooks.is_interrupted();
        if let Some(checkpoint) = &mut self.hooks.checkpoint {
            let whole = || RunState { fit: Some(state()), ..self.state.clone() };
            let job = self.rounds.job;
            let kept = if interrupted { checkpoint.write(job, &whole()) } else { checkpoint.keep(job, whole) };
            if let Err(error) = kept {
                self.fault = Some(error.into());
                return ControlFlow::Break(());
            }
        }
        if interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
