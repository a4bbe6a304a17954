//! One pass over rows: scores, loss and gradient, block by block.
//!
//! A block of rows is small enough to stay in the first cache levels while it is looked at several times: once for
//! the scores, once for the costs (vector code), once to scatter the gradient.

use super::loss::SampleLoss;
use super::rows::Rows;
use crate::processes::Shared;
use engine::eval::taper::{PHASE_PIECES, SmoothTaper};
use std::ops::Range;

/// Rows in a block.
pub(super) const BLOCK: usize = 512;

/// Parameters as the kernels want them: pairs, and the taper of the phase weights.
#[derive(Clone, Copy)]
pub(super) struct Point<'t> {
    /// `[mg, eg]` of every pair feature, centipawns.
    pub(super) pairs: &'t [[f64; 2]],
    pub(super) taper: SmoothTaper,
}

impl<'t> Point<'t> {
    /// Splits a parameter vector of `2 P + 5` components.
    pub(super) fn new(theta: &'t [f64]) -> Self {
        let (pairs, weights) = theta.split_at(theta.len() - PHASE_PIECES);
        let weights = weights.try_into().expect("split off five weights");
        Self { pairs: pairs.as_chunks().0, taper: SmoothTaper::new(weights) }
    }
}

/// Scores of the rows of a block, and what they are made of.
pub(super) struct Block {
    /// Score, centipawns, white's view.
    pub(super) score: [f64; BLOCK],
    /// Midgame fraction.
    pub(super) fraction: [f64; BLOCK],
    /// Midgame minus endgame score, centipawns.
    pub(super) spread: [f64; BLOCK],
}

impl Block {
    pub(super) fn new() -> Self {
        Self { score: [0.0; BLOCK], fraction: [0.0; BLOCK], spread: [0.0; BLOCK] }
    }

    /// Scores at most [`BLOCK`] consecutive rows.
    pub(super) fn evaluate(&mut self, rows: &Rows, range: Range<usize>, point: &Point<'_>) {
        let phases = &rows.phases()[range.clone()];
        for (i, (index, count)) in rows.slices(range.clone()).iter().enumerate() {
            let (mut mg, mut eg) = (0.0, 0.0);
            for (&index, &count) in index.iter().zip(count) {
                let pair = point.pairs[usize::from(index)];
                let count = f64::from(count);
                mg += count * pair[0];
                eg += count * pair[1];
            }
            let fraction = point.taper.fraction(&phases[i]);
            self.score[i] = eg + fraction * (mg - eg);
            self.fraction[i] = fraction;
            self.spread[i] = mg - eg;
        }
        for (row, constant) in rows.constants(range.clone()) {
            self.score[row as usize - range.start] += f64::from(constant);
        }
    }
}

/// Loss and gradient, summed over rows.
#[derive(Clone)]
pub(super) struct Sums {
    pub(super) loss: f64,
    /// By `[mg, eg]` of every pair feature.
    pub(super) pairs: Vec<[f64; 2]>,
    pub(super) weights: [f64; PHASE_PIECES],
}

impl Sums {
    pub(super) fn new(features: usize) -> Self {
        Self { loss: 0.0, pairs: vec![[0.0; 2]; features], weights: [0.0; PHASE_PIECES] }
    }

    /// The sum of sums, in their order.
    pub(super) fn total(features: usize, parts: &[Sums]) -> Self {
        parts.iter().fold(Sums::new(features), |mut total, part| {
            total.add(part);
            total
        })
    }

    /// In the order of the parameters.
    pub(super) fn by_parameter(&self) -> impl Iterator<Item = &f64> {
        self.pairs.as_flattened().iter().chain(&self.weights)
    }

    /// Adds other sums.
    pub(super) fn add(&mut self, other: &Self) {
        self.loss += other.loss;
        for (sum, part) in self.pairs.as_flattened_mut().iter_mut().zip(other.pairs.as_flattened()) {
            *sum += part;
        }
        for (sum, part) in self.weights.iter_mut().zip(other.weights) {
            *sum += part;
        }
    }

