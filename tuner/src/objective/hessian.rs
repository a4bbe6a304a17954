//! Second derivatives of the loss, or what stands in for them, added up over rows.
//!
//! A row adds outer products of sparse vectors: of its gradient by the parameters, `∂q/∂θ = Σ ∂q/∂z · counts`, and, for
//! second derivatives in full, of the eigenvectors of the score's own curvature by its totals. Parameters are taken two by
//! two, so that pairs stay together; sums of some thousand rows are kept in single precision and then added up in double.

use super::SampleLoss;
use super::pass::{Point, Room};
use crate::linear::Matrix;
use crate::model::Model;
use crate::model::layout::Layout;
use crate::model::rows::{BLOCK, Block, Rows, Segment};
use crate::model::tape::Lanes;
use rayon::prelude::*;

/// Rows whose outer products are added up in single precision.
const SLAB_ROWS: usize = 1 << 12;

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

/// A symmetric matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct SymmetricMatrix {
    size: usize,
    /// The lower triangle, row after row.
    lower: Vec<f64>,
}

impl SymmetricMatrix {
    /// A matrix of zeros.
    pub fn zeros(size: usize) -> Self {
        SymmetricMatrix { size, lower: vec![0.0; size * (size + 1) / 2] }
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// An entry.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if i >= j { (i, j) } else { (j, i) };
        self.row(i)[j]
    }

    /// A row up to its diagonal.
    ///
    /// # Panics
    /// If there is none.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.lower[start(i)..start(i + 1)]
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.size).map(|i| self.row(i)[i]).collect()
    }

    /// Adds a number to the whole diagonal.
    pub fn add_to_diagonal(&mut self, number: f64) {
        (0..self.size).for_each(|i| self.lower[start(i) + i] += number);
    }

    /// Raises the diagonal to at least these numbers.
    pub fn raise_diagonal(&mut self, least: &[f64]) {
        for (i, &least) in least.iter().enumerate() {
            let entry = &mut self.lower[start(i) + i];
            *entry = entry.max(least);
        }
    }

    /// Adds `factor · v vᵀ`.
    pub fn add_outer(&mut self, factor: f64, v: &[f64]) {
        for i in (0..self.size).filter(|&i| v[i] != 0.0) {
            let times = factor * v[i];
            self.lower[start(i)..start(i + 1)].iter_mut().zip(v).for_each(|(entry, part)| *entry += times * part);
        }
    }

    /// Adds what belongs to parameters to those that lead them: the derivatives where they move together.
    pub fn gather(&mut self, leaders: &[usize]) {
        if leaders.iter().enumerate().all(|(index, &leader)| index == leader) {
            return;
        }
        let mut gathered = SymmetricMatrix::zeros(self.size);
        for i in 0..self.size {
            for (j, &entry) in self.row(i).iter().enumerate() {
                let (a, b) = (leaders[i].max(leaders[j]), leaders[i].min(leaders[j]));
                // What meets itself on the diagonal was there twice, above it and below.
                let times = if i != j && a == b { 2.0 } else { 1.0 };
                gathered.lower[start(a) + b] += times * entry;
            }
        }
        *self = gathered;
    }
}

/// Where a row of a lower triangle starts.
fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

/// Two neighbouring parameters, and numbers of theirs, twice: as they stand in a cell of a [`Slab`].
type Pair = (u32, [f32; 4]);

/// Outer products, two by two parameters, in single precision.
struct Slab {
    /// The lower triangle, row after row: four numbers for two parameters by two.
    cells: Vec<[f32; 4]>,
}

impl Slab {
    fn new(parameters: usize) -> Self {
        Slab { cells: vec![[0.0; 4]; start(parameters.div_ceil(2))] }
    }

    /// Adds `weight · v vᵀ`, with the pairs of `v` ascending.
    #[inline]
    fn add(&mut self, weight: f32, v: &[Pair]) {
        for (number, &(i, [first, second, ..])) in v.iter().enumerate() {
            let row = &mut self.cells[start(i as usize)..start(i as usize + 1)];
            let own = [weight * first, weight * first, weight * second, weight * second];
            for (j, other) in &v[..=number] {
                let cell = &mut row[*j as usize];
                *cell = std::array::from_fn(|k| cell[k] + own[k] * other[k]);
            }
        }
    }

