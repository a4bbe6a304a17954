//! Tiles of 8 by 8 numbers, which processors multiply in registers.

use crate::objective::vectors::{Loop, Vectors, run};

/// Number of rows and of columns of a tile.
pub(super) const SIDE: usize = 8;

/// Number of entries of a tile.
pub(super) const AREA: usize = SIDE * SIDE;

/// A tile in column-major order.
pub(super) type Tile = [f64; AREA];

/// Subtracts `a · bᵀ` from a tile. `a` and `b` consist of equally many columns of [`SIDE`] numbers.
#[inline]
pub(super) fn subtract_product(tile: &mut Tile, a: &[f64], b: &[f64]) {
    run(Product { tile, a, b });
}

/// Returns the transpose of a tile.
pub(super) fn transposed(tile: &Tile) -> Tile {
    std::array::from_fn(|place| tile[place % SIDE * SIDE + place / SIDE])
}

/// Replaces a symmetric tile by its Cholesky factor and every pivot up to `least` by 1. Reads the lower triangle only.
/// Returns the number of replaced pivots, or `None` if a pivot is not finite.
pub(super) fn factorise(tile: &mut Tile, least: f64) -> Option<usize> {
    let columns = columns_mut(tile);
    let mut replaced = 0;
    for j in 0..SIDE {
        let (done, rest) = columns.split_at_mut(j);
        let column = &mut rest[0];
        for other in done {
            let times = other[j];
            column[j..].iter_mut().zip(&other[j..]).for_each(|(entry, other)| *entry -= times * other);
        }
        if column[j] <= least {
            column[j] = 1.0;
            replaced += 1;
        }
        let root = column[j].sqrt();
        if !root.is_finite() {
            return None;
        }
        column[j] = root;
        column[j + 1..].iter_mut().for_each(|entry| *entry /= root);
    }
    Some(replaced)
}

/// Replaces `x` by `x · (lowerᵀ)⁻¹`.
pub(super) fn divide_by_transposed(x: &mut Tile, lower: &Tile) {
    let (x, lower) = (columns_mut(x), columns(lower));
    for j in 0..SIDE {
        let mut column = x[j];
        for k in 0..j {
            subtract_multiple(&mut column, &x[k], lower[k][j]);
        }
        x[j] = column.map(|entry| entry / lower[j][j]);
    }
}

/// Replaces `x` by `x · lower⁻¹`.
pub(super) fn divide(x: &mut Tile, lower: &Tile) {
    let (x, lower) = (columns_mut(x), columns(lower));
    for j in (0..SIDE).rev() {
        let mut column = x[j];
        for k in j + 1..SIDE {
            subtract_multiple(&mut column, &x[k], lower[j][k]);
        }
        x[j] = column.map(|entry| entry / lower[j][j]);
    }
}

/// A column of a tile.
type TileColumn = [f64; SIDE];

#[inline(always)]
fn columns(tile: &Tile) -> &[TileColumn] {
    tile.as_chunks().0
}

#[inline(always)]
fn columns_mut(tile: &mut Tile) -> &mut [TileColumn] {
    tile.as_chunks_mut().0
}

#[inline(always)]
fn subtract_multiple(column: &mut TileColumn, other: &TileColumn, times: f64) {
    column.iter_mut().zip(other).for_each(|(entry, other)| *entry -= other * times);
}

/// Adds `times · other` to a column.
#[inline(always)]
fn add_multiple(sum: &mut TileColumn, other: &TileColumn, times: f64, vectors: Vectors) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum = if vectors.fused { other.mul_add(times, *sum) } else { *sum + other * times };
    }
}

struct Product<'p> {
    tile: &'p mut Tile,
    a: &'p [f64],
    b: &'p [f64],
}

impl Product<'_> {
    /// Computes `COLUMNS` columns of the tile at once, as many as fit into the registers.
    #[inline(always)]
    fn subtract<const COLUMNS: usize>(self, vectors: Vectors) {
        let (a, b) = (self.a.as_chunks::<SIDE>().0, self.b.as_chunks::<SIDE>().0);
        for (part, columns) in columns_mut(self.tile).as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
            let mut sums = [[0.0; SIDE]; COLUMNS];
            for (a, b) in a.iter().zip(b) {
                for (j, sum) in sums.iter_mut().enumerate() {
                    add_multiple(sum, a, b[part * COLUMNS + j], vectors);
                }
            }
            for (column, sum) in columns.iter_mut().zip(&sums) {
                subtract_multiple(column, sum, 1.0);
            }
        }
    }
}

impl Loop for Product<'_> {
    #[inline(always)]
    fn run(self, vectors: Vectors) {
        if vectors.wide { self.subtract::<SIDE>(vectors) } else { self.subtract::<{ SIDE / 2 }>(vectors) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::random::Random;

    #[test]
    fn all_vector_widths_compute_the_same_bits() {
        let mut random = Random::seeded(7);
        let mut numbers = |count| -> Vec<f64> { (0..count).map(|_| random.below(1 << 53) as f64 / 1e15).collect() };
        let (a, b) = (numbers(5 * AREA), numbers(5 * AREA));
        let found = |fused, wide| {
            let mut tile = [1.0; AREA];
            Product { tile: &mut tile, a: &a, b: &b }.run(Vectors { fused, wide });
            tile
        };
        let fused = found(true, true);
        assert_eq!(found(true, false), fused);
        assert_eq!(found(false, true), found(false, false));
        let pairs = found(false, false).into_iter().zip(fused);
        pairs.for_each(|(plain, fused)| assert!((plain / fused - 1.0).abs() < 1e-14, "{plain}, {fused}"));
        let sum: f64 = (0..5 * SIDE).map(|k| a[k * SIDE + 2] * b[k * SIDE + 3]).sum();
        assert!(((1.0 - sum) / fused[3 * SIDE + 2] - 1.0).abs() < 1e-14);
    }
}
