//! Which terms the evaluation can do without.
//!
//! Near the optimum `θ` with curvature `H`, setting the terms `S` to 0 and refitting the others raises the objective by
//! `½ θ_Sᵀ ((H⁻¹)_SS)⁻¹ θ_S`. So the cheapest term is taken out, `θ` and `H⁻¹` are brought up to date, and so on: that
//! orders the terms. How many of them can go is then settled by fits, not by the formula: positions that were not fitted
//! must not lose more than the standard error of the difference.
//!
//! The formula is that of Hassibi and Stork, Second order derivatives for network pruning: Optimal Brain Surgeon (1992).

mod order;
mod show;

use clap::ValueEnum;
use engine::eval::Evaluator;
use engine::eval::params::{PAIRS, Weights};

use crate::constraints::{self, Constraints};
use crate::data::{FileSummary, ReadOptions, Source};
use crate::features::{self, Resolve, Resolved};
use crate::model::merino::merino;
use crate::model::rows::Rows;
use crate::numbers::Numbers;
use crate::objective::{Difference, HessianKind, Objective, PriorScale, SampleLoss, fit_k};
use crate::optimize::{Lbfgs, Limits, Solver};
use crate::progress::{Progress, Unit};
use crate::run::{FOLDS, PRIOR_PER_POSITION, PriorSearch, RunError, Split};
use crate::target::{Target, Targets};
use order::order;

/// What is taken out at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Grouping {
    /// A single number, with all that it is tied to.
    Number,
    /// A table, such as psqt.knight or material.
    Table,
    /// A field, such as psqt.
    Field,
}

/// What is to be simplified, and by which data.
pub struct Task {
    /// Labelled positions.
    pub sources: Vec<Source>,
    /// The parameters to start from, and to be pulled to.
    pub start: Weights,
    /// What the parameters keep to; what is frozen is not taken out.
    pub constraints: Constraints,
    /// Positions in which a pair must occur for its numbers to be taken out by themselves.
    pub min_seen: u32,
    /// What is taken out at once.
    pub by: Grouping,
    /// Which evaluation of a position is fitted; it is resolved once, with the start.
    pub resolve: Resolve,
    /// What positions are to predict.
    pub target: Target,
    /// What a wrong prediction costs.
    pub loss: SampleLoss,
    /// λ, the strength of the pull to the start; `None` to choose it by cross-validation.
    pub prior: Option<f64>,
    /// The scale from centipawns to expected results; `None` to fit it to the start.
    pub k: Option<f64>,
    /// What decides the folds.
    pub seed: u64,
    /// How the positions are read.
    pub reading: ReadOptions,
}

/// What can be taken out at once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    name: String,
    /// Ascending.
    numbers: Vec<usize>,
}

/// What it costs to do without the first terms of an order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    terms: usize,
    /// By how much the objective rises, by the curvature.
    predicted: f64,
    /// By how much it rises when the rest is fitted again.
    fitted: f64,
    /// By how much positions that were not fitted lose more, over all folds, than with the best of the trials before.
    held: Difference,
}

impl Trial {
    /// Whether it costs nothing that can be told from chance.
    fn is_free(&self) -> bool {
        self.held.mean <= self.held.error
    }
}

/// Parameters with as few terms as the data ask for.
#[derive(Clone, Debug)]
pub struct Simplified {
    files: Vec<FileSummary>,
    positions: usize,
    resolve: Resolve,
    /// What was minimised, in words.
    objective: String,
    k: f64,
    /// λ.
    prior: f64,
    /// Terms in the order in which they are best taken out; the first `removed` of them are 0 now.
    order: Vec<Term>,
    removed: usize,
    /// What was tried, by number of terms.
    trials: Vec<Trial>,
    /// Mean loss of all positions with everything fitted, and with what is left fitted.
    loss: [f64; 2],
    /// The parameters.
    pub weights: Weights,
}

/// Finds the terms that can be done without.
///
/// # Errors
/// The first fault of the data or the constraints, or why they cannot be fitted.
pub fn simplify(mut task: Task, progress: &dyn Progress) -> Result<Simplified, RunError> {
    let constrained = task.constraints.resolve(&Numbers::declared(), &task.start.to_vector())?;
    let evaluator = Evaluator::new(Weights::from_vector(&constrained.start).0);
    let read = features::read(std::mem::take(&mut task.sources), &task.reading, &evaluator, task.resolve, progress)?;
    let (dataset, Resolved { rows, scores: played }) = read;
    let Targets { target, values: targets } = task.target.of(&dataset)?;
    task.target = target;
    let rows = rows.with_targets(&targets)?;
    if rows.are_mapped() {
        return Err(RunError::Memory { flag: "simplify", rows: rows.len() });
    }
    let k = task.k.map_or_else(|| fit_k(task.loss, played.of(task.resolve), rows.weighted()).map(|fit| fit.k), Ok)?;
    let prior = match task.prior {
        Some(prior) => prior,
        None => {
            let objective = Objective::new(&rows, &merino().model, k)?.with_loss(task.loss);
            let search = PriorSearch {
                objective: &objective,
                groups: dataset.groups(),
                start: &constrained.start,
                limits: &constrained.limits,
                scale: PriorScale::Fixed,
                seed: task.seed,
            };
            let chosen = search.choose(progress)?;
            chosen.map_or(PRIOR_PER_POSITION, |chosen| chosen.choice.per_position) / rows.weight(1)
        }
    };
    let files = dataset.files();
    let problem =
        Problem { task: &task, files, rows: &rows, groups: dataset.groups(), k, prior, constrained: &constrained };
    let terms = terms(&constrained, &merino().model.occurrences(&rows), task.min_seen, task.by);
    problem.solve(terms, progress)
}

