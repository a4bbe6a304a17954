//! The loss of a sample: a function of the logistic curve, with its first and second derivatives.
//!
//! All functions take the *logit* `z = κ q`, in which `q` is a score in centipawns and `κ` is [`logit_per_centipawn`]:
//! `σ(K q) = 1 / (1 + 10^(−K q / 400)) = 1 / (1 + e^(−z))`.

use crate::model::tape::exponential::{exponential, exponential_ratio};
use crate::objective::vectors::{Loop, Vectors, run};
use clap::ValueEnum;
use serde::Serialize;

/// The loss of a sample's expected result `p` (0..=1) with target `y` (0..=1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SampleLoss {
    /// Squared error, `(p − y)²`.
    #[default]
    #[value(name = "mse")]
    #[serde(rename = "mse")]
    SquaredError,
    /// Cross-entropy in nats, `−y ln p − (1 − y) ln (1 − p)`. Its minimum, at `p = y`, is 0 only if `y` is 0 or 1. It
    /// is unbounded for results that the score predicts with a probability near 0.
    CrossEntropy,
}

/// The loss of a sample and its derivatives by the logit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Cost {
    pub(super) loss: f64,
    /// The first derivative.
    pub(super) slope: f64,
    /// The Gauss-Newton approximation of the second derivative, which is never negative.
    pub(super) gauss_newton: f64,
    /// The second derivative.
    pub(super) full: f64,
}

impl Cost {
    /// Multiplies the loss and its derivatives by the weight of the sample.
    #[inline(always)]
    pub(super) fn times(self, weight: f64) -> Cost {
        let Cost { loss, slope, gauss_newton, full } = self;
        Cost { loss: weight * loss, slope: weight * slope, gauss_newton: weight * gauss_newton, full: weight * full }
    }
}

impl SampleLoss {
    /// Returns the loss of logit `z` with target `y`.
    #[inline(always)]
    pub(super) fn cost(self, z: f64, y: f64) -> Cost {
        match self {
            Self::SquaredError => squared_error(z, y),
            Self::CrossEntropy => cross_entropy(z, y),
        }
    }

    /// Computes the losses of scores (centipawns, White's view) with targets, and their derivatives by the scores.
    ///
    /// # Panics
    /// If any of the slices is shorter than the targets.
    pub(super) fn price(self, logit: f64, scores: &[f64], targets: &[f32], losses: &mut [f64], slopes: &mut [f64]) {
        let count = targets.len();
        let (scores, losses, slopes) = (&scores[..count], &mut losses[..count], &mut slopes[..count]);
        match self {
            Self::SquaredError => run(Prices { cost: squared_error, logit, scores, targets, losses, slopes }),
            Self::CrossEntropy => run(Prices { cost: cross_entropy, logit, scores, targets, losses, slopes }),
        }
    }
}

/// The loop of [`SampleLoss::price`], compiled for several vector instruction sets, which all compute the same bits.
struct Prices<'p, C> {
    cost: C,
    logit: f64,
    scores: &'p [f64],
    targets: &'p [f32],
    losses: &'p mut [f64],
    slopes: &'p mut [f64],
}

impl<C: Fn(f64, f64) -> Cost> Loop for Prices<'_, C> {
    #[inline(always)]
    fn run(self, _vectors: Vectors) {
        let results = self.losses.iter_mut().zip(self.slopes);
        for ((&score, &target), (loss, slope)) in self.scores.iter().zip(self.targets).zip(results) {
            let cost = (self.cost)(self.logit * score, f64::from(target));
            *loss = cost.loss;
            *slope = self.logit * cost.slope;
        }
    }
}

#[inline(always)]
fn squared_error(z: f64, y: f64) -> Cost {
    let (p, q) = logistic(z);
    let (residual, spread) = (p - y, p * q);
    let gauss_newton = 2.0 * spread * spread;
    Cost {
        loss: residual * residual,
        slope: 2.0 * residual * spread,
        gauss_newton,
        full: gauss_newton + 2.0 * residual * spread * (q - p),
    }
}

/// Returns the cross-entropy `−y ln p − (1 − y) ln q = max(z, 0) − y z + ln (1 + u)` with `u = e^(−|z|)`. The right
/// side has neither overflow nor cancellation.
#[inline(always)]
fn cross_entropy(z: f64, y: f64) -> Cost {
    let u = exponential(-z.abs());
    let larger = 1.0 / (1.0 + u);
    let smaller = u * larger;
    let p = if z >= 0.0 { larger } else { smaller };
    let second = larger * smaller;
    let linear = if z >= 0.0 { (1.0 - y) * z } else { -y * z };
    Cost { loss: linear + log_one_plus(u), slope: p - y, gauss_newton: second, full: second }
}

