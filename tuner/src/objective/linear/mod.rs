//! Dense linear algebra: symmetric systems by Cholesky factorisation, and matrix products.
//!
//! The order of every sum depends on the sizes alone. So any number of threads computes the same bits, and so does any
//! processor with fused multiply-add.

mod cholesky;
mod matrix;
mod symmetric;
mod tile;

#[cfg(test)]
mod tests;

pub(crate) use cholesky::Cholesky;
pub(crate) use matrix::Matrix;
pub use symmetric::SymmetricMatrix;

/// Returns the scalar product of two vectors.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