/// What may be taken out: terms with a number that occurs, of which nothing is frozen. Phase weights are no terms, and
/// neither is material: the table of the piece would take it over.
fn terms(constrained: &constraints::Resolved, occurrences: &[u32], min_seen: u32, by: Grouping) -> Vec<Term> {
    let numbers = Numbers::declared();
    let name = |index: usize| match by {
        Grouping::Number => numbers.name(index),
        Grouping::Table => &numbers.get(index).table,
        Grouping::Field => numbers.name(index).split(['.', ':', '[']).next().unwrap_or_default(),
    };
    let mut terms: Vec<Term> = Vec::new();
    let mut place: Vec<Option<usize>> = vec![None; 2 * PAIRS];
    for index in 0..2 * PAIRS {
        // What is tied goes together, into the term of its first number.
        let leader = constrained.limits.leaders()[index];
        let known =
            place[leader].or_else(|| terms.iter().position(|term| by != Grouping::Number && term.name == name(index)));
        let at = known.unwrap_or_else(|| {
            terms.push(Term { name: name(index).to_owned(), numbers: Vec::new() });
            terms.len() - 1
        });
        place[index] = Some(at);
        terms[at].numbers.push(index);
    }
    let worths: Vec<usize> = merino().shifts().iter().filter_map(|shift| shift.counterpart).collect();
    let least = if by == Grouping::Number { min_seen.max(1) } else { 1 };
    terms.retain(|term| {
        let seen: u32 = term.numbers.iter().map(|&index| occurrences[index]).fold(0, u32::saturating_add);
        let may_be_zero = |&index: &usize| {
            let (lower, upper) = constrained.limits.bounds(index);
            !constrained.limits.is_frozen(index) && (lower..=upper).contains(&0.0) && !worths.contains(&index)
        };
        seen >= least && term.numbers.iter().all(may_be_zero)
    });
    terms
}

/// Data and what is fitted to them.
struct Problem<'p> {
    task: &'p Task,
    files: &'p [FileSummary],
    rows: &'p Rows,
    groups: &'p [u32],
    k: f64,
    prior: f64,
    constrained: &'p constraints::Resolved,
}

/// A fold: where its rows are, its parameters with all terms, and what each held-out row loses in the best trial so far.
struct Fold {
    split: Split,
    theta: Vec<f64>,
    losses: Vec<f64>,
}

