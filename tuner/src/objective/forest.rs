//! Rows as sums that share their parts.
//!
//! Positions of one game differ by a few moves. Within a block of consecutive rows each row is therefore reached from
//! the most similar row, or from nothing, by a few *steps*: so much more of one feature. Scores follow from what is
//! known of the other row, and gradients flow back the same way: a row's share is added to that of the row it was
//! reached from, which comes last. That is exact, and takes a third of the work of rows one by one.
//!
//! Steps are laid out for the speed of these two loops: a [`Node`] is another node and three steps, always, so that no
//! loop has an end that must be guessed; and nodes stand in the order of their depth, so that what a node needs was
//! not computed just before it.

use super::PARTS;
use super::loss::SampleLoss;
use super::pass::{Point, Sums, sum_lanes};
use super::rows::Rows;
use engine::eval::taper::{PHASE_PIECES, PhaseCounts};
use rayon::prelude::*;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Most rows in a block.
const BLOCK_ROWS: usize = 128;

/// Steps of a node.
const STEPS: usize = 3;

/// Most nodes that the rows of a block may need, unless it is a single row; with these any can be named in 16 bits.
const BLOCK_NODES: usize = 32_768;

/// Steps that change nothing and fill up nodes: several, so that not all wait for the sum of one.
const BLANKS: usize = 8;

/// Most kinds of steps, as many as 16 bits can name.
const KINDS: usize = 1 << 16;

/// By how much more or less one row may have of a feature than another.
const LARGEST_CHANGE: i32 = 255;

/// Another node of the block and kinds of steps from there. Node 0 of a block, which is not stored, is an empty row.
type Node = [u16; 1 + STEPS];

/// A kind of step: the feature and how much more of it.
type Step = (u16, i16);

/// Consecutive rows that share nodes.
struct Block {
    rows: Range<usize>,
    nodes: Range<usize>,
}

/// See the module's description.
pub(super) struct Forest {
    /// By kind of step, blanks first.
    steps: Vec<Step>,
    blocks: Vec<Block>,
    nodes: Vec<Node>,
    /// By row: its node in its block.
    node_of: Vec<u16>,
    /// By row: which of `phases` it has.
    phase_of: Vec<u32>,
    /// The piece counts there are.
    phases: Vec<PhaseCounts>,
    /// Rooms to work in that nobody uses now.
    rooms: Mutex<Vec<Room>>,
}

impl fmt::Debug for Forest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forest").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}

impl Forest {
    /// The forest of rows; none if they have more kinds of steps than can be told apart.
    pub(super) fn new(rows: &Rows) -> Option<Self> {
        let plans: Vec<Plan> = ranges(rows).into_par_iter().map(|range| Plan::new(rows, range)).collect();
        let (steps, kind_of) = kinds(rows.features(), &plans)?;
        let (phases, phase_of) = distinct(rows.phases());
        let mut forest = Self {
            steps,
            blocks: Vec::with_capacity(plans.len()),
            nodes: Vec::with_capacity(plans.iter().map(|plan| plan.parents.len()).sum()),
            node_of: Vec::with_capacity(rows.len()),
            phase_of,
            phases,
            rooms: Mutex::default(),
        };
        let mut blank = 0;
        for plan in plans {
            let start = forest.nodes.len();
            for (&parent, steps) in plan.parents.iter().zip(&plan.steps) {
                let mut node = [parent; 1 + STEPS];
                for (kind, step) in node[1..].iter_mut().zip(steps) {
                    *kind = match *step {
                        (_, 0) => {
                            blank = (blank + 1) % BLANKS as u16;
                            blank
                        }
                        step => kind_of[place(step)],
                    };
                }
                forest.nodes.push(node);
            }
            forest.node_of.extend(plan.node_of);
            forest.blocks.push(Block { rows: plan.rows, nodes: start..forest.nodes.len() });
        }
        Some(forest)
    }

    /// Loss, and gradient by scores in centipawns if it is asked for, summed over all rows.
    pub(super) fn pass(&self, rows: &Rows, point: &Point<'_>, measure: (SampleLoss, f64), with_gradient: bool) -> Sums {
        let values = self.values(point);
        let fractions: Vec<f64> = self.phases.iter().map(|phase| point.taper.fraction(phase)).collect();
        let task = Task { forest: self, rows, values: &values, fractions: &fractions, measure, with_gradient };
        let part = self.blocks.len().div_ceil(PARTS).max(1);
        let outcomes: Vec<Outcome> = self.blocks.par_chunks(part).map(|blocks| task.run(blocks)).collect();
        let features = if with_gradient { rows.features() } else { 0 };
        let mut total = Sums::new(features);
        let mut by_phase = vec![0.0; if with_gradient { self.phases.len() } else { 0 }];
        for outcome in &outcomes {
            total.add(&outcome.sums);
            by_phase.iter_mut().zip(&outcome.by_phase).for_each(|(sum, part)| *sum += part);
        }
        for (phase, spread) in self.phases.iter().zip(by_phase) {
            let (_, by_weight) = point.taper.gradient(phase);
            for (sum, by_weight) in total.weights.iter_mut().zip(by_weight) {
                *sum += spread * by_weight;
            }
        }
        total
    }

