//! Second derivatives, summed over rows.
//!
//! With `c` the coefficients of a row, `a` and `b` the second and first derivative of its loss by its score, `D` its
//! midgame minus endgame score and `∂f` the derivatives of its midgame fraction by the phase weights, a row adds
//!
//! ```text
//! a · (f², f (1 − f), (1 − f)²) · c_j c_k       to the pairs (mg_j, mg_k), (mg_j, eg_k), (eg_j, eg_k)
//! (a f D + b) · c_j ∂f,  (a (1 − f) D − b) · c_j ∂f     to (mg_j, weights), (eg_j, weights)
//! a D² · ∂f ∂fᵀ + b D · ∂²f                             to (weights, weights)
//! ```
//!
//! Gauss-Newton takes the non-negative part of `a` and leaves `b` out, which makes the sum positive semidefinite.
//! The first line is nearly all the work: it is summed in a triangle of three-component cells, in `f32` over a
//! [`Slab`] of some thousand rows and in `f64` over the slabs. Slabs are shared out in waves, so that only a few
//! triangles are alive, whatever the number of threads, and they are added up in the order of the rows.

mod total;

use super::loss::SampleLoss;
use super::pass::{BLOCK, Block, Point, blocks};
use super::rows::Rows;
use crate::processes::{self, Shared};
use engine::eval::taper::PHASE_PIECES;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use total::Total;

/// Bytes that the slabs of a wave may take.
const WAVE_BYTES: usize = 256 << 20;

/// Fewest and most slabs of a wave, whatever they take.
const WAVE: (usize, usize) = (2, 8);

/// Fewest and most rows of a slab, if there are as many; more if the triangle is large. With fewer rows, clearing the
/// triangle and adding it to the others takes longer than summing them.
const SLAB_ROWS: (usize, usize) = (4096, 16_384);

/// Most parts that are summed apart.
const MOST_PARTS: usize = 8;

/// Rows whose curvature is smaller than this are left out: it is nothing beside that of any other row, and would
/// lead into the slow smallest numbers of `f32`.
const NEGLIGIBLE: f64 = 1e-25;

/// Which second derivative is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CurvatureKind {
    /// The positive semidefinite part that comes from first derivatives of the scores.
    GaussNewton,
    /// All of it; indefinite far from a minimum.
    Full,
    /// No second derivative at all: the mean of the outer products of the rows' gradients.
    Outer,
}

/// A symmetric matrix of second derivatives, parameters by parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Curvature {
    size: usize,
    /// Column after column; only the lower triangle is filled in.
    columns: Vec<f64>,
}

impl Curvature {
    pub(super) fn zero(size: usize) -> Self {
        Self { size, columns: vec![0.0; size * size] }
    }

    /// Number of parameters.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Second derivative by parameters `i` and `j`.
    ///
    /// # Panics
    /// If there is no such parameter.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.size && j < self.size, "no parameter {i} or {j} among {}", self.size);
        self.columns[i.min(j) * self.size + i.max(j)]
    }

    /// The matrix column after column, of which only the lower triangle means anything.
    pub fn lower_columns(&self) -> &[f64] {
        &self.columns
    }

    /// The second derivatives by each parameter alone.
    pub fn diagonal(&self) -> Vec<f64> {
        self.columns.iter().copied().step_by(self.size + 1).collect()
    }

    /// Adds the rows and columns of parameters that follow others to those of their leaders: what is left in these is
    /// the curvature by all that move alone. `leaders` names that of every parameter, itself if it follows none.
    ///
    /// # Panics
    /// If there is not one leader a parameter.
    pub fn gather(&mut self, leaders: &[usize]) {
        assert_eq!(leaders.len(), self.size, "a leader a parameter");
        for (follower, &leader) in leaders.iter().enumerate().filter(|&(follower, &leader)| follower != leader) {
            let alone = self.get(follower, follower) + 2.0 * self.get(leader, follower);
            for other in (0..self.size).filter(|&other| other != leader) {
                self.set(leader, other, self.get(leader, other) + self.get(follower, other));
            }
            self.set(leader, leader, self.get(leader, leader) + alone);
        }
    }

    /// Adds `value` to the whole diagonal.
    pub(super) fn add_to_diagonal(&mut self, value: f64) {
        self.columns.iter_mut().step_by(self.size + 1).for_each(|entry| *entry += value);
    }

    /// The entries of a column; those from the diagonal on mean something.
    pub(super) fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.columns[j * self.size..(j + 1) * self.size]
    }

    /// The sum of both, which are of the same size.
    pub(super) fn plus(mut self, other: Self) -> Self {
        self.columns.iter_mut().zip(&other.columns).for_each(|(sum, part)| *sum += part);
        self
    }

    /// Adds `factor · v vᵀ`, with `v` a vector of the first parameters.
    pub(super) fn add_outer(&mut self, factor: f64, v: &[f64]) {
        for (j, part) in v.iter().enumerate() {
            let column = &mut self.columns[j * self.size + j..][..v.len() - j];
            for (entry, other) in column.iter_mut().zip(&v[j..]) {
                *entry += factor * part * other;
            }
        }
    }

    fn set(&mut self, i: usize, j: usize, value: f64) {
        self.columns[i.min(j) * self.size + i.max(j)] = value;
    }
}