impl Problem<'_> {
    fn solve(&self, terms: Vec<Term>, progress: &dyn Progress) -> Result<Simplified, RunError> {
        progress.begin("fitting", 0, Unit::Iterations);
        let whole = self.objective(self.rows, &[])?;
        let full = self.fit(&whole, &self.constrained.start, &[])?;
        let moves = |number: usize| !self.constrained.limits.is_frozen(number);
        let hessian = whole.hessian_among(&full, HessianKind::GaussNewton, 1, &moves);
        let order = order(&hessian, &full, &terms, &self.constrained.limits).unwrap_or_default();
        let mut folds = self.folds()?;
        let mut best = (full.clone(), 0);
        let mut trials: Vec<Trial> = Vec::new();
        let numbers: Vec<&[usize]> = order.iter().map(|(term, _)| &term.numbers[..]).collect();
        let mut attempt = |count: usize| -> Result<bool, RunError> {
            let removed: Vec<usize> = numbers[..count].concat();
            let theta = self.fit(&whole, &full, &removed)?;
            let (held, losses) = self.held(&folds, &removed)?;
            let fitted = whole.loss(&theta) - whole.loss(&full);
            let trial = Trial { terms: count, predicted: order[count - 1].1, fitted, held };
            progress.advance(1);
            progress.message(format!("{count} terms, held out {:+.2e} ± {:.1e}", held.mean, held.error));
            // With too many parameters, all of them together are no standard: what is better becomes it.
            if held.mean < 0.0 {
                folds.iter_mut().zip(losses).for_each(|(fold, losses)| fold.losses = losses);
            }
            if trial.is_free() && count > best.1 {
                best = (theta, count);
            }
            trials.push(trial);
            Ok(trial.is_free())
        };
        last_free(order.len(), &mut attempt)?;
        progress.end();
        trials.sort_by_key(|trial| trial.terms);
        let (theta, removed) = best;
        let (weights, _) = Weights::from_vector(&theta);
        if !weights.has_phase() {
            return Err(RunError::NoPhase);
        }
        Ok(Simplified {
            files: self.files.to_vec(),
            positions: self.rows.len(),
            resolve: self.task.resolve,
            objective: format!("{} of the {}", self.task.loss.name(), self.task.target),
            k: self.k,
            prior: self.prior,
            order: order.into_iter().map(|(term, _)| term).collect(),
            removed,
            trials,
            loss: [whole.data_loss(&full), whole.data_loss(&theta)],
            weights,
        })
    }

    /// The objective over some rows; what is taken out is pulled nowhere.
    fn objective<'r>(&self, rows: &'r Rows, removed: &[usize]) -> Result<Objective<'r>, RunError> {
        let mut centre = self.constrained.start.clone();
        removed.iter().for_each(|&index| centre[index] = 0.0);
        let strength = self.prior * self.rows.weight(1) / rows.weight(1);
        let objective = Objective::new(rows, &merino().model, self.k)?.with_loss(self.task.loss);
        Ok(objective.with_prior(strength, &centre, PriorScale::Fixed)?)
    }

    /// Fits everything but what is taken out.
    fn fit(&self, objective: &Objective<'_>, from: &[f64], removed: &[usize]) -> Result<Vec<f64>, RunError> {
        let mut limits: Limits = self.constrained.limits.clone();
        let mut theta = from.to_vec();
        for &index in removed {
            theta[index] = 0.0;
            limits.freeze(index)?;
        }
        let solver = Lbfgs { tolerance: 1e-6, ..Lbfgs::default() };
        Ok(solver.minimize(objective, &theta, &limits, None, &mut ())?.theta)
    }

    fn folds(&self) -> Result<Vec<Fold>, RunError> {
        let fold = |split: Split| {
            let (fitted, held) = split.rows(self.rows);
            let theta = self.fit(&self.objective(&fitted, &[])?, &self.constrained.start, &[])?;
            let losses = self.losses(&held, &theta)?;
            Ok(Fold { split, theta, losses })
        };
        (0..FOLDS).map(|number| fold(Split::fold(self.groups, number, self.task.seed)?)).collect()
    }

    /// What each row loses.
    fn losses(&self, rows: &Rows, theta: &[f64]) -> Result<Vec<f64>, RunError> {
        Ok(self.objective(rows, &[])?.row_losses(theta))
    }

    /// By how much rows that were not fitted lose more without some numbers, over all folds, and what they lose by fold.
    fn held(&self, folds: &[Fold], removed: &[usize]) -> Result<(Difference, Vec<Vec<f64>>), RunError> {
        let mut changes: Vec<(u32, f64, f64)> = Vec::with_capacity(self.rows.len());
        let mut found = Vec::with_capacity(folds.len());
        for fold in folds {
            let (fitted, held) = fold.split.rows(self.rows);
            let theta = self.fit(&self.objective(&fitted, removed)?, &fold.theta, removed)?;
            let losses = self.losses(&held, &theta)?;
            let numbers = fold.split.held.iter().map(|&row| row as usize);
            let told = numbers.map(|row| (self.groups[row], self.rows.weighted().weight(row)));
            let differences = losses.iter().zip(&fold.losses).map(|(new, old)| new - old);
            changes.extend(told.zip(differences).map(|((group, weight), change)| (group, weight, change)));
            found.push(losses);
        }
        Ok((paired(changes), found))
    }
}

/// The mean of changes (group, weight, change times weight), and its standard error; those of one group count as one.
fn paired(mut changes: Vec<(u32, f64, f64)>) -> Difference {
    changes.sort_by_key(|&(group, ..)| group);
    let count = changes.iter().map(|(_, weight, _)| weight).sum::<f64>();
    let mean = changes.iter().map(|(.., change)| change).sum::<f64>() / count;
    let groups = changes.chunk_by(|a, b| a.0 == b.0);
    let squares =
        groups.map(|group| group.iter().map(|(_, weight, change)| change - weight * mean).sum::<f64>().powi(2));
    Difference { mean, error: squares.sum::<f64>().sqrt() / count }
}

/// Looks for the largest number of terms, up to `most`, that can go: one more at a time where there are few, by doubling
/// and halving where there are many.
fn last_free(most: usize, attempt: &mut impl FnMut(usize) -> Result<bool, RunError>) -> Result<(), RunError> {
    /// So many terms are few.
    const FEW: usize = 24;
    let (mut free, mut costly) = (0, most + 1);
    while free + 1 < costly {
        let next = if most <= FEW {
            free + 1
        } else if costly > most {
            (2 * free.max(4)).min(most)
        } else {
            free.midpoint(costly)
        };
        if attempt(next)? { free = next } else { costly = next }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
