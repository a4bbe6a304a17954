//! The scale K, which converts scores to expected results.
//!
//! `K` minimises the mean loss of `σ(K q)` with targets `y` for given scores `q`. As a function of `ln K` the loss is
//! smooth, and for informative scores it has one minimum in the interior. The minimum is bracketed, and Newton's method
//! on the derivative finds it to the last digits. A Newton step that would leave the bracket is replaced by a
//! bisection.

use super::loss::{SampleLoss, logit_per_centipawn};
use super::parts;
use super::pass::sum_lanes;
use crate::model::rows::{BLOCK, Weighted};
use crate::parallel;
use std::ops::Range;
use thiserror::Error;

/// The smallest K: at 0.001 a queen up is worth a thousandth of a point.
pub const K_MIN: f64 = 1e-3;
/// The largest K: at 1000 a tenth of a pawn decides the game.
pub const K_MAX: f64 = 1e3;

/// Maximum number of steps; three to six are usual.
const STEPS: usize = 100;

/// Size of a Newton step in `ln K` at which the iteration has converged.
const LAST_STEP: f64 = 1e-8;

/// The reason why scores and targets do not determine K.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FitKError {
    /// All results are the same.
    #[error(transparent)]
    OneResult(#[from] OneResult),
    /// Samples are malformed, or do not determine the best K.
    #[error("fit of K: {0}")]
    Refused(String),
}

impl FitKError {
    /// Returns the error of scores that predict no better than a constant: they are all 0, or have the wrong sign.
    fn uninformative() -> Self {
        let message = "the scores do not agree with the results better than chance (point of view?)";
        FitKError::Refused(message.to_owned())
    }

    /// Returns the error of a loss that still falls at the largest K, because the signs of the scores decide every
    /// game.
    fn unbounded() -> Self {
        let message = "the results follow the sign of the scores; the fit runs away to K";
        FitKError::Refused(format!("{message} = {K_MAX}"))
    }
}

/// The error that all games have the same result. A fit to them would diverge towards the side that won.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "all {count} results are {result} (points of White): nothing can be fitted to games that all ended alike; add \
     others"
)]
pub struct OneResult {
    /// Number of results.
    pub count: usize,
    /// The common result, 0..=1.
    pub result: f32,
}

impl OneResult {
    /// Checks that there are different results; an empty list passes.
    ///
    /// # Errors
    /// If all results are the same.
    pub fn refuse(targets: &[f32]) -> Result<(), Self> {
        match targets {
            [result, others @ ..] if others.iter().all(|other| other == result) => {
                Err(OneResult { count: targets.len(), result: *result })
            }
            _ => Ok(()),
        }
    }
}

/// A fitted scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KFit {
    /// The scale: `σ(K q) = 1 / (1 + 10^(−K q / 400))`.
    pub k: f64,
    /// The mean loss at that scale.
    pub loss: f64,
    /// Number of passes over the data.
    pub passes: usize,
}

/// A score in centipawns, as an integer or a float.
pub trait Score: Copy + Into<f64> + Send + Sync {}

impl<S: Copy + Into<f64> + Send + Sync> Score for S {}

/// The mean loss and its first two derivatives by `ln K`.
#[derive(Clone, Copy, Default)]
struct Curve {
    loss: f64,
    slope: f64,
    bend: f64,
}

impl Curve {
    fn plus(self, other: Self) -> Self {
        Self { loss: self.loss + other.loss, slope: self.slope + other.slope, bend: self.bend + other.bend }
    }
}

/// Fits the K with the least mean loss of `scores` (centipawns, White's view) with their targets.
///
/// # Errors
/// If the samples are malformed or do not determine K. A returned K is always finite.
pub fn fit_k<'w, S: Score>(
    loss: SampleLoss,
    scores: &[S],
    weighted: impl Into<Weighted<'w>>,
) -> Result<KFit, FitKError> {
    let weighted = weighted.into();
    check(scores, weighted.targets)?;
    let mut passes = 0;
    let mut at = |log_k: f64| {
        passes += 1;
        curve(loss, scores, weighted, log_k)
    };
    let (mut low, mut high, mut x, mut here) = bracket(&mut at)?;
    for _ in 0..STEPS {
        if here.slope > 0.0 {
            high = x
        } else {
            low = x
        }
        let newton = x - here.slope / here.bend;
        let inside = here.bend > 0.0 && newton >= low && newton <= high;
        let next = if inside { newton } else { 0.5 * (low + high) };
        // Newton's method converges quadratically, so no step follows one that is this small.
        let last = (next - x).abs() <= if inside { LAST_STEP } else { f64::EPSILON * x.abs().max(1.0) };
        x = next;
        if last {
            break;
        }
        here = at(x);
    }
    Ok(KFit { k: x.exp(), loss: here.loss, passes })
}

