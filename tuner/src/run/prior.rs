//! The choice of λ by cross-validation over a ladder of strengths.

use anyhow::Result;
use serde::Serialize;

use super::PRIOR_PER_POSITION;
use super::validation::{FOLDS, Split};
use crate::model::rows::Rows;
use crate::objective::{Difference, Objective, PriorScale};
use crate::optimize::{Lbfgs, Limits, Solver};
use crate::parallel;
use crate::progress::{Progress, Unit};

/// The smallest number of rows that the fitted folds hold out together. More rows would not change the choice.
const ENOUGH_HELD: usize = 60_000;

/// The largest number of rows in the folds: this many per parameter, or [`ENOUGH_ROWS`] if that is more. Larger data
/// are thinned by whole groups. From this many rows on, the best strength times the number of rows is nearly constant.
/// With 80 rows per parameter, a strength five to ten times as large was best.
const ROWS_PER_PARAMETER: usize = 200;
const ENOUGH_ROWS: usize = 100_000;

/// The largest memory, in bytes, of the Hessians of folds fitted at the same time, without the buffers of their sums.
const MOST_BYTES: usize = 1 << 26;

/// The ratio of neighbouring strengths of the ladder, √10.
const RATIO: f64 = 3.162_277_660_168_379_5;

/// The gradient tolerance of a fit to a fold, relative to the start. Strengths differ by more than the remaining error.
const TOLERANCE: f64 = 1e-2;

/// A fit to a fold also ends if eight steps lower the loss by no more than this share.
const STALL: f64 = 2e-4;

/// The rungs of the ladder, counted from the first guess. Below them the prior has no effect; above them no parameter
/// moves.
const RUNGS: std::ops::RangeInclusive<i32> = -10..=10;

/// The share of the best strength's gain over the start that a stronger prior has to keep.
const KEPT: f64 = 0.9;

/// The number of standard errors from which on a gain over the start is significant.
const SIGNIFICANT: f64 = 2.0;

/// A strength and its held-out loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Trial {
    /// Strength of the prior times the number of positions.
    pub(crate) per_position: f64,
    /// Mean loss of the held-out rows of all fitted folds.
    pub(crate) loss: f64,
}

/// The choice of the strength of a prior.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PriorChoice {
    /// Strength times the number of positions.
    pub(crate) per_position: f64,
    /// Held-out loss at this strength.
    pub(crate) loss: f64,
    /// True if the start is significantly better, so that nothing is fitted. The strength is then the strongest that
    /// was tried.
    pub(crate) keeps_start: bool,
    /// The trials, by ascending strength.
    pub(crate) trials: Vec<Trial>,
    /// Held-out loss of the start.
    pub(crate) start: f64,
    /// The number of folds fitted.
    pub(crate) folds: usize,
    /// A warm start for the fit to all rows: the parameters fitted to the first fold at the chosen strength.
    #[serde(skip)]
    pub(crate) theta: Vec<f64>,
    /// Norm of the gradient at the start, over the first fold.
    #[serde(skip)]
    pub(crate) norm: f64,
}

/// The inputs of a cross-validation.
#[derive(Clone, Copy)]
pub(crate) struct PriorSearch<'a> {
    /// The objective without its prior.
    pub(crate) objective: &'a Objective<'a>,
    /// Groups by row. A group is never divided.
    pub(crate) groups: &'a [u32],
    /// The start of the fits and centre of the prior.
    pub(crate) start: &'a [f64],
    /// The limits of the parameters.
    pub(crate) limits: &'a Limits,
    /// The treatment of the scale of the start.
    pub(crate) scale: PriorScale,
    /// Seed of the folds.
    pub(crate) seed: u64,
}

/// A fold and its latest fit.
struct ValidationFold {
    split: Split,
    fitted: Rows,
    held: Rows,
    theta: Vec<f64>,
    /// Norm of the gradient at the start of the first fit.
    norm: Option<f64>,
}

