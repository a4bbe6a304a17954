//! Standard errors of a run, and a bootstrap that checks them.

use engine::random::Random;

use super::report::{Bootstrap, Seconds};
use super::rounds::{Rounds, RunState};
use super::{Hooks, Job, TuneError, timed};
use crate::model::centre::Centring;
use crate::model::rows::Rows;
use crate::optimize::{Lbfgs, Solver};
use crate::progress::Unit;
use crate::uncertainty::{Errors, standard_errors};

/// What is asked about, and by whom.
pub(super) struct Asked<'a> {
    pub(super) job: &'a Job,
    pub(super) rounds: &'a Rounds<'a>,
    pub(super) state: &'a RunState,
    pub(super) centring: &'a Centring,
}

/// What is known of how sure the parameters are.
pub(super) struct Certainty {
    pub(super) errors: Option<Errors>,
    pub(super) bootstrap: Option<Bootstrap>,
}

impl Certainty {
    /// What the job asks for, at the best parameters so far.
    pub(super) fn find(
        asked: &Asked<'_>,
        rows: &Rows,
        groups: &[u32],
        hooks: &Hooks<'_>,
        seconds: &mut Seconds,
    ) -> Result<Self, TuneError> {
        let &Asked { job, rounds, state, centring } = asked;
        let mut certainty = Certainty { errors: None, bootstrap: None };
        if !job.errors && job.bootstrap == 0 {
            return Ok(certainty);
        }
        let objective = rounds.objective(rows, state)?;
        let games = rounds.dataset.games().map(|_| groups);
        let errors = || standard_errors(&objective, &state.best.theta, rounds.limits, centring, games);
        certainty.errors = timed(&mut seconds.errors, errors);
        if job.bootstrap > 0 {
            let bootstrap = || bootstrap(asked, rows, groups, &certainty.errors, hooks);
            certainty.bootstrap = timed(&mut seconds.errors, bootstrap)?;
        }
        Ok(certainty)
    }
}

/// Fits to as many samples as the job asks for, of as many groups as there are, drawn with repetition; none if it was
/// interrupted before there were two.
fn bootstrap(
    &Asked { job, rounds, state, centring }: &Asked<'_>,
    rows: &Rows,
    groups: &[u32],
    errors: &Option<Errors>,
    hooks: &Hooks<'_>,
) -> Result<Option<Bootstrap>, TuneError> {
    let mut order: Vec<u32> = (0..groups.len() as u32).collect();
    order.sort_by_key(|&row| (groups[row as usize], row));
    let clusters: Vec<&[u32]> = order.chunk_by(|&a, &b| groups[a as usize] == groups[b as usize]).collect();
    let mut random = Random::seeded(job.seed);
    let size = state.best.theta.len();
    let (mut sums, mut squares) = (vec![0.0; size], vec![0.0; size]);
    hooks.progress.begin("bootstrap", job.bootstrap as u64, Unit::Fits);
    let mut samples = 0;
    while samples < job.bootstrap && !hooks.is_interrupted() {
        let mut drawn: Vec<u32> = Vec::with_capacity(rows.len());
        (0..clusters.len()).for_each(|_| drawn.extend(clusters[random.below(clusters.len() as u64) as usize]));
        drawn.sort_unstable();
        let sample = rows.pick(drawn.iter().map(|&row| row as usize));
        let objective = rounds.objective(&sample, state)?;
        let solver = Lbfgs { tolerance: 1e-5, ..Lbfgs::default() };
        let mut theta = solver.minimize(&objective, &state.best.theta, rounds.limits, None, &mut ())?.theta;
        centring.shift(&mut theta);
        for (j, value) in theta.iter().enumerate() {
            let change = value - state.best.theta[j];
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
    let known = |j: usize| errors.as_ref().and_then(|errors| errors.by_parameter[j]);
    let by_parameter: Vec<Option<f64>> =
        (0..size).map(|j| (!rounds.limits.is_frozen(j)).then(|| deviation(j))).collect();
    let pairs = (0..size).filter_map(|j| by_parameter[j].zip(known(j)));
    let mut ratios: Vec<f64> = pairs.filter(|(_, error)| *error > 0.0).map(|(found, error)| found / error).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
    Ok(Some(Bootstrap { samples, by_parameter, ratio }))
}
