//! The choice of λ: folds of games take turns in judging each strength on a ladder.

use std::cell::OnceCell;

use serde::Serialize;

use super::PRIOR_PER_POSITION;
use super::validation::{FOLDS, Split, ValidationError};
use crate::model::rows::Rows;
use crate::objective::{Difference, Objective, PriorScale};
use crate::optimize::{Lbfgs, Limits, Solver};
use crate::processes::in_turn;
use crate::progress::{Progress, Unit};

/// Rows that the folds which are looked at hold out together, at least: more of them would not change the choice.
const ENOUGH_HELD: usize = 60_000;

/// Rows that folds are made of at most, for each parameter and in any case; more are thinned out, whole groups at a time.
/// With as many, the best strength times the number of rows is about the same for more of them; with 80 rows a parameter,
/// five to ten times as strong a pull was best.
const ROWS_PER_PARAMETER: usize = 200;
const ENOUGH_ROWS: usize = 100_000;

/// Bytes that the curvatures of folds fitted at the same time may take, without what it takes to sum them.
const MOST_BYTES: usize = 1 << 26;

/// Strengths per position that are tried lie on a ladder of this ratio.
const RATIO: f64 = 3.162_277_660_168_379_5;

/// Norm of the gradient, relative to that of the start, at which a fold is fitted: strengths make larger differences than
/// what is left then.
const TOLERANCE: f64 = 1e-2;

/// So does a fit to a fold of which eight steps take no more than this share off the loss.
const STALL: f64 = 2e-4;

/// Rungs of the ladder, counted from the first guess: nothing is pulled below, nothing moves above.
const RUNGS: std::ops::RangeInclusive<i32> = -10..=10;

/// The share of what the best strength gains over the start that a stronger one has to keep.
const KEPT: f64 = 0.9;

/// A gain over the start of so many standard errors is beyond doubt.
const CLEAR: f64 = 2.0;

/// A strength and what data that were not fitted lose with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Trial {
    /// Strength of the prior, times the number of positions.
    pub(crate) per_position: f64,
    /// Mean loss of the held-out rows of all folds looked at.
    pub(crate) loss: f64,
}

/// How the strength of a prior was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorChoice {
    /// Strength, times the number of positions.
    pub(crate) per_position: f64,
    /// Loss of the held-out rows with it.
    pub(crate) loss: f64,
    /// Whether the start is better beyond doubt, and nothing is to be fitted: the strength is the strongest that was tried.
    pub(crate) keeps_start: bool,
    /// What was tried, by ascending strength.
    pub(crate) trials: Vec<Trial>,
    /// Loss of the held-out rows at the start.
    pub(crate) start: f64,
    /// Folds looked at.
    pub(crate) folds: usize,
}

/// A choice, and where a fit to all rows may begin instead of at the start.
pub(crate) struct Chosen {
    pub(crate) choice: PriorChoice,
    /// Where the fit to the first fold ended with it.
    pub(crate) theta: Vec<f64>,
    /// Norm of the gradient where that fold's first fit began, at the start.
    pub(crate) norm: f64,
}

/// What a cross-validation is about.
#[derive(Clone, Copy)]
pub(crate) struct PriorSearch<'a> {
    /// What is fitted, its prior aside.
    pub(crate) objective: &'a Objective<'a>,
    /// By row: what must not be parted.
    pub(crate) groups: &'a [u32],
    /// Where fits begin, and are pulled to.
    pub(crate) start: &'a [f64],
    /// Where they may go.
    pub(crate) limits: &'a Limits,
    /// Whether the scale of the start is pulled to.
    pub(crate) scale: PriorScale,
    /// What decides the folds.
    pub(crate) seed: u64,
}

/// A fold, and where the last fit to it ended.
struct Fold {
    split: Split,
    /// To fit, and held out; made for those who fit.
    rows: OnceCell<(Rows, Rows)>,
    theta: Vec<f64>,
    /// Norm of the gradient where the first fit to it began.
    norm: OnceCell<f64>,
}

