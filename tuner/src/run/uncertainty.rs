//! How sure each parameter is: standard errors from second derivatives at the minimum.
//!
//! A fitted parameter vector scatters with covariance `H⁻¹ J H⁻¹ / n`, where `H` are the second derivatives of the objective
//! there, prior included (the Gauss-Newton matrix where they are not positive definite), and `J` the mean outer product of the rows' gradients: the sandwich form, which holds whether or
//! not results scatter as the curve supposes. Positions of one game share its result; where games are known, `J` is summed
//! over games instead of positions. A row of weight `w` counts `w` times in `H`, its gradient `w` times in `J`, and `n` is
//! the sum of all `w`. What the pull to the start does to the expected value is not part of it. Both matrices are of a
//! sample of the games where there are many more than that takes.
//!
//! Where the prior decides, the sandwich says how little the prior lets a parameter scatter, and nothing of how far it is
//! from the truth. So a parameter has an error only if the data contribute at least [`LEAST_SHARE`] of what holds it where
//! it is: of the second derivative by that parameter alone, the part that is not the prior's.
//!
//! Errors are those of the centred parameters (see [`centre`](crate::model::centre)), of which the data say something; of a
//! table and its counterpart by themselves they say nothing.
//! See White, Maximum Likelihood Estimation of Misspecified Models, <https://doi.org/10.2307/1912526>.

use crate::linear::{Cholesky, Matrix, dot};
use crate::model::centre::Centring;
use crate::model::rows::Rows;
use crate::objective::{HessianKind, Objective, SymmetricMatrix};
use crate::optimize::{Limits, open_scales};

/// What is added to the matrix, in parts of its diagonal, so that directions of which nothing is known can be passed over:
/// above the rounding of its sums.
const RIDGE: f64 = 1e-6;

/// Games, or rows where games are not known, per free parameter: enough to know its error to a few per cent.
const ENOUGH_ROWS: usize = 200;

/// The share of the second derivative by a parameter that comes of the data, at least, if it is to have an error. With
/// less, its scatter without data would be about the same.
const LEAST_SHARE: f64 = 0.1;

/// Standard errors of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Errors {
    /// By parameter, in its unit; none where it could not move, or where the prior decides.
    pub by_parameter: Vec<Option<f64>>,
    /// Games or positions the errors rest on.
    pub clusters: usize,
}

/// Standard errors at `theta`, a minimum of the objective; none if the matrix there is not finite.
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
    let rows = objective.rows;
    let clusters = games.map_or(rows.len(), |games| 1 + games.windows(2).filter(|pair| pair[0] != pair[1]).count());
    let stride = (clusters / (ENOUGH_ROWS * limits.free().len()).max(1)).max(1);
    let numbers = sample(rows.len(), games, stride);
    let picked: Option<Rows> = (stride > 1).then(|| rows.pick(numbers.iter().copied()));
    let sampled = picked.as_ref().unwrap_or(rows);
    let over = objective.over(sampled);
    let gathered = |mut matrix: SymmetricMatrix| {
        matrix.gather(limits.leaders());
        matrix
    };
    let scales: Vec<Vec<f64>> =
        open_scales(objective.model, theta, limits).iter().map(|powers| along(powers, theta)).collect();
    let moves = |parameter: usize| !limits.is_frozen(parameter);
    let hessian = |kind| gathered(over.hessian_among(theta, kind, 1, &moves));
    let factorised = |kind| factorise(&hessian(kind), &scales, limits);
    let (free, scale, bread) = factorised(HessianKind::Full).or_else(|| factorised(HessianKind::GaussNewton))?;
    let (outer, clusters) = match games {
        Some(games) => {
            let games: Vec<u32> = numbers.iter().map(|&row| games[row]).collect();
            let is_told = |parameter: usize| free.binary_search(&limits.leaders()[parameter]).is_ok();
            let (outer, clusters) = over.outer_by_group(theta, &games, &is_told);
            (gathered(outer), clusters)
        }
        None => (hessian(HessianKind::Outer), sampled.len()),
    };
    let size = free.len();
    let meat = Matrix::from_fn(size, size, |i, j| outer.get(free[i], free[j]) * scale[i] * scale[j]);
    let told: Vec<usize> = (0..theta.len()).filter(|&j| free.binary_search(&limits.leaders()[j]).is_ok()).collect();
    // Its rows: the centred parameters by what moves them.
    let mut spread = projections(&scales, &told, (&free, &scale), limits, centring);
    bread.solve_rows(&mut spread);
    let shares = shares_of_data(objective, theta, limits);
    let mut product = Matrix::zeros(told.len(), size);
    // The meat is symmetric.
    product.subtract_product(&spread, &meat);
    let mut by_parameter = vec![None; theta.len()];
    for (i, &j) in told.iter().enumerate().filter(|&(_, &j)| shares[j] >= LEAST_SHARE) {
        let variance: f64 = (0..size).map(|k| -product[(i, k)] * spread[(i, k)]).sum();
        by_parameter[j] = Some((variance.max(0.0) / rows.weight(1)).sqrt());
    }
    Some(Errors { by_parameter, clusters: clusters * rows.len() / sampled.len() })
}

