//! A factorised curvature: the linear systems of Newton steps.

use crate::linear::{Cholesky, Matrix};
use crate::objective::{Curvature, PHASE_PIECES};

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
    cholesky: Cholesky,
}

impl Factor {
    /// Factorises a curvature. `None` if it is not finite.
    pub(super) fn new(curvature: &Curvature, treatment: &Treatment<'_>) -> Option<Self> {
        let size = curvature.size();
        let diagonal = curvature.diagonal();
        let damping = treatment.damping;
        let free: Vec<usize> = (0..size).filter(|&j| !treatment.held[j] && diagonal[j] != 0.0).collect();
        let scale: Vec<f64> = free.iter().map(|&j| (diagonal[j].abs() + damping).sqrt().recip()).collect();
        let mut matrix = Matrix::zeros(free.len(), free.len());
        for (column, &j) in free.iter().enumerate() {
            let source = &curvature.lower_columns()[j * size..(j + 1) * size];
            for (row, &i) in free.iter().enumerate().skip(column) {
                matrix[(row, column)] = source[i] * scale[row] * scale[column];
            }
            matrix[(column, column)] = (source[j] + damping) * scale[column] * scale[column];
        }
        if let Some((first, direction)) = treatment.stiff {
            stiffen(&mut matrix, &free, &scale, first, direction);
        }
        let cholesky = Cholesky::replacing(matrix, SMALLEST_PIVOT)?;
        Some(Self { size, free, scale, cholesky })
    }

    /// Whether the matrix was positive definite; if not, some pivots had to be replaced.
    pub(super) fn is_definite(&self) -> bool {
        self.cholesky.is_definite()
    }

    /// Solves `curvature · x = right` for the free parameters; the others of `x` are 0.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let mut x = Matrix::from_fn(1, self.free.len(), |_, row| right[self.free[row]] * self.scale[row]);
        self.cholesky.solve_rows(&mut x);
        let mut solution = vec![0.0; self.size];
        for (row, &j) in self.free.iter().enumerate() {
            solution[j] = x[(0, row)] * self.scale[row];
        }
        solution
    }
}

/// Adds the outer product of a direction, as large as the mean curvature of the parameters it is about, to a matrix
/// of the parameters `free`, scaled by `scale`.
fn stiffen(matrix: &mut Matrix, free: &[usize], scale: &[f64], first: usize, direction: [f64; PHASE_PIECES]) {
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
