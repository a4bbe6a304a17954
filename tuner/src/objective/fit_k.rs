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
use anyhow::{Result, bail, ensure};
use std::ops::Range;

/// The smallest K: at 0.001 a queen up is worth a thousandth of a point.
pub const K_MIN: f64 = 1e-3;
/// The largest K: at 1000 a tenth of a pawn decides the game.
pub const K_MAX: f64 = 1e3;

/// Maximum number of steps; three to six are usual.
const STEPS: usize = 100;

/// Size of a Newton step in `ln K` at which the iteration has converged.
const LAST_STEP: f64 = 1e-8;

/// The reason why scores that are all 0, or have the wrong sign, determine no K.
const UNINFORMATIVE: &str = "fit of K: the scores do not agree with the results better than chance (point of view?)";

/// A score in centipawns, as an integer or a float.
pub trait Score: Copy + Into<f64> + Send + Sync {}

impl<S: Copy + Into<f64> + Send + Sync> Score for S {}

/// The first and the second derivative of the mean loss by `ln K`.
type Derivatives = [f64; 2];

/// Fits the K with the least mean loss of `scores` (centipawns, White's view) with their targets:
/// `σ(K q) = 1 / (1 + 10^(−K q / 400))`.
///
/// # Errors
/// If the samples are malformed or do not determine K. A returned K is always finite.
pub fn fit_k<'w, S: Score>(loss: SampleLoss, scores: &[S], weighted: impl Into<Weighted<'w>>) -> Result<f64> {
    let weighted = weighted.into();
    check(scores, weighted.targets)?;
    let at = |log_k: f64| derivatives(loss, scores, weighted, log_k);
    let (mut low, mut high, mut x, mut here) = bracket(&at)?;
    for _ in 0..STEPS {
        let [slope, bend] = here;
        if slope > 0.0 {
            high = x
        } else {
            low = x
        }
        let newton = x - slope / bend;
        let inside = bend > 0.0 && newton >= low && newton <= high;
        let next = if inside { newton } else { 0.5 * (low + high) };
        // Newton's method converges quadratically, so no step follows one that is this small.
        let last = (next - x).abs() <= if inside { LAST_STEP } else { f64::EPSILON * x.abs().max(1.0) };
        x = next;
        if last {
            break;
        }
        here = at(x);
    }
    Ok(x.exp())
}

/// Checks that there are different results, as a fit to games with one result would diverge towards the side that won; no
/// results pass.
///
/// # Errors
/// If all results are the same.
pub fn refuse_one_result(targets: &[f32]) -> Result<()> {
    if let [result, others @ ..] = targets
        && others.iter().all(|other| other == result)
    {
        bail!(
            "all {} results are {result} (points of White): nothing can be fitted to games that all ended alike; add \
             others",
            targets.len()
        );
    }
    Ok(())
}

fn check<S: Score>(scores: &[S], targets: &[f32]) -> Result<()> {
    ensure!(scores.len() == targets.len(), "fit of K: {} scores, but {} targets", scores.len(), targets.len());
    ensure!(!scores.is_empty(), "fit of K: no samples");
    let values = scores.iter().map(|&score| score.into()).enumerate();
    if let Some((sample, value)) = values.into_iter().find(|(_, value): &(usize, f64)| !value.is_finite()) {
        bail!("fit of K: score {value} of sample {sample}");
    }
    if let Some(sample) = targets.iter().position(|target| !(0.0..=1.0).contains(target)) {
        bail!("fit of K: target {} of sample {sample} is not in 0..=1", targets[sample]);
    }
    refuse_one_result(targets)
}

/// Walks downhill from K = 1 until the slope changes sign. Returns a bracket in `ln K`, a point in it, and the derivatives
/// there.
fn bracket(at: &impl Fn(f64) -> Derivatives) -> Result<(f64, f64, f64, Derivatives)> {
    const STRIDE: f64 = 1.25;
    let (lowest, highest) = (K_MIN.ln(), K_MAX.ln());
    let mut x = 0.0;
    let mut here = at(x);
    let upwards = here[0] < 0.0;
    loop {
        let limit = if upwards { highest } else { lowest };
        if x == limit {
            // The loss still falls at the largest K if the signs of the scores decide every game.
            ensure!(upwards, UNINFORMATIVE);
            bail!("fit of K: the results follow the sign of the scores; the fit runs away to K = {K_MAX}");
        }
        let next = if upwards { (x + STRIDE).min(limit) } else { (x - STRIDE).max(limit) };
        let there = at(next);
        ensure!(here[0] != 0.0 || there[0] != 0.0, UNINFORMATIVE);
        if (there[0] < 0.0) != upwards {
            let (low, high) = if upwards { (x, next) } else { (next, x) };
            return Ok((low, high, next, there));
        }
        (x, here) = (next, there);
    }
}

/// Returns the derivatives of the mean loss at `ln K`; any number of threads computes the same bits.
fn derivatives<S: Score>(loss: SampleLoss, scores: &[S], weighted: Weighted<'_>, log_k: f64) -> Derivatives {
    let logit = logit_per_centipawn(log_k.exp());
    let plus = |[slope, bend]: Derivatives, more: Derivatives| [slope + more[0], bend + more[1]];
    let sum_part = |range: Range<usize>| {
        let blocks = range.clone().step_by(BLOCK).map(|first| first..(first + BLOCK).min(range.end));
        let of_block = |block: Range<usize>| sum_block(loss, &scores[block.clone()], weighted, block.start, logit);
        blocks.map(of_block).fold([0.0; 2], plus)
    };
    let count = weighted.total(0..scores.len());
    parallel::map(parts(scores.len()), sum_part).into_iter().fold([0.0; 2], plus).map(|sum| sum / count)
}