    fn add_to(&self, matrix: &mut SymmetricMatrix, factor: f64) {
        let size = matrix.size;
        for i in 0..size {
            let row = &mut matrix.lower[start(i)..start(i + 1)];
            let cells = &self.cells[start(i / 2)..start(i / 2 + 1)];
            for (j, entry) in row.iter_mut().enumerate() {
                *entry += factor * f64::from(cells[j / 2][i % 2 * 2 + j % 2]);
            }
        }
    }
}

/// A sparse vector over the parameters that is put together in any order.
struct Sparse {
    numbers: Vec<[f32; 2]>,
    /// One bit for two parameters that were touched: walking them yields them in order without sorting.
    touched: Vec<u64>,
    pairs: Vec<Pair>,
}

impl Sparse {
    fn new(parameters: usize) -> Self {
        let pairs = parameters.div_ceil(2);
        Sparse { numbers: vec![[0.0; 2]; pairs], touched: vec![0; pairs.div_ceil(64)], pairs: Vec::new() }
    }

    #[inline(always)]
    fn add(&mut self, parameter: usize, number: f32) {
        let pair = parameter / 2;
        self.numbers[pair][parameter % 2] += number;
        self.touched[pair / 64] |= 1 << (pair % 64);
    }

    /// The pairs, ascending; the vector is empty afterwards.
    fn take(&mut self) -> &[Pair] {
        self.pairs.clear();
        for (word, touched) in self.touched.iter_mut().enumerate() {
            let mut bits = std::mem::take(touched);
            while bits != 0 {
                let pair = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let [first, second] = std::mem::take(&mut self.numbers[pair]);
                self.pairs.push((pair as u32, [first, second, first, second]));
            }
        }
        &self.pairs
    }