    /// `[mg, eg]` of every kind of step.
    fn values(&self, point: &Point<'_>) -> Vec<[f64; 2]> {
        let value = |&(feature, change): &Step| {
            if change == 0 {
                return [0.0; 2];
            }
            point.pairs[usize::from(feature)].map(|value| f64::from(change) * value)
        };
        self.steps.iter().map(value).collect()
    }
}

/// A pair of sums by 16-bit number, with which no index can be out of range.
type Table = [[f64; 2]; KINDS];

fn table() -> Box<Table> {
    vec![[0.0; 2]; KINDS].try_into().expect("a table of that length")
}

/// Where a task works. Sums are zero when nobody is in it.
struct Room {
    /// By kind of step: `[mg, eg]`.
    values: Box<Table>,
    /// By kind of step: the gradient.
    sums: Box<Table>,
    /// By node of a block: the midgame and endgame score.
    scores: Box<Table>,
    /// By node of a block: the derivatives by these.
    slopes: Box<Table>,
}

impl Room {
    fn new() -> Self {
        Self { values: table(), sums: table(), scores: table(), slopes: table() }
    }
}

/// What a task has found.
struct Outcome {
    sums: Sums,
    /// By distinct piece counts: the derivative by the midgame fraction.
    by_phase: Vec<f64>,
}

/// What tasks share.
#[derive(Clone, Copy)]
struct Task<'t> {
    forest: &'t Forest,
    rows: &'t Rows,
    values: &'t [[f64; 2]],
    fractions: &'t [f64],
    measure: (SampleLoss, f64),
    with_gradient: bool,
}

impl Task<'_> {
    /// Sums over some blocks.
    fn run(&self, blocks: &[Block]) -> Outcome {
        let forest = self.forest;
        let free = forest.rooms.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut room = free.unwrap_or_else(Room::new);
        room.values[..self.values.len()].copy_from_slice(self.values);
        let (features, phases) = if self.with_gradient { (self.rows.features(), self.fractions.len()) } else { (0, 0) };
        let mut outcome = Outcome { sums: Sums::new(features), by_phase: vec![0.0; phases] };
        for block in blocks {
            self.add(block, &mut room, &mut outcome);
        }
        if self.with_gradient {
            for (&(feature, change), sum) in forest.steps.iter().zip(room.sums.iter_mut()) {
                let [mg, eg] = std::mem::take(sum);
                if change != 0 {
                    let sum = &mut outcome.sums.pairs[usize::from(feature)];
                    sum[0] += f64::from(change) * mg;
                    sum[1] += f64::from(change) * eg;
                }
            }
        }
        forest.rooms.lock().unwrap_or_else(PoisonError::into_inner).push(room);
        outcome
    }

    fn add(&self, block: &Block, room: &mut Room, outcome: &mut Outcome) {
        let nodes = &self.forest.nodes[block.nodes.clone()];
        let node_of = &self.forest.node_of[block.rows.clone()];
        let phase_of = &self.forest.phase_of[block.rows.clone()];
        let targets = &self.rows.targets()[block.rows.clone()];
        score_nodes(nodes, &room.values, &mut room.scores);

        let mut fractions = [0.0; BLOCK_ROWS];
        let mut spreads = [0.0; BLOCK_ROWS];
        let mut scores = [0.0; BLOCK_ROWS];
        for (i, (&node, &phase)) in node_of.iter().zip(phase_of).enumerate().take(BLOCK_ROWS) {
            let [mg, eg] = room.scores[usize::from(node)];
            fractions[i] = self.fractions[phase as usize];
            spreads[i] = mg - eg;
            scores[i] = eg + fractions[i] * spreads[i];
        }
        for (row, constant) in self.rows.constants(block.rows.clone()) {
            scores[row as usize - block.rows.start] += f64::from(constant);
        }

        let (loss, logit) = self.measure;
        let (mut losses, mut slopes) = ([0.0; BLOCK_ROWS], [0.0; BLOCK_ROWS]);
        loss.each(logit, &scores, targets, |i, _, cost| (losses[i], slopes[i]) = (cost.loss, logit * cost.slope));
        outcome.sums.loss += sum_lanes(&losses[..targets.len()]);

        if self.with_gradient {
            room.slopes[..=nodes.len()].fill([0.0; 2]);
            for (i, (&node, &phase)) in node_of.iter().zip(phase_of).enumerate().take(BLOCK_ROWS) {
                let by_mg = slopes[i] * fractions[i];
                let slope = &mut room.slopes[usize::from(node)];
                slope[0] += by_mg;
                slope[1] += slopes[i] - by_mg;
                outcome.by_phase[phase as usize] += slopes[i] * spreads[i];
            }
            gather_slopes(nodes, &mut room.slopes, &mut room.sums);
        }
    }
}

