//! Parameters tuned on each of several sets alone, and what they lose on all of them.
//!
//! All data are divided once, by games: no position that judges was fitted by anyone, not even in the choice of a step. A set
//! gives parameters its scale of scores, which costs nothing in play, so K is fitted for each parameters on each set, to the
//! part of it that is not held out.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::ops::Range;

use engine::eval::Evaluator;
use engine::eval::params::Weights;
use serde::Serialize;

use super::subject::Merino;
use super::{Hooks, Job, Loss, RunError, Settings, read};
use crate::constraints;
use crate::data::Dataset;
use crate::features::{Resolved, Scores, score};
use crate::numbers::Numbers;
use crate::objective::{Difference, fit_k, loss_difference};
use crate::run::{Divided, Fingerprint, Outcome, Run, Seconds, Split};
use crate::target::Targets;

/// The share of the positions that is held out if nothing else is said.
const HELD_OUT: f64 = 0.2;

/// Parameters by what they were tuned on, and what they lose on each set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crosswise {
    /// What positions predict.
    pub target: String,
    /// The sets: files, in their order.
    pub sets: Vec<Set>,
    /// Those of the start, those of each set, and those of all sets together.
    pub tuned: Vec<Tuned>,
}

/// A set of positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Set {
    /// Its name.
    pub name: String,
    /// Positions to fit.
    pub fitted: usize,
    /// Positions held out.
    pub held_out: usize,
}

/// Parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tuned {
    /// What they were tuned on.
    pub on: String,
    /// λ; none for the start.
    pub prior: Option<f64>,
    /// By set.
    pub losses: Vec<Cell>,
}

/// What parameters lose on what is held out of a set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The scale from centipawns to expected results.
    pub k: f64,
    /// Mean losses.
    pub loss: Loss,
    /// How much more that is than with the parameters tuned on all sets together.
    pub above_all: Difference,
}

/// Sets that are read, and how each is divided.
struct Sets<'j> {
    job: &'j Job,
    constrained: &'j constraints::Resolved,
    dataset: Dataset,
    targets: Vec<f32>,
    /// Those of the start.
    resolved: Resolved,
    splits: Vec<Split>,
    hooks: Hooks<'j>,
}

/// Tunes on each file alone and on all together.
///
/// # Errors
/// The first fault of the data, or why a set cannot be fitted.
pub fn crosswise(mut job: Job, hooks: Hooks<'_>) -> Result<Crosswise, RunError> {
    let constrained = job.settings.constraints.resolve(&Numbers::declared(), &job.start.to_vector())?;
    let (dataset, resolved, _) = read(&mut job, &constrained.start, hooks.progress)?;
    let Targets { target, values: targets } = job.settings.target.of(&dataset)?;
    job.settings.target = target;
    let resolved = Resolved { rows: resolved.rows.with_targets(&targets)?, ..resolved };
    let names: Vec<String> = dataset.sets().map(|set| set.0.to_owned()).collect();
    let of_set = |set: usize, error: RunError| match names.get(set) {
        Some(name) => RunError::Set { set: name.clone(), error: Box::new(error) },
        None => error,
    };
    let (mut splits, mut begin) = (Vec::new(), 0);
    for (set, (_, _, positions)) in dataset.sets().enumerate() {
        let (groups, share) =
            (&dataset.groups()[begin..begin + positions], job.settings.validation.unwrap_or(HELD_OUT));
        let split = Split::hold_out(groups, share, job.settings.seed);
        let mut split = split.map_err(|error| of_set(set, error.into()))?;
        [&mut split.fitted, &mut split.held].into_iter().flatten().for_each(|row| *row += begin as u32);
        splits.push(split);
        begin += positions;
    }
    let sets = Sets { job: &job, constrained: &constrained, dataset, targets, resolved, splits, hooks };
    let mut vectors = vec![("start", None, constrained.start.clone())];
    for set in 0..=names.len() {
        let own = if set < names.len() { set..set + 1 } else { 0..set };
        let outcome = sets.tune(own).map_err(|error| of_set(set, error))?;
        vectors.push((names.get(set).map_or("all together", |name| name), Some(outcome.prior), outcome.theta));
    }
    let scores: Vec<Scores> = vectors.iter().map(|(_, _, vector)| sets.score(vector)).collect();
    let mut tuned: Vec<Tuned> =
        vectors.iter().map(|&(on, prior, _)| Tuned { on: on.to_owned(), prior, losses: Vec::new() }).collect();
    for set in 0..names.len() {
        let cells = sets.judge(set, &scores).map_err(|error| of_set(set, error))?;
        tuned.iter_mut().zip(cells).for_each(|(tuned, cell)| tuned.losses.push(cell));
    }
    let set = |(name, Split { fitted, held })| Set { name, fitted: fitted.len(), held_out: held.len() };
    let target = target.to_string();
    Ok(Crosswise { target, sets: names.iter().cloned().zip(sets.splits).map(set).collect(), tuned })
}

