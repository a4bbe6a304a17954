//! A factorised curvature: the linear systems of Newton steps.

use crate::objective::{Curvature, PHASE_PIECES};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Conj, Mat, MatMut, Par};

/// Pivots below this, relative to a unit diagonal, carry no more digits than the curvature has.
const SMALLEST_PIVOT: f64 = 1e-9;

/// How a curvature is changed before it is factorised.
pub(super) struct Treatment<'t> {
    /// Parameters that take no part.
    pub(super) held: &'t [bool],
    /// Added to the whole diagonal.
    pub(super) damping: f64,
    /// A direction among consecutive parameters, the first of which is named, to be made as stiff as these
    /// parameters are on average.
    pub(super) stiff: Option<(usize, [f64; PHASE_PIECES])>,
}

/// Cholesky factor of a curvature among the free parameters, scaled to a unit diagonal.
///
/// Free parameters without any curvature are held in place: nothing is known about them.
pub(super) struct Factor {
    size: usize,
    /// Parameters that the factor is about, ascending.
    free: Vec<usize>,
    /// 1 / √diagonal, by position in `free`.
    scale: Vec<f64>,
    lower: Mat<f64>,
    /// Whether the matrix was positive definite; if not, some pivots had to be replaced.
    pub(super) definite: bool,
}

impl Factor {
    /// Factorises a curvature. `None` if it is not finite.
    pub(super) fn new(curvature: &Curvature, treatment: &Treatment<'_>) -> Option<Self> {
        let size = curvature.size();
        let diagonal = curvature.diagonal();
        let damping = treatment.damping;
        let free: Vec<usize> = (0..size).filter(|&j| !treatment.held[j] && diagonal[j] != 0.0).collect();
        let scale: Vec<f64> = free.iter().map(|&j| (diagonal[j].abs() + damping).sqrt().recip()).collect();
        let mut lower = Mat::zeros(free.len(), free.len());
        for (column, &j) in free.iter().enumerate() {
            let source = &curvature.lower_columns()[j * size..(j + 1) * size];
            for (row, &i) in free.iter().enumerate().skip(column) {
                lower[(row, column)] = source[i] * scale[row] * scale[column];
            }
            lower[(column, column)] = (source[j] + damping) * scale[column] * scale[column];
        }
        if let Some((first, direction)) = treatment.stiff {
            stiffen(lower.as_mut(), &free, &scale, first, direction);
        }
        let replaced = factorise(lower.as_mut())?;
        Some(Self { size, free, scale, lower, definite: replaced == 0 })
    }

    /// Solves `curvature · x = right` for the free parameters; the others of `x` are 0.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let size = self.free.len();
        let mut x = Mat::from_fn(size, 1, |row, _| right[self.free[row]] * self.scale[row]);
        let mut memory = MemBuffer::new(llt::solve::solve_in_place_scratch::<f64>(size, 1, Par::Seq));
        let stack = MemStack::new(&mut memory);
        llt::solve::solve_in_place_with_conj(self.lower.as_ref(), Conj::No, x.as_mut(), Par::Seq, stack);
        let mut solution = vec![0.0; self.size];
        for (row, &j) in self.free.iter().enumerate() {
            solution[j] = x[(row, 0)] * self.scale[row];
        }
        solution
    }
}

/// Adds the outer product of a direction, as large as the mean curvature of the parameters it is about, to a matrix
/// of the parameters `free`, scaled by `scale`.
fn stiffen(mut matrix: MatMut<'_, f64>, free: &[usize], scale: &[f64], first: usize, direction: [f64; PHASE_PIECES]) {
    let among: Vec<usize> = (0..free.len()).filter(|&row| free[row] >= first).collect();
    let total: f64 = among.iter().map(|&row| matrix[(row, row)].abs() / (scale[row] * scale[row])).sum();
    let stiffness = total / among.len().max(1) as f64;
    let component = |row: usize| direction.get(free[row] - first).map_or(0.0, |part| part * scale[row]);
    for &column in &among {
        for &row in among.iter().filter(|&&row| row >= column) {
            matrix[(row, column)] += stiffness * component(row) * component(column);
        }
    }
}

/// Replaces a symmetric matrix (lower triangle) by its Cholesky factor; the number of pivots that were replaced.
fn factorise(matrix: MatMut<'_, f64>) -> Option<usize> {
    let regularization = llt::factor::LltRegularization {
        dynamic_regularization_delta: 1.0,
        dynamic_regularization_epsilon: SMALLEST_PIVOT,
    };
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(matrix.nrows(), Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let info = llt::factor::cholesky_in_place(matrix, regularization, Par::Seq, stack, Default::default());
    info.ok().map(|info| info.dynamic_regularization_count)
}