/// Scores every node of a block: that of its parent, and its steps.
fn score_nodes(nodes: &[Node], values: &Table, scores: &mut Table) {
    scores[0] = [0.0; 2];
    for (i, node) in nodes.iter().enumerate() {
        let [parent, a, b, c] = node.map(usize::from);
        let (parent, a, b, c) = (scores[parent], values[a], values[b], values[c]);
        scores[usize::from(i as u16 + 1)] = [parent[0] + ((a[0] + b[0]) + c[0]), parent[1] + ((a[1] + b[1]) + c[1])];
    }
}

/// Hands the slope of every node of a block, last first, to its parent and its steps.
fn gather_slopes(nodes: &[Node], slopes: &mut Table, sums: &mut Table) {
    for (i, node) in nodes.iter().enumerate().rev() {
        let [mg, eg] = slopes[usize::from(i as u16 + 1)];
        let [parent, a, b, c] = node.map(usize::from);
        slopes[parent][0] += mg;
        slopes[parent][1] += eg;
        for step in [a, b, c] {
            sums[step][0] += mg;
            sums[step][1] += eg;
        }
    }
}

/// Divides rows into blocks, by their lengths alone.
fn ranges(rows: &Rows) -> Vec<Range<usize>> {
    let mut ranges = Vec::with_capacity(rows.len() / BLOCK_ROWS + 1);
    let (mut start, mut nodes) = (0, 0);
    for row in 0..rows.len() {
        let own = rows.row(row).0.len().div_ceil(STEPS);
        if row - start == BLOCK_ROWS || (row > start && nodes + own > BLOCK_NODES) {
            ranges.push(start..row);
            (start, nodes) = (row, 0);
        }
        nodes += own;
    }
    if start < rows.len() {
        ranges.push(start..rows.len());
    }
    ranges
}

/// The nodes of a block before steps have numbers.
struct Plan {
    rows: Range<usize>,
    /// By node, from 1: its parent.
    parents: Vec<u16>,
    /// By node, from 1: its steps; those of no change are blank.
    steps: Vec<[Step; STEPS]>,
    /// By row: its node.
    node_of: Vec<u16>,
}

impl Plan {
    fn new(rows: &Rows, range: Range<usize>) -> Self {
        let near = nearest(rows, range.clone());
        let mut nodes: Vec<(usize, [Step; STEPS])> = Vec::with_capacity(3 * range.len());
        let mut depths = vec![0_u16];
        let mut node_of = vec![0; range.len()];
        let mut steps = Vec::new();
        for (row, parent) in near {
            let (own, own_counts) = rows.row(range.start + row);
            steps.clear();
            let mut node = 0;
            if let Some(parent) = parent {
                let (other, other_counts) = rows.row(range.start + parent);
                difference((own, own_counts), (other, other_counts), &mut steps);
                node = node_of[parent];
            }
            if parent.is_none() || steps.len() >= own.len() {
                (node, steps) = (0, own.iter().zip(own_counts).map(|(&f, &count)| (f, i16::from(count))).collect());
            }
            for chunk in steps.chunks(STEPS) {
                let mut filled = [(0, 0); STEPS];
                filled[..chunk.len()].copy_from_slice(chunk);
                nodes.push((node, filled));
                depths.push(depths[node] + 1);
                node = nodes.len();
            }
            node_of[row] = node;
        }
        Self::by_depth(range, &nodes, &depths, &node_of)
    }

    /// Puts nodes into the order of their depth.
    fn by_depth(rows: Range<usize>, nodes: &[(usize, [Step; STEPS])], depths: &[u16], node_of: &[usize]) -> Self {
        let mut order: Vec<usize> = (0..depths.len()).collect();
        order.sort_by_key(|&node| depths[node]);
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &node)| number[node] = place as u16);
        Plan {
            rows,
            parents: order[1..].iter().map(|&node| number[nodes[node - 1].0]).collect(),
            steps: order[1..].iter().map(|&node| nodes[node - 1].1).collect(),
            node_of: node_of.iter().map(|&node| number[node]).collect(),
        }
    }
}

/// A set of bits that stands for a row: similar for similar rows.
type Print = [u64; 4];

fn print(rows: &Rows, row: usize) -> Print {
    let (index, count) = rows.row(row);
    let mut print = [0; 4];
    for (&index, &count) in index.iter().zip(count) {
        let entry = u64::from(index) << 8 | u64::from(count as u8);
        let bit = entry.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56;
        print[(bit >> 6) as usize] |= 1 << (bit & 63);
    }
    print
}

