//! A whole run: read, resolve, fit K, choose the prior, minimise, resolve again until the true loss stops falling,
//! round, say how sure it all is.

mod certainty;
mod checkpoint;
mod job;
mod report;
mod rounds;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use engine::eval::Evaluator;
use engine::eval::params::{PAIRS, Weights, leaves};

pub use crate::run::{MIN_SEEN, PRIOR_PER_POSITION};
pub use checkpoint::{CHECKPOINT, Checkpoint, CheckpointError, Fingerprint};
pub use job::{Job, TuneError};
pub use report::{Bootstrap, CurvePoint, Loss, Losses, Report, Seconds};

use crate::constraints;
use crate::data::Dataset;
use crate::explain::{Case, Explanation, WORST, explain, loss_change};
use crate::features::{self, ReadError, Resolved, Scores, score};
use crate::model::centre::Centring;
use crate::model::merino::{merino, numbers_of_leaf};
use crate::objective::{Difference, Objective, fit_k_of_integers};
use crate::optimize::{Limits, LimitsError};
use crate::processes;
use crate::progress::{Progress, Unit};
use crate::validation::{PriorChoice, PriorSearch, Split, ValidationError};
use certainty::Certainty;
use report::Sides;
use rounds::{Best, Rounds, RunState, SplitRows};

/// Who watches a run, and how it is stopped and gone on with.
pub struct Hooks<'h> {
    /// Is told how far it has come.
    pub progress: &'h dyn Progress,
    /// Ends the run with the best so far, once it is set and a fit is under way.
    pub stop: Option<&'h AtomicBool>,
    /// Is called when the first fit begins: from here on there is a best so far.
    pub fitting: Option<&'h dyn Fn()>,
    /// Where the state is kept.
    pub checkpoint: Option<Checkpoint>,
    /// Whether to go on from the checkpoint, if it is there.
    pub resume: bool,
}

impl<'h> Hooks<'h> {
    /// Nothing but progress.
    pub fn new(progress: &'h dyn Progress) -> Self {
        Hooks { progress, stop: None, fitting: None, checkpoint: None, resume: false }
    }

    fn is_interrupted(&self) -> bool {
        processes::any(self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)))
    }
}

