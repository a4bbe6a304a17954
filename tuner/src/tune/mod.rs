//! A run on Merino's own evaluation: positions are read and resolved, and resolved again with what a fit has found until
//! the true loss stops falling.

mod job;
mod report;
mod subject;

use std::borrow::Cow;
use std::time::Instant;

use engine::eval::Evaluator;
use engine::eval::params::{PAIRS, Weights, leaves};

pub use crate::run::{Hooks, RunError, Settings};
pub use job::Job;
pub use report::{Loss, Report};

use crate::data::Dataset;
use crate::data::judge::warnings;
use crate::features::{self, Resolved};
use crate::model::merino::numbers_of_leaf;
use crate::numbers::Numbers;
use crate::objective::Difference;
use crate::progress::Progress;
use crate::run::explain::{Case, Explanation, WORST, explain, loss_change};
use crate::run::reference::verdicts;
use crate::run::{Divided, Outcome, Reference, ReferenceSet, Run, Seconds, SetLoss, Split, timed};
use crate::target::{Target, Targets};
use subject::Merino;

/// Runs a job.
///
/// # Errors
/// The first fault of the data, or why they cannot be fitted.
pub fn run(mut job: Job, hooks: Hooks<'_>) -> Result<Report, RunError> {
    let started = Instant::now();
    let numbers = Numbers::declared();
    let constrained = job.settings.constraints.resolve(&numbers, &job.start.to_vector())?;
    job.start = Weights::from_vector(&constrained.start).0;
    let mut seconds = Seconds::default();
    let evaluator = Evaluator::new(job.start.clone());
    let sources = std::mem::take(&mut job.sources);
    let read = || features::read(sources, &job.reading, &evaluator, job.resolve, hooks.progress);
    let (dataset, Resolved { rows, scores }) = timed(&mut seconds.read, read)?;
    let Targets { target, values: targets } = job.settings.target.of(&dataset)?;
    job.settings.target = target;
    warnings(dataset.files(), target != Target::Score).iter().for_each(|warning| hooks.progress.warn(warning));
    let rows = rows.with_targets(&targets)?;
    let Settings { validation, seed, loss, .. } = job.settings;
    let split = validation.map(|share| Split::hold_out(dataset.groups(), share, seed)).transpose()?;
    let groups: Cow<[u32]> = match &split {
        None => dataset.groups().into(),
        Some(split) => split.fitted_groups(dataset.groups()).into(),
    };
    let rows = Divided::new(Cow::Owned(rows), split.as_ref(), dataset.storage())?;
    let subject = Merino {
        dataset: &dataset,
        targets: &targets,
        split: split.as_ref(),
        loss,
        resolve: job.resolve,
        numbers,
        scores: Some(scores),
        progress: hooks.progress,
    };
    let mut run = Run {
        subject,
        settings: &job.settings,
        constrained: &constrained,
        groups: &groups,
        are_games: dataset.games().is_some(),
        hooks,
    };
    let mut outcome = run.run(rows, seconds)?;
    let tuned = Weights::from_vector(&outcome.theta).0;
    let both = [(&outcome.start[..], outcome.start_k), (&outcome.theta[..], outcome.k)];
    outcome.sets = SetLoss::of(dataset.sets(), (loss, &targets), both, |vector| {
        run.subject.score(vector).of(job.resolve).to_vec()
    });
    let explained = job.settings.explain.then(|| explained(&job, &run.subject, &outcome, &tuned));
    (outcome.explained, outcome.loss_change) = explained.unzip();
    outcome.references = judged(&mut job, &outcome, hooks.progress);
    outcome.seconds.total = started.elapsed().as_secs_f64();
    Ok(report(job, &dataset, outcome, tuned))
}

/// What the parameters get right and wrong, before and after, and the difference of their losses.
fn explained(
    job: &Job,
    subject: &Merino<'_>,
    outcome: &Outcome<Loss>,
    tuned: &Weights,
) -> ([Explanation; 2], Difference) {
    let [before, after] = [&job.start, tuned].map(|weights| Evaluator::new(weights.clone()));
    let &Merino { dataset, resolve, targets, split, loss, progress, .. } = subject;
    let counted = split.map(|split| &split.held[..]);
    let before = Case { dataset, evaluator: &before, resolve, k: outcome.start_k, targets, counted };
    let after = Case { evaluator: &after, k: outcome.k, ..before };
    let sides = [before, after].map(|case| explain(&case, WORST, progress));
    let change = loss_change(&after, loss, &sides[0], &sides[1]);
    (sides, change)
}

/// Lets the reference sets of a job judge the parameters before and after.
fn judged(job: &mut Job, outcome: &Outcome<Loss>, progress: &dyn Progress) -> Vec<Reference> {
    let sides = [&outcome.start, &outcome.theta].map(|vector| Evaluator::new(Weights::from_vector(vector).0));
    let judge = |source| {
        let ReferenceSet { name, dataset, targets } = ReferenceSet::read(source, progress)?;
        let scores = |evaluator| -> Vec<f64> {
            let scores = features::score(&dataset, evaluator, job.resolve, progress);
            scores.of(job.resolve).iter().copied().map(f64::from).collect()
        };
        let [before, after] = [scores(&sides[0]), scores(&sides[1])];
        Ok(Reference::of(&name, [&before, &after], &targets, dataset.groups())?)
    };
    verdicts(std::mem::take(&mut job.references), judge, progress)
}

/// What the run has to say.
fn report(job: Job, dataset: &Dataset, outcome: Outcome<Loss>, tuned: Weights) -> Report {
    let seen = |least: u32, most: u32| {
        let first = |leaf: usize| outcome.occurrences[numbers_of_leaf(leaf).start];
        (0..leaves().len()).filter(|&leaf| (least..most).contains(&first(leaf))).count()
    };
    let (unseen, rare) = (seen(0, 1), seen(1, job.settings.min_seen.max(1)));
    // Phase weights may well be 0.
    let is_at_bound = |&index: &usize| {
        let ((lower, upper), value) = (outcome.limits.bounds(index), outcome.theta[index]);
        !outcome.limits.is_frozen(index) && (value == lower || value == upper)
    };
    let at_bound = (0..2 * PAIRS).filter(is_at_bound).count();
    Report {
        warnings_of_data: warnings(dataset.files(), job.settings.target != Target::Score),
        files: dataset.files().to_vec(),
        positions: dataset.len() as u64,
        grouping: dataset.grouping(),
        skipped: dataset.skipped().clone(),
        tuned,
        resolve: job.resolve,
        unseen,
        rare,
        at_bound,
        outcome,
    }
}
