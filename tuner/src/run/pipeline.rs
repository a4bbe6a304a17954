//! The rounds of a run: fit K, choose the prior, minimise and measure until the loss stops falling; then round the
//! parameters and compute standard errors.

use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::prior::Chosen;
use super::state::{Best, MAX_ROUNDS, RunState, SplitLosses};
use super::{
    CurvePoint, Divided, Errors, Hooks, Losses, Outcome, PRIOR_PER_POSITION, PriorSearch, Search, Seconds, Settings,
    Split, memory, standard_errors,
};
use crate::constraints::Resolved;
use crate::data::Grouping;
use crate::model::Model;
use crate::model::centre::{Centring, scales};
use crate::model::fold::Fold;
use crate::model::rows::Rows;
use crate::objective::{Objective, fit_k_at};
use crate::optimize::{Lbfgs, Limits, Method, Step};
use crate::processes;
use crate::source::Problem;

/// The relative decrease of the loss on newly resolved rows below which a round is the last.
const LEAST_PROGRESS: f64 = 1e-5;

/// Returns the gradient tolerance of a round, relative to the start, if rows are resolved again. Changed leaves of the
/// quiescence search move the minimum by more than such a remainder, most of all in the first round; so does rounding.
fn gradient_tolerance(rounds: u64) -> f64 {
    match rounds {
        0 => 1e-2,
        1 => 1e-3,
        _ => LAST_TOLERANCE,
    }
}
const LAST_TOLERANCE: f64 = 3e-4;

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

