//! Standard errors of the parameters from the curvature at the minimum.
//!
//! A fitted parameter vector has the covariance `H⁻¹ J H⁻¹ / n`. `H` is the Gauss–Newton matrix of the objective at the
//! minimum, prior included: the Hessian that is expected if the predictions are right. `J` is the mean outer product of
//! the gradients of the rows. This sandwich estimator holds even if results do not scatter as the logistic curve
//! assumes. Positions of one game share its result: if games are known, `J` is summed over games instead of positions.
//! A row of weight `w` counts `w` times in `H`, its gradient counts `w` times in `J`, and `n` is the sum of all `w`.
//! The bias that the prior causes is not included. Matrices are sums over a sample of the rows if there are far
//! more than the estimate needs; a sum over games has all of them.
//!
//! The Hessian itself has further terms, residuals times second derivatives. Their mean is about 0, but in directions
//! that the data hardly determine their scatter can cancel the rest, and errors become far too large. Without these terms,
//! errors from little data are somewhat too small.
//!
//! If the prior dominates, the sandwich measures only the small scatter that the prior allows, not the distance from
//! the true value. So a parameter has an error only if the data contribute at least [`LEAST_SHARE`] of its second
//! derivative; the rest is the contribution of the prior.
//!
//! Errors belong to the centred parameters (see [`centre`](crate::model::centre)), which the data determine. The data
//! do not determine the split between a table and its counterpart.
//!
//! See White, Maximum Likelihood Estimation of Misspecified Models, <https://doi.org/10.2307/1912526>.

use crate::model::centre::Centring;
use crate::objective::linear::{Cholesky, Matrix, dot};
use crate::objective::{HessianKind, Objective, SymmetricMatrix};
use crate::optimize::{Limits, open_scales};

/// The ridge added to the scaled matrix, in parts of its diagonal. It is larger than the rounding errors of the sums
/// and keeps undetermined directions from making the matrix singular.
const RIDGE: f64 = 1e-6;

/// The number of rows per parameter that matrices are summed from; more are sampled. It determines an error to one or
/// two per cent.
const ENOUGH_ROWS: usize = 50;

/// The smallest share of a parameter's second derivative that the data must contribute for the parameter to have an
/// error. Below it, the scatter would be about the same without data.
const LEAST_SHARE: f64 = 0.1;

/// The standard errors of the parameters of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    /// By parameter, in its unit; `None` if it could not move or the prior dominates.
    pub by_parameter: Vec<Option<f64>>,
    /// The number of games or positions that the errors are computed from.
    pub clusters: usize,
}

/// Returns the standard errors at `theta`, a minimum of the objective; `None` if the matrix there is not finite.
///
/// `limits` are the limits of the fit: tied parameters share one error. `games`, if known, holds the game of each row.
///
/// # Panics
/// If the length of a slice does not match the objective.
pub fn standard_errors(
    objective: &Objective<'_>,
    theta: &[f64],
    limits: &Limits,
    centring: &Centring,
    games: Option<&[u32]>,
) -> Option<Errors> {
    let rows = objective.rows;
    let gathered = |mut matrix: SymmetricMatrix| {
        matrix.gather(limits.leaders());
        matrix
    };
    let scales: Vec<Vec<f64>> =
        open_scales(objective.model, theta, limits).iter().map(|powers| along(powers, theta)).collect();
    let moves = |parameter: usize| !limits.is_frozen(parameter);
    // Odd, because the sides to move alternate in the positions of a game.
    let stride = (rows.len() / (ENOUGH_ROWS * limits.free().len()).max(1)).saturating_sub(1) | 1;
    let sampled = |kind| gathered(objective.hessian_among(theta, kind, stride, &moves));
    let (free, scale, bread) = factorise(&sampled(HessianKind::GaussNewton), &scales, limits)?;
    let (outer, clusters) = match games {
        Some(games) => {
            let is_reported = |parameter: usize| free.binary_search(&limits.leaders()[parameter]).is_ok();
            let (outer, clusters) = objective.outer_by_group(theta, games, &is_reported);
            (gathered(outer), clusters)
        }
        None => (sampled(HessianKind::Outer), rows.len()),
    };
    let size = free.len();
    let meat = Matrix::from_fn(size, size, |i, j| outer.get(free[i], free[j]) * scale[i] * scale[j]);
    let reported: Vec<usize> = (0..theta.len()).filter(|&j| free.binary_search(&limits.leaders()[j]).is_ok()).collect();
    // One row for each centred parameter, one column for each free parameter.
    let mut spread = projections(&scales, &reported, (&free, &scale), limits, centring);
    bread.solve_rows(&mut spread);
    let shares = shares_of_data(objective, theta, limits);
    let mut product = Matrix::zeros(reported.len(), size);
    // The inner matrix of the sandwich is symmetric.
    product.subtract_product(&spread, &meat);
    let mut by_parameter = vec![None; theta.len()];
    for (i, &j) in reported.iter().enumerate().filter(|&(_, &j)| shares[j] >= LEAST_SHARE) {
        let variance: f64 = (0..size).map(|k| -product[(i, k)] * spread[(i, k)]).sum();
        by_parameter[j] = Some((variance.max(0.0) / rows.weight(1)).sqrt());
    }
    Some(Errors { by_parameter, clusters })
}