/// Mean second derivatives of the loss over all rows; zero without any row.
pub(super) fn sum(rows: &Rows, theta: &[f64], (loss, logit): (SampleLoss, f64), kind: CurvatureKind) -> Curvature {
    let point = Point::new(theta);
    let measure = Measure { loss, logit, kind };
    let cells = triangle(rows.features());
    let wave = (WAVE_BYTES / size_of::<Cell<f32>>() / cells.max(1)).clamp(WAVE.0, WAVE.1);
    let at_once = (rows.len() / SLAB_ROWS.0).clamp(1, wave);
    let slab_rows = rows.len().div_ceil(at_once).clamp(1, SLAB_ROWS.1.max(cells / 8)).next_multiple_of(BLOCK);
    let starts: Vec<usize> = (0..rows.len()).step_by(slab_rows).collect();

    let parts = Parts::new(&starts, rows, cells);
    let own = processes::share(parts.count());
    let own_starts = parts.slabs(own.clone());
    let mut totals: Vec<Total> = own.map(|_| Total::new(rows.features())).collect();
    let mut slabs: Vec<Slab> = (0..own_starts.len().min(wave)).map(|_| Slab::new(rows.features())).collect();
    for (number, starts) in own_starts.chunks(wave).enumerate() {
        let slabs = &mut slabs[..starts.len()];
        slabs.par_iter_mut().zip(starts).for_each(|(slab, &start)| {
            // New ones are clear, which is much of the work where rows are few.
            if number > 0 {
                slab.clear();
            }
            slab.add_rows(rows, start..(start + slab_rows).min(rows.len()), &point, measure);
        });
        // A wave may end in another part than it began in.
        let (mut rest, mut first) = (&*slabs, number * wave);
        while !rest.is_empty() {
            let part = first / parts.size;
            let (these, others) = rest.split_at(rest.len().min((part + 1) * parts.size - first));
            totals[part].add(these);
            (rest, first) = (others, first + these.len());
        }
    }
    let total = processes::sum(parts.count(), totals, Total::plus);
    total.unwrap_or_else(|| Total::new(rows.features())).expand(&point, rows.len())
}

/// Slabs in parts that are summed apart, and that processes share. They follow from the rows alone.
struct Parts<'s> {
    starts: &'s [usize],
    /// Slabs of a part.
    size: usize,
}

impl<'s> Parts<'s> {
    fn new(starts: &'s [usize], rows: &Rows, cells: usize) -> Self {
        let most = (WAVE_BYTES / size_of::<Cell<f64>>() / cells.max(1)).clamp(1, MOST_PARTS);
        let parts = (rows.len() / (2 * SLAB_ROWS.1)).clamp(1, most);
        Self { starts, size: starts.len().div_ceil(parts).max(1) }
    }

    fn count(&self) -> usize {
        self.starts.len().div_ceil(self.size)
    }

    /// Where the slabs of some parts start.
    fn slabs(&self, parts: Range<usize>) -> &'s [usize] {
        let end = |part: usize| (part * self.size).min(self.starts.len());
        &self.starts[end(parts.start)..end(parts.end)]
    }
}

/// Where the cells of feature `j` with features `0..=j` start in a triangle.
fn triangle(j: usize) -> usize {
    j * (j + 1) / 2
}

/// How rows are weighed.
#[derive(Clone, Copy)]
struct Measure {
    loss: SampleLoss,
    /// Logit of a centipawn.
    logit: f64,
    kind: CurvatureKind,
}

impl Measure {
    /// First and second derivative of a row's loss by its score; the first only where it is wanted.
    #[inline(always)]
    fn derivatives(self, score: f64, target: f32) -> (f64, f64) {
        let cost = self.loss.cost(self.logit * score, f64::from(target));
        match self.kind {
            CurvatureKind::GaussNewton => (0.0, self.logit * self.logit * cost.gauss_newton),
            CurvatureKind::Full => (self.logit * cost.slope, self.logit * self.logit * cost.full),
            CurvatureKind::Outer => (0.0, (self.logit * cost.slope).powi(2)),
        }
    }
}