impl Run<'_> {
    /// Fits the rows that the split does not hold out. Returns the scores of all rows with the start and with the
    /// fitted parameters if `wants_scores` is set.
    pub(super) fn run(&self, rows: Divided, wants_scores: bool, mut seconds: Seconds) -> Result<(Outcome, Scores)> {
        let before = wants_scores.then(|| rows.scores(self.split, self.model(), &self.constrained.start));
        let occurrences = self.model().occurrences(&rows.fitted);
        let limits = self.constrained.limits.without_rare(&occurrences, self.settings.min_seen.max(1));
        let (parameters, free) = (self.model().layout.parameters, limits.free().len());
        memory::check(self.settings, parameters, free, rows.fitted.are_mapped(), &self.problem.storage)?;
        let mut state = self.begin(&rows, &limits, occurrences, &mut seconds)?;
        if let Some(fitting) = self.hooks.fitting {
            fitting();
        }
        let (interrupted, rows) = match state.keeps_start() {
            true => (false, rows),
            false => self.rounds(&mut state, rows, &limits, &mut seconds)?,
        };
        let outcome = self.finish(state, &rows, limits, interrupted, seconds)?;
        let scores = before.map(|before| [before, rows.scores(self.split, self.model(), &outcome.theta)]);
        Ok((outcome, scores))
    }

    fn model(&self) -> &Model {
        &self.problem.text.model
    }

    /// Returns the mean losses of the fitted and the held-out rows.
    fn losses(&self, rows: &Divided, vector: &[f64], k: f64) -> Result<SplitLosses> {
        let loss = |rows: &Rows| -> Result<f64> {
            Ok(Objective::new(rows, self.model(), k)?.with_loss(self.settings.loss).data_loss(vector))
        };
        Ok(SplitLosses { fitted: loss(&rows.fitted)?, held: rows.held.as_ref().map(loss).transpose()? })
    }

    /// Resolves the rows again with new parameters.
    fn resolve_again(&self, rows: Divided, vector: &[f64]) -> Result<Divided> {
        if !self.problem.rows_move() {
            return Ok(rows);
        }
        // Frees the old rows before the new ones are made.
        drop(rows);
        let rows = self.problem.rows_at(vector, self.hooks.progress)?.with_targets(self.targets)?;
        Ok(Divided::new(rows, self.split, &self.problem.storage)?)
    }

    /// Fits K, the scale from centipawns to expected results, to the start.
    fn fit_k(&self, rows: &Rows, start: &[f64]) -> Result<f64> {
        match fit_k_at(self.settings.loss, rows, self.model(), start) {
            Ok(fit) => Ok(fit.k),
            Err(error) => bail!("{error}; check the results, or give the scale with --k"),
        }
    }

    /// Prepares the first round: fits K and chooses the strength of the prior.
    fn begin(&self, rows: &Divided, limits: &Limits, occurrences: Vec<u32>, seconds: &mut Seconds) -> Result<RunState> {
        let mut start = self.constrained.start.clone();
        let start_k = match self.settings.k {
            Some(k) => k,
            None => timed(&mut seconds.fit_k, || self.fit_k(&rows.fitted, &start))?,
        };
        let chosen = match self.settings.prior {
            Some(_) => None,
            None => timed(&mut seconds.choose_prior, || self.choose_prior(rows, limits, &occurrences, start_k))?,
        };
        let per_position = chosen.as_ref().map_or(PRIOR_PER_POSITION, |chosen| chosen.choice.per_position);
        let mut prior = self.settings.prior.unwrap_or(per_position / rows.fitted.weight(1));
        let before = self.losses(rows, &start, start_k)?;
        // Only L-BFGS starts from the fit of the cross-validation: the results of the other methods depend on their
        // start.
        let (mut theta, mut first_norm) = match &chosen {
            Some(chosen) if self.settings.method == Method::Lbfgs && !chosen.choice.keeps_start => {
                (chosen.theta.clone(), Some(chosen.norm))
            }
            _ => (start.clone(), None),
        };
        let (mut vector, mut k, mut sides) = (start.clone(), start_k, before);
        if self.settings.normalize {
            self.enlarge_start(&mut start, limits, start_k)?;
            self.enlarge_start(&mut theta, limits, start_k)?;
            first_norm = first_norm.map(|norm| norm / start_k);
            // Squared distances from the start grow by `start_k²`.
            prior /= start_k * start_k;
            (vector, k) = (self.problem.numbers.round(&start), 1.0);
            sides = self.losses(rows, &vector, k)?;
        }
        let best = Best {
            theta: start.clone(),
            vector,
            sides,
            measure: sides.deciding(),
            iterations: 0,
            gradient_ratio: 0.0,
            converged: true,
        };
        Ok(RunState {
            start_k,
            k,
            prior,
            prior_choice: chosen.map(|chosen| chosen.choice),
            before,
            occurrences,
            theta,
            start,
            rounds: 0,
            iterations: 0,
            first_norm,
            best,
            history: Vec::new(),
        })
    }

    /// Scales the parameters so that all scores grow by `factor`, as far as bounds allow, frozen parameters included. A
    /// fit from there needs K = 1.
    fn enlarge_start(&self, start: &mut [f64], limits: &Limits, factor: f64) -> Result<()> {
        let powers = self.problem.powers.as_ref().context("the score has no scale")?;
        for (j, (value, &power)) in start.iter_mut().zip(powers).enumerate() {
            let (least, most) = match limits.is_frozen(j) {
                true => self.problem.numbers.get(j).range.into(),
                false => limits.bounds(j),
            };
            *value = (*value * factor.powf(power)).clamp(least, most);
        }
        Ok(())
    }

    /// Returns the model and the rows with frozen parameters folded into constants; `None` if they are a small part of
    /// the rows.
    fn folded(
        &self,
        rows: &Divided,
        theta: &[f64],
        limits: &Limits,
        occurrences: &[u32],
    ) -> Result<Option<(Model, Divided)>> {
        let total = |is_wanted: &dyn Fn(usize) -> bool| -> f64 {
            (0..occurrences.len()).filter(|&j| is_wanted(j)).map(|j| f64::from(occurrences[j])).sum()
        };
        let frozen = total(&|j| limits.is_frozen(j)) / total(&|_| true);
        if frozen < WORTH_FOLDING || rows.fitted.are_mapped() || !processes::is_alone() {
            return Ok(None);
        }
        let Some(fold) = Fold::new(self.model(), theta, &|j| limits.is_frozen(j)) else { return Ok(None) };
        let storage = &self.problem.storage;
        let held = rows.held.as_ref().map(|held| fold.rows(held, storage)).transpose()?;
        let divided = Divided { fitted: fold.rows(&rows.fitted, storage)?, held };
        Ok(Some((fold.model, divided)))
    }

    /// Chooses the strength of the prior with the lowest held-out loss; `None` if there are too few rows.
    fn choose_prior(&self, rows: &Divided, limits: &Limits, occurrences: &[u32], k: f64) -> Result<Option<Chosen>> {
        let folded = self.folded(rows, &self.constrained.start, limits, occurrences)?;
        let (model, rows) = folded.as_ref().map_or((self.model(), rows), |(model, rows)| (model, rows));
        let objective = Objective::new(&rows.fitted, model, k)?.with_loss(self.settings.loss);
        let search = PriorSearch {
            objective: &objective,
            groups: self.groups,
            start: &self.constrained.start,
            limits,
            scale: self.settings.prior_scale,
            seed: self.settings.seed,
        };
        Ok(search.choose(self.hooks.progress)?)
    }

    /// Repeats rounds until the loss of newly resolved rows stops falling. Returns true if the run was interrupted, and
    /// the rows resolved last.
    ///
    /// If rows do not depend on the parameters, there is one round.
    fn rounds(
        &self,
        state: &mut RunState,
        mut rows: Divided,
        limits: &Limits,
        seconds: &mut Seconds,
    ) -> Result<(bool, Divided)> {
        while state.rounds < MAX_ROUNDS {
            let (candidate, interrupted) = self.fit(state, &rows, limits, seconds)?;
            let pull = self.objective(self.model(), &rows.fitted, state)?.prior_loss(&candidate.theta);
            let mut theta = candidate.theta.clone();
            enlarge(&mut theta, &state.start, limits, self.model());
            let vector = self.problem.numbers.round(&theta);
            self.problem.source.iter().try_for_each(|source| source.check(&vector))?;
            rows = timed(&mut seconds.resolve, || self.resolve_again(rows, &vector))?;
            let sides = timed(&mut seconds.resolve, || self.losses(&rows, &vector, state.k))?;
            let measure = sides.held.unwrap_or(sides.fitted + pull);
            let gain = 1.0 - measure / state.best.measure;
            if gain > 0.0 {
                state.best = Best { vector, sides, measure, ..candidate };
                state.theta.clone_from(&state.best.theta);
                state.rounds += 1;
            }
            if interrupted {
                return Ok((true, rows));
            }
            // At a loss of 0 the gain is NaN and both comparisons are false. Only L-BFGS stops early in its first
            // rounds.
            let is_loose = gain > 0.0
                && self.settings.method == Method::Lbfgs
                && gradient_tolerance(state.rounds - 1) > LAST_TOLERANCE;
            let is_enough = gain >= LEAST_PROGRESS || is_loose;
            if !self.problem.rows_move() || !is_enough || state.rounds == MAX_ROUNDS {
                break;
            }
        }
        Ok((false, rows))
    }

    /// Returns the function that a round minimises.
    fn objective<'o>(&self, model: &'o Model, rows: &'o Rows, state: &RunState) -> Result<Objective<'o>> {
        let objective = Objective::new(rows, model, state.k)?.with_loss(self.settings.loss);
        Ok(objective.with_prior(state.prior, &state.start, self.settings.prior_scale)?)
    }

    /// Runs one fit. Returns its parameters with the losses not yet measured, and true if it was interrupted.
    fn fit(
        &self,
        state: &mut RunState,
        rows: &Divided,
        limits: &Limits,
        seconds: &mut Seconds,
    ) -> Result<(Best, bool)> {
        let folded = timed(&mut seconds.optimize, || self.folded(rows, &state.theta, limits, &state.occurrences))?;
        let (model, rows) = folded.as_ref().map_or((self.model(), rows), |(model, rows)| (model, rows));
        let objective = self.objective(model, &rows.fitted, state)?;
        let mut lbfgs = Lbfgs { norm: state.first_norm, ..Lbfgs::default() };
        if self.problem.rows_move() {
            lbfgs.tolerance = gradient_tolerance(state.rounds);
        }
        let solver = self.settings.method.solver(self.settings.seed, lbfgs);
        let (begin, hooks, held) = (state.theta.clone(), self.hooks, rows.held.as_ref());
        let search = Search { objective: &objective, held, solver: &*solver, start: &begin, limits, hooks };
        let mut watch = |step: &Step, held| {
            let round = state.rounds + 1;
            state.history.push(CurvePoint { round, iteration: step.iteration, objective: step.loss, held });
        };
        let found = timed(&mut seconds.optimize, || search.run(&mut watch))?;
        state.iterations += found.steps() as u64;
        let begin_norm = found.fit.history.first().map_or(0.0, |step| step.gradient_norm);
        let first_norm = *state.first_norm.get_or_insert(begin_norm);
        let gradient_ratio = if first_norm > 0.0 { begin_norm * found.fit.gradient_ratio / first_norm } else { 0.0 };
        let (interrupted, converged) = (found.is_interrupted(), found.has_converged());
        let (theta, iterations) = (found.theta, state.iterations);
        Ok((Best { theta, iterations, gradient_ratio, converged, ..state.best.clone() }, interrupted))
    }

    /// Makes the outcome of the run: standard errors and the final parameters.
    fn finish(
        &self,
        state: RunState,
        rows: &Divided,
        limits: Limits,
        interrupted: bool,
        mut seconds: Seconds,
    ) -> Result<Outcome> {
        let constrained = self.constrained;
        let is_tuned = |j: usize| constrained.shiftable[j] && !limits.is_frozen(j);
        let shifts = self.problem.shifts(&rows.fitted);
        // Errors refer to the tuned entries of a table relative to one another, even if other entries are too rare to
        // be tuned.
        let centring = Centring::new(shifts.clone(), is_tuned, |j| constrained.shiftable[j]);
        let errors = self.errors_of_best(&state, rows, &limits, &centring, &mut seconds)?;
        let rounding_lost = self.rounding_lost(&state, &rows.fitted)?;
        let (mut theta, sides) = (state.best.vector.clone(), state.best.sides);
        if self.settings.centre && theta != self.problem.numbers.round(&state.start) {
            let occurs = self.occurs(&state, rows);
            theta = self.centred(theta, &Centring::new(shifts, is_tuned, |j| !occurs[j]), &limits);
        }
        Ok(Outcome {
            settings: self.settings.clone(),
            numbers: self.problem.numbers.clone(),
            grouping: self.problem.grouping,
            check: self.problem.check.clone(),
            data_summary: self.problem.description.clone(),
            warnings: Vec::new(),
            files: self.problem.files().to_vec(),
            positions: self.problem.groups.len(),
            skipped_records: self.problem.dataset().map_or(0, |dataset| dataset.skipped_records()),
            left_out: self.problem.files().iter().map(|file| file.left_out).sum(),
            at_bound: 0,
            skipped: self.problem.dataset().map(|dataset| dataset.skipped().clone()).unwrap_or_default(),
            rare: Vec::new(),
            unseen: Vec::new(),
            parameters: Vec::new(),
            nothing_tuned: None,
            start: constrained.start.clone(),
            theta,
            start_k: state.start_k,
            k: state.k,
            prior: state.prior,
            prior_choice: state.prior_choice,
            fitted: rows.fitted.len(),
            held_out: rows.held.as_ref().map_or(0, Rows::len),
            loss: Losses { before: state.before.fitted, after: sides.fitted },
            rounding_lost,
            held_loss: state.before.held.zip(sides.held).map(|(before, after)| Losses { before, after }),
            sets: Vec::new(),
            explained: None,
            loss_change: None,
            references: Vec::new(),
            history: state.history,
            errors,
            centring,
            occurrences: state.occurrences,
            iterations: state.best.iterations,
            rounds: state.rounds,
            gradient_ratio: state.best.gradient_ratio,
            converged: state.best.converged,
            interrupted,
            frozen: constrained.frozen,
            tied: constrained.tied,
            averaged: constrained.averaged,
            limits,
            seconds,
        })
    }

    /// Returns, by parameter, true if a row depends on it at the start or at the end, fitted or held out.
    fn occurs(&self, state: &RunState, rows: &Divided) -> Vec<bool> {
        let model = self.model();
        let mut occurs: Vec<bool> = state.occurrences.iter().map(|&count| count > 0).collect();
        for rows in std::iter::once(&rows.fitted).chain(&rows.held) {
            occurs.iter_mut().zip(model.occurrences(rows)).for_each(|(occurs, count)| *occurs |= count > 0);
        }
        occurs
    }

    /// Returns the share of the gain that rounding the best parameters loses; 0 without a gain.
    fn rounding_lost(&self, state: &RunState, rows: &Rows) -> Result<f64> {
        let objective = self.objective(self.model(), rows, state)?;
        let Best { theta, vector, .. } = &state.best;
        let [start, found, rounded] = [&state.start, theta, vector].map(|theta| objective.data_loss(theta));
        Ok(if found < start { (rounded - found) / (start - found) } else { 0.0 })
    }

    /// Returns the standard errors of the best parameters if the settings ask for them.
    fn errors_of_best(
        &self,
        state: &RunState,
        rows: &Divided,
        limits: &Limits,
        centring: &Centring,
        seconds: &mut Seconds,
    ) -> Result<Option<Errors>> {
        if !self.settings.errors || state.keeps_start() {
            return Ok(None);
        }
        let are_games = self.problem.grouping != Grouping::Positions;
        let (theta, games) = (&state.best.theta[..], are_games.then_some(self.groups));
        timed(&mut seconds.errors, || {
            let folded = self.folded(rows, theta, limits, &state.occurrences)?;
            let (model, rows) = folded.as_ref().map_or((self.model(), rows), |(model, rows)| (model, rows));
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
    for powers in scales(model) {
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

/// Runs a step and adds its duration to `seconds`.
pub(crate) fn timed<T>(seconds: &mut f64, step: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = step();
    *seconds += started.elapsed().as_secs_f64();
    result
}