/// Sums over at most [`BLOCK`] samples.
fn sum_block<S: Score>(
    loss: SampleLoss,
    scores: &[S],
    weighted: Weighted<'_>,
    first: usize,
    logit: f64,
) -> Derivatives {
    let targets = &weighted.targets[first..first + scores.len()];
    let mut terms = [[0.0; BLOCK]; 2];
    for (i, (&score, &target)) in scores.iter().zip(targets).enumerate() {
        let z = logit * score.into();
        let cost = loss.cost(z, f64::from(target));
        (terms[0][i], terms[1][i]) = (cost.slope * z, cost.full * z * z + cost.slope * z);
    }
    terms.iter_mut().for_each(|terms| weighted.weigh(first, terms));
    terms.map(|terms| sum_lanes(&terms[..scores.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::score_loss;

    fn expectation(score: f64) -> f64 {
        1.0 / (1.0 + 10.0_f64.powf(-score / 400.0))
    }

    #[test]
    fn fits_k_to_the_last_digits() {
        let scores: Vec<f64> = (0..5000).map(|i| 0.16 * f64::from(i * 1117 % 5000) - 400.0).collect();
        for k in [0.02, 0.3, 1.0, 2.7, 30.0] {
            let targets: Vec<f32> = scores.iter().map(|score| expectation(k * score) as f32).collect();
            let found = fit_k(SampleLoss::SquaredError, &scores, &targets).unwrap();
            assert!((found / k - 1.0).abs() < 1e-5, "{found} for {k}");
        }
        // Every 13th game is drawn; in the others the side with the higher score wins three times in four.
        let result = |(i, &score): (usize, &f64)| match (i % 13, i % 4) {
            (0, _) => 0.5,
            (_, 0) => f32::from(u8::from(score < 0.0)),
            _ => f32::from(u8::from(score > 0.0)),
        };
        let targets: Vec<f32> = scores.iter().enumerate().map(result).collect();
        let k = fit_k(SampleLoss::SquaredError, &scores, &targets).unwrap();
        let mean = |k: f64| {
            let squares = scores.iter().zip(&targets).map(|(s, &y)| (expectation(k * s) - f64::from(y)).powi(2));
            squares.sum::<f64>() / scores.len() as f64
        };
        assert!((mean(k) - score_loss(SampleLoss::SquaredError, k, &scores, &targets)).abs() < 1e-14);
        assert!(mean(k * (1.0 + 1e-4)) > mean(k) && mean(k * (1.0 - 1e-4)) > mean(k));
    }

    #[test]
    fn fits_k_by_cross_entropy() {
        let scores: Vec<f64> = (0..5000).map(|i| 0.16 * f64::from(i * 1117 % 5000) - 400.0).collect();
        for k in [0.3, 1.0, 2.7] {
            let targets: Vec<f32> = scores.iter().map(|score| expectation(k * score) as f32).collect();
            let found = fit_k(SampleLoss::CrossEntropy, &scores, &targets).unwrap();
            assert!((found / k - 1.0).abs() < 1e-5, "{found} for {k}");
            let nats = |(score, &y): (&f64, &f32)| {
                let (p, y) = (expectation(found * score), f64::from(y));
                -y * p.ln() - (1.0 - y) * (1.0 - p).ln()
            };
            let mean = scores.iter().zip(&targets).map(nats).sum::<f64>() / scores.len() as f64;
            assert!((mean - score_loss(SampleLoss::CrossEntropy, found, &scores, &targets)).abs() < 1e-12);
        }
    }

    #[test]
    fn refuses_data_that_do_not_determine_k() {
        let scores = [300.0, -200.0, 50.0, -20.0];
        let message =
            |scores: &[f64], targets: &[f32]| fit_k(SampleLoss::SquaredError, scores, targets).unwrap_err().to_string();
        assert_eq!(message(&[], &[]), "fit of K: no samples");
        assert_eq!(message(&scores, &[1.0]), "fit of K: 4 scores, but 1 targets");
        for result in [0.0, 0.5, 1.0] {
            assert!(
                message(&scores, &[result; 4]).starts_with(&format!("all 4 results are {result} (points of White)"))
            );
        }
        assert_eq!(message(&[0.0; 4], &[1.0, 0.0, 0.5, 1.0]), UNINFORMATIVE);
        assert_eq!(message(&scores, &[0.0, 1.0, 0.0, 1.0]), UNINFORMATIVE);
        assert_eq!(
            message(&scores, &[1.0, 0.0, 1.0, 0.0]),
            "fit of K: the results follow the sign of the scores; the fit runs away to K = 1000"
        );
        assert_eq!(message(&[f64::NAN; 2], &[1.0, 0.0]), "fit of K: score NaN of sample 0");
        assert_eq!(message(&scores, &[1.0, 0.0, 2.0, 0.0]), "fit of K: target 2 of sample 2 is not in 0..=1");
    }
}