/// Returns `ln (1 + u)` for u in 0..=1 to about one unit in the last place, without branches as in [`exponential`]. It
/// is `2 artanh s` with `s = u / (2 + u)`, which is at most 1/3.
#[inline(always)]
fn log_one_plus(u: f64) -> f64 {
    /// Number of terms of the series; the next one is less than 1e-17 of the sum.
    const TERMS: usize = 17;
    let s = u / (2.0 + u);
    let square = s * s;
    let series = (1..TERMS).rev().fold(0.0, |sum, term| (sum + 1.0 / (2 * term + 1) as f64) * square);
    2.0 * (s + s * series)
}

/// Returns the logit of one centipawn, `κ = K ln 10 / 400`.
pub(super) fn logit_per_centipawn(k: f64) -> f64 {
    k * std::f64::consts::LN_10 / 400.0
}

/// Returns the expected result, 0..=1, of a score in centipawns at the scale `k`: `σ(k score)`.
pub fn expectation(k: f64, score: f64) -> f64 {
    logistic(logit_per_centipawn(k) * score).0
}

/// Returns the logistic function and its complement, each to full relative accuracy.
#[inline(always)]
fn logistic(z: f64) -> (f64, f64) {
    let (numerator, denominator) = exponential_ratio(-z);
    let share = 1.0 / (numerator + denominator);
    (denominator * share, numerator * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_of;

    #[test]
    fn vectorised_losses_equal_single_ones_bit_by_bit() {
        let logit = logit_per_centipawn(1.1);
        for loss in [SampleLoss::SquaredError, SampleLoss::CrossEntropy] {
            for count in 0..40_usize {
                let scores: Vec<f64> = (0..count).map(|i| 91.7 * (i as f64 - 20.0) + 0.3).collect();
                let targets: Vec<f32> = (0..count).map(|i| (i % 5) as f32 / 4.0).collect();
                let (mut losses, mut slopes) = (vec![0.0; count], vec![0.0; count]);
                loss.price(logit, &scores, &targets, &mut losses, &mut slopes);
                for i in 0..count {
                    let cost = loss.cost(logit * scores[i], f64::from(targets[i]));
                    assert_eq!((losses[i], slopes[i]), (cost.loss, logit * cost.slope), "{loss:?} {i} of {count}");
                }
            }
        }
    }

    #[test]
    fn the_logistic_complement_is_accurate_at_extreme_scores() {
        let (p, q) = logistic(-100.0);
        assert!((p / (-100.0_f64).exp() - 1.0).abs() < 1e-12 && q == 1.0);
        let (p, q) = logistic(100.0);
        assert!((q / (-100.0_f64).exp() - 1.0).abs() < 1e-12 && p == 1.0);
    }

    #[test]
    fn derivatives_agree_with_finite_differences() {
        let step = 1e-5;
        for loss in [SampleLoss::SquaredError, SampleLoss::CrossEntropy] {
            for y in [0.0, 0.3, 0.5, 1.0] {
                for z in [-8.0, -1.5, -0.1, 0.0, 0.7, 3.0, 9.0] {
                    let (at, above, below) = (loss.cost(z, y), loss.cost(z + step, y), loss.cost(z - step, y));
                    assert!(((above.loss - below.loss) / (2.0 * step) - at.slope).abs() < 1e-9);
                    assert!(((above.slope - below.slope) / (2.0 * step) - at.full).abs() < 1e-9);
                    assert!(at.gauss_newton >= 0.0);
                }
            }
        }
    }

    #[test]
    fn cross_entropy_matches_its_formula_and_stays_finite() {
        for step in -3600..=3600 {
            let z = f64::from(step) * 0.01 + 1e-4;
            let p = 1.0 / (1.0 + (-z).exp());
            for y in [0.0, 0.25, 0.5, 1.0] {
                // ln p = −ln (1 + e^(−z)) has full accuracy.
                let exact = y * (-z).exp().ln_1p() + (1.0 - y) * z.exp().ln_1p();
                let found = SampleLoss::CrossEntropy.cost(z, y);
                assert!((found.loss / exact - 1.0).abs() < 2e-15, "{z} {y}: {} for {exact}", found.loss);
                assert!((found.slope - (p - y)).abs() < 1e-15);
            }
        }
        let cost = |z, y| SampleLoss::CrossEntropy.cost(z, y);
        assert_eq!((cost(1e5, 0.0).loss, cost(1e5, 1.0).slope), (1e5, 0.0));
        assert!(cost(-1e5, 0.0).loss < 1e-300 && cost(-1e5, 1.0).loss == 1e5);
        assert!((cost(0.0, 0.5).loss - std::f64::consts::LN_2).abs() < 1e-16);
    }

    #[test]
    fn losses_have_their_usual_names() {
        assert_eq!(
            [SampleLoss::SquaredError, SampleLoss::CrossEntropy].map(|loss| name_of(&loss)),
            ["mse", "cross-entropy"]
        );
    }
}