impl PriorSearch<'_> {
    /// Chooses the strength of the prior with the lowest held-out loss. Returns `None` if there are too few groups; the
    /// caller then uses the first guess, [`PRIOR_PER_POSITION`].
    ///
    /// Tries the relevant strengths of the ladder, and chooses one of them or the start: upwards from the first guess
    /// while a stronger prior may be chosen, else downwards while the loss falls.
    ///
    /// With few games, held-out losses are noisy. Without a significant gain the choice stays at the first guess: with
    /// 2,000 and 4,000 rows of an engine of 32 parameters, the minimum of the held-out losses gained half as much as
    /// the first guess.
    pub(crate) fn choose(&self, progress: &dyn Progress) -> Result<Option<PriorChoice>> {
        let Some(mut folds) = self.folds() else { return Ok(None) };
        progress.begin("prior", 0, Unit::Iterations);
        let at_start = |fold: &mut ValidationFold| Ok::<_, anyhow::Error>(self.losses(fold));
        let start = in_turn(&mut folds, self.folds_at_once(), at_start)?;
        let mut ladder = Ladder { start: HeldOut::of(start.concat()), rungs: Vec::new() };
        let first = self.first_rung();
        ladder.rungs.push(self.rung(&mut folds, first, progress)?);
        while ladder.last().number < *RUNGS.end() && ladder.may_choose_stronger() {
            let next = self.rung(&mut folds, ladder.last().number + 1, progress)?;
            ladder.rungs.push(next);
        }
        if ladder.best().number == first {
            ladder.rungs.reverse();
            while ladder.last().number > *RUNGS.start() && ladder.best().number == ladder.last().number {
                let next = self.rung(&mut folds, ladder.last().number - 1, progress)?;
                let pays = !ladder.is_as_good_as(ladder.last(), &next);
                ladder.rungs.push(next);
                if !pays {
                    break;
                }
            }
        }
        progress.end();
        ladder.rungs.sort_by_key(|rung| rung.number);
        let chosen = ladder.choice(first);
        let rung = chosen.unwrap_or_else(|| &ladder.rungs[ladder.rungs.len() - 1]);
        let trial = |rung: &Rung| Trial { per_position: per_position(rung.number), loss: rung.held.loss };
        Ok(Some(PriorChoice {
            per_position: per_position(rung.number),
            loss: chosen.map_or(ladder.start.loss, |rung| rung.held.loss),
            keeps_start: chosen.is_none(),
            trials: ladder.rungs.iter().map(trial).collect(),
            start: ladder.start.loss,
            folds: folds.len(),
            theta: rung.theta.clone(),
            norm: folds[0].norm.expect("every fold was fitted"),
        }))
    }

    /// Tries a rung of the ladder.
    fn rung(&self, folds: &mut [ValidationFold], number: i32, progress: &dyn Progress) -> Result<Rung> {
        let losses = in_turn(folds, self.folds_at_once(), |fold| {
            self.fit(fold, per_position(number))?;
            Ok::<_, anyhow::Error>(self.losses(fold))
        })?;
        let rung = Rung { number, held: HeldOut::of(losses.concat()), theta: folds[0].theta.clone() };
        progress.advance(1);
        progress.message(format!("{:.1e} a row, held out {:.7}", per_position(number), rung.held.loss));
        Ok(rung)
    }

    /// Returns the first rung: the fewer rows per parameter, the stronger the best prior.
    fn first_rung(&self) -> i32 {
        let free = (0..self.objective.parameters()).filter(|&j| !self.limits.is_frozen(j)).count();
        let scarcity = (ROWS_PER_PARAMETER * free) as f64 / self.objective.rows.len() as f64;
        (scarcity.max(1.0).ln() / RATIO.ln()) as i32
    }

    /// Returns the folds to fit: as many as are needed to hold out [`ENOUGH_HELD`] rows; `None` if one has no group.
    fn folds(&self) -> Option<Vec<ValidationFold>> {
        let rows = self.objective.rows;
        let most = (ROWS_PER_PARAMETER * self.objective.parameters()).max(ENOUGH_ROWS).min(rows.len());
        let share = most as f64 / rows.len() as f64;
        let wanted = ENOUGH_HELD.div_ceil(most.div_ceil(FOLDS)).clamp(1, FOLDS);
        let fold = |number: usize| {
            let split = Split::fold_of(self.groups, number, self.seed, share)?;
            let [fitted, held] =
                [&split.fitted, &split.held].map(|side| rows.pick(side.iter().map(|&row| row as usize)));
            Some(ValidationFold { split, fitted, held, theta: self.start.to_vec(), norm: None })
        };
        parallel::map(0..wanted, fold).into_iter().collect()
    }

    /// Returns the number of folds to fit in parallel. With few rows, most of the work of a fit runs in one thread.
    /// Several processes work together on one fold after the other.
    fn folds_at_once(&self) -> usize {
        if self.objective.rows.is_divided() {
            return 1;
        }
        let curvature = size_of::<f64>() * self.objective.parameters().pow(2);
        (MOST_BYTES / curvature).clamp(1, FOLDS)
    }

    fn fit(&self, fold: &mut ValidationFold, per_position: f64) -> Result<()> {
        let strength = per_position / fold.fitted.weight(1);
        let objective = self.objective.over(&fold.fitted).with_prior(strength, self.start, self.scale)?;
        let solver = Lbfgs { tolerance: TOLERANCE, norm: fold.norm, stall: STALL, ..Lbfgs::default() };
        let fit = solver.minimize(&objective, &fold.theta, self.limits)?;
        fold.norm.get_or_insert(fit.history[0].gradient_norm);
        fold.theta = fit.theta;
        Ok(())
    }

    /// Returns the losses of the groups that a fold holds out, with its latest fit.
    fn losses(&self, fold: &ValidationFold) -> Vec<GroupLoss> {
        let (held, mut end) = (&fold.held, 0);
        let losses = self.objective.over(held).row_losses(&fold.theta);
        let groups = fold.split.held.chunk_by(|&a, &b| self.groups[a as usize] == self.groups[b as usize]);
        let loss = |group: &[u32]| {
            let own = end..end + group.len();
            end = own.end;
            (held.weighted().total(own.clone()), losses[own].iter().sum())
        };
        groups.map(loss).collect()
    }
}

