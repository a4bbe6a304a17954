//! Matrices in panels of rows, so that tiles are read in the order in which they lie in memory.

use std::ops::{Index, IndexMut};

use super::tile::{AREA, SIDE, Tile, subtract_product};
use crate::parallel;

/// Tiles of a panel that are worked on together: as many should stay in the first cache.
pub(super) const BLOCK: usize = 12;

/// A dense matrix.
#[derive(Clone)]
pub(crate) struct Matrix {
    rows: usize,
    columns: usize,
    /// Panels of [`SIDE`] rows, each column after column. Rows and columns are filled up with zeros to a multiple of
    /// [`SIDE`].
    numbers: Vec<f64>,
}

impl Matrix {
    pub(crate) fn clear(&mut self) {
        self.numbers.fill(0.0);
    }

    pub(crate) fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, numbers: vec![0.0; rows.next_multiple_of(SIDE) * columns.next_multiple_of(SIDE)] }
    }

    /// The matrix whose entry in row `i` and column `j` is `entry(i, j)`.
    pub(crate) fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut matrix = Self::zeros(rows, columns);
        for i in 0..rows {
            for j in 0..columns {
                matrix[(i, j)] = entry(i, j);
            }
        }
        matrix
    }

    /// Subtracts `a · bᵀ`.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub(crate) fn subtract_product(&mut self, a: &Self, b: &Self) {
        self.subtract_tiles(a, b, |_| usize::MAX);
    }

    /// Subtracts `a · aᵀ`, on and below the diagonal alone, a few numbers above it aside.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub(crate) fn subtract_square(&mut self, a: &Self) {
        self.subtract_tiles(a, a, |row| row + 1);
    }

    /// Subtracts the first tiles of each row of `a · bᵀ`, `count` of them by the number of the row.
    fn subtract_tiles(&mut self, a: &Self, b: &Self, count: impl Fn(usize) -> usize + Sync) {
        let sizes = (a.rows, b.rows, a.columns);
        assert_eq!(sizes, (self.rows, self.columns, b.columns), "sizes of a product");
        let panel = a.panel();
        for start in (0..panel).step_by(BLOCK * AREA) {
            let block = start..panel.min(start + BLOCK * AREA);
            parallel::for_each(self.panels_mut().zip(a.panels()).enumerate(), |(number, (row, a))| {
                for (tile, b) in tiles_mut(row).iter_mut().zip(b.numbers.chunks(panel)).take(count(number)) {
                    subtract_product(tile, &a[block.clone()], &b[block.clone()]);
                }
            });
        }
    }

    /// Continues the diagonal with ones, where rows and columns were filled up with zeros.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub(super) fn extend_by_identity(&mut self) {
        assert_eq!(self.rows, self.columns, "a square matrix");
        let size = self.rows;
        (self.rows, self.columns) = (size.next_multiple_of(SIDE), size.next_multiple_of(SIDE));
        (size..self.rows).for_each(|index| self[(index, index)] = 1.0);
    }

    /// Numbers of a panel.
    pub(super) fn panel(&self) -> usize {
        (SIDE * self.columns.next_multiple_of(SIDE)).max(1)
    }

    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    pub(super) fn numbers_mut(&mut self) -> &mut [f64] {
        &mut self.numbers
    }

    /// The panels.
    pub(super) fn panels_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let panel = self.panel();
        self.numbers.chunks_mut(panel)
    }

    fn panels(&self) -> impl Iterator<Item = &[f64]> {
        self.numbers.chunks(self.panel())
    }

    fn place(&self, (i, j): (usize, usize)) -> usize {
        assert!(
            i < self.rows && j < self.columns,
            "no entry ({i}, {j}) in a matrix of {} by {}",
            self.rows,
            self.columns
        );
        i / SIDE * self.panel() + j * SIDE + i % SIDE
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, at: (usize, usize)) -> &f64 {
        &self.numbers[self.place(at)]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, at: (usize, usize)) -> &mut f64 {
        let place = self.place(at);
        &mut self.numbers[place]
    }
}

/// The tiles of a panel, or of a part of one.
pub(super) fn tiles_mut(panel: &mut [f64]) -> &mut [Tile] {
    panel.as_chunks_mut::<AREA>().0
}
