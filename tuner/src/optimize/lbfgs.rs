//! L-BFGS in the metric of a Gauss-Newton matrix.
//!
//! The initial inverse Hessian of every step is a Gauss-Newton matrix of a small sample of the rows, factorised once.
//! The gradients of the last steps correct it. If that does not suffice, the matrix is renewed at the current
//! parameters, from four times as many rows unless steps are still damped. It is renewed as soon as the steps since the
//! last renewal have cost as much as the next one will, so the total cost is close to that of the best schedule.
//! Damping of the matrix keeps steps within a trust radius, which follows from the success of the last steps. The first
//! step is a fit to a sample of the rows.
//! See Nocedal and Wright, Numerical Optimization, 2nd edition, sections 7.2 and 10.3.

use super::history::History;
use super::iterate::{BoundedProblem, Iterate, difference};
use super::metric::{Metric, SLACK};
use super::{FitLog, FitWork, Solver, Termination};
use crate::objective::Objective;
use crate::objective::linear::dot;

/// Growth factor of the number of rows from one matrix to the next, unless the last one was computed too far away.
const GROWTH: usize = 4;

/// Maximum number of renewals with the same number of rows.
const MOST_RENEWALS: u32 = 6;

/// Cost limit of the outer products of the first matrix, in passes. They may also cost as much as its factorisation.
const FIRST: f64 = 4.0;

/// Growth factor of the steps' cost between renewals, once the matrix contains all rows.
const PATIENCE: f64 = 2.0;

/// Smallest predicted relative decrease of a step; sums are not more accurate.
const LEAST_PROMISE: f64 = 1e-17;

/// A mean loss that counts as 0: results are predicted to 1e-9 points.
const NO_LOSS: f64 = 1e-18;

/// Number of steps over which the decrease of the loss is compared with `stall`.
const STALL_STEPS: u32 = 8;

/// The first step is a fit to at most one row in this many.
const HEAD_START: usize = 8;

/// Maximum number of rows of that fit.
const HEAD_START_MOST: usize = 1 << 18;

/// Minimum number of rows of that fit per parameter.
const HEAD_START_LEAST: usize = 25;

/// Number of rows of that fit in which a parameter must occur to be tuned.
const HEAD_START_SEEN: u32 = 100;

/// Tolerance of that fit: the norm of the gradient relative to its start.
const HEAD_START_TOLERANCE: f64 = 1e-3;

/// Initial trust radius: the root mean square step of a parameter, in centipawns at K = 1.
const RADIUS: f64 = 100.0;

/// The settings of L-BFGS within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lbfgs {
    /// Norm of the projected gradient at which a fit has converged, relative to `norm` or to its value at the start.
    pub tolerance: f64,
    /// The reference norm in the place of that at the start: the norm of an earlier fit that this one continues.
    pub norm: Option<f64>,
    /// Relative decrease of the loss over eight steps below which a fit ends without convergence.
    pub stall: f64,
    /// Maximum number of steps.
    pub max_steps: usize,
}

impl Default for Lbfgs {
    fn default() -> Self {
        // With kinks in the score, gradients do not converge to 0. At this stall the parameters change by less than
        // 0.01.
        Self { tolerance: 1e-8, norm: None, stall: 1e-10, max_steps: 5000 }
    }
}

impl Solver for Lbfgs {
    fn descend(&self, problem: &BoundedProblem<'_>, at: &mut Iterate, log: &mut FitLog<'_>) -> Termination {
        let costs = Costs::of(problem.objective);
        let goal = self.tolerance * self.norm.unwrap_or(at.norm);
        let mut state = LbfgsState {
            problem,
            history: History::default(),
            metric: None,
            diagonal: None,
            stride: costs.first_stride(),
            renewals: 0,
            spent: 0.0,
            patience: 1.0,
            radius: RADIUS / problem.objective.k * (at.theta.len() as f64).sqrt(),
            compared: (0, at.loss),
            costs,
            at,
        };
        let mut is_fresh = self.norm.is_none();
        loop {
            if let Some(termination) = log.step(state.at, self.max_steps) {
                return termination;
            }
            if state.at.norm <= goal {
                return Termination::Converged;
            }
            if std::mem::take(&mut is_fresh)
                && let Some(next) = state.head_start(&mut log.work)
            {
                *state.at = next;
                continue;
            }
            state.renew();
            if let Err(termination) = state.advance(&mut log.work) {
                return termination;
            }
            if state.is_stalled(self.stall) {
                return Termination::NoProgress;
            }
        }
    }
}

