//! The rounds of a run: fit K, choose the prior, minimise and measure until the loss stops falling; then round the
//! parameters and compute standard errors.

use std::ops::ControlFlow;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};

use super::outcome::{CurvePoint, Losses, Outcome, Seconds};
use super::prior::{PriorChoice, PriorSearch};
use super::uncertainty::{Errors, standard_errors};
use super::validation::{Divided, Split};
use super::{Hooks, PRIOR_PER_POSITION, Settings, memory};
use crate::data::Grouping;
use crate::model::Model;
use crate::model::centre::Centring;
use crate::model::fold::Fold;
use crate::model::rows::Rows;
use crate::objective::{Objective, fit_k, scores};
use crate::optimize::{Fit, Lbfgs, Limits, Method, Step, Termination, open_scales};
use crate::progress::Unit;
use crate::source::Problem;
use crate::source::constraints::Resolved;

/// The largest number of rounds of resolving and minimising.
const MAX_ROUNDS: u64 = 12;

/// The relative decrease of the loss on newly resolved rows below which a round is the last.
const LEAST_PROGRESS: f64 = 1e-5;

/// The gradient tolerances of the first rounds, relative to the start, if rows are resolved again; the last one holds for
/// all others. Changed leaves of the quiescence search move the minimum by more than such a remainder, most of all in
/// the first round; so does rounding.
const TOLERANCES: [f64; 3] = [1e-2, 1e-3, 3e-4];

/// The share of the entries of rows that belong to frozen parameters, from which on these are folded into constants.
const WORTH_FOLDING: f64 = 0.2;

/// By row in the order of the problem: scores with the start and with the fitted parameters.
type Scores = Option<[Vec<f32>; 2]>;

/// The inputs of a run: data, settings and hooks.
pub(super) struct Run<'r> {
    pub(super) problem: &'r Problem,
    /// Targets by row of the problem, for rows that are resolved again.
    pub(super) targets: &'r [f32],
    pub(super) split: Option<&'r Split>,
    pub(super) settings: &'r Settings,
    pub(super) constrained: &'r Resolved,
    /// By fitted row: its group, which is never divided.
    pub(super) groups: &'r [u32],
    pub(super) hooks: Hooks<'r>,
}

/// The state of a run between two rounds.
struct RunState {
    /// The best parameters so far, rounded, and the findings about them.
    best: Outcome,
    /// The start of the first fit, and the centre of the prior.
    start: Vec<f64>,
    /// The start of the next fit: the best parameters so far before rounding.
    theta: Vec<f64>,
    /// The loss that has to fall from round to round: of the rows held out, or of the fitted rows with the prior.
    measure: f64,
    /// Norm of the gradient at the start of the first fit.
    first_norm: Option<f64>,
}