/// A pair of features: sums for (mg, mg), (mg, eg), (eg, eg), and one to fill the vector.
type Cell<T> = [T; 4];

/// A feature with the phase weights: sums for mg and for eg, each by weight and filled up to a vector.
type Cross = [[f64; 8]; 2];

/// Weights with weights, and the gradient by them.
#[derive(Clone, Copy, Default)]
struct WeightSums {
    outer: [[f64; PHASE_PIECES]; PHASE_PIECES],
    gradient: [f64; PHASE_PIECES],
}

/// Sums over consecutive rows.
struct Slab {
    pairs: Vec<Cell<f32>>,
    crosses: Vec<Cross>,
    weights: WeightSums,
}

impl Slab {
    fn new(features: usize) -> Self {
        Self {
            pairs: vec![[0.0; 4]; triangle(features)],
            crosses: vec![[[0.0; 8]; 2]; features],
            weights: WeightSums::default(),
        }
    }

    fn clear(&mut self) {
        self.pairs.fill([0.0; 4]);
        self.crosses.fill([[0.0; 8]; 2]);
        self.weights = WeightSums::default();
    }

    fn add_rows(&mut self, rows: &Rows, range: Range<usize>, point: &Point<'_>, measure: Measure) {
        let mut block = Block::new();
        let mut derivatives = [(0.0, 0.0); BLOCK];
        let mut entries = Entries::default();
        for range in blocks(range) {
            block.evaluate(rows, range.clone(), point);
            let targets = &rows.targets()[range.clone()];
            for ((derivatives, &score), &target) in derivatives.iter_mut().zip(&block.score).zip(targets) {
                *derivatives = measure.derivatives(score, target);
            }
            let phases = &rows.phases()[range.clone()];
            for (i, (index, count)) in rows.slices(range.clone()).iter().enumerate() {
                let (slope, bend) = derivatives[i];
                if bend.abs() < NEGLIGIBLE {
                    continue;
                }
                let (fraction, by_weight) = point.taper.gradient(&phases[i]);
                entries.unpack(index, count);
                self.add_pairs(&entries, bend, fraction);
                if by_weight != [0.0; PHASE_PIECES] {
                    self.add_weights(&entries, slope, bend, fraction, block.spread[i], by_weight);
                }
            }
            rows.passed(range);
        }
    }

    /// Adds the outer product of a row with itself.
    fn add_pairs(&mut self, entries: &Entries, bend: f64, fraction: f64) {
        let rest = 1.0 - fraction;
        let factors = [bend * fraction * fraction, bend * fraction * rest, bend * rest * rest, 0.0];
        let factors = factors.map(|factor| factor as f32);
        for (position, &(index, count)) in entries.0.iter().enumerate() {
            let factors = factors.map(|factor| factor * count);
            let start = triangle(index);
            let line = &mut self.pairs[start..=start + index];
            for &(other, count) in &entries.0[..=position] {
                for (sum, factor) in line[other].iter_mut().zip(factors) {
                    *sum += factor * count;
                }
            }
        }
    }

    fn add_weights(
        &mut self,
        entries: &Entries,
        slope: f64,
        bend: f64,
        fraction: f64,
        spread: f64,
        by_weight: [f64; PHASE_PIECES],
    ) {
        let (mg, eg) = (bend * fraction * spread + slope, bend * (1.0 - fraction) * spread - slope);
        let mut factors = [[0.0; 8]; 2];
        for (piece, slope) in by_weight.into_iter().enumerate() {
            factors[0][piece] = mg * slope;
            factors[1][piece] = eg * slope;
        }
        for &(index, count) in &entries.0 {
            let sums = self.crosses[index].as_flattened_mut();
            for (sum, factor) in sums.iter_mut().zip(factors.as_flattened()) {
                *sum += factor * f64::from(count);
            }
        }
        for (p, row) in self.weights.outer.iter_mut().enumerate() {
            self.weights.gradient[p] += slope * spread * by_weight[p];
            for (sum, other) in row.iter_mut().zip(by_weight) {
                *sum += bend * spread * spread * by_weight[p] * other;
            }
        }
    }
}

/// A row with its numbers in the types that are summed.
#[derive(Default)]
struct Entries(Vec<(usize, f32)>);

impl Entries {
    fn unpack(&mut self, index: &[u16], count: &[i8]) {
        self.0.clear();
        self.0.extend(index.iter().zip(count).map(|(&index, &count)| (usize::from(index), f32::from(count))));
    }
}

impl Shared for Curvature {
    fn pack(&self, bytes: &mut Vec<u8>) {
        vec![self.size].pack(bytes);
        self.columns.pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        let size = Vec::<usize>::unpack(bytes)[0];
        Self { size, columns: Vec::unpack(bytes) }
    }
}