/// The state of L-BFGS.
struct LbfgsState<'p> {
    problem: &'p BoundedProblem<'p>,
    at: &'p mut Iterate,
    history: History,
    /// The metric, computed at the parameters of a step or near.
    metric: Option<Metric>,
    /// The Gauss-Newton diagonal of all rows, for matrices of a sample.
    diagonal: Option<Vec<f64>>,
    costs: Costs,
    /// Stride of the sampled rows.
    stride: usize,
    /// Number of renewals of the matrix with the same number of rows.
    renewals: u32,
    /// Cost of the passes and factorisations since the last renewal.
    spent: f64,
    /// Allowed ratio of that cost to the cost of a matrix.
    patience: f64,
    /// Trust radius of steps.
    radius: f64,
    /// Number of steps since the loss was last compared, and its value then.
    compared: (u32, f64),
}

impl LbfgsState<'_> {
    /// Takes the first step to the minimum over a sample of the rows, which costs little. Parameters that are rare in
    /// the sample do not move.
    fn head_start(&self, work: &mut FitWork) -> Option<Iterate> {
        let BoundedProblem { objective, limits, .. } = *self.problem;
        let rows = objective.rows;
        let wanted = (rows.len() / HEAD_START).min(HEAD_START_MOST).max(HEAD_START_LEAST * objective.parameters());
        let stride = rows.len() / wanted.max(1);
        if stride < HEAD_START {
            return None;
        }
        let sample = rows.pick((0..rows.len()).step_by(stride));
        let limits = limits.without_rare(&objective.model.occurrences(&sample), HEAD_START_SEEN);
        let solver = Lbfgs { tolerance: HEAD_START_TOLERANCE, ..Lbfgs::default() };
        let fit = solver.minimize(&objective.over(&sample), &self.at.theta, &limits).ok()?;
        work.passes += 1 + fit.work.passes.div_ceil(stride);
        work.outer_products += fit.work.outer_products;
        work.factorisations += fit.work.factorisations;
        let next = self.problem.iterate(fit.theta);
        (next.is_finite() && next.loss < self.at.loss).then_some(next)
    }

    /// Discards the matrix if the next one costs no more than the steps since it was computed. If steps are damped, the
    /// matrix is renewed with the same number of rows: it was computed too far away, not from too few rows.
    fn renew(&mut self) {
        let Some(metric) = &self.metric else { return };
        let is_far = metric.damping > 0.0 && self.renewals < MOST_RENEWALS;
        let next = if is_far { self.stride } else { (self.stride / GROWTH).max(1) };
        if self.spent < self.patience * self.costs.matrix(next) {
            return;
        }
        if is_far {
            self.renewals += 1;
        } else {
            self.renewals = 0;
            self.diagonal = None;
        }
        if self.stride == 1 {
            self.patience *= PATIENCE;
        }
        (self.stride, self.spent, self.metric) = (next, 0.0, None);
        // Correction pairs of another matrix, farther from the minimum, do more harm than good.
        self.history.pairs.clear();
    }

    /// Counts a step and returns true if the last ones have not decreased the loss noticeably.
    fn is_stalled(&mut self, stall: f64) -> bool {
        let (steps, before) = self.compared;
        if steps + 1 < STALL_STEPS {
            self.compared.0 += 1;
            return false;
        }
        self.compared = (0, self.at.loss);
        before - self.at.loss < stall * self.at.loss
    }

    /// Adapts the trust radius to the success of a step.
    fn learn_radius(&mut self, next: &Iterate, tried: f64) {
        /// Ratio of actual to predicted decrease above which the trust radius grows.
        const GOOD: f64 = 0.7;
        /// Factor of that growth.
        const LONGER: f64 = 3.0;
        let step = difference(&next.theta, &self.at.theta);
        let length = dot(&step, &step).sqrt();
        let predicted = -0.5 * dot(&step, &self.at.gradient);
        if length < 0.5 * tried {
            self.radius = length;
        } else if self.at.loss - next.loss > GOOD * predicted && LONGER * length > self.radius {
            self.radius = LONGER * length;
        }
    }

    /// Takes an accepted step, or returns the reason why there is none.
    fn advance(&mut self, work: &mut FitWork) -> Result<(), Termination> {
        let before = (work.passes, work.factorisations);
        let (next, tried) = self.step(work)?;
        self.learn_radius(&next, tried);
        self.spent += (work.passes - before.0) as f64 * self.costs.pass
            + (work.factorisations - before.1) as f64 * self.costs.factorisation;
        self.history.push(difference(&next.theta, &self.at.theta), difference(&next.gradient, &self.at.gradient));
        *self.at = next;
        Ok(())
    }

    /// Takes a quasi-Newton step, or a step in the metric alone if that fails. Returns the next iterate and the length
    /// of the tried step, or the reason why there is none.
    fn step(&mut self, work: &mut FitWork) -> Result<(Iterate, f64), Termination> {
        let (problem, at, stride, diagonal) = (self.problem, &*self.at, self.stride, &mut self.diagonal);
        let metric = || Metric::new(problem, &at.theta, stride, diagonal, work);
        let metric = self.metric.get_or_insert_with(metric);
        let mut held = at.held.clone();
        loop {
            let among = |(&slope, &held): (&f64, &bool)| if held { 0.0 } else { slope };
            let gradient: Vec<f64> = at.projected.iter().zip(&held).map(among).collect();
            metric.limit(self.radius, &held, &gradient, work);
            let mut direction = self.history.direction(|rest| metric.solve(&held, rest, work), &gradient);
            direction.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(part, _)| *part = 0.0);
            // The correction pairs may make the step too long, too.
            let excess = dot(&direction, &direction).sqrt() / (SLACK * self.radius);
            if excess > 1.0 {
                direction.iter_mut().for_each(|part| *part /= excess);
            }
            // A parameter at a bound that would leave it is held, and the step of the others is solved again.
            let target = problem.along(&at.theta, &direction, 1.0);
            let moving = || (0..held.len()).filter(|&j| direction[j] != 0.0);
            let stopped: Vec<usize> = moving().filter(|&j| target[j] == at.theta[j]).collect();
            if !stopped.is_empty() {
                stopped.into_iter().for_each(|j| held[j] = true);
                continue;
            }
            if -0.5 * dot(&direction, &gradient) < LEAST_PROMISE * at.loss.max(NO_LOSS) {
                return Err(Termination::Converged);
            }
            if let Some(next) = problem.line_search(at, &direction, &mut work.passes) {
                return Ok((next, dot(&direction, &direction).sqrt()));
            }
            if !self.history.pairs.is_empty() {
                self.history.pairs.clear();
                held.clone_from(&at.held);
                continue;
            }
            // A near bound shortens the step of a single parameter, which is held then.
            let short: Vec<usize> = moving().filter(|&j| target[j] != at.theta[j] + direction[j]).collect();
            if short.is_empty() {
                return Err(Termination::NoProgress);
            }
            short.into_iter().for_each(|j| held[j] = true);
        }
    }
}