impl PriorSearch<'_> {
    /// The strength of the prior with which rows that are not fitted lose least; none if there are too few groups to tell:
    /// then the first guess, [`PRIOR_PER_POSITION`], has to do.
    pub(crate) fn choose(&self, progress: &dyn Progress) -> Result<Option<Chosen>, ValidationError> {
        progress.begin("prior", 0, Unit::Iterations);
        let choice = self.run(|trial| {
            progress.advance(1);
            progress.message(format!("{:.1e} a row, held out {:.7}", trial.per_position, trial.loss));
        });
        progress.end();
        match choice {
            Ok(choice) => Ok(Some(choice)),
            Err(ValidationError::FewGroups { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Tries the strengths of the ladder that matter, and chooses one of them or the start: from the first guess up for
    /// as long as a stronger pull may be chosen, else down for as long as it pays. `watch` is told every trial.
    ///
    /// Where games are few, held-out losses say little. Without a clear gain the choice stays with the first guess: with
    /// 2,000 and 4,000 rows of an engine of 32 numbers, the minimum of the held-out losses gained half of what that did.
    fn run(&self, mut watch: impl FnMut(&Trial)) -> Result<Chosen, ValidationError> {
        let mut folds = self.folds()?;
        let count = folds.len();
        let at_once = self.folds_at_once();
        let start = in_turn(&mut folds, at_once, |fold| Ok::<_, ValidationError>(self.losses(fold, self.start)))?;
        let mut ladder = Ladder { start: HeldOut::of(start.concat()), rungs: Vec::new() };
        let mut try_rung = |number: i32| -> Result<Rung, ValidationError> {
            let per_position = PRIOR_PER_POSITION * RATIO.powi(number);
            let fits = in_turn(&mut folds, at_once, |fold| {
                let theta = self.fit(fold, per_position)?;
                let losses = self.losses(fold, &theta);
                Ok::<_, ValidationError>((theta, losses))
            })?;
            let mut losses = Vec::new();
            for (fold, (theta, held)) in folds.iter_mut().zip(fits) {
                fold.theta = theta;
                losses.extend(held);
            }
            let (held, theta) = (HeldOut::of(losses), folds[0].theta.clone());
            let rung = Rung { number, trial: Trial { per_position, loss: held.loss }, held, theta };
            watch(&rung.trial);
            Ok(rung)
        };
        let first = self.first_rung();
        ladder.rungs.push(try_rung(first)?);
        while ladder.last().number < *RUNGS.end() && ladder.may_be_better_above() {
            let next = try_rung(ladder.last().number + 1)?;
            ladder.rungs.push(next);
        }
        if ladder.best().number == first {
            ladder.rungs.reverse();
            while ladder.last().number > *RUNGS.start() && ladder.best().number == ladder.last().number {
                let next = try_rung(ladder.last().number - 1)?;
                let pays = !ladder.is_as_good_as(ladder.last(), &next);
                ladder.rungs.push(next);
                if !pays {
                    break;
                }
            }
        }
        ladder.rungs.sort_by_key(|rung| rung.number);
        let norm = *folds[0].norm.get().expect("every fold was fitted");
        let trials = ladder.rungs.iter().map(|rung| rung.trial).collect();
        let choice = |loss, per_position, keeps_start| PriorChoice {
            per_position,
            loss,
            keeps_start,
            trials,
            start: ladder.start.loss,
            folds: count,
        };
        Ok(match ladder.choice(first) {
            Some(Rung { trial, theta, .. }) => {
                Chosen { choice: choice(trial.loss, trial.per_position, false), theta: theta.clone(), norm }
            }
            None => {
                let strongest = ladder.rungs[ladder.rungs.len() - 1].trial.per_position;
                Chosen { choice: choice(ladder.start.loss, strongest, true), theta: self.start.to_vec(), norm }
            }
        })
    }

    /// Where to begin: the fewer rows a parameter, the stronger the pull that is best.
    fn first_rung(&self) -> i32 {
        let free = (0..self.objective.parameters()).filter(|&j| !self.limits.is_frozen(j)).count();
        let scarcity = (ROWS_PER_PARAMETER * free) as f64 / self.objective.rows.len() as f64;
        (scarcity.max(1.0).ln() / RATIO.ln()) as i32
    }

    /// The folds that are looked at: as many as it takes to hold out enough.
    fn folds(&self) -> Result<Vec<Fold>, ValidationError> {
        let rows = self.objective.rows;
        let most = (ROWS_PER_PARAMETER * self.objective.parameters()).max(ENOUGH_ROWS).min(rows.len());
        let share = most as f64 / rows.len() as f64;
        let wanted = ENOUGH_HELD.div_ceil(most.div_ceil(FOLDS)).clamp(1, FOLDS);
        let fold = |number: usize| {
            let split = Split::fold_of(self.groups, number, self.seed, share)?;
            Ok(Fold { split, rows: OnceCell::new(), theta: self.start.to_vec(), norm: OnceCell::new() })
        };
        (0..wanted).map(fold).collect()
    }

    /// How many folds are fitted at a time: where rows are few, most of a fit is one thread's work.
    fn folds_at_once(&self) -> usize {
        let curvature = size_of::<f64>() * self.objective.parameters().pow(2);
        (MOST_BYTES / curvature).clamp(1, FOLDS)
    }

    fn fit(&self, fold: &Fold, per_position: f64) -> Result<Vec<f64>, ValidationError> {
        let (fitted, _) = self.rows(fold);
        let strength = per_position / fitted.weight(1);
        let over = self.objective.over(fitted);
        let objective =
            over.with_prior(strength, self.start, self.scale).expect("a start of the right size and a finite strength");
        let solver = Lbfgs { tolerance: TOLERANCE, norm: fold.norm.get().copied(), stall: STALL, ..Lbfgs::default() };
        let fit = solver.minimize(&objective, &fold.theta, self.limits, &mut ())?;
        fold.norm.get_or_init(|| fit.history[0].gradient_norm);
        Ok(fit.theta)
    }

    /// What the groups lose that a fold holds out.
    fn losses(&self, fold: &Fold, theta: &[f64]) -> Vec<GroupLoss> {
        let (held, mut end) = (&self.rows(fold).1, 0);
        let losses = self.objective.over(held).row_losses(theta);
        let groups = fold.split.held.chunk_by(|&a, &b| self.groups[a as usize] == self.groups[b as usize]);
        let loss = |group: &[u32]| {
            let own = end..end + group.len();
            end = own.end;
            GroupLoss { rows: held.weighted().total(own.clone()), sum: losses[own].iter().sum() }
        };
        groups.map(loss).collect()
    }

    fn rows<'f>(&self, fold: &'f Fold) -> &'f (Rows, Rows) {
        fold.rows.get_or_init(|| fold.split.rows(self.objective.rows))
    }
}

/// A strength on the ladder, and what became of it.
struct Rung {
    number: i32,
    trial: Trial,
    held: HeldOut,
    /// Where the fit to the first fold ended.
    theta: Vec<f64>,
}

/// The strengths that were tried, and the start, which is the strongest of all.
struct Ladder {
    start: HeldOut,
    rungs: Vec<Rung>,
}

impl Ladder {
    /// The rung tried last.
    fn last(&self) -> &Rung {
        self.rungs.last().expect("at least one was tried")
    }

    /// The rung that loses least.
    fn best(&self) -> &Rung {
        let losses = |a: &&Rung, b: &&Rung| a.held.loss.total_cmp(&b.held.loss);
        self.rungs.iter().min_by(losses).expect("at least one was tried")
    }

    /// Whether a rung gains something over the start beyond doubt.
    fn is_clear(&self, rung: &Rung) -> bool {
        let Difference { mean, error } = self.start.above(&rung.held);
        mean > CLEAR * error
    }

    /// Whether a stronger pull than the last may be chosen.
    fn may_be_better_above(&self) -> bool {
        !self.is_clear(self.best()) || self.is_as_good_as(self.last(), self.best())
    }

    /// Whether a rung loses no more than another, to within one standard error of the difference, and keeps most of what
    /// that gains over the start, if it does so beyond doubt. With few games, rungs at which next to nothing moves would
    /// pass by the error alone.
    fn is_as_good_as(&self, rung: &Rung, other: &Rung) -> bool {
        let gain = |rung: &Rung| self.start.loss - rung.held.loss;
        !rung.held.is_worse(&other.held) && (!self.is_clear(other) || gain(rung) >= KEPT * gain(other))
    }

    /// The strongest rung that is as good as the best, if that gains something beyond doubt. Else the first guess, or what
    /// neighbour after neighbour is better by more than a standard error; none if the start is better than that by as much.
    fn choice(&self, first: i32) -> Option<&Rung> {
        let best = self.best();
        if self.is_clear(best) {
            return self.rungs.iter().rev().find(|rung| self.is_as_good_as(rung, best));
        }
        let mut at = self.rungs.iter().find(|rung| rung.number == first)?;
        for way in [-1, 1] {
            let better = |at: &Rung| {
                let next = self.rungs.iter().find(|rung| rung.number == at.number + way);
                next.filter(|next| at.held.is_worse(&next.held))
            };
            while let Some(next) = better(at) {
                at = next;
            }
        }
        (!at.held.is_worse(&self.start)).then_some(at)
    }
}

/// What the groups lose that are held out.
struct HeldOut {
    groups: Vec<GroupLoss>,
    /// By row.
    loss: f64,
}

impl HeldOut {
    fn of(groups: Vec<GroupLoss>) -> Self {
        let (rows, sum) = groups.iter().fold((0.0, 0.0), |(rows, sum), group| (rows + group.rows, sum + group.sum));
        HeldOut { groups, loss: sum / rows }
    }

    /// How much more they lose than with other parameters, and the standard error of that: by groups, since the rows of a
    /// game err together.
    fn above(&self, other: &HeldOut) -> Difference {
        let mean = self.loss - other.loss;
        let pairs = std::iter::zip(&self.groups, &other.groups);
        let squares = pairs.map(|(a, b)| (a.sum - b.sum - a.rows * mean).powi(2)).sum::<f64>();
        Difference { mean, error: squares.sqrt() / self.groups.iter().map(|group| group.rows).sum::<f64>() }
    }

    /// Whether they lose more by more than one standard error.
    fn is_worse(&self, other: &HeldOut) -> bool {
        let Difference { mean, error } = self.above(other);
        mean > error
    }
}

/// What the rows of a group lose together, and how many they count as.
#[derive(Clone, Copy)]
struct GroupLoss {
    rows: f64,
    sum: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What groups of so many rows each lose, all rows of a group alike.
    fn held(losses: &[f64], rows: f64) -> HeldOut {
        HeldOut::of(losses.iter().map(|loss| GroupLoss { rows, sum: loss * rows }).collect())
    }

    /// A ladder from the weakest strength up.
    fn ladder(start: &[f64], rungs: &[&[f64]]) -> Ladder {
        let rung = |(number, losses): (usize, &&[f64])| {
            let (held, per_position) = (held(losses, 1.0), number as f64);
            let trial = Trial { per_position, loss: held.loss };
            Rung { number: number as i32, trial, held, theta: Vec::new() }
        };
        Ladder { start: held(start, 1.0), rungs: rungs.iter().enumerate().map(rung).collect() }
    }

    #[test]
    fn rows_of_a_game_that_err_together_count_as_one() {
        let (better, worse) = ([0.1, 0.2, 0.3, 0.1], [0.2, 0.2, 0.4, 0.1]);
        // Differences 0.1, 0, 0.1, 0: mean 0.05, its standard error 0.1 / 4.
        for rows in [1.0, 40.0] {
            let Difference { mean, error } = held(&worse, rows).above(&held(&better, rows));
            assert!((mean - 0.05).abs() < 1e-12 && (error - 0.025).abs() < 1e-12);
        }
    }

    /// The number of the rung that is chosen, where the first guess is that of a number.
    fn chosen(start: &[f64], rungs: &[&[f64]], first: i32) -> Option<i32> {
        ladder(start, rungs).choice(first).map(|rung| rung.number)
    }

    #[test]
    fn the_strongest_rung_that_keeps_most_of_a_clear_gain_is_chosen() {
        let start = [0.30, 0.10, 0.20, 0.40];
        // All are within a standard error of the best.
        let [best, near, far] = [[0.20, 0.08, 0.10, 0.24], [0.22, 0.07, 0.10, 0.24], [0.28, 0.05, 0.10, 0.24]];
        assert!(!held(&far, 1.0).is_worse(&held(&best, 1.0)));
        assert_eq!(chosen(&start, &[&best, &near, &far], 0), Some(1));
        // Games that agree: what loses more beyond doubt is not chosen for the gain that it keeps.
        let [start, best, near] = [[0.30; 4], [0.20; 4], [0.201; 4]];
        assert_eq!(chosen(&start, &[&best, &near], 1), Some(0));
    }

    #[test]
    fn a_guess_holds_until_games_speak_against_it() {
        // Of two halves of the games, one says the opposite of the other.
        let start = [0.20, 0.20, 0.20, 0.20];
        let [guess, above] = [[0.10, 0.31, 0.10, 0.31], [0.15, 0.255, 0.15, 0.255]];
        assert_eq!(chosen(&start, &[&guess, &above, &start], 0), Some(0));
        // What is above is better beyond doubt.
        let bad = [0.22, 0.22, 0.22, 0.22];
        assert_eq!(chosen(&start, &[&bad, &[0.199, 0.201, 0.20, 0.20]], 0), Some(1));
        // So is the start; rungs close to it are like it.
        let worse = [0.21, 0.21, 0.21, 0.22];
        assert_eq!(chosen(&start, &[&bad, &worse], 0), None);
    }
}
