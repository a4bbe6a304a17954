//! What data that were not fitted say: a part held out, and folds that take turns.
//!
//! Positions of one game never stand on both sides: they share its result, and what is known of one is known of all.
//! Where games have no names, at least the same position always stands on the same side.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::PRIOR_PER_POSITION;
use crate::io::Storage;
use crate::model::rows::{Rows, RowsError};
use crate::objective::{Objective, PriorScale};
use crate::optimize::{Lbfgs, Limits, OptimizeError, Solver};
use crate::processes::in_turn;
use crate::progress::{Progress, Unit};

/// The groups that fall below a share of all, by their hash under a seed: the same for the same data in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Draw {
    seed: u64,
}

/// What a draw is for: draws for different ends have nothing to do with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// What is held out of a run.
    HoldOut,
    /// Folds of a cross-validation.
    Folds,
    /// The part of the data that is enough for one.
    Sample,
}

impl Draw {
    pub(crate) fn new(seed: u64, end: End) -> Self {
        Draw { seed: seed.rotate_left(1) ^ (end as u64).rotate_right(1) }
    }

    /// Where a group stands in 0..1.
    pub(crate) fn place(self, group: u32) -> f64 {
        // Two rounds of Stafford's mix 13. See <https://zimbry.blogspot.com/2011/09/better-bit-mixing-improving-on.html>.
        let mix = |x: u64| {
            let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            x ^ (x >> 31)
        };
        let hash = mix(mix(self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15)) ^ u64::from(group));
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The fold of a group, below `folds`.
    pub(crate) fn fold(self, group: u32, folds: usize) -> usize {
        ((self.place(group) * folds as f64) as usize).min(folds.saturating_sub(1))
    }
}

/// Why data cannot be divided.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValidationError {
    /// One of the sides has nothing.
    #[error("validation: a share of {share} leaves {fitted} positions to fit and {held} to validate; both need some")]
    EmptySide {
        /// The share asked for.
        share: f64,
        /// Positions left to fit.
        fitted: usize,
        /// Positions held out.
        held: usize,
    },
    /// Too few groups for folds.
    #[error(
        "prior: cross-validation needs at least {folds} games or positions that differ; give the strength with --prior"
    )]
    FewGroups {
        /// Folds wanted.
        folds: usize,
    },
    /// A fit.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
}

/// Rows to fit, and rows to judge the fit by.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// Numbers of the rows to fit.
    pub(crate) fitted: Vec<u32>,
    /// Numbers of the rows held out.
    pub(crate) held: Vec<u32>,
}

impl Split {
    /// Holds out about a share of the rows, by their groups.
    pub(crate) fn hold_out(groups: &[u32], share: f64, seed: u64) -> Result<Self, ValidationError> {
        let draw = Draw::new(seed, End::HoldOut);
        let is_held = |&row: &u32| draw.place(groups[row as usize]) < share;
        let (held, fitted): (Vec<u32>, Vec<u32>) = (0..groups.len() as u32).partition(is_held);
        if fitted.is_empty() || held.is_empty() {
            return Err(ValidationError::EmptySide { share, fitted: fitted.len(), held: held.len() });
        }
        Ok(Split { fitted, held })
    }

    /// Holds out one of [`FOLDS`] folds of the rows, by their groups.
    pub(crate) fn fold(groups: &[u32], number: usize, seed: u64) -> Result<Self, ValidationError> {
        Split::fold_of(groups, number, seed, 1.0)
    }

    /// The same of a share of the groups only.
    fn fold_of(groups: &[u32], number: usize, seed: u64, share: f64) -> Result<Self, ValidationError> {
        let (draw, sample) = (Draw::new(seed, End::Folds), Draw::new(seed, End::Sample));
        let mut split = Split { fitted: Vec::new(), held: Vec::new() };
        for (row, &group) in groups.iter().enumerate() {
            if share >= 1.0 || sample.place(group) < share {
                let side = if draw.fold(group, FOLDS) == number { &mut split.held } else { &mut split.fitted };
                side.push(row as u32);
            }
        }
        if split.held.is_empty() || split.fitted.is_empty() {
            return Err(ValidationError::FewGroups { folds: FOLDS });
        }
        Ok(split)
    }

    /// The groups of the rows to fit.
    pub(crate) fn fitted_groups(&self, groups: &[u32]) -> Vec<u32> {
        self.fitted.iter().map(|&row| groups[row as usize]).collect()
    }

    /// Copies of the rows of both sides, in memory: to fit, and held out.
    pub(crate) fn rows(&self, rows: &Rows) -> (Rows, Rows) {
        let pick = |numbers: &[u32]| rows.pick(numbers.iter().map(|&row| row as usize));
        (pick(&self.fitted), pick(&self.held))
    }

    /// The same, in files if they are too many for memory.
    pub(crate) fn stored_rows(&self, rows: &Rows, storage: &Storage) -> Result<(Rows, Rows), RowsError> {
        let pick = |numbers: &[u32]| rows.pick_to(storage, numbers.iter().map(|&row| row as usize));
        Ok((pick(&self.fitted)?, pick(&self.held)?))
    }
}

