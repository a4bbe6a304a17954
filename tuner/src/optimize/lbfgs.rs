//! L-BFGS in the metric of a Gauss-Newton matrix.
//!
//! The matrix of a small sample of the rows, factorised once, does for a good first guess of every step; what it does not
//! know the gradients tell. Where that does not suffice, the matrix is renewed at the present parameters, of four times as
//! many rows unless steps still have to be damped: as soon as the steps since the last one have taken as long as the next
//! one will, so that neither matrices nor steps take much longer than with the best choice of them. Steps are no longer
//! than the last ones have shown to be of use, by damping of the matrix; the first one is a fit to a sample of the rows.
//! See Nocedal and Wright, Numerical Optimization, 2nd edition, sections 7.2 and 10.3.

use super::history::History;
use super::iterate::{Iterate, Problem, difference};
use super::metric::{Metric, SLACK};
use super::run::{Iteration, Iterative};
use super::{Solver, Termination, Work};
use crate::linear::dot;
use crate::objective::Objective;
use std::ops::ControlFlow;

/// How many times more rows each matrix has than the one before it, unless that was made too far away.
const GROWTH: usize = 4;

/// How often a matrix is made anew of as many rows.
const MOST_RENEWALS: u32 = 6;

/// The outer products of the first matrix take at most as long as so many passes, or as its factorisation.
const FIRST: f64 = 4.0;

/// Once a matrix is of all rows, the next one must wait so many times as long as the one before it.
const PATIENCE: f64 = 2.0;

/// A step that promises to lower the loss by a smaller share is none: sums have no more digits.
const LEAST_PROMISE: f64 = 1e-17;

/// A mean loss that is as good as none: results are predicted to a thousandth of a millionth of a point.
const NO_LOSS: f64 = 1e-18;

/// So many steps that together take less than a share off the loss end a fit.
const STALL_STEPS: u32 = 8;

/// The first step is a fit to one row of so many.
const HEAD_START: usize = 8;

/// Most rows of that fit.
const HEAD_START_MOST: usize = 1 << 18;

/// Fewest rows of that fit for each parameter.
const HEAD_START_LEAST: usize = 25;

/// Rows of that fit in which a parameter must occur to be moved.
const HEAD_START_SEEN: u32 = 100;

/// The share of the gradient that may be left of that fit.
const HEAD_START_TOLERANCE: f64 = 1e-3;

/// How long the first step may be, in centipawns of K = 1 for each parameter, in the root of the mean square.
const RADIUS: f64 = 100.0;

/// L-BFGS within bounds; see the module's description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lbfgs {
    /// Norm of the projected gradient, relative to that of the start or to `norm`, at which a fit has converged.
    pub tolerance: f64,
    /// The norm that counts instead of that of the start: that of another fit, where this one goes on.
    pub norm: Option<f64>,
    /// Share of the loss that eight steps must take off it: with less, a fit ends without convergence.
    pub stall: f64,
    /// Most steps taken.
    pub max_steps: usize,
}

impl Default for Lbfgs {
    fn default() -> Self {
        // Where a score has kinks, gradients do not go to 0, and what is left to gain is no hundredth of a parameter.
        Self { tolerance: 1e-8, norm: None, stall: 1e-10, max_steps: 5000 }
    }
}

/// When the matrix is renewed, and of how many rows.
struct Schedule {
    /// The matrix is of every so-many-th row.
    stride: usize,
    /// How often one of as many rows was made anew.
    renewals: u32,
    /// What the passes and the factorisations since then have taken.
    spent: f64,
    /// How many times as long as a matrix they may take.
    patience: f64,
    /// How long steps may be.
    radius: f64,
    /// Steps since the loss was last compared, and what it was then.
    compared: (u32, f64),
}

impl Iterative for Lbfgs {
    fn max_steps(&self) -> usize {
        self.max_steps
    }

    fn begin<'p>(&'p self, problem: &'p Problem<'p>, start: Iterate) -> Box<dyn Iteration + 'p> {
        let costs = Costs::of(problem.objective);
        let radius = RADIUS / problem.objective.k * (start.theta.len() as f64).sqrt();
        Box::new(LbfgsIteration {
            problem,
            is_fresh: self.norm.is_none(),
            goal: self.tolerance * self.norm.unwrap_or(start.norm),
            stall: self.stall,
            history: History::default(),
            schedule: Schedule {
                stride: costs.first_stride(),
                renewals: 0,
                spent: 0.0,
                patience: 1.0,
                radius,
                compared: (0, start.loss),
            },
            at: start,
            metric: None,
            diagonal: None,
            costs,
        })
    }
}

/// L-BFGS under way.
struct LbfgsIteration<'p> {
    problem: &'p Problem<'p>,
    /// Whether it stands at its start.
    is_fresh: bool,
    /// Norm of the gradient that is small enough.
    goal: f64,
    stall: f64,
    at: Iterate,
    history: History,
    schedule: Schedule,
    /// Where it was made, and the metric.
    metric: Option<(Vec<f64>, Metric)>,
    /// The diagonal of all rows, for matrices of some of them.
    diagonal: Option<Vec<f64>>,
    costs: Costs,
}

