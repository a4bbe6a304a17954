//! A pass over the rows: the sums of the loss and of its gradient.

use super::Objective;
use crate::model::Model;
use crate::model::layout::{Layout, SumKind};
use crate::model::rows::{BLOCK, Block, Part, SegmentEntries};
use crate::model::tape::Work;

/// A parameter vector, arranged in the order of the rows' leaves.
pub(super) struct EvaluationPoint {
    /// Weights of the leaves by sum.
    sums: Vec<Weights>,
    /// Sum, and slot of the total, by segment.
    segments: Vec<(usize, usize)>,
    /// Value by common total.
    common: Vec<f64>,
    /// Index in the gradient of the first leaf by sum, and of the first common total.
    begins: Vec<usize>,
    row_slots: usize,
}

/// The parameters of a sum's leaves, multiplied by the units of their counts.
enum Weights {
    Pair(Vec<[f64; 2]>),
    Single(Vec<f64>),
}

impl EvaluationPoint {
    pub(super) fn new(layout: &Layout, theta: &[f64]) -> Self {
        assert_eq!(theta.len(), layout.parameters, "number of parameters");
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
        let mut begins = vec![0];
        for sum in &layout.sums {
            begins.push(begins[begins.len() - 1] + sum.kind.width() * sum.leaves.len());
        }
        EvaluationPoint {
            begins,
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

/// Returns the derivatives by the parameters, given those by the weights of the leaves and by the common totals.
pub(super) fn by_parameter(layout: &Layout, slopes: &[f64]) -> Vec<f64> {
    let mut gradient = vec![0.0; layout.parameters];
    let mut slopes = slopes.iter();
    for sum in &layout.sums {
        let numbers = sum.leaves.iter().flat_map(|leaf| (0..sum.kind.width()).map(move |half| (leaf, half)));
        for ((leaf, half), slope) in numbers.zip(slopes.by_ref()) {
            gradient[leaf.parameter + half] += slope * leaf.unit;
        }
    }
    for (parts, slope) in layout.common.iter().zip(slopes) {
        parts.iter().for_each(|&(parameter, count)| gradient[parameter] += slope * count);
    }
    gradient
}

/// Adds the gradient of every row of a block: the derivative of the loss times the derivatives of the score by its
/// leaves.
fn scatter(sums: &mut [f64], block: &Block<'_>, room: &Room, point: &EvaluationPoint, slopes: &[f64; BLOCK]) {
    let mut segments = block.segments();
    for (lane, &slope) in slopes.iter().enumerate().take(block.len()) {
        for &(sum, slot) in &point.segments {
            let SegmentEntries { leaves, counts } = segments.next().expect("as many segments in each row");
            let entries = leaves.iter().zip(counts);
            let of_sum = &mut sums[point.begins[sum]..point.begins[sum + 1]];
            match &point.sums[sum] {
                Weights::Pair(_) => {
                    let own = [slot, slot + 1].map(|slot| slope * room.work.slopes[slot][lane]);
                    let sums = of_sum.as_chunks_mut::<2>().0;
                    for (&leaf, &count) in entries {
                        let (sum, count) = (&mut sums[usize::from(leaf)], f64::from(count));
                        sum[0] += count * own[0];
                        sum[1] += count * own[1];
                    }
                }
                Weights::Single(_) => {
                    let own = slope * room.work.slopes[slot][lane];
                    entries.for_each(|(&leaf, &count)| of_sum[usize::from(leaf)] += f64::from(count) * own);
                }
            }
        }
        let common = &mut sums[point.begins[point.sums.len()]..];
        for (sum, own) in common.iter_mut().zip(&room.work.slopes[point.row_slots..]) {
            *sum += slope * own[lane];
        }
    }
}

/// Sums the loss, and the gradient if wanted, over the rows. The gradient is that by the weights of the leaves, sum
/// after sum, followed by that by the common totals.
pub(super) fn sum(objective: &Objective<'_>, point: &EvaluationPoint, with_gradient: bool) -> (f64, Vec<f64>) {
    let (model, (loss, logit)) = (objective.model, objective.measure());
    let of_part = |part: Part<'_>| {
        let (mut sum, mut gradient) = (0.0, vec![0.0; point.begins[point.sums.len()] + point.common.len()]);
        let mut room = Room::new(&model.layout, point);
        let (mut losses, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK]);
        for block in part.blocks() {
            room.evaluate(&block, model, point);
            loss.price(logit, &room.scores, block.target, &mut losses, &mut slopes);
            block.weighted().weigh(0, &mut losses);
            block.weighted().weigh(0, &mut slopes);
            sum += sum_lanes(&losses[..block.len()]);
            if with_gradient {
                model.tape.differentiate(&mut room.work);
                scatter(&mut gradient, &block, &room, point, &slopes);
            }
        }
        (sum, gradient)
    };
    let plus = |(sum, mut gradient): (f64, Vec<f64>), part: (f64, Vec<f64>)| {
        gradient.iter_mut().zip(part.1).for_each(|(sum, part)| *sum += part);
        (sum + part.0, gradient)
    };
    objective.rows.each_part(of_part).into_iter().reduce(plus).expect("rows have at least one part")
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