    /// Adds the gradient of the rows of a block, given the derivative of each row's loss by its score.
    pub(super) fn scatter(
        &mut self,
        rows: &Rows,
        range: Range<usize>,
        point: &Point<'_>,
        block: &Block,
        slope: &[f64],
    ) {
        let phases = &rows.phases()[range.clone()];
        for (i, (index, count)) in rows.slices(range).iter().enumerate() {
            let (fraction, by_weight) = point.taper.gradient(&phases[i]);
            let (mg, eg) = (slope[i] * fraction, slope[i] * (1.0 - fraction));
            for (&index, &count) in index.iter().zip(count) {
                let sum = &mut self.pairs[usize::from(index)];
                let count = f64::from(count);
                sum[0] += count * mg;
                sum[1] += count * eg;
            }
            let spread = slope[i] * block.spread[i];
            for (sum, by_weight) in self.weights.iter_mut().zip(by_weight) {
                *sum += spread * by_weight;
            }
        }
    }
}

impl Shared for Sums {
    fn pack(&self, bytes: &mut Vec<u8>) {
        let pairs = self.pairs.as_flattened();
        [&[self.loss], &self.weights[..], pairs].concat().pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        let numbers = Vec::<f64>::unpack(bytes);
        let (head, pairs) = numbers.split_first_chunk::<{ 1 + PHASE_PIECES }>().expect("sums as they were packed");
        let weights = std::array::from_fn(|piece| head[1 + piece]);
        Self { loss: head[0], pairs: pairs.as_chunks().0.to_vec(), weights }
    }
}

/// Blocks that make up a range of rows.
pub(super) fn blocks(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(BLOCK).map(move |start| start..(start + BLOCK).min(range.end))
}

/// Sum of many numbers, in several lanes at once: faster and more accurate than one by one.
pub(super) fn sum_lanes(terms: &[f64]) -> f64 {
    let (chunks, rest) = terms.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for chunk in chunks {
        for (lane, term) in lanes.iter_mut().zip(chunk) {
            *lane += term;
        }
    }
    lanes.iter().chain(rest).sum()
}

/// Adds loss (and, if asked for, gradient by scores in centipawns) of a range of rows to `sums`.
pub(super) fn accumulate(
    sums: &mut Sums,
    rows: &Rows,
    range: Range<usize>,
    point: &Point<'_>,
    (loss, logit): (SampleLoss, f64),
    with_gradient: bool,
) {
    let mut block = Block::new();
    let (mut slope, mut losses) = ([0.0; BLOCK], [0.0; BLOCK]);
    for range in blocks(range) {
        block.evaluate(rows, range.clone(), point);
        let targets = &rows.targets()[range.clone()];
        loss.price(logit, &block.score, targets, &mut losses, &mut slope);
        sums.loss += sum_lanes(&losses[..targets.len()]);
        if with_gradient {
            sums.scatter(rows, range.clone(), point, &block, &slope);
        }
        rows.passed(range);
    }
}

/// Adds the squares of the slopes of the scores of a range of rows, by parameter, weighted with Gauss-Newton's second
/// derivative of their loss by the score.
pub(super) fn accumulate_diagonal(
    sums: &mut Sums,
    rows: &Rows,
    range: Range<usize>,
    point: &Point<'_>,
    (loss, logit): (SampleLoss, f64),
) {
    let mut block = Block::new();
    for range in blocks(range) {
        block.evaluate(rows, range.clone(), point);
        let targets = &rows.targets()[range.clone()];
        let phases = &rows.phases()[range.clone()];
        for (i, (index, count)) in rows.slices(range.clone()).iter().enumerate() {
            let second = loss.cost(logit * block.score[i], f64::from(targets[i])).gauss_newton * logit * logit;
            let (fraction, by_weight) = point.taper.gradient(&phases[i]);
            let (mg, eg) = (second * fraction * fraction, second * (1.0 - fraction) * (1.0 - fraction));
            for (&index, &count) in index.iter().zip(count) {
                let sum = &mut sums.pairs[usize::from(index)];
                let square = f64::from(count) * f64::from(count);
                sum[0] += square * mg;
                sum[1] += square * eg;
            }
            for (sum, by_weight) in sums.weights.iter_mut().zip(by_weight) {
                *sum += second * (block.spread[i] * by_weight).powi(2);
            }
        }
        rows.passed(range);
    }
}