impl LbfgsIteration<'_> {
    /// The first step: to the minimum over a sample of the rows, of which much is learnt at little cost. What is rare there
    /// stays where it is.
    fn head_start(&self, work: &mut Work) -> Option<Iterate> {
        let Problem { objective, limits, .. } = *self.problem;
        let rows = objective.rows;
        let wanted = (rows.len() / HEAD_START).min(HEAD_START_MOST).max(HEAD_START_LEAST * objective.parameters());
        let stride = rows.len() / wanted.max(1);
        if stride < HEAD_START {
            return None;
        }
        let sample = rows.pick((0..rows.len()).step_by(stride));
        let limits = limits.without_rare(&objective.model.occurrences(&sample), HEAD_START_SEEN);
        let solver = Lbfgs { tolerance: HEAD_START_TOLERANCE, ..Lbfgs::default() };
        let fit = solver.minimize(&objective.over(&sample), &self.at.theta, &limits, &mut ()).ok()?;
        work.passes += 1 + fit.work.passes.div_ceil(stride);
        work.outer_products += fit.work.outer_products;
        work.factorisations += fit.work.factorisations;
        let next = self.problem.iterate(fit.theta);
        (next.is_finite() && next.loss < self.at.loss).then_some(next)
    }

    /// Gives up the matrix if the next one will not take longer than the steps since it was made. Where steps are damped,
    /// it is the place of the matrix that is out of date, not its rows that are too few.
    fn renew(&mut self) {
        let Some((_, metric)) = &self.metric else { return };
        let is_far = metric.damping > 0.0 && self.schedule.renewals < MOST_RENEWALS;
        let next = if is_far { self.schedule.stride } else { (self.schedule.stride / GROWTH).max(1) };
        if self.schedule.spent < self.schedule.patience * self.costs.matrix(next) {
            return;
        }
        if is_far {
            self.schedule.renewals += 1;
        } else {
            self.schedule.renewals = 0;
            self.diagonal = None;
        }
        if self.schedule.stride == 1 {
            self.schedule.patience *= PATIENCE;
        }
        (self.schedule.stride, self.schedule.spent, self.metric) = (next, 0.0, None);
        // What was learnt beside another matrix, farther from the minimum, does more harm than good beside this one.
        self.history.clear();
    }

    /// Counts a step; whether the last ones have brought next to nothing.
    fn is_stalled(&mut self) -> bool {
        let (steps, before) = self.schedule.compared;
        if steps + 1 < STALL_STEPS {
            self.schedule.compared.0 += 1;
            return false;
        }
        self.schedule.compared = (0, self.at.loss);
        before - self.at.loss < self.stall * self.at.loss
    }

    /// Learns from a step how long steps may be.
    fn learn_radius(&mut self, next: &Iterate, tried: f64) {
        /// A step that brings this share of what was predicted may be followed by one that is longer by this factor.
        const GOOD: f64 = 0.7;
        const LONGER: f64 = 3.0;
        let step = difference(&next.theta, &self.at.theta);
        let length = dot(&step, &step).sqrt();
        let predicted = -0.5 * dot(&step, &self.at.gradient);
        if length < 0.5 * tried {
            self.schedule.radius = length;
        } else if self.at.loss - next.loss > GOOD * predicted && LONGER * length > self.schedule.radius {
            self.schedule.radius = LONGER * length;
        }
    }

    /// The next iterate, by all that is known or else by the metric alone, and the length of the step that was tried; why
    /// there is none, if so.
    fn step(&mut self, work: &mut Work) -> Result<(Iterate, f64), Termination> {
        let (problem, at, stride) = (self.problem, &self.at, self.schedule.stride);
        let diagonal = &mut self.diagonal;
        let metric = || (at.theta.clone(), Metric::new(problem, &at.theta, stride, diagonal, work));
        let (_, metric) = self.metric.get_or_insert_with(metric);
        let mut held = at.held.clone();
        loop {
            let among = |(&slope, &held): (&f64, &bool)| if held { 0.0 } else { slope };
            let gradient: Vec<f64> = at.projected.iter().zip(&held).map(among).collect();
            metric.limit(self.schedule.radius, &held, &gradient, work);
            let mut direction = self.history.direction(|rest| metric.solve(&held, rest, work), &gradient);
            direction.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(part, _)| *part = 0.0);
            // What the history adds may be too long, too.
            let excess = dot(&direction, &direction).sqrt() / (SLACK * self.schedule.radius);
            if excess > 1.0 {
                direction.iter_mut().for_each(|part| *part /= excess);
            }
            // What stands at a bound and would leave it stays there: the others cannot count on its step.
            let (value, part) = (|j: usize| at.theta[j], |j: usize| direction[j]);
            let is_stopped = |j: &usize| part(*j) != 0.0 && problem.limits.clamp(*j, value(*j) + part(*j)) == value(*j);
            let stopped: Vec<usize> = (0..held.len()).filter(is_stopped).collect();
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
            if !self.history.is_empty() {
                self.history.clear();
                held.clone_from(&at.held);
                continue;
            }
            // A bound that is near shortens the step of one alone.
            let is_short =
                |j: &usize| part(*j) != 0.0 && problem.limits.clamp(*j, value(*j) + part(*j)) != value(*j) + part(*j);
            let short: Vec<usize> = (0..held.len()).filter(is_short).collect();
            if short.is_empty() {
                return Err(Termination::NoProgress);
            }
            short.into_iter().for_each(|j| held[j] = true);
        }
    }
}

