//! A pass over the rows: the sums of the loss and of its gradient.

use super::Objective;
use crate::model::Model;
use crate::model::layout::{Layout, SumKind};
use crate::model::rows::{BLOCK, Block, Part, SegmentEntries};
use crate::model::tape::Work;
use serde::{Deserialize, Serialize};

/// A parameter vector, arranged in the order of the rows' leaves.
pub(super) struct EvaluationPoint {
    /// Weights of the leaves by sum.
    sums: Vec<Weights>,
    /// Sum, and slot of the total, by segment.
    segments: Vec<(usize, usize)>,
    /// Value by common total.
    common: Vec<f64>,
    row_slots: usize,
}

/// The parameters of a sum's leaves, multiplied by the units of their counts.
enum Weights {
    Pair(Vec<[f64; 2]>),
    Single(Vec<f64>),
}

impl EvaluationPoint {
    pub(super) fn new(layout: &Layout, theta: &[f64]) -> Self {
        let weights = |sum: &crate::model::layout::Sum| match sum.kind {
            SumKind::Pair => {
                let pair = |leaf: &crate::model::layout::Leaf| {
                    [theta[leaf.parameter] * leaf.unit, theta[leaf.parameter + 1] * leaf.unit]
                };
                Weights::Pair(sum.leaves.iter().map(pair).collect())
            }
            SumKind::Single => {
                Weights::Single(sum.leaves.iter().map(|leaf| theta[leaf.parameter] * leaf.unit).collect())
            }
        };
        let total = |parts: &Vec<(usize, f64)>| parts.iter().map(|&(parameter, count)| theta[parameter] * count).sum();
        EvaluationPoint {
            sums: layout.sums.iter().map(weights).collect(),
            segments: layout.segments.iter().map(|segment| (segment.sum, segment.slot)).collect(),
            common: layout.common.iter().map(total).collect(),
            row_slots: layout.row_slots(),
        }
    }
}

/// The buffers for the scores of a block.
pub(super) struct Room {
    pub(super) work: Work,
    pub(super) scores: [f64; BLOCK],
}

impl Room {
    pub(super) fn new(layout: &Layout, point: &EvaluationPoint) -> Self {
        let mut work = Work::new(layout.slots(), layout.facts.len());
        for (total, &value) in work.totals[point.row_slots..].iter_mut().zip(&point.common) {
            total.fill(value);
        }
        Room { work, scores: [0.0; BLOCK] }
    }

    /// Scores the rows of a block. Lanes beyond the last row are undefined.
    pub(super) fn evaluate(&mut self, block: &Block<'_>, model: &Model, point: &EvaluationPoint) {
        self.add_up(block, point);
        self.scores = *model.tape.scores(&mut self.work);
    }

    /// Computes the totals and facts of the rows of a block.
    pub(super) fn add_up(&mut self, block: &Block<'_>, point: &EvaluationPoint) {
        let mut segments = block.segments();
        for lane in 0..block.len() {
            for &(sum, slot) in &point.segments {
                let segment = segments.next().expect("as many segments in each row");
                match &point.sums[sum] {
                    Weights::Pair(weights) => {
                        let [mg, eg] = pair_total(&segment, weights);
                        self.work.totals[slot][lane] = mg;
                        self.work.totals[slot + 1][lane] = eg;
                    }
                    Weights::Single(weights) => self.work.totals[slot][lane] = single_total(&segment, weights),
                }
            }
        }
        for (lane, facts) in block.facts().enumerate() {
            for (column, &fact) in self.work.facts.iter_mut().zip(facts) {
                column[lane] = f64::from(fact);
            }
        }
    }
}

/// Returns the midgame and endgame totals of a segment, summed in four independent chains.
#[inline(always)]
fn pair_total(segment: &SegmentEntries<'_>, weights: &[[f64; 2]]) -> [f64; 2] {
    let mut sums = [[0.0; 2]; 4];
    let (leaves, rest) = segment.leaves.as_chunks::<4>();
    let (counts, rest_counts) = segment.counts.as_chunks::<4>();
    for (leaves, counts) in leaves.iter().zip(counts) {
        for (sum, (&leaf, &count)) in sums.iter_mut().zip(leaves.iter().zip(counts)) {
            let (weight, count) = (weights[usize::from(leaf)], f64::from(count));
            sum[0] += count * weight[0];
            sum[1] += count * weight[1];
        }
    }
    for (sum, (&leaf, &count)) in sums.iter_mut().zip(rest.iter().zip(rest_counts)) {
        let (weight, count) = (weights[usize::from(leaf)], f64::from(count));
        sum[0] += count * weight[0];
        sum[1] += count * weight[1];
    }
    [0, 1].map(|half| (sums[0][half] + sums[1][half]) + (sums[2][half] + sums[3][half]))
}

#[inline(always)]
fn single_total(segment: &SegmentEntries<'_>, weights: &[f64]) -> f64 {
    let products = segment.leaves.iter().zip(segment.counts);
    products.map(|(&leaf, &count)| f64::from(count) * weights[usize::from(leaf)]).sum()
}

/// The sums of the loss and its derivatives over a part of the rows.
#[derive(Serialize, Deserialize)]
pub(super) struct PassSums {
    pub(super) loss: f64,
    /// Derivatives by the weights of the leaves, by sum.
    slopes: Vec<Vec<f64>>,
    /// Derivative by common total.
    common: Vec<f64>,
}

