//! Outer products of gradients, summed over rows.

use super::Objective;
use super::loss::Cost;
use super::pass::{EvaluationPoint, Room, each_count, each_row};
use super::products::{MatrixColumns, Products, RowBatch};
use crate::model::layout::Layout;
use crate::model::rows::{BLOCK, Block, PARTS, Part};
use crate::objective::linear::{Matrix, SymmetricMatrix};
use crate::parallel;
use std::ops::Range;

/// Approximate number of entries of a batch of rows, which one thread prepares.
const BATCH: usize = 1 << 13;
/// Number of batches that are multiplied at once. They fit into the last-level cache, and threads synchronise after
/// them.
const BATCHES: usize = 16;

/// Number of batches at once with several processes. Each process keeps all batches, also serialised.
const SHARED_BATCHES: usize = 8;

/// Number of groups whose gradients are multiplied at once.
const GROUPS: usize = 256;

/// Number of chunks whose groups' gradients are kept at a time.
const CHUNKS: usize = 8;

/// The kind of a second-order matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HessianKind {
    /// The Gauss-Newton matrix: the Hessian if the predictions were right, so without the part that residuals add. It is
    /// positive semidefinite.
    GaussNewton,
    /// The sum of outer products of the rows' weighted gradients.
    Outer,
}

impl HessianKind {
    /// Returns the factor of the outer product of a score's gradient.
    fn weight(self, cost: &Cost) -> f64 {
        match self {
            HessianKind::GaussNewton => cost.gauss_newton,
            HessianKind::Outer => cost.slope * cost.slope,
        }
    }
}

