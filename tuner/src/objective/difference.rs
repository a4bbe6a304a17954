//! Losses of given scores, and by how much they differ.

use super::{SampleLoss, loss, parts};
use crate::parallel;
use serde::Serialize;
use std::ops::Range;

/// By how much one mean loss differs from another on the same samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The second less the first.
    pub mean: f64,
    /// Standard error of that, from the differences of the groups; 0 for a single one.
    pub error: f64,
}

/// The difference of the mean losses of two sets of scores (centipawns, white's view), each under its own scale, against
/// the same targets. Neighbours of one group, such as a game, count as one when the error is worked out. The slices are
/// of one length and not empty.
pub fn loss_difference(
    loss: SampleLoss,
    (first_k, first): (f64, &[i16]),
    (second_k, second): (f64, &[i16]),
    targets: &[f32],
    groups: &[u32],
) -> Difference {
    debug_assert!([first.len(), second.len(), groups.len()].iter().all(|&length| length == targets.len()));
    let loss = |k: f64, score: i16, target: f32| {
        let logit = loss::logit_per_centipawn(k) * f64::from(score);
        loss.cost(logit, f64::from(target)).loss
    };
    let difference = |i: usize| loss(second_k, second[i], targets[i]) - loss(first_k, first[i], targets[i]);
    let count = targets.len() as f64;
    let mean = (0..targets.len()).map(difference).sum::<f64>() / count;
    let (mut place, mut runs, mut squares) = (0, 0_usize, 0.0);
    for run in groups.chunk_by(|a, b| a == b) {
        let sum: f64 = (place..place + run.len()).map(difference).sum();
        squares += (sum - run.len() as f64 * mean).powi(2);
        (place, runs) = (place + run.len(), runs + 1);
    }
    let freedom = 1.0 - 1.0 / runs as f64;
    let variance = squares / (count * count * freedom.max(f64::MIN_POSITIVE));
    Difference { mean, error: variance.sqrt() }
}

/// Mean loss of given scores (centipawns, white's view) against targets (0..=1, white's view) under the scale `k`:
/// what an engine's own integer scores are worth. The slices are of one length and not empty.
pub fn score_loss(loss: SampleLoss, k: f64, scores: &[i16], targets: &[f32]) -> f64 {
    debug_assert_eq!(scores.len(), targets.len());
    let logit = loss::logit_per_centipawn(k);
    let sum_part = |range: Range<usize>| -> f64 {
        let samples = scores[range.clone()].iter().zip(&targets[range]);
        samples.map(|(&score, &target)| loss.cost(logit * f64::from(score), f64::from(target)).loss).sum()
    };
    let sums: Vec<f64> = parallel::map(parts(scores.len()), sum_part);
    sums.iter().sum::<f64>() / scores.len() as f64
}