impl PassSums {
    fn new(layout: &Layout) -> Self {
        let slopes = layout.sums.iter().map(|sum| vec![0.0; sum.kind.width() * sum.leaves.len()]).collect();
        PassSums { loss: 0.0, slopes, common: vec![0.0; layout.common.len()] }
    }

    pub(super) fn total(parts: Vec<PassSums>) -> PassSums {
        let add = |sum: &mut [f64], part: &[f64]| sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        let plus = |mut sum: PassSums, part: PassSums| {
            sum.loss += part.loss;
            sum.slopes.iter_mut().zip(&part.slopes).for_each(|(sum, part)| add(sum, part));
            add(&mut sum.common, &part.common);
            sum
        };
        parts.into_iter().reduce(plus).expect("rows have at least one part")
    }

    /// Returns the derivatives by the parameters.
    pub(super) fn by_parameter(&self, layout: &Layout) -> Vec<f64> {
        let mut gradient = vec![0.0; layout.parameters];
        for (sum, slopes) in layout.sums.iter().zip(&self.slopes) {
            let width = sum.kind.width();
            for (leaf, slopes) in sum.leaves.iter().zip(slopes.chunks(width)) {
                for (half, slope) in slopes.iter().enumerate() {
                    gradient[leaf.parameter + half] += slope * leaf.unit;
                }
            }
        }
        for (parts, slope) in layout.common.iter().zip(&self.common) {
            parts.iter().for_each(|&(parameter, count)| gradient[parameter] += slope * count);
        }
        gradient
    }

    /// Adds the gradient of every row of a block: the derivative of the loss times the derivatives of the score by its
    /// leaves.
    fn scatter(&mut self, block: &Block<'_>, room: &Room, point: &EvaluationPoint, slopes: &[f64; BLOCK]) {
        let mut segments = block.segments();
        for (lane, &slope) in slopes.iter().enumerate().take(block.len()) {
            for &(sum, slot) in &point.segments {
                let SegmentEntries { leaves, counts } = segments.next().expect("as many segments in each row");
                let entries = leaves.iter().zip(counts);
                match &point.sums[sum] {
                    Weights::Pair(_) => {
                        let own = [slot, slot + 1].map(|slot| slope * room.work.slopes[slot][lane]);
                        let sums = self.slopes[sum].as_chunks_mut::<2>().0;
                        for (&leaf, &count) in entries {
                            let (sum, count) = (&mut sums[usize::from(leaf)], f64::from(count));
                            sum[0] += count * own[0];
                            sum[1] += count * own[1];
                        }
                    }
                    Weights::Single(_) => {
                        let own = slope * room.work.slopes[slot][lane];
                        entries.for_each(|(&leaf, &count)| {
                            self.slopes[sum][usize::from(leaf)] += f64::from(count) * own;
                        });
                    }
                }
            }
            for (sum, own) in self.common.iter_mut().zip(&room.work.slopes[point.row_slots..]) {
                *sum += slope * own[lane];
            }
        }
    }
}

/// Sums the loss, and the gradient if wanted, over the rows of a part.
pub(super) fn sum(objective: &Objective<'_>, part: Part<'_>, point: &EvaluationPoint, with_gradient: bool) -> PassSums {
    let (loss, logit) = objective.measure();
    let model = objective.model;
    let mut sums = PassSums::new(&model.layout);
    let mut room = Room::new(&model.layout, point);
    let (mut losses, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK]);
    for block in part.blocks() {
        room.evaluate(&block, model, point);
        loss.price(logit, &room.scores, block.target, &mut losses, &mut slopes);
        block.weighted().weigh(0, &mut losses);
        block.weighted().weigh(0, &mut slopes);
        sums.loss += sum_lanes(&losses[..block.len()]);
        if with_gradient {
            model.tape.differentiate(&mut room.work);
            sums.scatter(&block, &room, point, &slopes);
        }
    }
    sums
}

/// Calls `see` with the lane and the segments of every row of a block.
pub(crate) fn each_row<'r>(block: &Block<'r>, layout: &Layout, mut see: impl FnMut(usize, &[SegmentEntries<'r>])) {
    let mut all = block.segments();
    let mut segments = Vec::with_capacity(layout.segments.len());
    for lane in 0..block.len() {
        segments.clear();
        segments.extend(all.by_ref().take(layout.segments.len()));
        see(lane, &segments);
    }
}

/// Calls `take` with every number that a row's score depends on, the slot of a total, and the number's count there.
#[inline(always)]
pub(crate) fn each_count(layout: &Layout, segments: &[SegmentEntries<'_>], mut take: impl FnMut(usize, usize, f64)) {
    for (number, SegmentEntries { leaves, counts }) in segments.iter().enumerate() {
        let (slots, of) = (layout.slots_of(number), layout.leaves(number));
        for (&leaf, &count) in leaves.iter().zip(*counts) {
            let leaf = of[usize::from(leaf)];
            let count = f64::from(count) * leaf.unit;
            slots.clone().enumerate().for_each(|(half, slot)| take(leaf.parameter + half, slot, count));
        }
    }
    for (slot, parts) in (layout.row_slots()..).zip(&layout.common) {
        parts.iter().for_each(|&(parameter, count)| take(parameter, slot, count));
    }
}

/// Returns the sum of numbers, summed in eight independent chains.
pub(super) fn sum_lanes(numbers: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (chunks, rest) = numbers.as_chunks::<8>();
    for chunk in chunks {
        lanes.iter_mut().zip(chunk).for_each(|(lane, number)| *lane += number);
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, number)| *lane += number);
    lanes.iter().sum()
}