impl Objective<'_> {
    /// Computes the Hessian of every `stride`-th row for some parameters; the cost grows with their number. Entries of
    /// other parameters may lack the contribution of the rows.
    pub(crate) fn hessian_among(
        &self,
        theta: &[f64],
        kind: HessianKind,
        stride: usize,
        is_wanted: &dyn Fn(usize) -> bool,
    ) -> SymmetricMatrix {
        let point = self.point(theta);
        let columns = MatrixColumns::new(&self.model.layout, is_wanted);
        let blocks = BATCH * stride * self.rows.len().div_ceil(BLOCK) / self.rows.entries_of_all().max(1);
        let places = self.batches(blocks.max(1));
        let mut products = Products::new(&columns);
        for places in places.chunks(if self.rows.is_divided() { SHARED_BATCHES } else { BATCHES }) {
            let chunks: Vec<usize> = places.iter().map(|place| place.0).collect();
            let filled = |number: usize| self.batch(&point, &columns, places[number].clone(), kind, stride);
            let mut batches = self.rows.each_chunk(&chunks, filled);
            parallel::for_each(batches.iter_mut(), |batch| batch.sort(&columns));
            products.add(&batches);
        }
        let mut hessian = products.finish(1.0 / self.rows.weight(stride));
        if kind != HessianKind::Outer {
            self.prior.add_hessian(&mut hessian);
        }
        hessian
    }

    fn cost(&self, room: &Room, block: &Block<'_>, lane: usize) -> Cost {
        let (loss, logit) = self.measure();
        let cost = loss.cost(logit * room.scores[lane], f64::from(block.target[lane]));
        cost.times(block.weighted().weight(lane))
    }

    /// Divides the rows into batches of `size` blocks, each given by a chunk and blocks of it. Adjacent batches belong
    /// to different chunks, so that processes share the work evenly.
    fn batches(&self, size: usize) -> Vec<(usize, Range<usize>)> {
        let of_chunk = |chunk: usize| {
            let blocks = self.rows.chunk_len(chunk).div_ceil(BLOCK);
            (0..blocks).step_by(size).map(move |first| (chunk, first..(first + size).min(blocks)))
        };
        let mut places: Vec<(usize, Range<usize>)> = (0..self.rows.chunk_count()).flat_map(of_chunk).collect();
        places.sort_by_key(|(chunk, blocks)| (chunk / PARTS, blocks.start, *chunk));
        places
    }

    /// Returns a batch of every `stride`-th row of some blocks of a chunk.
    fn batch(
        &self,
        point: &EvaluationPoint,
        columns: &MatrixColumns<'_>,
        (chunk, blocks): (usize, Range<usize>),
        kind: HessianKind,
        stride: usize,
    ) -> RowBatch {
        let (rows, model, (_, logit)) = (self.rows, self.model, self.measure());
        let mut room = Room::new(&model.layout, point);
        let mut batch = RowBatch::new();
        for block in rows.blocks_of(chunk, blocks) {
            room.evaluate(&block, model, point);
            model.tape.differentiate(&mut room.work);
            each_row(&block, &model.layout, |lane, segments| {
                if (block.first + lane) % stride != 0 {
                    return;
                }
                let cost = self.cost(&room, &block, lane);
                let weight = logit * logit * kind.weight(&cost);
                batch.push(columns, segments, weight, |slot| room.work.slopes[slot][lane]);
            });
        }
        batch
    }

    /// Returns the diagonal of the Gauss-Newton matrix at `theta`, at a far lower cost than the matrix.
    pub(crate) fn gauss_newton_diagonal(&self, theta: &[f64]) -> Vec<f64> {
        let (point, (_, logit)) = (self.point(theta), self.measure());
        let of_part = |part: Part<'_>| {
            let mut diagonal = vec![0.0; self.parameters()];
            self.each_gradient(&point, part.blocks(), |_, cost, gradient| {
                let weight = logit * logit * cost.gauss_newton;
                gradient.each(|parameter, number| diagonal[parameter] += weight * number * number);
            });
            diagonal
        };
        let mut diagonal = vec![0.0; self.parameters()];
        let weight = self.rows.weight(1);
        for part in self.rows.each_part(of_part) {
            diagonal.iter_mut().zip(part).for_each(|(sum, part)| *sum += part / weight);
        }
        diagonal.iter_mut().zip(self.prior.diagonal()).for_each(|(sum, part)| *sum += part);
        diagonal
    }

    /// Returns the matrix of [`HessianKind::Outer`] for the summed gradients of groups of rows, and the number of
    /// groups. Entries of parameters that are not wanted are 0. Rows of a group must be adjacent; otherwise they count
    /// as several groups.
    pub(crate) fn outer_by_group(
        &self,
        theta: &[f64],
        groups: &[u32],
        is_wanted: &dyn Fn(usize) -> bool,
    ) -> (SymmetricMatrix, usize) {
        let point = self.point(theta);
        assert_eq!(groups.len(), self.rows.len(), "a group a row");
        let wanted: Vec<usize> = (0..self.parameters()).filter(|&parameter| is_wanted(parameter)).collect();
        let (size, mut places) = (wanted.len(), vec![None; self.parameters()]);
        wanted.into_iter().enumerate().for_each(|(place, parameter)| places[parameter] = Some(place));
        let (mut total, mut batch) = (Matrix::zeros(size, size), Matrix::zeros(size, GROUPS));
        let (mut count, mut last) = (0, None);
        let chunks: Vec<usize> = (0..self.rows.chunk_count()).collect();
        for chunks in chunks.chunks(CHUNKS) {
            let found = self.rows.each_chunk(chunks, |place| self.by_group(&point, chunks[place], groups));
            for (group, gradient) in found.into_iter().flatten() {
                if last != Some(group) {
                    if count > 0 && count % GROUPS == 0 {
                        total.subtract_square(&batch);
                        batch.clear();
                    }
                    (count, last) = (count + 1, Some(group));
                }
                for (parameter, number) in gradient {
                    if let Some(place) = places[parameter as usize] {
                        batch[(place, (count - 1) % GROUPS)] += number;
                    }
                }
            }
        }
        total.subtract_square(&batch);
        let scale = 1.0 / self.rows.weight(1);
        let entry = |i: usize, j: usize| places[i].zip(places[j]).map_or(0.0, |place| -scale * total[place]);
        (SymmetricMatrix::from_fn(places.len(), entry), count)
    }

    /// Returns the groups of a chunk, each with the derivatives that are not 0 and their parameters. The first and the
    /// last group may continue in other chunks.
    fn by_group(&self, point: &EvaluationPoint, chunk: usize, groups: &[u32]) -> Vec<(u32, Vec<(u32, f64)>)> {
        let mut found: Vec<(u32, Vec<(u32, f64)>)> = Vec::new();
        let mut sum = RowGradient::new(&self.model.layout);
        let end = |sum: &mut RowGradient, last: Option<&mut (u32, Vec<(u32, f64)>)>| {
            if let Some((_, gradient)) = last {
                sum.each(|parameter, number| gradient.extend((number != 0.0).then_some((parameter as u32, number))));
            }
        };
        let (_, logit) = self.measure();
        self.each_gradient(point, self.rows.blocks_of(chunk, 0..usize::MAX), |row, cost, gradient| {
            if found.last().is_none_or(|last| last.0 != groups[row]) {
                end(&mut sum, found.last_mut());
                found.push((groups[row], Vec::new()));
            }
            let slope = logit * cost.slope;
            gradient.each(|parameter, number| sum.add(parameter, slope * number));
        });
        end(&mut sum, found.last_mut());
        found
    }

    /// Calls `see` with the number of every row, its loss, and the gradient of its score.
    fn each_gradient<'b>(
        &self,
        point: &EvaluationPoint,
        blocks: impl Iterator<Item = Block<'b>>,
        mut see: impl FnMut(usize, &Cost, &mut RowGradient),
    ) {
        let layout = &self.model.layout;
        let mut room = Room::new(layout, point);
        let mut gradient = RowGradient::new(layout);
        for block in blocks {
            room.evaluate(&block, self.model, point);
            self.model.tape.differentiate(&mut room.work);
            each_row(&block, layout, |lane, segments| {
                each_count(layout, segments, |parameter, slot, count| {
                    gradient.add(parameter, count * room.work.slopes[slot][lane]);
                });
                see(block.first + lane, &self.cost(&room, &block, lane), &mut gradient);
            });
        }
    }
}

/// The sparse gradient of a score by the parameters.
struct RowGradient {
    numbers: Vec<f64>,
    /// Parameters whose derivatives may differ from 0, with duplicates.
    touched: Vec<usize>,
}

impl RowGradient {
    fn new(layout: &Layout) -> Self {
        RowGradient { numbers: vec![0.0; layout.parameters], touched: Vec::new() }
    }

    #[inline]
    fn add(&mut self, parameter: usize, number: f64) {
        self.numbers[parameter] += number;
        self.touched.push(parameter);
    }

    /// Calls `take` with every derivative once, and sets all to 0.
    fn each(&mut self, mut take: impl FnMut(usize, f64)) {
        for parameter in self.touched.drain(..) {
            take(parameter, std::mem::take(&mut self.numbers[parameter]));
        }
    }
}
