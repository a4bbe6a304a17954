//! Second derivatives of the loss, or what stands in for them, added up over rows.

use super::SampleLoss;
use super::loss::Cost;
use super::pass::{Point, Room};
use super::products::{Cell, Columns, Piece, Products};
use crate::linear::{Matrix, SymmetricMatrix};
use crate::model::Model;
use crate::model::layout::Layout;
use crate::model::rows::{BLOCK, Block, Rows, Segment};
use crate::model::tape::Lanes;
use rayon::prelude::*;
use std::ops::Range;

/// Entries of rows that are prepared by one thread, about, and how many such pieces are multiplied at once: together they
/// stay in the last cache. Threads wait for one another after as many.
const PIECE: usize = 1 << 13;
const PIECES: usize = 32;

/// Groups whose gradients are multiplied at once.
const GROUPS: usize = 256;

/// What is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HessianKind {
    /// The Gauss-Newton matrix: never negative in any direction.
    GaussNewton,
    /// Second derivatives.
    Full,
    /// Outer products of the rows' gradients.
    Outer,
}

impl HessianKind {
    /// What the outer product of a score's derivatives counts.
    fn weight(self, cost: &Cost) -> f64 {
        match self {
            HessianKind::GaussNewton => cost.gauss_newton,
            HessianKind::Full => cost.full,
            HessianKind::Outer => cost.slope * cost.slope,
        }
    }
}

/// Rows, their model, where it stands and how scores are measured.
pub(super) struct Scored<'s> {
    pub(super) rows: &'s Rows,
    pub(super) model: &'s Model,
    pub(super) point: &'s Point,
    pub(super) loss: SampleLoss,
    pub(super) logit: f64,
}

impl Scored<'_> {
    fn cost(&self, room: &Room, block: &Block<'_>, lane: usize) -> Cost {
        self.loss.cost(self.logit * room.scores[lane], f64::from(block.target[lane]))
    }

    /// Means over every `stride`-th row.
    pub(super) fn hessian(&self, kind: HessianKind, stride: usize) -> SymmetricMatrix {
        let columns = Columns::new(&self.model.layout);
        let blocks = self.rows.block_count();
        let step = (PIECE * stride * blocks / self.rows.entries().max(1)).max(1);
        let mut products = Products::new(&columns);
        let mut pieces: Vec<Piece<'_>> = (0..PIECES.min(blocks.div_ceil(step))).map(|_| Piece::new(&columns)).collect();
        for first in (0..blocks).step_by(step * PIECES) {
            let firsts: Vec<usize> = (first..blocks).step_by(step).take(PIECES).collect();
            pieces.par_iter_mut().zip(&firsts).for_each(|(piece, &first)| {
                self.fill(piece, &columns, first..(first + step).min(blocks), kind, stride);
            });
            products.add(&pieces[..firsts.len()]);
        }
        products.finish(1.0 / self.rows.len().div_ceil(stride) as f64)
    }

    /// Fills a piece with every `stride`-th row of some blocks.
    fn fill(
        &self,
        piece: &mut Piece<'_>,
        columns: &Columns<'_>,
        blocks: Range<usize>,
        kind: HessianKind,
        stride: usize,
    ) {
        let Scored { rows, model, logit, .. } = *self;
        let totals: Vec<[Option<usize>; 2]> = (0..columns.totals()).map(|total| columns.slots(total)).collect();
        let mut room = Room::new(&model.layout, self.point);
        let mut seconds: Vec<Vec<Lanes>> = Vec::new();
        piece.clear();
        for block in rows.blocks(blocks.clone()) {
            room.evaluate(&block, model, self.point);
            model.tape.differentiate(&mut room.work);
            if kind == HessianKind::Full {
                seconds.resize(model.layout.slots(), vec![[0.0; BLOCK]; model.layout.slots()]);
                for (slot, seconds) in seconds.iter_mut().enumerate() {
                    model.tape.second(slot, &mut room.work, seconds);
                }
            }
            each_row(&block, &model.layout, |lane, segments| {
                if (block.first + lane) % stride != 0 {
                    return;
                }
                let cost = self.cost(&room, &block, lane);
                let (weight, slope) = (logit * logit * kind.weight(&cost), logit * cost.slope);
                let of_slot = |slot: Option<usize>| slot.map_or(0.0, |slot| room.work.slopes[slot][lane]);
                let entry = |slot: Option<usize>, other: Option<usize>| {
                    let second = match (slot, other) {
                        (Some(slot), Some(other)) if kind == HessianKind::Full => seconds[slot][other][lane],
                        _ => 0.0,
                    };
                    weight * of_slot(slot) * of_slot(other) + slope * second
                };
                piece.push(segments, |total, other| -> Cell {
                    let ([a, b], [c, d]) = (totals[total], totals[other]);
                    Cell([entry(a, c), entry(a, d), entry(b, c), entry(b, d)])
                });
            });
        }
        piece.sort();
        rows.release(blocks);
    }

    /// The diagonal of the Gauss-Newton matrix, added up over blocks of rows.
    pub(super) fn diagonal(&self, blocks: Range<usize>) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.model.layout.parameters()];
        self.each_gradient(blocks, |_, cost, gradient| {
            let weight = self.logit * self.logit * cost.gauss_newton;
            gradient.each(|parameter, number| diagonal[parameter] += weight * number * number);
        });
        diagonal
    }

    /// The mean, over the rows, of outer products of the gradients of groups of rows; and the number of groups.
    pub(super) fn outer_by_group(&self, groups: &[u32]) -> (SymmetricMatrix, usize) {
        assert_eq!(groups.len(), self.rows.len(), "a group a row");
        let size = self.model.layout.parameters();
        let mut total = Matrix::zeros(size, size);
        let mut batch = Batch { gradients: Matrix::zeros(size, GROUPS), filled: 0, group: None };
        let mut count = 0;
        self.each_gradient(0..self.rows.block_count(), |row, cost, gradient| {
            if batch.group != Some(groups[row]) {
                batch.next(groups[row], &mut total);
                count += 1;
            }
            let slope = self.logit * cost.slope;
            gradient.each(|parameter, number| batch.gradients[(parameter, batch.filled - 1)] += slope * number);
        });
        batch.flush(&mut total);
        let scale = 1.0 / self.rows.len() as f64;
        (SymmetricMatrix::from_fn(size, |i, j| -scale * total[(i, j)]), count)
    }

    /// Shows the number of every row, its loss, and the derivatives of its score by the parameters.
    fn each_gradient(&self, blocks: Range<usize>, mut see: impl FnMut(usize, &Cost, &mut RowGradient)) {
        let layout = &self.model.layout;
        let mut room = Room::new(layout, self.point);
        let mut gradient = RowGradient { numbers: vec![0.0; layout.parameters()], touched: Vec::new() };
        for block in self.rows.blocks(blocks) {
            room.evaluate(&block, self.model, self.point);
            self.model.tape.differentiate(&mut room.work);
            each_row(&block, layout, |lane, segments| {
                gradient.add_row(layout, segments, |slot| room.work.slopes[slot][lane]);
                see(block.first + lane, &self.cost(&room, &block, lane), &mut gradient);
            });
        }
    }
}

