//! Rows as sums that share their parts.
//!
//! Positions of one game differ by a few moves. Within a block of consecutive rows each row is therefore reached from
//! the most similar row, or from nothing, by a few *steps*: so much more of one feature. Scores follow from what is
//! known of the other row, and gradients flow back the same way: a row's share is added to that of the row it was
//! reached from, which comes last. That is exact, and takes a third of the work of rows one by one. Steps that often
//! come together, such as the two of a piece that moves, count as one.
//!
//! Steps are laid out for the speed of these two loops: a [`Node`] is another node and three steps, always, so that no
//! loop has an end that must be guessed; and nodes stand in the order of their depth, so that what a node needs was
//! not computed just before it.

mod kinds;
mod plan;

use super::PARTS;
use super::loss::SampleLoss;
use super::pass::{Point, Sums, sum_lanes};
use super::rows::Rows;
use engine::eval::taper::{PHASE_PIECES, PhaseCounts};
use kinds::{Kinds, Table, table};
use plan::{BLOCK_ROWS, Plan, ranges};
use rayon::prelude::*;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Steps of a node.
const STEPS: usize = 3;

/// Fewest blocks of a part whose sums are gathered apart: to hand them down costs as much as some blocks.
const FEWEST_BLOCKS: usize = 448;

/// Sums over neighbouring rows take turns in so many places, so that none waits for the one before.
const LANES: usize = 2;

/// Another node of the block and kinds of steps from there. Node 0 of a block, which is not stored, is an empty row.
type Node = [u16; 1 + STEPS];

/// Consecutive rows that share nodes.
struct Block {
    rows: Range<usize>,
    nodes: Range<usize>,
    /// Of its distinct piece counts.
    phases: Range<usize>,
}

/// See the module's description.
pub(super) struct Forest {
    kinds: Kinds,
    blocks: Vec<Block>,
    nodes: Vec<Node>,
    /// By row: its node in its block.
    node_of: Vec<u16>,
    /// By row: which of its block's piece counts it has.
    phase_of: Vec<u8>,
    /// Block after block, its distinct piece counts: which of `phases` they are.
    block_phases: Vec<u32>,
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
        let plans: Vec<_> = ranges(rows).into_par_iter().map(|range| Plan::new(rows, range)).collect();
        let (kinds, plans) = Kinds::of(rows.features(), plans)?;
        let (phases, phase_of) = distinct(rows.phases());
        let mut forest = Self {
            kinds,
            blocks: Vec::with_capacity(plans.len()),
            nodes: Vec::new(),
            node_of: Vec::with_capacity(rows.len()),
            phase_of: Vec::with_capacity(rows.len()),
            block_phases: Vec::new(),
            phases,
            rooms: Mutex::default(),
        };
        let mut blank = Kinds::blanks();
        for plan in plans {
            let start = forest.nodes.len();
            plan.lay_out(&mut blank, &mut forest.nodes, &mut forest.node_of);
            let (nodes, rows) = (start..forest.nodes.len(), plan.rows);
            let phases = forest.add_phases(&phase_of[rows.clone()]);
            forest.blocks.push(Block { rows, nodes, phases });
        }
        forest.nodes.shrink_to_fit();
        Some(forest)
    }

    /// Adds the piece counts of the rows of a block; where the distinct ones stand.
    fn add_phases(&mut self, phase_of: &[u32]) -> Range<usize> {
        let start = self.block_phases.len();
        for phase in phase_of {
            let found = self.block_phases[start..].iter().position(|other| other == phase);
            let place = found.unwrap_or_else(|| {
                self.block_phases.push(*phase);
                self.block_phases.len() - start - 1
            });
            self.phase_of.push(u8::try_from(place).expect("no more than rows in a block"));
        }
        start..self.block_phases.len()
    }

    /// Loss, and gradient by scores in centipawns if it is asked for, summed over all rows.
    pub(super) fn pass(&self, rows: &Rows, point: &Point<'_>, measure: (SampleLoss, f64), with_gradient: bool) -> Sums {
        let values = self.kinds.values(point.pairs);
        let fractions: Vec<f64> = self.phases.iter().map(|phase| point.taper.fraction(phase)).collect();
        let task = Task { forest: self, rows, values: &values, fractions: &fractions, measure, with_gradient };
        let part = self.blocks.len().div_ceil(PARTS).max(FEWEST_BLOCKS);
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
}

