//! Sums over many slabs of rows, which processes share.

use super::{Cell, Cross, Curvature, PHASE_PIECES, Point, Slab, WeightSums, triangle};
use crate::processes::Shared;
use rayon::prelude::*;

/// Sums over all rows.
pub(super) struct Total {
    pairs: Vec<Cell<f64>>,
    crosses: Vec<Cross>,
    weights: WeightSums,
}

impl Total {
    pub(super) fn new(features: usize) -> Self {
        Self {
            pairs: vec![[0.0; 4]; triangle(features)],
            crosses: vec![[[0.0; 8]; 2]; features],
            weights: WeightSums::default(),
        }
    }

    /// Adds slabs, each number in the order of the slabs.
    pub(super) fn add(&mut self, slabs: &[Slab]) {
        const CHUNK: usize = 4096;
        self.pairs.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, sums)| {
            for slab in slabs {
                let parts = &slab.pairs[chunk * CHUNK..][..sums.len()];
                for (sum, &part) in sums.as_flattened_mut().iter_mut().zip(parts.as_flattened()) {
                    *sum += f64::from(part);
                }
            }
        });
        for slab in slabs {
            let parts = slab.crosses.as_flattened().as_flattened();
            for (sum, &part) in self.crosses.as_flattened_mut().as_flattened_mut().iter_mut().zip(parts) {
                *sum += part;
            }
            for p in 0..PHASE_PIECES {
                self.weights.gradient[p] += slab.weights.gradient[p];
                for r in 0..PHASE_PIECES {
                    self.weights.outer[p][r] += slab.weights.outer[p][r];
                }
            }
        }
    }

    /// The sum of both.
    pub(super) fn plus(mut self, other: Self) -> Self {
        let sums = self.pairs.as_flattened_mut().par_iter_mut().with_min_len(1 << 14);
        sums.zip(other.pairs.as_flattened()).for_each(|(sum, part)| *sum += part);
        let crosses = self.crosses.as_flattened_mut().as_flattened_mut().iter_mut();
        crosses.zip(other.crosses.as_flattened().as_flattened()).for_each(|(sum, part)| *sum += part);
        let weights = self.weights.outer.as_flattened_mut().iter_mut().chain(&mut self.weights.gradient);
        let others = other.weights.outer.as_flattened().iter().chain(&other.weights.gradient);
        weights.zip(others).for_each(|(sum, part)| *sum += part);
        self
    }

    /// The matrix of all parameters, divided by the number of rows.
    pub(super) fn expand(&self, point: &Point<'_>, rows: usize) -> Curvature {
        let features = self.crosses.len();
        let size = 2 * features + PHASE_PIECES;
        let mut matrix = Curvature::zero(size);
        let scale = 1.0 / rows.max(1) as f64;
        let columns = matrix.columns[..2 * features * size].par_chunks_exact_mut(2 * size);
        columns.enumerate().for_each(|(k, columns)| {
            let (mg, eg) = columns.split_at_mut(size);
            for j in k..features {
                let cell = self.pairs[triangle(j) + k].map(|sum| scale * sum);
                mg[2 * j..2 * j + 2].copy_from_slice(&cell[..2]);
                eg[2 * j..2 * j + 2].copy_from_slice(&cell[1..3]);
            }
            // Above the diagonal, where nothing is filled in.
            eg[2 * k] = 0.0;
            for piece in 0..PHASE_PIECES {
                mg[2 * features + piece] = scale * self.crosses[k][0][piece];
                eg[2 * features + piece] = scale * self.crosses[k][1][piece];
            }
        });
        // The second derivatives of the fraction are linear in the first, and so are their sums.
        let bends = point.taper.curvature(&self.weights.gradient);
        for (p, (outer, bends)) in self.weights.outer.iter().zip(&bends).enumerate() {
            for (r, (outer, bend)) in outer.iter().zip(bends).take(p + 1).enumerate() {
                matrix.set(2 * features + p, 2 * features + r, scale * (outer + bend));
            }
        }
        matrix
    }
}

impl Shared for Total {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.pairs.pack(bytes);
        self.crosses.pack(bytes);
        vec![self.weights.outer].pack(bytes);
        vec![self.weights.gradient].pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        let (pairs, crosses) = (Vec::unpack(bytes), Vec::unpack(bytes));
        let (outer, gradient): (Vec<_>, Vec<_>) = (Vec::unpack(bytes), Vec::unpack(bytes));
        Self { pairs, crosses, weights: WeightSums { outer: outer[0], gradient: gradient[0] } }
    }
}
