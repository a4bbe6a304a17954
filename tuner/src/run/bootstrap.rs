//! Fits to samples that are drawn anew from the games: a check of the standard errors.

use engine::random::Random;

use super::{Bootstrap, Errors, Hooks, RunError, Settings};
use crate::model::centre::Centring;
use crate::objective::Objective;
use crate::optimize::{Lbfgs, Limits, Solver};
use crate::progress::Unit;

/// Norm of the gradient, relative to that of the start, at which a sample is fitted.
const TOLERANCE: f64 = 1e-5;

/// A fit that has been made.
pub(super) struct Fitted<'f> {
    pub(super) objective: &'f Objective<'f>,
    pub(super) theta: &'f [f64],
    pub(super) limits: &'f Limits,
    pub(super) centring: &'f Centring,
    pub(super) errors: Option<&'f Errors>,
}

/// Fits to as many samples as the settings say, of as many groups as there are, drawn with repetition; none if it was
/// interrupted before there were two.
pub(super) fn bootstrap(
    fitted: &Fitted<'_>,
    groups: &[u32],
    settings: &Settings,
    hooks: &Hooks<'_>,
) -> Result<Option<Bootstrap>, RunError> {
    let &Fitted { objective, theta, limits, centring, errors } = fitted;
    let mut order: Vec<u32> = (0..groups.len() as u32).collect();
    order.sort_by_key(|&row| (groups[row as usize], row));
    let clusters: Vec<&[u32]> = order.chunk_by(|&a, &b| groups[a as usize] == groups[b as usize]).collect();
    let mut random = Random::seeded(settings.seed);
    let size = theta.len();
    let (mut sums, mut squares) = (vec![0.0; size], vec![0.0; size]);
    hooks.progress.begin("bootstrap", settings.bootstrap as u64, Unit::Fits);
    let mut samples = 0;
    while samples < settings.bootstrap && !hooks.is_interrupted() {
        let mut drawn: Vec<u32> = Vec::with_capacity(groups.len());
        (0..clusters.len()).for_each(|_| drawn.extend(clusters[random.below(clusters.len() as u64) as usize]));
        drawn.sort_unstable();
        let sample = objective.rows.pick(drawn.iter().map(|&row| row as usize));
        let solver = Lbfgs { tolerance: TOLERANCE, ..Lbfgs::default() };
        let mut found = solver.minimize(&objective.over(&sample), theta, limits, None, &mut ())?.theta;
        centring.shift(&mut found);
        for (j, value) in found.iter().enumerate() {
            let change = value - theta[j];
            sums[j] += change;
            squares[j] += change * change;
        }
        samples += 1;
        hooks.progress.advance(1);
    }
    hooks.progress.end();
    if samples < 2 {
        return Ok(None);
    }
    let deviation = |j: usize| {
        let mean = sums[j] / samples as f64;
        ((squares[j] - sums[j] * mean) / (samples as f64 - 1.0).max(1.0)).max(0.0).sqrt()
    };
    let known = |j: usize| errors.and_then(|errors| errors.by_parameter[j]);
    let by_parameter: Vec<Option<f64>> = (0..size).map(|j| (!limits.is_frozen(j)).then(|| deviation(j))).collect();
    let pairs = (0..size).filter_map(|j| by_parameter[j].zip(known(j)));
    let mut ratios: Vec<f64> = pairs.filter(|(_, error)| *error > 0.0).map(|(found, error)| found / error).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    Ok(Some(Bootstrap { samples, by_parameter, ratio }))
}