/// The costs of passes and matrices, in about nanoseconds. Only the ratios matter.
struct Costs {
    rows: usize,
    pass: f64,
    /// Cost of the outer product of a row.
    row: f64,
    factorisation: f64,
}

impl Costs {
    /// Cost of an entry of a row in a pass.
    const ENTRY: f64 = 2.0;
    /// Cost of a row in a pass, without its entries.
    const ROW: f64 = 40.0;
    /// Cost of a pair of entries in an outer product.
    const PRODUCT: f64 = 1.0;
    /// Overhead of a row of an outer product, in entries.
    const OVERHEAD: f64 = 20.0;
    /// Cost of a factorisation, divided by the cube of the number of parameters.
    const CUBE: f64 = 0.02;

    fn of(objective: &Objective<'_>) -> Self {
        let rows = objective.rows;
        let entries = rows.entries_of_all() as f64 / rows.len() as f64;
        let row = Self::ENTRY * entries + Self::ROW;
        Costs {
            rows: rows.len(),
            pass: row * rows.len() as f64,
            row: row + Self::PRODUCT * entries * (entries + Self::OVERHEAD),
            factorisation: Self::CUBE * (objective.parameters() as f64).powi(3),
        }
    }

    /// Returns the cost of a matrix of every `stride`-th row and its factorisation.
    fn matrix(&self, stride: usize) -> f64 {
        self.rows.div_ceil(stride) as f64 * self.row + self.factorisation
    }