/// Returns the strength of a rung, times the number of positions.
fn per_position(number: i32) -> f64 {
    PRIOR_PER_POSITION * RATIO.powi(number)
}

/// A strength on the ladder and its result.
struct Rung {
    number: i32,
    held: HeldOut,
    /// The parameters fitted to the first fold.
    theta: Vec<f64>,
}

/// The strengths tried, and the start, which corresponds to an infinite strength.
struct Ladder {
    start: HeldOut,
    rungs: Vec<Rung>,
}

impl Ladder {
    /// Returns the rung tried last.
    fn last(&self) -> &Rung {
        self.rungs.last().expect("at least one was tried")
    }

    /// Returns the rung with the lowest held-out loss.
    fn best(&self) -> &Rung {
        let losses = |a: &&Rung, b: &&Rung| a.held.loss.total_cmp(&b.held.loss);
        self.rungs.iter().min_by(losses).expect("at least one was tried")
    }

    /// Returns true if a rung is significantly better than the start.
    fn is_significant(&self, rung: &Rung) -> bool {
        let Difference { mean, error } = self.start.excess_over(&rung.held);
        mean > SIGNIFICANT * error
    }

    /// Returns true if a stronger prior than the last may be chosen.
    fn may_choose_stronger(&self) -> bool {
        !self.is_significant(self.best()) || self.is_as_good_as(self.last(), self.best())
    }

    /// Returns true if a rung's loss exceeds another's by at most one standard error of the difference, and, if the
    /// other is significantly better than the start, keeps most of its gain. With few games, rungs at which hardly any
    /// parameter moves would pass by the standard error alone.
    fn is_as_good_as(&self, rung: &Rung, other: &Rung) -> bool {
        let gain = |rung: &Rung| self.start.loss - rung.held.loss;
        !rung.held.is_worse(&other.held) && (!self.is_significant(other) || gain(rung) >= KEPT * gain(other))
    }