impl Run<'_> {
    /// Fits the rows that the split does not hold out. Returns the scores of all rows with the start and with the
    /// fitted parameters if `wants_scores` is set.
    pub(super) fn run(&self, rows: Divided, wants_scores: bool, seconds: Seconds) -> Result<(Outcome, Scores)> {
        let before = wants_scores.then(|| rows.scores(self.split, self.model(), &self.constrained.start));
        let occurrences = self.model().occurrences(&rows.fitted);
        let limits = self.constrained.limits.without_rare(&occurrences, self.settings.min_seen.max(1));
        let (parameters, free) = (self.model().layout.parameters, limits.free().len());
        memory::check(self.settings, parameters, free, rows.fitted.are_mapped(), &self.problem.storage)?;
        let mut state = self.begin(&rows, limits, occurrences, seconds)?;
        if let Some(fitting) = self.hooks.fitting {
            fitting();
        }
        let rows = if state.best.keeps_start() { rows } else { self.rounds(&mut state, rows)? };
        let outcome = self.finish(state, &rows)?;
        let scores = before.map(|before| [before, rows.scores(self.split, self.model(), &outcome.theta)]);
        Ok((outcome, scores))
    }

    fn model(&self) -> &Model {
        &self.problem.text.model
    }

    /// Returns the mean losses of the fitted rows and of those held out, if there are any.
    fn losses(&self, rows: &Divided, vector: &[f64], k: f64) -> Result<(f64, Option<f64>)> {
        let loss = |rows: &Rows| -> Result<f64> {
            Ok(Objective::new(rows, self.model(), k)?.with_loss(self.settings.loss).data_loss(vector))
        };
        Ok((loss(&rows.fitted)?, rows.held.as_ref().map(loss).transpose()?))
    }

    /// Resolves the rows again with new parameters.
    fn resolve_again(&self, rows: Divided, vector: &[f64]) -> Result<Divided> {
        if !self.problem.rows_move() {
            return Ok(rows);
        }
        // Frees the old rows before the new ones are made.
        drop(rows);
        let rows = self.problem.rows_at(vector, self.hooks.progress)?.with_targets(self.targets)?;
        Divided::new(rows, self.split, &self.problem.storage)
    }

    /// Fits K, the scale from centipawns to expected results, to the start.
    fn fit_k(&self, rows: &Rows, start: &[f64]) -> Result<f64> {
        fit_k(self.settings.loss, &scores(rows, self.model(), start), rows.weighted())
            .map_err(|error| anyhow!("{error}; check the results, or give the scale with --k"))
    }

    /// Prepares the first round: fits K and chooses the strength of the prior.
    fn begin(&self, rows: &Divided, limits: Limits, occurrences: Vec<u32>, mut seconds: Seconds) -> Result<RunState> {
        let mut start = self.constrained.start.clone();
        let start_k = match self.settings.k {
            Some(k) => k,
            None => timed(&mut seconds.fit_k, || self.fit_k(&rows.fitted, &start))?,
        };
        let chosen = match self.settings.prior {
            Some(_) => None,
            None => timed(&mut seconds.choose_prior, || self.choose_prior(rows, &limits, &occurrences, start_k))?,
        };
        let per_position = chosen.as_ref().map_or(PRIOR_PER_POSITION, |chosen| chosen.per_position);
        let mut prior = self.settings.prior.unwrap_or(per_position / rows.fitted.weight(1));
        let before = self.losses(rows, &start, start_k)?;
        // Only L-BFGS starts from the fit of the cross-validation: the results of the other methods depend on their
        // start.
        let (mut theta, mut first_norm) = match &chosen {
            Some(chosen) if self.settings.method == Method::Lbfgs && !chosen.keeps_start => {
                (chosen.theta.clone(), Some(chosen.norm))
            }
            _ => (start.clone(), None),
        };
        let (mut vector, mut k, mut after) = (start.clone(), start_k, before);
        if self.settings.normalize {
            self.enlarge_start(&mut start, &limits, start_k)?;
            self.enlarge_start(&mut theta, &limits, start_k)?;
            first_norm = first_norm.map(|norm| norm / start_k);
            // Squared distances from the start grow by `start_k²`.
            prior /= start_k * start_k;
            (vector, k) = (self.problem.numbers.round(&start), 1.0);
            after = self.losses(rows, &vector, k)?;
        }
        let best = Outcome {
            settings: self.settings.clone(),
            start: self.constrained.start.clone(),
            frozen: self.constrained.frozen,
            tied: self.constrained.tied,
            averaged: self.constrained.averaged,
            theta: vector,
            start_k,
            k,
            prior,
            prior_choice: chosen,
            fitted: rows.fitted.len(),
            held_out: rows.held.as_ref().map_or(0, Rows::len),
            loss: Losses { before: before.0, after: after.0 },
            held_loss: before.1.zip(after.1).map(|(before, after)| Losses { before, after }),
            occurrences,
            limits,
            seconds,
            ..Outcome::of_problem(self.problem)
        };
        Ok(RunState { best, start, theta, measure: after.1.unwrap_or(after.0), first_norm })
    }

    /// Scales the parameters so that all scores grow by `factor`, as far as bounds allow, frozen parameters included. A
    /// fit from there needs K = 1.
    fn enlarge_start(&self, start: &mut [f64], limits: &Limits, factor: f64) -> Result<()> {
        let powers = self.problem.powers.as_ref().context("the score has no scale")?;
        for (j, (value, &power)) in start.iter_mut().zip(powers).enumerate() {
            let (least, most) = match limits.is_frozen(j) {
                true => self.problem.numbers[j].range.into(),
                false => limits.bounds(j),
            };
            *value = (*value * factor.powf(power)).clamp(least, most);
        }
        Ok(())
    }

    /// Calls `act` with the model and the rows, in which frozen parameters are folded into constants unless they are a
    /// small part of the rows.
    fn folded<T>(
        &self,
        rows: &Divided,
        theta: &[f64],
        (limits, occurrences): (&Limits, &[u32]),
        act: impl FnOnce(&Model, &Divided) -> Result<T>,
    ) -> Result<T> {
        let total = |is_wanted: &dyn Fn(usize) -> bool| -> f64 {
            (0..occurrences.len()).filter(|&j| is_wanted(j)).map(|j| f64::from(occurrences[j])).sum()
        };
        let frozen = total(&|j| limits.is_frozen(j)) / total(&|_| true);
        let pays = !(frozen < WORTH_FOLDING || rows.fitted.are_mapped() || rows.fitted.is_divided());
        let is_frozen = |j| limits.is_frozen(j);
        let Some(fold) = pays.then(|| Fold::new(self.model(), theta, &is_frozen)).flatten() else {
            return act(self.model(), rows);
        };
        let storage = &self.problem.storage;
        let held = rows.held.as_ref().map(|held| fold.rows(held, storage)).transpose()?;
        let divided = Divided { fitted: fold.rows(&rows.fitted, storage)?, held };
        act(&fold.model, &divided)
    }

    /// Chooses the strength of the prior with the lowest held-out loss; `None` if there are too few rows.
    fn choose_prior(
        &self,
        rows: &Divided,
        limits: &Limits,
        occurrences: &[u32],
        k: f64,
    ) -> Result<Option<PriorChoice>> {
        let start = &self.constrained.start;
        self.folded(rows, start, (limits, occurrences), |model, rows| {
            let objective = Objective::new(&rows.fitted, model, k)?.with_loss(self.settings.loss);
            let (objective, scale, seed) = (&objective, self.settings.prior_scale, self.settings.seed);
            PriorSearch { objective, groups: self.groups, start, limits, scale, seed }.choose(self.hooks.progress)
        })
    }

    /// Repeats rounds until the loss of newly resolved rows stops falling. Returns the rows resolved last.
    ///
    /// If rows do not depend on the parameters, there is one round.
    fn rounds(&self, state: &mut RunState, mut rows: Divided) -> Result<Divided> {
        while state.best.rounds < MAX_ROUNDS {
            let (theta, fit) = self.fit(state, &rows)?;
            let pull = self.objective(self.model(), &rows.fitted, state)?.prior.loss(&theta);
            let mut vector = theta.clone();
            enlarge(&mut vector, &state.start, &state.best.limits, self.model());
            let vector = self.problem.numbers.round(&vector);
            self.problem.source.iter().try_for_each(|source| source.check(&vector))?;
            let best = &mut state.best;
            let (resolved, (fitted, held)) = timed(&mut best.seconds.resolve, || -> Result<_> {
                let rows = self.resolve_again(rows, &vector)?;
                let losses = self.losses(&rows, &vector, best.k)?;
                Ok((rows, losses))
            })?;
            rows = resolved;
            let measure = held.unwrap_or(fitted + pull);
            let gain = 1.0 - measure / state.measure;
            best.interrupted = fit.termination == Termination::Cancelled;
            if gain > 0.0 {
                (state.theta, state.measure) = (theta, measure);
                (best.theta, best.loss.after) = (vector, fitted);
                best.held_loss.iter_mut().zip(held).for_each(|(losses, held)| losses.after = held);
                best.rounds += 1;
                best.iterations += fit.history.len().saturating_sub(1) as u64;
                best.gradient_ratio = fit.gradient_ratio;
                best.converged = !matches!(fit.termination, Termination::StepLimit | Termination::Cancelled);
            }
            // At a loss of 0 the gain is NaN and both comparisons are false. Only L-BFGS stops early in its first
            // rounds.
            let is_first = best.rounds < TOLERANCES.len() as u64;
            let is_loose = gain > 0.0 && self.settings.method == Method::Lbfgs && is_first;
            let is_enough = gain >= LEAST_PROGRESS || is_loose;
            if best.interrupted || !self.problem.rows_move() || !is_enough {
                break;
            }
        }
        Ok(rows)
    }

    /// Returns the function that a round minimises.
    fn objective<'o>(&self, model: &'o Model, rows: &'o Rows, state: &RunState) -> Result<Objective<'o>> {
        let objective = Objective::new(rows, model, state.best.k)?.with_loss(self.settings.loss);
        objective.with_prior(state.best.prior, &state.start, self.settings.prior_scale)
    }

    /// Runs one fit. Returns the parameters of the step with the lowest held-out loss, or without held-out rows the
    /// minimum; and the fit, with a gradient relative to the start of the first fit.
    fn fit(&self, state: &mut RunState, rows: &Divided) -> Result<(Vec<f64>, Fit)> {
        let started = Instant::now();
        let mut lbfgs = Lbfgs { norm: state.first_norm, ..Lbfgs::default() };
        if self.problem.rows_move() {
            lbfgs.tolerance = TOLERANCES[(state.best.rounds as usize).min(TOLERANCES.len() - 1)];
        }
        let solver = self.settings.method.solver(self.settings.seed, lbfgs);
        let mut history = std::mem::take(&mut state.best.history);
        let (hooks, limits) = (self.hooks, &state.best.limits);
        let fold = (limits, &state.best.occurrences[..]);
        let (theta, mut fit) = self.folded(rows, &state.theta, fold, |model, rows| {
            let (objective, held) = (self.objective(model, &rows.fitted, state)?, rows.held.as_ref());
            // The lowest loss of the held-out rows, and the parameters there.
            let mut lowest: Option<(f64, Vec<f64>)> = None;
            let mut watch = |step: &Step, theta: &[f64]| {
                let held = held.map(|held| objective.over(held).data_loss(theta));
                if let Some(loss) = held
                    && lowest.as_ref().is_none_or(|lowest| loss < lowest.0)
                {
                    lowest = Some((loss, theta.to_vec()));
                }
                let held_text = held.map_or_else(String::new, |loss| format!(", held out {loss:.7}"));
                hooks.progress.advance(1);
                hooks
                    .progress
                    .message(format!("loss {:.7}{held_text}, gradient {:.1e}", step.loss, step.gradient_norm));
                history.push(CurvePoint { objective: step.loss, held });
                if hooks.is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            hooks.progress.begin("minimising", 0, Unit::Iterations);
            let fit = solver.minimize_watched(&objective, &state.theta, limits, &mut watch);
            hooks.progress.end();
            let fit = fit?;
            Ok((lowest.map_or_else(|| fit.theta.clone(), |lowest| lowest.1), fit))
        })?;
        state.best.history = history;
        let begin_norm = fit.history.first().map_or(0.0, |step| step.gradient_norm);
        let first_norm = *state.first_norm.get_or_insert(begin_norm);
        fit.gradient_ratio = if first_norm > 0.0 { begin_norm * fit.gradient_ratio / first_norm } else { 0.0 };
        state.best.seconds.optimize += started.elapsed().as_secs_f64();
        Ok((theta, fit))
    }

    /// Computes standard errors, and centres the final parameters.
    fn finish(&self, mut state: RunState, rows: &Divided) -> Result<Outcome> {
        if state.best.rounds == 0 {
            state.theta.clone_from(&state.start);
        }
        let (constrained, limits) = (self.constrained, &state.best.limits);
        let is_tuned = |j: usize| constrained.shiftable[j] && !limits.is_frozen(j);
        let shifts = self.problem.shifts(&rows.fitted);
        // Errors refer to the tuned entries of a table relative to one another, even if other entries are too rare to
        // be tuned.
        let centring = Centring::new(shifts.clone(), is_tuned, |j| constrained.shiftable[j]);
        let mut seconds = 0.0;
        let errors = timed(&mut seconds, || self.errors_of_best(&state, rows, &centring))?;
        let rounding_lost = self.rounding_lost(&state, &rows.fitted)?;
        let mut theta = state.best.theta.clone();
        if self.settings.centre && theta != self.problem.numbers.round(&state.start) {
            let occurs = self.occurs(&state.best.occurrences, rows);
            theta = self.centred(theta, &Centring::new(shifts, is_tuned, |j| !occurs[j]), limits);
        }
        let mut outcome = Outcome { theta, errors, centring, rounding_lost, ..state.best };
        outcome.seconds.errors += seconds;
        outcome.describe(&constrained.limits);
        Ok(outcome)
    }

    /// Returns, by parameter, true if a row depends on it at the start or at the end, fitted or held out.
    fn occurs(&self, occurrences: &[u32], rows: &Divided) -> Vec<bool> {
        let mut occurs: Vec<bool> = occurrences.iter().map(|&count| count > 0).collect();
        for rows in std::iter::once(&rows.fitted).chain(&rows.held) {
            occurs.iter_mut().zip(self.model().occurrences(rows)).for_each(|(occurs, count)| *occurs |= count > 0);
        }
        occurs
    }

    /// Returns the share of the gain that rounding the best parameters loses; 0 without a gain.
    fn rounding_lost(&self, state: &RunState, rows: &Rows) -> Result<f64> {
        let objective = self.objective(self.model(), rows, state)?;
        let [start, found, rounded] =
            [&state.start, &state.theta, &state.best.theta].map(|theta| objective.data_loss(theta));
        Ok(if found < start { (rounded - found) / (start - found) } else { 0.0 })
    }

    /// Returns the standard errors of the best parameters if the settings ask for them.
    fn errors_of_best(&self, state: &RunState, rows: &Divided, centring: &Centring) -> Result<Option<Errors>> {
        if !self.settings.errors || state.best.keeps_start() {
            return Ok(None);
        }
        let (theta, limits) = (&state.theta[..], &state.best.limits);
        let games = (self.problem.grouping != Grouping::Positions).then_some(self.groups);
        self.folded(rows, theta, (limits, &state.best.occurrences), |model, rows| {
            Ok(standard_errors(&self.objective(model, &rows.fitted, state)?, theta, limits, centring, games))
        })
    }

    /// Returns parameters with their tables centred, or unchanged if centring would separate tied parameters.
    fn centred(&self, theta: Vec<f64>, centring: &Centring, limits: &Limits) -> Vec<f64> {
        let mut centred = theta.clone();
        centring.apply(&mut centred, |j| limits.bounds(j));
        let is_whole = limits.leaders().iter().enumerate().all(|(j, &leader)| centred[j] == centred[leader]);
        if is_whole { centred } else { theta }
    }
}

/// Scales parameters up along directions that no score depends on, until the largest is as large as at the start, as
/// far as bounds allow: the relative rounding error of larger numbers is smaller. Integers stay.
fn enlarge(theta: &mut [f64], start: &[f64], limits: &Limits, model: &Model) {
    for powers in open_scales(model, start, limits) {
        let members: Vec<usize> = (0..theta.len()).filter(|&j| powers[j] != 0.0).collect();
        let is_plain = members.iter().all(|&j| powers[j] == powers[members[0]]);
        if !is_plain || members.iter().all(|&j| theta[j].fract() == 0.0) {
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

/// Runs a step and adds its duration to `seconds`.
fn timed<T>(seconds: &mut f64, step: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = step();
    *seconds += started.elapsed().as_secs_f64();
    result
}
