//! Eigenvalues of small symmetric matrices.

/// Sweeps until giving up; five or six are usual.
const SWEEPS: usize = 30;

/// The eigenvalues of a small symmetric matrix that are not 0, next to the largest, and an eigenvector of length 1 of each, by
/// Jacobi's method. See Golub and Van Loan, Matrix Computations, 4th edition, section 8.5.
pub(crate) fn eigen(mut a: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    let n = a.len();
    // By row: an eigenvector.
    let mut vectors: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let norm: f64 = a.iter().flatten().map(|entry| entry * entry).sum();
    for _ in 0..SWEEPS {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off <= 1e-30 * norm {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let ratio = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let tangent = ratio.signum() / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
                let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
                let sine = tangent * cosine;
                for row in &mut a {
                    (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
                }
                for k in 0..n {
                    (a[p][k], a[q][k]) = (cosine * a[p][k] - sine * a[q][k], sine * a[p][k] + cosine * a[q][k]);
                    (vectors[p][k], vectors[q][k]) =
                        (cosine * vectors[p][k] - sine * vectors[q][k], sine * vectors[p][k] + cosine * vectors[q][k]);
                }
            }
        }
    }
    let least = 1e-14 * norm.sqrt();
    let values = vectors.into_iter().enumerate().map(|(i, vector)| (a[i][i], vector));
    values.filter(|(value, _)| value.abs() > least).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::random::Random;

    /// A random symmetric matrix of a rank.
    fn drawn(random: &mut Random, size: usize, rank: usize) -> Vec<Vec<f64>> {
        let mut a = vec![vec![0.0; size]; size];
        for _ in 0..rank {
            let v: Vec<f64> = (0..size).map(|_| random.below(2001) as f64 / 1000.0 - 1.0).collect();
            let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
            for i in 0..size {
                (0..size).for_each(|j| a[i][j] += sign * v[i] * v[j]);
            }
        }
        a
    }

    #[test]
    fn values_and_vectors_make_the_matrix_again() {
        let mut random = Random::seeded(8);
        for size in 1..12 {
            for rank in 0..=size {
                let a = drawn(&mut random, size, rank);
                let pairs = eigen(a.clone());
                assert_eq!(pairs.len(), rank, "values that are 0 are left out");
                for i in 0..size {
                    for j in 0..size {
                        let entry: f64 = pairs.iter().map(|(value, vector)| value * vector[i] * vector[j]).sum();
                        assert!((entry - a[i][j]).abs() < 1e-12, "{size} {rank}: {entry} for {}", a[i][j]);
                    }
                }
                for (number, (_, first)) in pairs.iter().enumerate() {
                    for (other, (_, second)) in pairs.iter().enumerate() {
                        let product: f64 = first.iter().zip(second).map(|(a, b)| a * b).sum();
                        assert!((product - f64::from(u8::from(number == other))).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_diagonal_or_nothing_stays_so() {
        assert_eq!(eigen(vec![vec![0.0; 3]; 3]), []);
        assert_eq!(eigen(Vec::new()), []);
        let found = eigen(vec![vec![-2.0, 0.0], vec![0.0, 3.0]]);
        assert_eq!(found, [(-2.0, vec![1.0, 0.0]), (3.0, vec![0.0, 1.0])]);
        let [(large, _), (small, _)] = &eigen(vec![vec![1e9, 1.0], vec![1.0, 2e-3]])[..] else { panic!("two values") };
        assert!((large / 1e9 - 1.0).abs() < 1e-12 && (small - 1.999_999_999e-3).abs() < 1e-7, "{large} {small}");
    }
}