/// Runs a job.
///
/// # Errors
/// The first fault of the data, or why they cannot be fitted; a checkpoint of another job, or one that cannot be
/// written.
pub fn run(mut job: Job, mut hooks: Hooks<'_>) -> Result<Report, TuneError> {
    let started = Instant::now();
    let fingerprint = job.fingerprint();
    let constrained = job.constraints.resolve(&job.start)?;
    job.start.clone_from(&constrained.start);
    let resumed: Option<RunState> = match (&hooks.checkpoint, hooks.resume) {
        (Some(checkpoint), true) => checkpoint.read(&fingerprint)?,
        _ => None,
    };
    if let (Some(checkpoint), Some(fault)) = (&hooks.checkpoint, resumed.as_ref().and_then(RunState::fault)) {
        return Err(checkpoint.damaged(fault).into());
    }
    let mut seconds = Seconds::default();
    let centre = job.start.to_vector();
    let resolved_with = resumed.as_ref().map_or(&centre, |state| &state.resolved_with);
    let evaluator = Evaluator::new(Weights::from_vector(resolved_with).0);
    let sources = std::mem::take(&mut job.sources);
    let read = || match &job.cache {
        None => {
            let read = features::read(sources, &job.reading, &evaluator, job.resolve, hooks.progress)?;
            Ok::<_, ReadError>((read.0, read.1, None))
        }
        Some(cache) => {
            let read = cache.read(sources, &job.reading, &evaluator, job.resolve, hooks.progress)?;
            Ok((read.0, read.1, Some(read.2)))
        }
    };
    let (dataset, Resolved { rows, scores }, cache) = timed(&mut seconds.read, read)?;
    let targets = job.target.of(&dataset)?;
    let rows = rows.with_targets(&targets)?;
    let split = job.validation.map(|share| Split::hold_out(dataset.groups(), share, job.seed)).transpose()?;
    let groups: Cow<[u32]> = match &split {
        None => dataset.groups().into(),
        Some(split) => split.fitted_groups(dataset.groups()).into(),
    };
    let rows = SplitRows::new(rows, split.as_ref(), dataset.storage())?;
    if let (true, Some(flag)) = (rows.fitted.is_mapped(), job.needs_memory()) {
        return Err(TuneError::Memory { flag, rows: rows.fitted.len() });
    }

    let occurrences =
        resumed.as_ref().map_or_else(|| merino().model.occurrences(&rows.fitted), |state| state.occurrences.clone());
    let limits = limits(&constrained, &occurrences, job.min_seen)?;
    let solver = job.method.solver(job.seed, job.batch);
    let rounds = Rounds {
        dataset: &dataset,
        targets: &targets,
        split: split.as_ref(),
        sample_loss: job.loss,
        resolve: job.resolve,
        solver: &*solver,
        limits: &limits,
        shiftable: &constrained.shiftable,
        min_seen: job.min_seen,
        centre: &centre,
        prior_scale: job.prior_scale,
        job: &fingerprint,
    };
    let mut state = match resumed {
        Some(state) => state.of_data(&dataset, &hooks)?,
        None => {
            let given = Given { rows: &rows, scores: &scores, groups: &groups, occurrences };
            begin(&job, &rounds, given, &hooks, &mut seconds)?
        }
    };
    drop(scores);
    if let Some(fitting) = hooks.fitting {
        fitting();
    }
    let (interrupted, rows) = rounds.run(&mut state, rows, &mut hooks, &mut seconds)?;
    let centring = rounds.centring(&state);
    let asked = certainty::Asked { job: &job, rounds: &rounds, state: &state, centring: &centring };
    let certainty = Certainty::find(&asked, &rows.fitted, &groups, &hooks, &mut seconds)?;
    let finished = Finished::of(&job, &rounds, &state, &centring, &hooks, &mut seconds);
    let explained = job.explain.then(|| Explained::of(&job, &rounds, &state, &finished, &hooks));
    let (explained, loss_change) = explained.map(|found| (found.sides, found.loss_change)).unzip();
    if let (Some(checkpoint), false) = (&hooks.checkpoint, interrupted) {
        checkpoint.remove()?;
    }
    seconds.total = started.elapsed().as_secs_f64();
    let leaves = leaves().len();
    let seen = |least: u32, most: u32| {
        (0..leaves).filter(|&leaf| (least..most).contains(&state.occurrences[numbers_of_leaf(leaf).start])).count()
    };
    Ok(Report {
        files: dataset.files().to_vec(),
        cache,
        positions: dataset.len() as u64,
        grouping: dataset.grouping(),
        held_out: split.as_ref().map_or(0, |split| split.held.len() as u64),
        skipped: dataset.skipped().clone(),
        at_bound: at_bound(&finished.weights, &limits),
        unseen: seen(0, 1),
        rare: seen(1, job.min_seen.max(1)),
        start: job.start,
        tuned: finished.weights,
        target: job.target,
        sample_loss: job.loss,
        resolve: job.resolve,
        method: job.method,
        k: finished.k,
        prior: state.prior,
        prior_scale: job.prior_scale,
        is_prior_given: job.prior.is_some(),
        prior_choice: state.prior_choice,
        loss: Losses { before: state.before.fitted, after: finished.sides.fitted },
        held_loss: state.before.held.zip(finished.sides.held).map(|(before, after)| Losses { before, after }),
        history: state.history,
        errors: certainty.errors,
        bootstrap: certainty.bootstrap,
        centring,
        explained,
        loss_change,
        occurrences: state.occurrences,
        iterations: state.best.iterations,
        rounds: state.rounds,
        gradient_ratio: state.best.gradient_ratio,
        converged: state.best.converged,
        interrupted,
        frozen: constrained.frozen,
        constraints: job.constraints,
        limits,
        tied: constrained.tied,
        averaged: constrained.averaged,
        seconds,
    })
}

/// What has been read, at the parameters of the start.
struct Given<'g> {
    rows: &'g SplitRows,
    scores: &'g Scores,
    /// By row to fit: what must not be parted.
    groups: &'g [u32],
    /// By number: rows to fit in which it occurs.
    occurrences: Vec<u32>,
}

/// What a run has found before its first step: K, and how strong the prior is to be.
fn begin(
    job: &Job,
    rounds: &Rounds<'_>,
    Given { rows, scores, groups, occurrences }: Given<'_>,
    hooks: &Hooks<'_>,
    seconds: &mut Seconds,
) -> Result<RunState, TuneError> {
    let k = match job.k {
        Some(k) => k,
        None => {
            let fitted = rounds.split.map(|split| scores.pick(&split.fitted));
            let scores = fitted.as_ref().unwrap_or(scores).of(job.resolve);
            timed(&mut seconds.fit_k, || fit_k_of_integers(job.loss, scores, rows.fitted.targets()))?.k
        }
    };
    let start = rounds.centre.to_vec();
    let prior_choice = match job.prior {
        Some(_) => None,
        None => match timed(&mut seconds.choose_prior, || choose_prior(job, rounds, rows, groups, k, hooks)) {
            // Too little to tell: the first guess has to do.
            Err(TuneError::Validation(ValidationError::FewGroups { .. })) => None,
            choice => Some(choice?),
        },
    };
    let per_position = prior_choice.as_ref().map_or(PRIOR_PER_POSITION, |choice| choice.per_position);
    let prior = job.prior.unwrap_or(per_position / rows.fitted.len() as f64);
    let sides = rounds.sides(scores, k);
    let measure = sides.held.unwrap_or(sides.fitted).by(job.resolve);
    let best = Best {
        theta: start.clone(),
        vector: start.clone(),
        sides,
        measure,
        iterations: 0,
        gradient_ratio: 0.0,
        converged: true,
    };
    Ok(RunState {
        data: digests(rounds.dataset),
        k,
        prior,
        prior_choice,
        before: sides,
        occurrences,
        resolved_with: start.clone(),
        theta: start,
        rounds: 0,
        iterations: 0,
        first_norm: None,
        best,
        history: Vec::new(),
        fit: None,
        pick: None,
    })
}