/// Where a task works. Sums are zero when nobody is in it.
struct Room {
    /// By kind: the gradient.
    sums: Box<Table>,
    /// By node of a block: the midgame and endgame score.
    scores: Box<Table>,
    /// By node of a block: the derivatives by these.
    slopes: Box<Table>,
    /// By distinct piece counts of a block: the midgame fraction.
    fractions: [f64; 1 << u8::BITS],
    /// And the derivative by it.
    by_phase: [[f64; LANES]; 1 << u8::BITS],
}

impl Room {
    fn new() -> Self {
        let (fractions, by_phase) = ([0.0; 1 << u8::BITS], [[0.0; LANES]; 1 << u8::BITS]);
        Self { sums: table(), scores: table(), slopes: table(), fractions, by_phase }
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
    /// By kind: `[mg, eg]`.
    values: &'t Table,
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
        let (features, phases) = if self.with_gradient { (self.rows.features(), self.fractions.len()) } else { (0, 0) };
        let mut outcome = Outcome { sums: Sums::new(features), by_phase: vec![0.0; phases] };
        for block in blocks {
            self.add(block, &mut room, &mut outcome);
        }
        if self.with_gradient {
            forest.kinds.hand_down(&mut room.sums, &mut outcome.sums.pairs);
        }
        forest.rooms.lock().unwrap_or_else(PoisonError::into_inner).push(room);
        outcome
    }

    fn add(&self, block: &Block, room: &mut Room, outcome: &mut Outcome) {
        let nodes = &self.forest.nodes[block.nodes.clone()];
        let node_of = &self.forest.node_of[block.rows.clone()];
        let phase_of = &self.forest.phase_of[block.rows.clone()];
        let targets = &self.rows.targets()[block.rows.clone()];
        score_nodes(nodes, self.values, &mut room.scores);

        let distinct = &self.forest.block_phases[block.phases.clone()];
        for (fraction, &phase) in room.fractions.iter_mut().zip(distinct) {
            *fraction = self.fractions[phase as usize];
        }
        let mut fractions = [0.0; BLOCK_ROWS];
        let mut spreads = [0.0; BLOCK_ROWS];
        let mut scores = [0.0; BLOCK_ROWS];
        for (i, (&node, &phase)) in node_of.iter().zip(phase_of).enumerate().take(BLOCK_ROWS) {
            let [mg, eg] = room.scores[usize::from(node)];
            fractions[i] = room.fractions[usize::from(phase)];
            spreads[i] = mg - eg;
            scores[i] = eg + fractions[i] * spreads[i];
        }
        for (row, constant) in self.rows.constants(block.rows.clone()) {
            scores[row as usize - block.rows.start] += f64::from(constant);
        }

        let (loss, logit) = self.measure;
        let (mut losses, mut slopes) = ([0.0; BLOCK_ROWS], [0.0; BLOCK_ROWS]);
        loss.price(logit, &scores, targets, &mut losses, &mut slopes);
        outcome.sums.loss += sum_lanes(&losses[..targets.len()]);

        if self.with_gradient {
            room.slopes[..=nodes.len()].fill([0.0; 2]);
            room.by_phase[..distinct.len()].fill([0.0; LANES]);
            let mut by_fraction = [0.0; BLOCK_ROWS];
            let mut by_stage = [[0.0; 2]; BLOCK_ROWS];
            for i in 0..BLOCK_ROWS {
                let by_mg = slopes[i] * fractions[i];
                by_stage[i] = [by_mg, slopes[i] - by_mg];
                by_fraction[i] = slopes[i] * spreads[i];
            }
            for (i, (&node, &phase)) in node_of.iter().zip(phase_of).enumerate().take(BLOCK_ROWS) {
                let slope = &mut room.slopes[usize::from(node)];
                slope[0] += by_stage[i][0];
                slope[1] += by_stage[i][1];
                room.by_phase[usize::from(phase)][i % LANES] += by_fraction[i];
            }
            for (sums, &phase) in room.by_phase.iter().zip(distinct) {
                outcome.by_phase[phase as usize] += sums.iter().sum::<f64>();
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
