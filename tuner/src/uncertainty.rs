//! How sure each parameter is: standard errors from the curvature at the minimum.
//!
//! A fitted parameter vector scatters with covariance `H⁻¹ J H⁻¹ / n`, where `H` is the curvature of the objective
//! there, prior included, and `J` the mean outer product of the rows' gradients: the sandwich form, which holds
//! whether or not results scatter as the curve supposes. Positions of one game share its result; where games are
//! known, `J` is summed over games instead of positions. What the pull to the start does to the expected value is not
//! part of it.
//!
//! Errors are those of the centred parameters (see [`normalize`](crate::normalize)), of which the data say something;
//! of a table and its material by themselves they say nothing.
//! See White, Maximum Likelihood Estimation of Misspecified Models, <https://doi.org/10.2307/1912526>.

use crate::linear::{Cholesky, Matrix};
use crate::normalize::Centring;
use crate::objective::{Curvature, CurvatureKind, Objective};
use crate::optimize::{Limits, open_weights};

/// What is added to the curvature, in parts of its diagonal, so that directions of which nothing is known can be passed
/// over: above the rounding of its sums. More if that does not make it positive definite.
const RIDGES: [f64; 3] = [1e-6, 1e-4, 1e-2];

/// Standard errors of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    /// By parameter, in its unit; none where it could not move.
    pub by_parameter: Vec<Option<f64>>,
    /// Games or positions the errors rest on.
    pub clusters: usize,
}

/// Standard errors at `theta`, a minimum of the objective; none if the curvature there is not positive definite.
///
/// `limits` are those of the fit: parameters that are tied have one error. `games`, where they are known, say of each
/// row to which it belongs.
///
/// # Panics
/// If a slice does not fit the objective.
pub fn standard_errors(
    objective: &Objective<'_>,
    theta: &[f64],
    limits: &Limits,
    centring: &Centring,
    games: Option<&[u32]>,
) -> Option<Errors> {
    let curvature = |kind| {
        let mut curvature = objective.curvature(theta, kind);
        curvature.gather(limits.leaders());
        curvature
    };
    let factorise = |kind| factorise(&curvature(kind), theta, limits);
    let (free, scale, bread) = factorise(CurvatureKind::Full).or_else(|| factorise(CurvatureKind::GaussNewton))?;
    let rows = objective.rows().len();
    let (outer, clusters) = match games {
        Some(games) => {
            let (mut outer, clusters) = objective.outer_by_group(theta, games);
            outer.gather(limits.leaders());
            (outer, clusters)
        }
        None => (curvature(CurvatureKind::Outer), rows),
    };
    let size = free.len();
    let meat = Matrix::from_fn(size, size, |i, j| outer.get(free[i], free[j]) * scale[i] * scale[j]);
    let told: Vec<usize> = (0..theta.len()).filter(|&j| free.contains(&limits.leaders()[j])).collect();
    // Its rows: the centred parameters by what moves them.
    let mut spread = projections(theta, &told, (&free, &scale), limits, centring);
    bread.solve_rows(&mut spread);
    let mut product = Matrix::zeros(told.len(), size);
    // The meat is symmetric.
    product.subtract_product(&spread, &meat);
    let mut by_parameter = vec![None; theta.len()];
    for (i, &j) in told.iter().enumerate() {
        let variance: f64 = (0..size).map(|k| -product[(i, k)] * spread[(i, k)]).sum();
        by_parameter[j] = Some((variance.max(0.0) / rows as f64).sqrt());
    }
    Some(Errors { by_parameter, clusters })
}

/// The free parameters of which something is known, 1 / √ of their curvatures, and the curvature among them, scaled to a
/// unit diagonal and factorised.
///
/// Where the common scale of the phase weights is open, the curvature is next to nothing along it. Rounded parameters
/// can make it so little less than nothing that a ridge makes up for it almost exactly, and the errors of all parameters
/// go up without bound. So it is stiffened there; what the rows scatter has no part along it.
fn factorise(curvature: &Curvature, theta: &[f64], limits: &Limits) -> Option<(Vec<usize>, Vec<f64>, Cholesky)> {
    let diagonal = curvature.diagonal();
    let is_free = |j: usize| !limits.is_frozen(j) && limits.leaders()[j] == j && diagonal[j] > 0.0;
    let free: Vec<usize> = (0..limits.size()).filter(|&j| is_free(j)).collect();
    let scale: Vec<f64> = free.iter().map(|&j| diagonal[j].sqrt().recip()).collect();
    let size = free.len();
    let weights = open_weights(theta, limits).unwrap_or_default();
    let along = |i: usize| if weights.contains(&free[i]) { theta[free[i]] / scale[i] } else { 0.0 };
    let ray: Vec<f64> = (0..size).map(along).collect();
    let square: f64 = ray.iter().map(|along| along * along).sum();
    let stiffness = if square > 0.0 { square.recip() } else { 0.0 };
    RIDGES.iter().find_map(|ridge| {
        let matrix = Matrix::from_fn(size, size, |i, j| {
            let entry = curvature.get(free[i], free[j]) * scale[i] * scale[j] + stiffness * ray[i] * ray[j];
            if i == j { entry + ridge } else { entry }
        });
        Some((free.clone(), scale.clone(), Cholesky::new(matrix)?))
    })
}

/// What a change of the free parameters, scaled, does to the centred ones that are told of: a row each.
fn projections(
    theta: &[f64],
    told: &[usize],
    (free, scale): (&[usize], &[f64]),
    limits: &Limits,
    centring: &Centring,
) -> Matrix {
    let weights = open_weights(theta, limits).unwrap_or_default();
    let square: f64 = theta[weights.clone()].iter().map(|weight| weight * weight).sum();
    let mut map = Matrix::zeros(told.len(), free.len());
    let mut row = vec![0.0; theta.len()];
    for (i, &j) in told.iter().enumerate() {
        row.fill(0.0);
        row[j] = 1.0;
        centring.project_back(&mut row);
        if square > 0.0 && weights.contains(&j) {
            // Along their common scale the weights mean nothing.
            weights.clone().for_each(|k| row[k] -= theta[j] * theta[k] / square);
        }
        // Whoever is tied moves with its leader.
        for (k, &leader) in limits.leaders().iter().enumerate() {
            if leader != k {
                row[leader] += std::mem::take(&mut row[k]);
            }
        }
        for (k, &column) in free.iter().enumerate() {
            map[(i, k)] = row[column] * scale[k];
        }
    }
    map
}