/// The strength of the prior with which positions that are not fitted lose least.
fn choose_prior(
    job: &Job,
    rounds: &Rounds<'_>,
    rows: &SplitRows,
    groups: &[u32],
    k: f64,
    hooks: &Hooks<'_>,
) -> Result<PriorChoice, TuneError> {
    let objective = Objective::new(&rows.fitted, &merino().model, k)?.with_loss(job.loss);
    hooks.progress.begin("prior", 0, Unit::Iterations);
    let search = PriorSearch {
        objective: &objective,
        groups,
        start: rounds.centre,
        limits: rounds.limits,
        scale: job.prior_scale,
        first: PRIOR_PER_POSITION,
        seed: job.seed,
    };
    let choice = search.run(|trial| {
        hooks.progress.advance(1);
        hooks.progress.message(format!("{:.1e} a position, held out {:.7}", trial.per_position, trial.loss));
    });
    hooks.progress.end();
    Ok(choice?)
}

/// The parameters in the form in which they are written.
struct Finished {
    weights: Weights,
    k: f64,
    sides: Sides,
}

impl Finished {
    fn of(
        job: &Job,
        rounds: &Rounds<'_>,
        state: &RunState,
        centring: &Centring,
        hooks: &Hooks<'_>,
        seconds: &mut Seconds,
    ) -> Self {
        let mut finished =
            Finished { weights: Weights::from_vector(&state.best.vector).0, k: state.k, sides: state.best.sides };
        if job.normalize {
            let mut theta = state.best.theta.clone();
            theta[..2 * PAIRS].iter_mut().for_each(|value| *value *= state.k);
            finished.weights = Weights::from_vector(&theta).0;
            finished.k = 1.0;
            let evaluator = Evaluator::new(finished.weights.clone());
            let scores = timed(&mut seconds.resolve, || score(rounds.dataset, &evaluator, hooks.progress));
            finished.sides = rounds.sides(&scores, finished.k);
        }
        if job.centre {
            let mut vector = finished.weights.to_vector();
            centring.apply(&mut vector, |j| rounds.limits.bounds(j));
            // Tables that are tied in part only had better stay.
            if rounds.limits.leaders().iter().enumerate().all(|(j, &leader)| vector[j] == vector[leader]) {
                finished.weights = Weights::from_vector(&vector).0;
            }
        }
        finished
    }
}

/// What the parameters get right and wrong, before and after.
struct Explained {
    sides: [Explanation; 2],
    loss_change: Difference,
}

impl Explained {
    fn of(job: &Job, rounds: &Rounds<'_>, state: &RunState, finished: &Finished, hooks: &Hooks<'_>) -> Self {
        let [before, after] = [&job.start, &finished.weights].map(|weights| Evaluator::new(weights.clone()));
        let (dataset, resolve, targets) = (rounds.dataset, job.resolve, rounds.targets);
        let counted = rounds.split.map(|split| &split.held[..]);
        let before = Case { dataset, evaluator: &before, resolve, k: state.k, targets, counted };
        let after = Case { evaluator: &after, k: finished.k, ..before };
        let sides = [before, after].map(|case| explain(&case, WORST, hooks.progress));
        let loss_change = loss_change(&after, job.loss, &sides[0], &sides[1]);
        Explained { sides, loss_change }
    }
}

fn digests(dataset: &Dataset) -> Vec<String> {
    dataset.files().iter().map(|file| file.sha256.clone()).collect()
}

/// Numbers of pairs that ended at a bound and might have gone on; phase weights may well be 0.
fn at_bound(weights: &Weights, limits: &Limits) -> usize {
    let is_at_bound = |(index, value): (usize, f64)| {
        let (lower, upper) = limits.bounds(index);
        !limits.is_frozen(index) && (value == lower || value == upper)
    };
    weights.to_vector().into_iter().enumerate().take(2 * PAIRS).filter(|&number| is_at_bound(number)).count()
}

/// What the constraints leave free, without numbers that occur too rarely, together with all that they are tied to.
fn limits(constrained: &constraints::Resolved, occurrences: &[u32], min_seen: u32) -> Result<Limits, LimitsError> {
    let mut limits = constrained.limits.clone();
    let mut seen = occurrences.to_vec();
    for group in &constrained.groups {
        let together = group.iter().map(|&index| seen[index]).fold(0, u32::saturating_add);
        group.iter().for_each(|&index| seen[index] = together);
    }
    for index in (0..seen.len()).filter(|&index| seen[index] < min_seen) {
        limits.freeze(index)?;
    }
    Ok(limits)
}

fn timed<T>(seconds: &mut f64, step: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = step();
    *seconds += started.elapsed().as_secs_f64();
    result
}