    /// Adds the derivatives of a row by the parameters: of `Σ by slot`.
    #[inline(always)]
    fn add_row(&mut self, layout: &Layout, segments: &[Segment<'_>], by_slot: impl Fn(usize) -> f64) {
        for (number, Segment { leaves, counts }) in segments.iter().enumerate() {
            let slots = layout.slots_of(number);
            let of = layout.leaves(number);
            let slope = [by_slot(slots.start), by_slot(slots.end - 1)];
            for (&leaf, &count) in leaves.iter().zip(*counts) {
                let leaf = of[usize::from(leaf)];
                let count = f64::from(count) * leaf.unit;
                self.add(leaf.parameter, (count * slope[0]) as f32);
                if slots.len() == 2 {
                    self.add(leaf.parameter + 1, (count * slope[1]) as f32);
                }
            }
        }
        for (total, parts) in layout.common().iter().enumerate() {
            let slope = by_slot(layout.row_slots() + total);
            parts.iter().for_each(|&(parameter, count)| self.add(parameter, (slope * count) as f32));
        }
    }
}

/// Means over the rows.
pub(super) fn sum(
    rows: &Rows,
    model: &Model,
    theta: &[f64],
    measure: (SampleLoss, f64),
    kind: HessianKind,
) -> SymmetricMatrix {
    let size = theta.len();
    let point = Point::new(&model.layout, theta);
    let slab_blocks = SLAB_ROWS / BLOCK;
    let slabs: Vec<usize> = (0..rows.block_count()).step_by(slab_blocks).collect();
    let mut total = SymmetricMatrix::zeros(size);
    let scale = 1.0 / rows.len() as f64;
    let at_once = rayon::current_num_threads();
    // Slabs are large: each thread has one, and they are added up in their order.
    let mut rooms: Vec<Slab> = (0..at_once.min(slabs.len())).map(|_| Slab::new(size)).collect();
    for wave in slabs.chunks(at_once) {
        rooms.par_iter_mut().zip(wave).for_each(|(slab, &first)| {
            slab.cells.fill([0.0; 4]);
            let blocks = first..(first + slab_blocks).min(rows.block_count());
            add_blocks(slab, rows, blocks, model, &point, measure, kind);
        });
        rooms[..wave.len()].iter().for_each(|slab| slab.add_to(&mut total, scale));
    }
    total
}

fn add_blocks(
    slab: &mut Slab,
    rows: &Rows,
    blocks: std::ops::Range<usize>,
    model: &Model,
    point: &Point,
    (loss, logit): (SampleLoss, f64),
    kind: HessianKind,
) {
    let layout = &model.layout;
    let mut room = Room::new(layout, point);
    let mut sparse = Sparse::new(layout.parameters());
    let mut seconds: Vec<Vec<Lanes>> = Vec::new();
    for block in rows.blocks(blocks.clone()) {
        room.evaluate(&block, model, point);
        model.tape.differentiate(&mut room.work);
        if kind == HessianKind::Full {
            seconds.resize(layout.slots(), vec![[0.0; BLOCK]; layout.slots()]);
            for (slot, seconds) in seconds.iter_mut().enumerate() {
                model.tape.second(slot, &mut room.work, seconds);
            }
        }
        each_row(&block, layout, |lane, segments| {
            let cost = loss.cost(logit * room.scores[lane], f64::from(block.target[lane]));
            let weight = logit
                * logit
                * match kind {
                    HessianKind::GaussNewton => cost.gauss_newton,
                    HessianKind::Full => cost.full,
                    HessianKind::Outer => cost.slope * cost.slope,
                };
            sparse.add_row(layout, segments, |slot| room.work.slopes[slot][lane]);
            slab.add(weight as f32, sparse.take());
            if kind == HessianKind::Full {
                let curvature: Vec<Vec<f64>> =
                    seconds.iter().map(|row| row.iter().map(|second| second[lane]).collect()).collect();
                for (value, vector) in crate::linear::eigen(curvature) {
                    sparse.add_row(layout, segments, |slot| vector[slot]);
                    slab.add((logit * cost.slope * value) as f32, sparse.take());
                }
            }
        });
    }
    rows.release(blocks);
}

/// The diagonal of the Gauss-Newton matrix, added up over blocks of rows.
pub(super) fn diagonal(
    rows: &Rows,
    model: &Model,
    point: &Point,
    (loss, logit): (SampleLoss, f64),
    blocks: std::ops::Range<usize>,
) -> Vec<f64> {
    let layout = &model.layout;
    let mut diagonal = vec![0.0; layout.parameters()];
    let (mut room, mut sparse) = (Room::new(layout, point), Sparse::new(layout.parameters()));
    for block in rows.blocks(blocks) {
        room.evaluate(&block, model, point);
        model.tape.differentiate(&mut room.work);
        each_row(&block, layout, |lane, segments| {
            let weight =
                logit * logit * loss.cost(logit * room.scores[lane], f64::from(block.target[lane])).gauss_newton;
            sparse.add_row(layout, segments, |slot| room.work.slopes[slot][lane]);
            for &(pair, numbers) in sparse.take() {
                let own = diagonal[2 * pair as usize..].iter_mut().take(2);
                own.zip(numbers).for_each(|(sum, number)| *sum += weight * f64::from(number * number));
            }
        });
    }
    diagonal
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

/// The mean, over the rows, of outer products of the gradients of groups of rows; and the number of groups.
pub(super) fn outer_by_group(
    rows: &Rows,
    model: &Model,
    theta: &[f64],
    (loss, logit): (SampleLoss, f64),
    groups: &[u32],
) -> (SymmetricMatrix, usize) {
    assert_eq!(groups.len(), rows.len(), "a group a row");
    let (layout, size) = (&model.layout, theta.len());
    let point = Point::new(layout, theta);
    let mut total = Matrix::zeros(size, size);
    let mut batch = Batch { gradients: Matrix::zeros(size, GROUPS), filled: 0, group: None };
    let mut count = 0;
    let mut room = Room::new(layout, &point);
    let mut sparse = Sparse::new(size);
    for block in rows.blocks(0..rows.block_count()) {
        room.evaluate(&block, model, &point);
        model.tape.differentiate(&mut room.work);
        each_row(&block, layout, |lane, segments| {
            if batch.group != Some(groups[block.first + lane]) {
                batch.next(groups[block.first + lane], &mut total);
                count += 1;
            }
            let slope = logit * loss.cost(logit * room.scores[lane], f64::from(block.target[lane])).slope;
            sparse.add_row(layout, segments, |slot| slope * room.work.slopes[slot][lane]);
            for &(pair, numbers) in sparse.take() {
                for (half, number) in numbers.into_iter().take(2).enumerate() {
                    let parameter = 2 * pair as usize + half;
                    if parameter < size {
                        batch.gradients[(parameter, batch.filled - 1)] += f64::from(number);
                    }
                }
            }
        });
    }
    batch.flush(&mut total);
    let scale = 1.0 / rows.len() as f64;
    let mut outer = SymmetricMatrix::zeros(size);
    for i in 0..size {
        for j in 0..=i {
            outer.lower[start(i) + j] = -scale * total[(i, j)];
        }
    }
    (outer, count)
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
