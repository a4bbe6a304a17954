//! The order in which terms are best taken out.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

use super::Term;
use crate::objective::Curvature;
use crate::optimize::Limits;

/// What is added to the curvature, in parts of its diagonal, until it is positive definite.
const RIDGES: [f64; 3] = [1e-6, 1e-4, 1e-2];

/// The terms, the cheapest first, each with what all up to it cost by the curvature at the minimum `theta`; none if the
/// curvature is not positive definite.
pub(super) fn order(curvature: &Curvature, theta: &[f64], terms: &[Term], limits: &Limits) -> Option<Vec<(Term, f64)>> {
    let units = Units::new(curvature, limits);
    let mut state = State::new(&units, theta)?;
    let mut left: Vec<(&Term, Vec<usize>)> = terms.iter().map(|term| (term, units.of(&term.numbers))).collect();
    let mut order = Vec::with_capacity(left.len());
    let mut total = 0.0;
    while !left.is_empty() {
        let costs: Vec<f64> = left.iter().map(|(_, units)| state.cost(units)).collect();
        let cheapest = (0..left.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]))?;
        let (term, units) = left.remove(cheapest);
        total += costs[cheapest];
        state.remove(&units);
        order.push((term.clone(), total));
    }
    Some(order)
}

/// Numbers that move together, and the curvature among them.
struct Units {
    /// By number: its unit, if it moves and something is known of it.
    of: Vec<Option<usize>>,
    /// The first number of each unit.
    leaders: Vec<usize>,
    matrix: Mat<f64>,
}

impl Units {
    fn new(curvature: &Curvature, limits: &Limits) -> Self {
        let (size, diagonal) = (curvature.size(), curvature.diagonal());
        let mut of: Vec<Option<usize>> = vec![None; size];
        let mut leaders = Vec::new();
        for index in (0..size).filter(|&index| !limits.is_frozen(index)) {
            let leader = limits.leaders()[index];
            if leader != index {
                of[index] = of[leader];
            } else if limits.tied_to(index).iter().any(|&member| diagonal[member] > 0.0) {
                of[index] = Some(leaders.len());
                leaders.push(index);
            }
        }
        let mut matrix = Mat::zeros(leaders.len(), leaders.len());
        for (i, a) in of.iter().enumerate() {
            for (j, b) in of.iter().enumerate() {
                if let (Some(a), Some(b)) = (*a, *b) {
                    matrix[(a, b)] += curvature.get(i, j);
                }
            }
        }
        Units { of, leaders, matrix }
    }

    /// The units of some numbers.
    fn of(&self, numbers: &[usize]) -> Vec<usize> {
        let mut units: Vec<usize> = numbers.iter().filter_map(|&number| self.of[number]).collect();
        units.sort_unstable();
        units.dedup();
        units
    }
}

/// Parameters and inverse curvature, in units in which the diagonal of the curvature is 1.
struct State {
    theta: Vec<f64>,
    inverse: Mat<f64>,
}

impl State {
    fn new(units: &Units, theta: &[f64]) -> Option<Self> {
        let size = units.leaders.len();
        let deviation: Vec<f64> = (0..size).map(|unit| units.matrix[(unit, unit)].sqrt()).collect();
        let inverse = RIDGES.iter().find_map(|ridge| {
            let scaled = Mat::from_fn(size, size, |i, j| {
                let entry = units.matrix[(i, j)] / (deviation[i] * deviation[j]);
                if i == j { entry + ridge } else { entry }
            });
            Some(scaled.llt(Side::Lower).ok()?.solve(Mat::<f64>::identity(size, size)))
        })?;
        let theta =
            units.leaders.iter().zip(&deviation).map(|(&leader, deviation)| theta[leader] * deviation).collect();
        Some(State { theta, inverse })
    }

    /// `(C_SS)⁻¹ [θ_S, C_S·]`; none if it cannot be told.
    fn solved(&self, units: &[usize], columns: usize) -> Option<Mat<f64>> {
        let block = Mat::from_fn(units.len(), units.len(), |i, j| self.inverse[(units[i], units[j])]);
        let right = Mat::from_fn(units.len(), 1 + columns, |i, j| match j {
            0 => self.theta[units[i]],
            _ => self.inverse[(units[i], j - 1)],
        });
        Some(block.llt(Side::Lower).ok()?.solve(right))
    }

    /// What it costs to set units to 0 and fit the others again.
    fn cost(&self, units: &[usize]) -> f64 {
        let Some(solved) = self.solved(units, 0) else {
            return f64::INFINITY;
        };
        units.iter().enumerate().map(|(i, &unit)| 0.5 * self.theta[unit] * solved[(i, 0)]).sum()
    }

    /// Sets units to 0 and moves the others to where they are best then.
    fn remove(&mut self, units: &[usize]) {
        let size = self.theta.len();
        let Some(solved) = self.solved(units, size) else {
            return;
        };
        let columns = Mat::from_fn(size, units.len(), |i, j| self.inverse[(i, units[j])]);
        let change = &columns * &solved;
        for i in 0..size {
            self.theta[i] -= change[(i, 0)];
            for j in 0..size {
                self.inverse[(i, j)] -= change[(i, j + 1)];
            }
        }
        // What is left of them is rounding; they have no part in anything any more.
        units.iter().for_each(|&unit| self.theta[unit] = 0.0);
    }
}