/// Returns, by parameter, the share of the second derivative that the data contribute. Tied parameters share one value.
fn shares_of_data(objective: &Objective<'_>, theta: &[f64], limits: &Limits) -> Vec<f64> {
    let [mut whole, mut prior] = [objective.gauss_newton_diagonal(theta), objective.prior.diagonal()];
    limits.gather(&mut whole);
    limits.gather(&mut prior);
    limits.leaders().iter().map(|&leader| 1.0 - prior[leader] / whole[leader]).collect()
}

/// Returns the unit vector along which a scale that no score depends on moves the parameters.
fn along(powers: &[f64], theta: &[f64]) -> Vec<f64> {
    let direction: Vec<f64> = powers.iter().zip(theta).map(|(power, value)| power * value).collect();
    let norm = dot(&direction, &direction).sqrt();
    direction.iter().map(|part| if norm > 0.0 { part / norm } else { 0.0 }).collect()
}

/// Returns the free parameters with a positive diagonal, the inverse square roots of that diagonal, and the Cholesky
/// factor of the matrix among them, scaled to a unit diagonal. A rank-one term stiffens each scale that no score
/// depends on, so that the scatter along it does not count.
fn factorise(
    matrix: &SymmetricMatrix,
    scales: &[Vec<f64>],
    limits: &Limits,
) -> Option<(Vec<usize>, Vec<f64>, Cholesky)> {
    let diagonal = matrix.diagonal();
    let is_free = |j: usize| !limits.is_frozen(j) && limits.leaders()[j] == j && diagonal[j] > 0.0;
    let free: Vec<usize> = (0..limits.size()).filter(|&j| is_free(j)).collect();
    let scale: Vec<f64> = free.iter().map(|&j| diagonal[j].sqrt().recip()).collect();
    let size = free.len();
    let mut scaled = Matrix::from_fn(size, size, |i, j| {
        let entry = matrix.get(free[i], free[j]) * scale[i] * scale[j];
        if i == j { entry + RIDGE } else { entry }
    });
    for direction in scales {
        let parts: Vec<f64> = free.iter().zip(&scale).map(|(&j, scale)| direction[j] / scale).collect();
        let square: f64 = parts.iter().map(|part| part * part).sum();
        for i in (0..size).filter(|&i| parts[i] != 0.0) {
            (0..size).for_each(|j| scaled[(i, j)] += parts[i] * parts[j] / square);
        }
    }
    Some((free, scale, Cholesky::new(scaled)?))
}

/// Returns the map from changes of the scaled free parameters to the reported centred parameters, one row for each.
fn projections(
    scales: &[Vec<f64>],
    reported: &[usize],
    (free, scale): (&[usize], &[f64]),
    limits: &Limits,
    centring: &Centring,
) -> Matrix {
    let mut map = Matrix::zeros(reported.len(), free.len());
    let mut row = vec![0.0; limits.size()];
    for (i, &j) in reported.iter().enumerate() {
        row.fill(0.0);
        row[j] = 1.0;
        centring.project_back(&mut row);
        for direction in scales {
            // No score depends on the position along this direction.
            let share: f64 = row.iter().zip(direction).map(|(entry, part)| entry * part).sum();
            row.iter_mut().zip(direction).for_each(|(entry, part)| *entry -= share * part);
        }
        // Tied parameters move with their leader.
        limits.gather(&mut row);
        for (k, &column) in free.iter().enumerate() {
            map[(i, k)] = row[column] * scale[k];
        }
    }
    map
}