impl Iteration for LbfgsIteration<'_> {
    fn iterate(&self) -> &Iterate {
        &self.at
    }

    fn advance(&mut self, work: &mut Work) -> ControlFlow<Termination> {
        if self.at.norm <= self.goal {
            return ControlFlow::Break(Termination::Converged);
        }
        if std::mem::take(&mut self.is_fresh)
            && let Some(next) = self.head_start(work)
        {
            self.at = next;
            return ControlFlow::Continue(());
        }
        self.renew();
        let before = (work.passes, work.factorisations);
        let (next, tried) = match self.step(work) {
            Ok(found) => found,
            Err(termination) => return ControlFlow::Break(termination),
        };
        self.learn_radius(&next, tried);
        self.schedule.spent += (work.passes - before.0) as f64 * self.costs.pass
            + (work.factorisations - before.1) as f64 * self.costs.factorisation;
        self.history.push(difference(&next.theta, &self.at.theta), difference(&next.gradient, &self.at.gradient));
        self.at = next;
        if self.is_stalled() { ControlFlow::Break(Termination::NoProgress) } else { ControlFlow::Continue(()) }
    }
}

/// What passes and matrices take, in about a nanosecond, of which only the ratios matter.
struct Costs {
    rows: usize,
    pass: f64,
    /// Of the outer product of a row.
    row: f64,
    factorisation: f64,
}

impl Costs {
    /// Of an entry of a row in a pass.
    const ENTRY: f64 = 2.0;
    /// Of a row in a pass, its entries aside.
    const ROW: f64 = 40.0;
    /// Of two entries of a row in an outer product, and how many of them the beginning of a row of it is worth.
    const PRODUCT: f64 = 1.0;
    const OVERHEAD: f64 = 20.0;
    /// Of a cubed parameter in a factorisation.
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

    fn matrix(&self, stride: usize) -> f64 {
        self.rows.div_ceil(stride) as f64 * self.row + self.factorisation
    }

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
    fn the_known_minimum_is_found() {
        let model = model();
        let (rows, _) = rows(&model, 4000);
        // The expectations themselves are what is to be found again.
        let targets: Vec<f32> = crate::objective::scores(&rows, &model, &THETA)
            .into_iter()
            .map(|score| crate::objective::expectation(1.0, score) as f32)
            .collect();
        let rows = rows.with_targets(&targets).unwrap();
        let objective = Objective::new(&rows, &model, 1.0).unwrap();
        let start: Vec<f64> = THETA.iter().map(|value| 0.7 * value + 6.0).collect();
        let fit = Lbfgs::default().minimize(&objective, &start, &Limits::none(SIZE), &mut ()).unwrap();
        assert_eq!(fit.termination, Termination::Converged);
        assert!(fit.gradient_ratio <= 1e-8 && fit.loss < 1e-12, "{:e} {:e}", fit.gradient_ratio, fit.loss);
        // Of the last two only the ratio matters.
        let ratio = THETA[11] / fit.theta[11];
        for (j, (found, truth)) in fit.theta.iter().zip(THETA).enumerate() {
            let found = if j < 11 { *found } else { ratio * found };
            assert!((found - truth).abs() < 1e-3, "{j}: {found} for {truth}");
        }
    }

    #[test]
    fn every_direction_leads_up_from_where_it_ends() {
        let model = model();
        let (rows, _) = rows(&model, 20_000);
        let objective = Objective::new(&rows, &model, 1.0).unwrap();
        let objective = objective.with_prior(1e-8, &THETA, PriorScale::Free).unwrap();
        let mut limits = Limits::none(SIZE);
        limits.freeze(11).unwrap();
        let mut start = [40.0; SIZE];
        (start[11], start[12]) = (10.0, 10.0);
        let fit = Lbfgs::default().minimize(&objective, &start, &limits, &mut ()).unwrap();
        assert!(fit.termination == Termination::Converged && fit.gradient_ratio <= 1e-8);
        let (_, gradient) = objective.loss_and_gradient(&fit.theta);
        let hessian = objective.hessian(&fit.theta, HessianKind::Full);
        // What is left of the gradient moves no parameter by a thousandth.
        for j in (0..SIZE).filter(|&j| j != 11) {
            assert!(gradient[j].abs() < 1e-3 * hessian.get(j, j), "{j}: {:e}", gradient[j]);
        }
        assert!(fit.work.passes < 100 && fit.work.outer_products <= 4 * rows.len(), "{:?}", fit.work);
    }
}