impl Sets<'_> {
    /// Tunes on some of the sets, together, as if there were nothing but what is to be fitted of them.
    fn tune(&self, sets: Range<usize>) -> Result<Outcome<Loss>, RunError> {
        let &Sets { job, constrained, ref dataset, ref targets, ref resolved, hooks, .. } = self;
        let fitted = self.splits[sets].iter().flat_map(|split| &split.fitted).copied().collect();
        let split = &Split { fitted, held: Vec::new() };
        let subject = Merino {
            dataset,
            targets,
            split: Some(split),
            loss: job.settings.loss,
            resolve: job.resolve,
            numbers: Numbers::declared(),
            scores: Some(resolved.scores.clone()),
            progress: hooks.progress,
        };
        let mut run = Run {
            subject,
            settings: &job.settings,
            constrained,
            groups: &split.fitted_groups(dataset.groups()),
            are_games: dataset.games().is_some(),
            hooks,
            job: Fingerprint::default(),
            data: Vec::new(),
        };
        let rows = Divided::new(Cow::Borrowed(&resolved.rows), Some(split), dataset.storage())?;
        run.run(rows, None, Seconds::default())
    }

    fn score(&self, vector: &[f64]) -> Scores {
        let evaluator = Evaluator::new(Weights::from_vector(vector).0);
        score(&self.dataset, &evaluator, self.job.resolve, self.hooks.progress)
    }

    /// Judges parameters, of which there are the scores of all positions, by a set; those of all sets are the last.
    fn judge(&self, set: usize, scores: &[Scores]) -> Result<Vec<Cell>, RunError> {
        let (Split { fitted, held }, &Settings { loss, k, .. }) = (&self.splits[set], &self.job.settings);
        let targets = |numbers: &[u32]| numbers.iter().map(|&row| self.targets[row as usize]).collect::<Vec<f32>>();
        let of_fitted = targets(fitted);
        let judged = scores.iter().map(|scores| match k {
            Some(k) => Ok((k, scores.pick(held))),
            None => Ok((fit_k(loss, scores.pick(fitted).of(self.job.resolve), &of_fitted)?.k, scores.pick(held))),
        });
        let judged = judged.collect::<Result<Vec<(f64, Scores)>, RunError>>()?;
        let targets = targets(held);
        let groups: Vec<u32> = held.iter().map(|&row| self.dataset.groups()[row as usize]).collect();
        let (k_of_all, all) = judged.last().expect("those of all sets");
        let cell = |(k, scores): &(f64, Scores)| {
            let [first, second] = [(*k_of_all, all), (*k, scores)].map(|(k, scores)| (k, scores.of(self.job.resolve)));
            let above_all = loss_difference(loss, first, second, &targets, &groups);
            Cell { k: *k, loss: Loss::of(loss, scores, (&targets).into(), *k), above_all }
        };
        Ok(judged.iter().map(cell).collect())
    }
}

impl Crosswise {
    /// As tables: losses, and by how much they are above those of the parameters tuned on all sets.
    pub fn to_table(&self) -> String {
        let mut table = String::new();
        self.write(&mut table).expect("a String takes all");
        table
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        let name = |(row, tuned): (usize, &Tuned)| match row {
            row if (1..=self.sets.len()).contains(&row) => format!("{row} {}", tuned.on),
            _ => tuned.on.clone(),
        };
        let names: Vec<String> = self.tuned.iter().enumerate().map(name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("above all together".len());
        writeln!(to, "target: {}\n", self.target)?;
        writeln!(to, "{:<width$} {:>11} {:>11}", "set", "fitted", "held out")?;
        for (name, Set { fitted, held_out, .. }) in names[1..].iter().zip(&self.sets) {
            writeln!(to, "{name:<width$} {fitted:>11} {held_out:>11}")?;
        }
        let mut lines = |title: &str, wide: usize, told: &dyn Fn(&Cell) -> String| {
            write!(to, "\n{title:<width$}")?;
            (1..=self.sets.len()).try_for_each(|set| write!(to, " {:>wide$}", format!("on {set}")))?;
            for (name, Tuned { losses, .. }) in names.iter().zip(&self.tuned) {
                write!(to, "\n{name:<width$}")?;
                losses.iter().try_for_each(|cell| write!(to, " {:>wide$}", told(cell)))?;
            }
            writeln!(to)
        };
        lines("loss, tuned on", 11, &|cell| format!("{:.7}", cell.loss.minimised()))?;
        let above = |Difference { mean, error }| match (mean, error) {
            (0.0, 0.0) => "-".to_owned(),
            _ => format!("{mean:+.7} ± {error:.7}"),
        };
        lines("above all together", 23, &|cell| above(cell.above_all))?;
        write!(to, "\nof what is held out, by games; ± one standard error; K of each fitted to the rest of the set")
    }
}
