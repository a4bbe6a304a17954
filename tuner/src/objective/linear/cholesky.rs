//! Cholesky factorisation of symmetric matrices.

use super::Matrix;
use super::matrix::{BLOCK, tiles_mut};
use super::tile::{AREA, Tile, divide, divide_by_transposed, factorise, subtract_product, transposed};
use crate::parallel;

/// The Cholesky factor of a matrix A: a lower triangular matrix L with A = L Lᵀ.
/// See Golub and Van Loan, Matrix Computations, 4th edition, section 4.2.9 (block Cholesky, by outer products).
pub(crate) struct Cholesky {
    lower: Matrix,
    replaced: usize,
}

impl Cholesky {
    /// Factorises a symmetric matrix and returns `None` if it is not positive definite. Entries above the diagonal are
    /// ignored.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub(crate) fn new(matrix: Matrix) -> Option<Self> {
        Self::replacing(matrix, 0.0).filter(Self::is_definite)
    }

    /// Factorises as [`Cholesky::new`], but replaces pivots up to `least`, which is below 1, by 1. Returns `None` if a
    /// pivot is not finite.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub(crate) fn replacing(matrix: Matrix, least: f64) -> Option<Self> {
        if matrix.panel() <= BLOCK * AREA {
            return Self::factorise(matrix, least);
        }
        // Every block waits for all threads, and a thread of the pool waits faster.
        parallel::on_pool_thread(|| Self::factorise(matrix, least))
    }

    fn factorise(mut matrix: Matrix, least: f64) -> Option<Self> {
        matrix.extend_by_identity();
        let mut replaced = 0;
        let panel = matrix.panel();
        let tiles = panel / AREA;
        for start in (0..tiles).step_by(BLOCK) {
            let end = tiles.min(start + BLOCK);
            let (above, below) = matrix.numbers_mut().split_at_mut(end * panel);
            let block = start * AREA..end * AREA;
            let width = block.len();
            // Factorise the diagonal block, row by row.
            let mut top: Vec<f64> = Vec::with_capacity(width * (end - start));
            for row in above[start * panel..].chunks_mut(panel) {
                let row = &mut row[block.clone()];
                let (before, rest) = row.split_at_mut(top.len() / width * AREA);
                forward(before, &top, width);
                let diagonal = &mut tiles_mut(rest)[0];
                subtract_product(diagonal, before, before);
                replaced += factorise(diagonal, least)?;
                top.extend_from_slice(row);
            }
            // Solve for the panel below it, then update the trailing submatrix.
            parallel::for_each(below.chunks_mut(panel), |row| forward(&mut row[block.clone()], &top, width));
            let left: Vec<f64> = below.chunks(panel).flat_map(|row| &row[block.clone()]).copied().collect();
            parallel::for_each(below.chunks_mut(panel).enumerate(), |(i, row)| {
                let (done, rest) = row.split_at_mut(block.end);
                for (tile, other) in tiles_mut(rest).iter_mut().zip(left.chunks(width)).take(i + 1) {
                    subtract_product(tile, &done[block.start..], other);
                }
            });
        }
        Some(Self { lower: matrix, replaced })
    }

    /// Returns true if A is positive definite, false if pivots were replaced.
    pub(crate) fn is_definite(&self) -> bool {
        self.replaced == 0
    }

    /// Replaces each row x of a matrix by (A⁻¹ xᵀ)ᵀ.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub(crate) fn solve_rows(&self, rows: &mut Matrix) {
        assert_eq!(rows.panel(), self.lower.panel(), "sizes of a system");
        let (lower, width) = (self.lower.numbers(), self.lower.panel());
        parallel::for_each(rows.panels_mut(), |rows| {
            forward(rows, lower, width);
            backward(rows, lower, width);
        });
    }
}

/// Replaces rows X by X (Lᵀ)⁻¹ (forward substitution), with L in panels of `width` entries.
fn forward(rows: &mut [f64], lower: &[f64], width: usize) {
    for (j, lower) in lower.chunks(width).enumerate().take(rows.len() / AREA) {
        let (done, rest) = rows.split_at_mut(j * AREA);
        let (before, diagonal) = lower[..(j + 1) * AREA].split_at(j * AREA);
        let tile = &mut tiles_mut(rest)[0];
        subtract_product(tile, done, before);
        divide_by_transposed(tile, &diagonal.as_chunks().0[0]);
    }
}

/// Replaces rows X by X L⁻¹ (back substitution), with L in panels of `width` entries.
fn backward(rows: &mut [f64], lower: &[f64], width: usize) {
    let tiles = tiles_mut(rows);
    for (k, lower) in lower.chunks(width).enumerate().rev() {
        let lower: &[Tile] = lower.as_chunks().0;
        let (before, rest) = tiles.split_at_mut(k);
        let tile = &mut rest[0];
        divide(tile, &lower[k]);
        for (other, lower) in before.iter_mut().zip(lower) {
            subtract_product(other, tile, &transposed(lower));
        }
    }
}