fn distance(a: &Print, b: &Print) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// A row that is not in the tree yet.
#[derive(Clone, Copy)]
struct Waiting {
    print: Print,
    row: u32,
    /// The least distance to a row of the tree.
    distance: u32,
    /// That row; none for the empty one.
    parent: Option<u32>,
}

/// The rows of a block, counted from its first, in an order in which each comes after that it is nearest to among
/// those before, named with it: a least spanning tree of the empty row and all others.
/// See <https://en.wikipedia.org/wiki/Prim%27s_algorithm>.
fn nearest(rows: &Rows, range: Range<usize>) -> Vec<(usize, Option<usize>)> {
    let mut waiting: Vec<Waiting> = (0..range.len())
        .map(|row| {
            let print = print(rows, range.start + row);
            Waiting { print, row: row as u32, distance: distance(&print, &[0; 4]), parent: None }
        })
        .collect();
    let key = |waiting: &Waiting| u64::from(waiting.distance) << 32 | u64::from(waiting.row);
    let mut order = Vec::with_capacity(waiting.len());
    let mut next = (0..waiting.len()).min_by_key(|&place| key(&waiting[place]));
    while let Some(place) = next {
        let added = waiting.swap_remove(place);
        order.push((added.row as usize, added.parent.map(|parent| parent as usize)));
        // The one to be added next is found on the way.
        let mut least = u64::MAX;
        next = None;
        for (place, other) in waiting.iter_mut().enumerate() {
            let found = distance(&added.print, &other.print);
            if found < other.distance {
                (other.distance, other.parent) = (found, Some(added.row));
            }
            if key(other) < least {
                (least, next) = (key(other), Some(place));
            }
        }
    }
    order
}

/// Steps from another row to a row; entries are sorted by feature.
fn difference(own: (&[u16], &[i8]), other: (&[u16], &[i8]), steps: &mut Vec<Step>) {
    let mut own = own.0.iter().zip(own.1).map(|(&f, &count)| (f, i16::from(count))).peekable();
    let mut other = other.0.iter().zip(other.1).map(|(&f, &count)| (f, i16::from(count))).peekable();
    loop {
        match (own.peek().copied(), other.peek().copied()) {
            (Some((mine, count)), Some((theirs, less))) if mine == theirs => {
                if count != less {
                    steps.push((mine, count - less));
                }
                own.next();
                other.next();
            }
            (Some((mine, count)), theirs) if theirs.is_none_or(|(theirs, _)| mine < theirs) => {
                steps.push((mine, count));
                own.next();
            }
            (_, Some((theirs, less))) => {
                steps.push((theirs, -less));
                other.next();
            }
            (_, None) => break,
        }
    }
}

/// Where a step stands in a table of all steps of a number of features.
fn place((feature, change): Step) -> usize {
    usize::from(feature) * (2 * LARGEST_CHANGE + 1) as usize + (i32::from(change) + LARGEST_CHANGE) as usize
}

/// Numbers for all kinds of steps, the most frequent first after the blanks; and by [`place`] the number of each.
fn kinds(features: usize, plans: &[Plan]) -> Option<(Vec<Step>, Vec<u16>)> {
    let mut counts = vec![0_u32; features * (2 * LARGEST_CHANGE + 1) as usize];
    let mut seen: Vec<Step> = Vec::new();
    for &step in plans.iter().flat_map(|plan| plan.steps.as_flattened()).filter(|step| step.1 != 0) {
        let count = &mut counts[place(step)];
        if *count == 0 {
            seen.push(step);
        }
        *count += 1;
    }
    if seen.len() + BLANKS > KINDS {
        return None;
    }
    seen.sort_by_key(|&step| (std::cmp::Reverse(counts[place(step)]), step));
    let mut kind_of = vec![0; counts.len()];
    for (number, &step) in seen.iter().enumerate() {
        kind_of[place(step)] = (BLANKS + number) as u16;
    }
    let mut steps = vec![(0, 0); BLANKS];
    steps.extend(seen);
    Some((steps, kind_of))
}

/// The different piece counts in the order in which they come first, and for each row which it has.
fn distinct(phases: &[PhaseCounts]) -> (Vec<PhaseCounts>, Vec<u32>) {
    let mut numbers: HashMap<[u8; PHASE_PIECES], u32> = HashMap::new();
    let mut all = Vec::new();
    let number = |phase: &PhaseCounts| {
        *numbers.entry(*phase).or_insert_with(|| {
            all.push(*phase);
            all.len() as u32 - 1
        })
    };
    let phase_of = phases.iter().map(number).collect();
    (all, phase_of)
}