/// By parameter: the share of the second derivative that comes of the data; those that are tied have one.
fn shares_of_data(objective: &Objective<'_>, theta: &[f64], limits: &Limits) -> Vec<f64> {
    let [mut whole, mut prior] = [objective.gauss_newton_diagonal(theta), objective.prior_diagonal()];
    for (j, &leader) in limits.leaders().iter().enumerate().filter(|&(j, &leader)| j != leader) {
        whole[leader] += whole[j];
        prior[leader] += prior[j];
    }
    limits.leaders().iter().map(|&leader| 1.0 - prior[leader] / whole[leader]).collect()
}

/// The rows of every so-many-th game, or every so-many-th row where games are not known.
fn sample(rows: usize, games: Option<&[u32]>, stride: usize) -> Vec<usize> {
    match games {
        None => (0..rows).step_by(stride).collect(),
        Some(games) => {
            let mut game = 0;
            let is_wanted = |&row: &usize| {
                game += usize::from(row > 0 && games[row] != games[row - 1]);
                game % stride == 0
            };
            (0..rows).filter(is_wanted).collect()
        }
    }
}

/// The direction in which a scale that no score depends on moves parameters, of length 1.
fn along(powers: &[f64], theta: &[f64]) -> Vec<f64> {
    let direction: Vec<f64> = powers.iter().zip(theta).map(|(power, value)| power * value).collect();
    let norm = dot(&direction, &direction).sqrt();
    direction.iter().map(|part| if norm > 0.0 { part / norm } else { 0.0 }).collect()
}

/// The free parameters of which something is known, 1 / √ of their diagonal, and the matrix among them, scaled to a unit
/// diagonal and factorised. Along scales that no score depends on it is stiffened: what the rows scatter has no part there.
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

/// What a change of the free parameters, scaled, does to the centred ones that are told of: a row each.
fn projections(
    scales: &[Vec<f64>],
    told: &[usize],
    (free, scale): (&[usize], &[f64]),
    limits: &Limits,
    centring: &Centring,
) -> Matrix {
    let mut map = Matrix::zeros(told.len(), free.len());
    let mut row = vec![0.0; limits.size()];
    for (i, &j) in told.iter().enumerate() {
        row.fill(0.0);
        row[j] = 1.0;
        centring.project_back(&mut row);
        for direction in scales {
            // Along a scale that no score depends on, parameters mean nothing.
            let share: f64 = row.iter().zip(direction).map(|(entry, part)| entry * part).sum();
            row.iter_mut().zip(direction).for_each(|(entry, part)| *entry -= share * part);
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
