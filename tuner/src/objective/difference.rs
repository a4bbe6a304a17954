//! Losses of given scores, and their differences.

use super::{SampleLoss, Score, loss, parts};
use crate::model::rows::Weighted;
use crate::parallel;
use serde::Serialize;
use std::ops::Range;

/// The difference of two mean losses on the same samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The second mean minus the first.
    pub mean: f64,
    /// Standard error of the difference, clustered by groups; 0 for a single group.
    pub error: f64,
}

/// Returns the difference of the mean losses of two sets of scores (centipawns, White's view), each at its own scale,
/// with the same targets. The standard error is clustered: adjacent samples of one group, such as a game, count as one.
/// The slices have the same length and are not empty.
pub fn loss_difference<'w, S: Score>(
    loss: SampleLoss,
    (first_k, first): (f64, &[S]),
    (second_k, second): (f64, &[S]),
    weighted: impl Into<Weighted<'w>>,
    groups: &[u32],
) -> Difference {
    let weighted = weighted.into();
    let targets = weighted.targets;
    debug_assert!([first.len(), second.len(), groups.len()].iter().all(|&length| length == targets.len()));
    let loss = |k: f64, score: S, target: f32| {
        let logit = loss::logit_per_centipawn(k) * score.into();
        loss.cost(logit, f64::from(target)).loss
    };
    let difference =
        |i: usize| weighted.weight(i) * (loss(second_k, second[i], targets[i]) - loss(first_k, first[i], targets[i]));
    let count = weighted.total(0..targets.len());
    let mean = (0..targets.len()).map(difference).sum::<f64>() / count;
    let (mut place, mut runs, mut squares) = (0, 0_usize, 0.0);
    for run in groups.chunk_by(|a, b| a == b) {
        let own = place..place + run.len();
        let sum: f64 = own.clone().map(difference).sum();
        squares += (sum - weighted.total(own) * mean).powi(2);
        (place, runs) = (place + run.len(), runs + 1);
    }
    let freedom = 1.0 - 1.0 / runs as f64;
    let variance = squares / (count * count * freedom.max(f64::MIN_POSITIVE));
    Difference { mean, error: variance.sqrt() }
}

/// Returns the mean loss of given scores (centipawns, White's view) with targets (0..=1, White's view) at the scale
/// `k`, such as that of an engine's own scores. The slices have the same length and are not empty.
pub fn score_loss<'w, S: Score>(loss: SampleLoss, k: f64, scores: &[S], weighted: impl Into<Weighted<'w>>) -> f64 {
    let weighted = weighted.into();
    debug_assert_eq!(scores.len(), weighted.targets.len());
    let logit = loss::logit_per_centipawn(k);
    let sum_part = |range: Range<usize>| -> f64 {
        let cost = |i: usize| loss.cost(logit * scores[i].into(), f64::from(weighted.targets[i])).loss;
        range.map(|i| weighted.weight(i) * cost(i)).sum()
    };
    let sums: Vec<f64> = parallel::map(parts(scores.len()), sum_part);
    sums.iter().sum::<f64>() / weighted.total(0..scores.len())
}