    /// Returns the stride of the first matrix.
    fn first_stride(&self) -> usize {
        let affordable = (FIRST * self.pass).max(self.factorisation) / self.row;
        (self.rows as f64 / affordable).ceil().max(1.0) as usize
    }
}

#[cfg(test)]
mod tests {
    use crate::objective::tests::{SIZE, THETA, model, rows};
    use crate::objective::{HessianKind, Objective, PriorScale};
    use crate::optimize::{Lbfgs, Limits, Solver, Termination};

    #[test]
    fn finds_the_known_minimum() {
        let model = model();
        let (rows, _) = rows(&model, 4000);
        // The targets are the expected results themselves, so the true parameters are the minimum.
        let targets: Vec<f32> = crate::objective::scores(&rows, &model, &THETA)
            .into_iter()
            .map(|score| crate::objective::expectation(1.0, score) as f32)
            .collect();
        let rows = rows.with_targets(&targets).unwrap();
        let objective = Objective::new(&rows, &model, 1.0).unwrap();
        let start: Vec<f64> = THETA.iter().map(|value| 0.7 * value + 6.0).collect();
        let fit = Lbfgs::default().minimize(&objective, &start, &Limits::none(SIZE)).unwrap();
        assert_eq!(fit.termination, Termination::Converged);
        assert!(fit.gradient_ratio <= 1e-8 && fit.loss < 1e-12, "{:e} {:e}", fit.gradient_ratio, fit.loss);
        // The score depends on the ratio of the last two parameters only.
        let ratio = THETA[11] / fit.theta[11];
        for (j, (found, truth)) in fit.theta.iter().zip(THETA).enumerate() {
            let found = if j < 11 { *found } else { ratio * found };
            assert!((found - truth).abs() < 1e-3, "{j}: {found} for {truth}");
        }
    }

    #[test]
    fn converges_to_a_stationary_point() {
        let model = model();
        let (rows, _) = rows(&model, 20_000);
        let objective = Objective::new(&rows, &model, 1.0).unwrap();
        let objective = objective.with_prior(1e-8, &THETA, PriorScale::Free).unwrap();
        let mut limits = Limits::none(SIZE);
        limits.freeze(11);
        let mut start = [40.0; SIZE];
        (start[11], start[12]) = (10.0, 10.0);
        let fit = Lbfgs::default().minimize(&objective, &start, &limits).unwrap();
        assert!(fit.termination == Termination::Converged && fit.gradient_ratio <= 1e-8);
        let (_, gradient) = objective.loss_and_gradient(&fit.theta);
        let hessian = objective.hessian(&fit.theta, HessianKind::GaussNewton);
        // The remaining gradient moves no parameter by more than 0.001.
        for j in (0..SIZE).filter(|&j| j != 11) {
            assert!(gradient[j].abs() < 1e-3 * hessian.get(j, j), "{j}: {:e}", gradient[j]);
        }
        assert!(fit.work.passes < 100 && fit.work.outer_products <= 4 * rows.len(), "{:?}", fit.work);
    }
}
