//! Symmetric positive definite matrices, small ones.

/// A matrix A factorised as UᵀU, where U has zeros below its diagonal.
pub(super) struct Factor {
    /// The rows of U; entries below the diagonal are ignored.
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// Factorises a matrix, ignoring entries below the diagonal; `None` if it is singular or not definite.
    /// See <https://en.wikipedia.org/wiki/Cholesky_decomposition>.
    // Whole rows are subtracted, so that the compiler can take several numbers at a time.
    pub(super) fn new(mut rows: Vec<Vec<f64>>) -> Option<Self> {
        let scale = (0..rows.len()).map(|index| rows[index][index]).fold(0.0_f64, f64::max);
        for pivot in 0..rows.len() {
            let (done, left) = rows.split_at_mut(pivot + 1);
            let row = &mut done[pivot];
            if row[pivot].is_nan() || row[pivot] <= 1e-12 * scale {
                return None;
            }
            let root = row[pivot].sqrt();
            row[pivot..].iter_mut().for_each(|value| *value /= root);
            for (below, other) in left.iter_mut().enumerate() {
                let index = pivot + 1 + below;
                subtract(&mut other[index..], row[index], &row[index..]);
            }
        }
        Some(Factor { rows })
    }

    /// The x of A x = b.
    pub(super) fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        for (index, row) in self.rows.iter().enumerate() {
            b[index] /= row[index];
            let (done, left) = b.split_at_mut(index + 1);
            subtract(left, done[index], &row[index + 1..]);
        }
        for (index, row) in self.rows.iter().enumerate().rev() {
            let rest: f64 = row[index + 1..].iter().zip(&b[index + 1..]).map(|(u, x)| u * x).sum();
            b[index] = (b[index] - rest) / row[index];
        }
        b
    }

    /// The rows of the inverse of A.
    pub(super) fn inverse(&self) -> Vec<Vec<f64>> {
        let size = self.rows.len();
        let unit = |row: usize| (0..size).map(|column| f64::from(u8::from(row == column))).collect();
        (0..size).map(|row| self.solve(unit(row))).collect()
    }
}

/// Subtracts so many times some values from others.
fn subtract(from: &mut [f64], times: f64, values: &[f64]) {
    for (from, value) in from.iter_mut().zip(values) {
        *from -= times * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_undo() {
        // The Hilbert matrix of size 5, whose inverse has whole numbers.
        // See <https://en.wikipedia.org/wiki/Hilbert_matrix>.
        let rows = |size: u32| (0..size).map(|i| (0..size).map(|j| 1.0 / f64::from(i + j + 1)).collect()).collect();
        let inverse = Factor::new(rows(5)).unwrap().inverse();
        for (row, expected) in inverse.iter().zip([
            [25.0, -300.0, 1050.0, -1400.0, 630.0],
            [-300.0, 4800.0, -18900.0, 26880.0, -12600.0],
            [1050.0, -18900.0, 79380.0, -117_600.0, 56700.0],
            [-1400.0, 26880.0, -117_600.0, 179_200.0, -88200.0],
            [630.0, -12600.0, 56700.0, -88200.0, 44100.0],
        ]) {
            assert!(row.iter().zip(expected).all(|(found, expected)| (found / expected - 1.0).abs() < 1e-8), "{row:?}");
        }
        assert!(Factor::new(vec![vec![1.0, -1.0], vec![-1.0, 1.0]]).is_none());
        assert!(Factor::new(vec![vec![1.0, 2.0], vec![2.0, 1.0]]).is_none());
    }
}
