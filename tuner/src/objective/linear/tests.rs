use super::{Cholesky, Matrix};
use engine::random::Random;

/// Returns rows of random entries in −1..1.
fn drawn(random: &mut Random, rows: usize, columns: usize) -> Vec<Vec<f64>> {
    let number = |random: &mut Random| random.below(1 << 53) as f64 / (1_u64 << 52) as f64 - 1.0;
    (0..rows).map(|_| (0..columns).map(|_| number(random)).collect()).collect()
}

/// Returns `B Bᵀ` for a random `B`, with `ridge` added to the diagonal.
fn definite(random: &mut Random, size: usize, ridge: f64) -> Vec<Vec<f64>> {
    let rows = drawn(random, size, size);
    let entry = |i: usize, j: usize| -> f64 { rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum() };
    let entry = |i: usize, j: usize| entry(i, j) + if i == j { ridge } else { 0.0 };
    (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect()
}

fn matrix(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |i, j| rows[i][j])
}

/// Returns the lower triangle; entries above it are NaN, because they must not be read.
fn lower(rows: &[Vec<f64>]) -> Matrix {
    Matrix::from_fn(rows.len(), rows.len(), |i, j| if i >= j { rows[i][j] } else { f64::NAN })
}

fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, |largest, number| if number.abs() <= largest { largest } else { number.abs() })
}

/// Returns the largest entry of `|x A − b|`, relative to those of A and x. A backward stable method keeps it small.
fn residual(a: &[Vec<f64>], x: &Matrix, b: &[Vec<f64>]) -> f64 {
    let size = a.len();
    let row = |i: usize| -> f64 {
        let miss = |j: usize| (0..size).map(|k| x[(i, k)] * a[k][j]).sum::<f64>() - b[i][j];
        let scale = largest(a.iter().flatten().copied()) * largest((0..size).map(|k| x[(i, k)]));
        largest((0..size).map(miss)) / (scale + f64::MIN_POSITIVE)
    };
    largest((0..b.len()).map(row))
}

#[test]
fn solves_systems_of_any_size() {
    let mut random = Random::seeded(1);
    for size in (1..=200).chain([293]) {
        let a = definite(&mut random, size, 0.1);
        let count = 1 + size % 11;
        let right = drawn(&mut random, count, size);
        let mut x = matrix(&right);
        Cholesky::new(lower(&a)).unwrap().solve_rows(&mut x);
        let residual = residual(&a, &x, &right);
        assert!(residual < 1e-15 * (10 + size) as f64, "{size}: {residual:e}");
    }
}

#[test]
fn ill_conditioned_systems_have_small_residuals() {
    let mut random = Random::seeded(2);
    for size in [5, 8, 50, 100, 163] {
        let mut a = definite(&mut random, size, 1e-3);
        // Scales that differ by 12 powers of ten.
        let unit = |i: usize| 10_f64.powi((i * 7 % 13) as i32 - 6);
        for (i, row) in a.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(j, entry)| *entry *= unit(i) * unit(j));
        }
        let right = drawn(&mut random, 3, size);
        let mut x = matrix(&right);
        Cholesky::new(lower(&a)).unwrap().solve_rows(&mut x);
        let residual = residual(&a, &x, &right);
        assert!(residual < 1e-15 * (10 + size) as f64, "{size}: {residual:e}");
    }
    // The Hilbert matrix of size 8 has condition number 1.5e10 and an inverse of whole numbers.
    let mut inverse = Matrix::from_fn(8, 8, |i, j| f64::from(u8::from(i == j)));
    Cholesky::new(Matrix::from_fn(8, 8, |i, j| 1.0 / (i + j + 1) as f64)).unwrap().solve_rows(&mut inverse);
    for (at, expected) in [((0, 0), 64.0), ((7, 7), 176_679_360.0)] {
        assert!((inverse[at] / expected - 1.0).abs() < 1e-6, "{at:?}: {}", inverse[at]);
    }
}

#[test]
fn subtracts_products() {
    let mut random = Random::seeded(4);
    for (rows, columns, inner) in [(1, 1, 1), (3, 17, 9), (20, 5, 33), (4, 4, 0), (0, 3, 2)] {
        let (a, b) = (drawn(&mut random, rows, inner), drawn(&mut random, columns, inner));
        let from_rows = |rows: &[Vec<f64>]| Matrix::from_fn(rows.len(), inner, |i, j| rows[i][j]);
        let mut found = Matrix::from_fn(rows, columns, |i, j| (i + 2 * j) as f64);
        found.subtract_product(&from_rows(&a), &from_rows(&b));
        for i in 0..rows {
            for j in 0..columns {
                let product: f64 = a[i].iter().zip(&b[j]).map(|(a, b)| a * b).sum();
                assert!(((i + 2 * j) as f64 - product - found[(i, j)]).abs() < 1e-13, "{rows} by {columns}: {i}, {j}");
            }
        }
    }
}

#[test]
fn reports_indefinite_matrices() {
    let diagonal =
        |numbers: &[f64]| Matrix::from_fn(numbers.len(), numbers.len(), |i, j| if i == j { numbers[i] } else { 0.0 });
    for size in [1, 8, 20, 150] {
        for bad in [0, size / 2, size - 1] {
            let with = |number: f64| {
                let mut numbers = vec![4.0; size];
                numbers[bad] = number;
                diagonal(&numbers)
            };
            assert!(Cholesky::new(with(1e-300)).is_some());
            for number in [0.0, -1.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN] {
                assert!(Cholesky::new(with(number)).is_none(), "{number} at {bad} of {size}");
            }
            for number in [f64::INFINITY, f64::NAN] {
                assert!(Cholesky::replacing(with(number), 1e-9).is_none(), "{number} at {bad} of {size}");
            }
            for (number, definite) in [(1e-9, false), (-3.0, false), (0.0, false), (1.1e-9, true)] {
                let factor = Cholesky::replacing(with(number), 1e-9).unwrap();
                assert_eq!(factor.is_definite(), definite, "{number} at {bad} of {size}");
                // Replaced pivots are 1.
                let mut x = Matrix::from_fn(1, size, |_, _| 1.0);
                factor.solve_rows(&mut x);
                let expected = if definite { number.recip() } else { 1.0 };
                assert!((x[(0, bad)] / expected - 1.0).abs() < 1e-12);
                assert_eq!(x[(0, (bad + 1) % size)], if size == 1 { x[(0, bad)] } else { 0.25 });
            }
        }
    }
    // A matrix that is indefinite below the first block.
    let mut random = Random::seeded(5);
    let mut a = definite(&mut random, 180, 1.0);
    a[170][170] = -1.0;
    assert!(Cholesky::new(lower(&a)).is_none());
    assert!(!Cholesky::replacing(lower(&a), 1e-9).unwrap().is_definite());
}

#[test]
fn any_number_of_threads_computes_the_same_bits() {
    let mut random = Random::seeded(6);
    let a = definite(&mut random, 333, 0.5);
    let right = drawn(&mut random, 21, 333);
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut x = matrix(&right);
            Cholesky::new(lower(&a)).unwrap().solve_rows(&mut x);
            let mut product = Matrix::zeros(21, 21);
            product.subtract_product(&x, &matrix(&right));
            let bits = |matrix: &Matrix, columns: usize| -> Vec<u64> {
                (0..21 * columns).map(|at| matrix[(at / columns, at % columns)].to_bits()).collect()
            };
            (bits(&x, 333), bits(&product, 21))
        })
    };
    let alone = solve(1);
    assert!((2..=5).all(|threads| solve(threads) == alone));
}