fn check<S: Score>(scores: &[S], targets: &[f32]) -> Result<(), FitKError> {
    if scores.len() != targets.len() {
        let message = format!("{} scores, but {} targets", scores.len(), targets.len());
        return Err(FitKError::Refused(message));
    }
    if scores.is_empty() {
        return Err(FitKError::Refused("no samples".to_owned()));
    }
    if let Some(sample) = scores.iter().position(|&score| !score.into().is_finite()) {
        let value: f64 = scores[sample].into();
        return Err(FitKError::Refused(format!("score {value} of sample {sample}")));
    }
    if let Some(sample) = targets.iter().position(|target| !(0.0..=1.0).contains(target)) {
        let message = format!("target {} of sample {sample} is not in 0..=1", targets[sample]);
        return Err(FitKError::Refused(message));
    }
    Ok(OneResult::refuse(targets)?)
}

/// Walks downhill from K = 1 until the slope changes sign. Returns a bracket in `ln K`, a point in it, and the curve
/// there.
fn bracket(at: &mut impl FnMut(f64) -> Curve) -> Result<(f64, f64, f64, Curve), FitKError> {
    const STRIDE: f64 = 1.25;
    let (lowest, highest) = (K_MIN.ln(), K_MAX.ln());
    let mut x = 0.0;
    let mut here = at(x);
    let upwards = here.slope < 0.0;
    loop {
        let limit = if upwards { highest } else { lowest };
        if x == limit {
            return Err(if upwards { FitKError::unbounded() } else { FitKError::uninformative() });
        }
        let next = if upwards { (x + STRIDE).min(limit) } else { (x - STRIDE).max(limit) };
        let there = at(next);
        if here.slope == 0.0 && there.slope == 0.0 {
            return Err(FitKError::uninformative());
        }
        if (there.slope < 0.0) != upwards {
            let (low, high) = if upwards { (x, next) } else { (next, x) };
            return Ok((low, high, next, there));
        }
        (x, here) = (next, there);
    }
}

/// Returns the mean loss and its derivatives at `ln K`; any number of threads computes the same bits.
fn curve<S: Score>(loss: SampleLoss, scores: &[S], weighted: Weighted<'_>, log_k: f64) -> Curve {
    let logit = logit_per_centipawn(log_k.exp());
    let sum_part = |range: Range<usize>| {
        let mut sum = Curve::default();
        for first in range.clone().step_by(BLOCK) {
            let block = first..(first + BLOCK).min(range.end);
            sum = sum.plus(sum_block(loss, &scores[block], weighted, first, logit));
        }
        sum
    };
    let sums = parallel::map(parts(scores.len()), sum_part);
    let mut total = sums.into_iter().fold(Curve::default(), Curve::plus);
    let count = weighted.total(0..scores.len());
    total.loss /= count;
    total.slope /= count;
    total.bend /= count;
    total
}