/// Shows every row of a block: its lane and its segments.
fn each_row<'r>(block: &Block<'r>, layout: &Layout, mut see: impl FnMut(usize, &[Segment<'r>])) {
    let mut all = block.segments();
    let mut segments = Vec::with_capacity(layout.segments().len());
    for lane in 0..block.len() {
        segments.clear();
        segments.extend(all.by_ref().take(layout.segments().len()));
        see(lane, &segments);
    }
}

/// The derivatives of a score by the parameters, of which most are 0.
struct RowGradient {
    numbers: Vec<f64>,
    /// Those that may not be 0, some of them twice.
    touched: Vec<usize>,
}

impl RowGradient {
    #[inline]
    fn add(&mut self, parameter: usize, number: f64) {
        self.numbers[parameter] += number;
        self.touched.push(parameter);
    }

    fn add_row(&mut self, layout: &Layout, segments: &[Segment<'_>], slope: impl Fn(usize) -> f64) {
        for (number, Segment { leaves, counts }) in segments.iter().enumerate() {
            let (slots, of) = (layout.slots_of(number), layout.leaves(number));
            for (&leaf, &count) in leaves.iter().zip(*counts) {
                let leaf = of[usize::from(leaf)];
                let count = f64::from(count) * leaf.unit;
                slots.clone().enumerate().for_each(|(half, slot)| self.add(leaf.parameter + half, count * slope(slot)));
            }
        }
        for (total, parts) in layout.common().iter().enumerate() {
            let slope = slope(layout.row_slots() + total);
            parts.iter().for_each(|&(parameter, count)| self.add(parameter, slope * count));
        }
    }

    /// Hands out each of them, once; all are 0 afterwards.
    fn each(&mut self, mut take: impl FnMut(usize, f64)) {
        for parameter in self.touched.drain(..) {
            take(parameter, std::mem::take(&mut self.numbers[parameter]));
        }
    }
}

/// Gradients of groups, a column each, until they are multiplied.
struct Batch {
    gradients: Matrix,
    filled: usize,
    group: Option<u32>,
}

impl Batch {
    /// Begins the column of another group.
    fn next(&mut self, group: u32, total: &mut Matrix) {
        if self.filled == GROUPS {
            self.flush(total);
        }
        self.filled += 1;
        self.group = Some(group);
    }

    /// Subtracts the products of all columns.
    fn flush(&mut self, total: &mut Matrix) {
        total.subtract_product(&self.gradients, &self.gradients);
        self.gradients.clear();
        self.filled = 0;
    }
}
