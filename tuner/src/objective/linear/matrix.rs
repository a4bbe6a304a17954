//! Matrices stored in panels of rows, so that tiles are read in memory order.

use std::ops::{Index, IndexMut};

use super::tile::{AREA, SIDE, Tile, subtract_product};
use crate::parallel;

/// Number of tiles of a panel that are processed together; they should fit into the L1 cache.
pub(super) const BLOCK: usize = 12;

/// A dense matrix.
#[derive(Clone)]
pub(crate) struct Matrix {
    rows: usize,
    columns: usize,
    /// Panels of [`SIDE`] rows, each in column-major order. Rows and columns are padded with zeros to a multiple of
    /// [`SIDE`].
    numbers: Vec<f64>,
}

impl Matrix {
    /// Sets all entries to 0.
    pub(crate) fn clear(&mut self) {
        self.numbers.fill(0.0);
    }

    /// Creates a matrix of zeros.
    pub(crate) fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, numbers: vec![0.0; rows.next_multiple_of(SIDE) * columns.next_multiple_of(SIDE)] }
    }

    /// Creates the matrix whose entry in row `i` and column `j` is `entry(i, j)`.
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

    /// Subtracts `a · aᵀ` on and below the diagonal, and in a few entries above it.
    ///
    /// # Panics
    /// If the sizes do not fit.
    pub(crate) fn subtract_square(&mut self, a: &Self) {
        self.subtract_tiles(a, a, |row| row + 1);
    }

    /// Subtracts the first `count(row)` tiles of each row of tiles of `a · bᵀ`.
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

    /// Sets the diagonal of the padded rows and columns to 1 and includes them in the matrix.
    ///
    /// # Panics
    /// If the matrix is not square.
    pub(super) fn extend_by_identity(&mut self) {
        assert_eq!(self.rows, self.columns, "a square matrix");
        let size = self.rows;
        (self.rows, self.columns) = (size.next_multiple_of(SIDE), size.next_multiple_of(SIDE));
        (size..self.rows).for_each(|index| self[(index, index)] = 1.0);
    }

    /// Returns the number of entries of a panel.
    pub(super) fn panel(&self) -> usize {
        (SIDE * self.columns.next_multiple_of(SIDE)).max(1)
    }

    pub(super) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    pub(super) fn numbers_mut(&mut self) -> &mut [f64] {
        &mut self.numbers
    }

    /// Iterates over the panels.
    pub(super) fn panels_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let panel = self.panel();
        self.numbers.chunks_mut(panel)
    }

    fn panels(&self) -> impl Iterator<Item = &[f64]> {
        self.numbers.chunks(self.panel())
    }

    /// Returns the index of an entry in the storage.
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

/// Returns the tiles of a panel, or of a part of one.
pub(super) fn tiles_mut(panel: &mut [f64]) -> &mut [Tile] {
    panel.as_chunks_mut::<AREA>().0
}