/// Sums over at most [`BLOCK`] samples.
fn sum_block<S: Score>(loss: SampleLoss, scores: &[S], weighted: Weighted<'_>, first: usize, logit: f64) -> Curve {
    let targets = &weighted.targets[first..first + scores.len()];
    let mut terms = [[0.0; BLOCK]; 3];
    let [losses, slopes, bends] = &mut terms;
    for (i, (&score, &target)) in scores.iter().zip(targets).enumerate() {
        let z = logit * score.into();
        let cost = loss.cost(z, f64::from(target));
        (losses[i], slopes[i], bends[i]) = (cost.loss, cost.slope * z, cost.full * z * z + cost.slope * z);
    }
    terms.iter_mut().for_each(|terms| weighted.weigh(first, terms));
    let [loss, slope, bend] = terms.map(|terms| sum_lanes(&terms[..scores.len()]));
    Curve { loss, slope, bend }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation(score: f64) -> f64 {
        1.0 / (1.0 + 10.0_f64.powf(-score / 400.0))
    }

    #[test]
    fn fits_k_to_the_last_digits() {
        let scores: Vec<f64> = (0..5000).map(|i| 0.16 * f64::from(i * 1117 % 5000) - 400.0).collect();
        for k in [0.02, 0.3, 1.0, 2.7, 30.0] {
            let targets: Vec<f32> = scores.iter().map(|score| expectation(k * score) as f32).collect();
            let fit = fit_k(SampleLoss::SquaredError, &scores, &targets).unwrap();
            assert!((fit.k / k - 1.0).abs() < 1e-5, "{} for {k}", fit.k);
            assert!(fit.passes <= 15 && fit.loss < 1e-12);
        }
        // Every 13th game is drawn; in the others the side with the higher score wins three times in four.
        let result = |(i, &score): (usize, &f64)| match (i % 13, i % 4) {
            (0, _) => 0.5,
            (_, 0) => f32::from(u8::from(score < 0.0)),
            _ => f32::from(u8::from(score > 0.0)),
        };
        let targets: Vec<f32> = scores.iter().enumerate().map(result).collect();
        let fit = fit_k(SampleLoss::SquaredError, &scores, &targets).unwrap();
        let mean = |k: f64| {
            let squares = scores.iter().zip(&targets).map(|(s, &y)| (expectation(k * s) - f64::from(y)).powi(2));
            squares.sum::<f64>() / scores.len() as f64
        };
        assert!((mean(fit.k) - fit.loss).abs() < 1e-14);
        assert!(mean(fit.k * (1.0 + 1e-4)) > fit.loss && mean(fit.k * (1.0 - 1e-4)) > fit.loss);
    }

    #[test]
    fn fits_k_by_cross_entropy() {
        let scores: Vec<f64> = (0..5000).map(|i| 0.16 * f64::from(i * 1117 % 5000) - 400.0).collect();
        for k in [0.3, 1.0, 2.7] {
            let targets: Vec<f32> = scores.iter().map(|score| expectation(k * score) as f32).collect();
            let fit = fit_k(SampleLoss::CrossEntropy, &scores, &targets).unwrap();
            assert!((fit.k / k - 1.0).abs() < 1e-5, "{} for {k}", fit.k);
            let nats = |(score, &y): (&f64, &f32)| {
                let (p, y) = (expectation(fit.k * score), f64::from(y));
                -y * p.ln() - (1.0 - y) * (1.0 - p).ln()
            };
            let mean = scores.iter().zip(&targets).map(nats).sum::<f64>() / scores.len() as f64;
            assert!((mean - fit.loss).abs() < 1e-12);
        }
    }

    #[test]
    fn refuses_data_that_do_not_determine_k() {
        let scores = [300.0, -200.0, 50.0, -20.0];
        let refused = |scores: &[f64], targets: &[f32]| fit_k(SampleLoss::SquaredError, scores, targets).unwrap_err();
        let message = |scores: &[f64], targets: &[f32]| refused(scores, targets).to_string();
        assert_eq!(message(&[], &[]), "fit of K: no samples");
        assert_eq!(message(&scores, &[1.0]), "fit of K: 4 scores, but 1 targets");
        for result in [0.0, 0.5, 1.0] {
            assert_eq!(refused(&scores, &[result; 4]), FitKError::OneResult(OneResult { count: 4, result }));
        }
        assert_eq!(refused(&[0.0; 4], &[1.0, 0.0, 0.5, 1.0]), FitKError::uninformative());
        assert_eq!(refused(&scores, &[0.0, 1.0, 0.0, 1.0]), FitKError::uninformative());
        assert_eq!(refused(&scores, &[1.0, 0.0, 1.0, 0.0]), FitKError::unbounded());
        assert_eq!(message(&[f64::NAN; 2], &[1.0, 0.0]), "fit of K: score NaN of sample 0");
        assert_eq!(message(&scores, &[1.0, 0.0, 2.0, 0.0]), "fit of K: target 2 of sample 2 is not in 0..=1");
    }
}