    /// Chooses the strongest rung that is as good as the best, if the best is significantly better than the start.
    /// Otherwise walks from the first guess to each neighbour that is better by more than a standard error. Returns
    /// `None` if the start is better than the result by as much.
    fn choice(&self, first: i32) -> Option<&Rung> {
        let best = self.best();
        if self.is_significant(best) {
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

/// The weight of a group in rows, and the sum of its losses.
type GroupLoss = (f64, f64);

/// The losses of held-out groups.
struct HeldOut {
    groups: Vec<GroupLoss>,
    /// Mean loss per row.
    loss: f64,
}

impl HeldOut {
    fn of(groups: Vec<GroupLoss>) -> Self {
        let (rows, sum) = groups.iter().fold((0.0, 0.0), |(rows, sum), group| (rows + group.0, sum + group.1));
        HeldOut { groups, loss: sum / rows }
    }

    /// Returns the loss minus the loss of other parameters, with its standard error over groups: the rows of a game err
    /// together.
    fn excess_over(&self, other: &HeldOut) -> Difference {
        let mean = self.loss - other.loss;
        let pairs = std::iter::zip(&self.groups, &other.groups);
        let squares = pairs.map(|(a, b)| (a.1 - b.1 - a.0 * mean).powi(2)).sum::<f64>();
        Difference { mean, error: squares.sqrt() / self.groups.iter().map(|group| group.0).sum::<f64>() }
    }

    /// Returns true if the loss is larger by more than one standard error.
    fn is_worse(&self, other: &HeldOut) -> bool {
        let Difference { mean, error } = self.excess_over(other);
        mean > error
    }
}

/// Runs `act` on each item, `at_once` of them at a time, and returns the results in order.
fn in_turn<W: Send, T: Send, E: Send>(
    work: &mut [W],
    at_once: usize,
    act: impl Fn(&mut W) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let mut done = Vec::with_capacity(work.len());
    for some in work.chunks_mut(at_once) {
        done.extend(parallel::map(some, &act).into_iter().collect::<Result<Vec<T>, E>>()?);
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns groups of `rows` rows each, with equal losses in a group.
    fn held(losses: &[f64], rows: f64) -> HeldOut {
        HeldOut::of(losses.iter().map(|loss| (rows, loss * rows)).collect())
    }

    /// Returns a ladder, weakest strength first.
    fn ladder(start: &[f64], rungs: &[&[f64]]) -> Ladder {
        let rung = |(number, losses): (usize, &&[f64])| Rung {
            number: number as i32,
            held: held(losses, 1.0),
            theta: Vec::new(),
        };
        Ladder { start: held(start, 1.0), rungs: rungs.iter().enumerate().map(rung).collect() }
    }

    #[test]
    fn items_keep_their_order_and_the_first_error_ends_the_work() {
        let act = |number: &mut u8| if *number < 9 { Ok(vec![2 * *number]) } else { Err(*number) };
        for at_once in 1..4 {
            assert_eq!(in_turn(&mut [3, 4, 5], at_once, act), Ok(vec![vec![6], vec![8], vec![10]]));
            assert_eq!(in_turn(&mut [3, 9, 5], at_once, act), Err(9));
        }
    }

    #[test]
    fn rows_of_a_game_count_as_one_cluster() {
        let (better, worse) = ([0.1, 0.2, 0.3, 0.1], [0.2, 0.2, 0.4, 0.1]);
        // Differences 0.1, 0, 0.1, 0: mean 0.05, its standard error 0.1 / 4.
        for rows in [1.0, 40.0] {
            let Difference { mean, error } = held(&worse, rows).excess_over(&held(&better, rows));
            assert!((mean - 0.05).abs() < 1e-12 && (error - 0.025).abs() < 1e-12);
        }
    }

    /// Returns the number of the chosen rung; `first` is the number of the first guess.
    fn chosen(start: &[f64], rungs: &[&[f64]], first: i32) -> Option<i32> {
        ladder(start, rungs).choice(first).map(|rung| rung.number)
    }

    #[test]
    fn the_strongest_rung_that_keeps_most_of_a_clear_gain_is_chosen() {
        let start = [0.30, 0.10, 0.20, 0.40];
        // All losses are within one standard error of the best.
        let [best, near, far] = [[0.20, 0.08, 0.10, 0.24], [0.22, 0.07, 0.10, 0.24], [0.28, 0.05, 0.10, 0.24]];
        assert!(!held(&far, 1.0).is_worse(&held(&best, 1.0)));
        assert_eq!(chosen(&start, &[&best, &near, &far], 0), Some(1));
        // If all games agree, a significantly larger loss is not chosen for the gain that it keeps.
        let [start, best, near] = [[0.30; 4], [0.20; 4], [0.201; 4]];
        assert_eq!(chosen(&start, &[&best, &near], 1), Some(0));
    }

    #[test]
    fn the_first_guess_is_kept_without_a_significant_gain() {
        // Two halves of the games contradict each other.
        let start = [0.20, 0.20, 0.20, 0.20];
        let [guess, above] = [[0.10, 0.31, 0.10, 0.31], [0.15, 0.255, 0.15, 0.255]];
        assert_eq!(chosen(&start, &[&guess, &above, &start], 0), Some(0));
        // The rung above is significantly better.
        let bad = [0.22, 0.22, 0.22, 0.22];
        assert_eq!(chosen(&start, &[&bad, &[0.199, 0.201, 0.20, 0.20]], 0), Some(1));
        // The start is significantly better than all rungs.
        let worse = [0.21, 0.21, 0.21, 0.22];
        assert_eq!(chosen(&start, &[&bad, &worse], 0), None);
    }
}