/// Folds of a cross-validation.
pub(crate) const FOLDS: usize = 5;

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

/// A strength and what data that were not fitted lose with it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trial {
    /// Strength of the prior, times the number of positions.
    pub(crate) per_position: f64,
    /// Mean loss of the held-out rows of all folds looked at.
    pub(crate) loss: f64,
}

/// How the strength of a prior was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriorChoice {
    /// Strength, times the number of positions.
    pub(crate) per_position: f64,
    /// Loss of the held-out rows with it.
    pub(crate) loss: f64,
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

    /// Finds the strongest pull with which data that were not fitted lose no more than with the best, to within one
    /// standard error: from the first guess up the ladder for as long as it holds, else down for as long as it pays.
    /// `watch` is told every trial.
    fn run(&self, mut watch: impl FnMut(&Trial)) -> Result<Chosen, ValidationError> {
        let mut folds = self.folds()?;
        let count = folds.len();
        let at_once = self.folds_at_once();
        let start = in_turn(&mut folds, at_once, |fold| Ok::<_, ValidationError>(self.losses(fold, self.start)))?;
        let start = mean(&start.concat());
        let mut rungs: Vec<Rung> = Vec::new();
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
            let theta = folds[0].theta.clone();
            let rung = Rung { number, trial: Trial { per_position, loss: mean(&losses) }, losses, theta };
            watch(&rung.trial);
            Ok(rung)
        };
        let first = self.first_rung();
        rungs.push(try_rung(first)?);
        while rungs[rungs.len() - 1].number < *RUNGS.end() {
            let next = try_rung(rungs[rungs.len() - 1].number + 1)?;
            let is_worse = next.excess(best_of(&rungs)) > 0.0;
            rungs.push(next);
            if is_worse {
                break;
            }
        }
        if best_of(&rungs).number == first {
            rungs.reverse();
            while rungs[rungs.len() - 1].number > *RUNGS.start() {
                let next = try_rung(rungs[rungs.len() - 1].number - 1)?;
                let pays = best_of(&rungs).excess(&next) > 0.0;
                rungs.push(next);
                if !pays {
                    break;
                }
            }
        }
        rungs.sort_by_key(|rung| rung.number);
        let best = best_of(&rungs);
        let chosen = rungs.iter().rev().find(|rung| rung.excess(best) <= 0.0).unwrap_or(best);
        let choice = PriorChoice {
            per_position: chosen.trial.per_position,
            loss: chosen.trial.loss,
            start,
            folds: count,
            trials: rungs.iter().map(|rung| rung.trial).collect(),
        };
        let norm = *folds[0].norm.get().expect("every fold was fitted");
        Ok(Chosen { choice, theta: chosen.theta.clone(), norm })
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
        let fit = solver.minimize(&objective, &fold.theta, self.limits, None, &mut ())?;
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
    /// By held-out group.
    losses: Vec<GroupLoss>,
    /// Where the fit to the first fold ended.
    theta: Vec<f64>,
}

impl Rung {
    /// How much more it loses than another, beyond one standard error of the difference: that of groups, since the rows
    /// of a game err together.
    fn excess(&self, other: &Rung) -> f64 {
        let difference = self.trial.loss - other.trial.loss;
        let pairs = std::iter::zip(&self.losses, &other.losses);
        let squares = pairs.map(|(a, b)| (a.sum - b.sum - a.rows * difference).powi(2)).sum::<f64>();
        difference - squares.sqrt() / self.losses.iter().map(|group| group.rows).sum::<f64>()
    }
}

/// What the rows of a group lose together, and how many they count as.
#[derive(Clone, Copy)]
struct GroupLoss {
    rows: f64,
    sum: f64,
}

/// The rung that loses least.
fn best_of(rungs: &[Rung]) -> &Rung {
    let losses = |a: &&Rung, b: &&Rung| a.trial.loss.total_cmp(&b.trial.loss);
    rungs.iter().min_by(losses).expect("at least one was tried")
}

fn mean(losses: &[GroupLoss]) -> f64 {
    let (rows, sum) = losses.iter().fold((0.0, 0.0), |(rows, sum), group| (rows + group.rows, sum + group.sum));
    sum / rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rung whose groups have so many rows each that lose the same.
    fn rung(losses: &[f64], rows: f64) -> Rung {
        let losses: Vec<GroupLoss> = losses.iter().map(|loss| GroupLoss { rows, sum: loss * rows }).collect();
        let trial = Trial { per_position: 0.0, loss: mean(&losses) };
        Rung { number: 0, trial, losses, theta: Vec::new() }
    }

    #[test]
    fn rows_of_a_game_that_err_together_count_as_one() {
        let (better, worse) = ([0.1, 0.2, 0.3, 0.1], [0.2, 0.2, 0.4, 0.1]);
        // Differences 0.1, 0, 0.1, 0: mean 0.05, its standard error 0.1 / 4.
        for rows in [1.0, 40.0] {
            assert!((rung(&worse, rows).excess(&rung(&better, rows)) - 0.025).abs() < 1e-12);
        }
    }
}
