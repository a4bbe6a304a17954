//! Dense linear algebra, of what the tuner needs: symmetric systems by Cholesky's factorisation, and products.
//!
//! Every entry is summed in an order that follows from the sizes alone: the same bits come out of any number of threads,
//! and of any processor that fuses multiplications with additions.

mod cholesky;
mod matrix;
mod symmetric;
mod tile;

#[cfg(test)]
mod tests;

pub(crate) use cholesky::Cholesky;
pub(crate) use matrix::Matrix;
pub use symmetric::SymmetricMatrix;

/// Scalar product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
