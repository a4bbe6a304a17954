//! The order in which terms are best taken out.

use super::Term;
use crate::linear::{Cholesky, Matrix};
use crate::objective::SymmetricMatrix;
use crate::optimize::Limits;

/// What is added to the curvature, in parts of its diagonal, until it is positive definite.
const RIDGES: [f64; 3] = [1e-6, 1e-4, 1e-2];

/// The terms, the cheapest first, each with what all up to it cost by the curvature at the minimum `theta`; none if the
/// curvature is not positive definite.
pub(super) fn order(
    hessian: &SymmetricMatrix,
    theta: &[f64],
    terms: &[Term],
    limits: &Limits,
) -> Option<Vec<(Term, f64)>> {
    let units = Units::new(hessian, limits);
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
    matrix: Matrix,
}

impl Units {
    fn new(hessian: &SymmetricMatrix, limits: &Limits) -> Self {
        let (size, diagonal) = (hessian.size(), hessian.diagonal());
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
        let mut matrix = Matrix::zeros(leaders.len(), leaders.len());
        for (i, a) in of.iter().enumerate() {
            for (j, b) in of.iter().enumerate() {
                if let (Some(a), Some(b)) = (*a, *b) {
                    matrix[(a, b)] += hessian.get(i, j);
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

/// Inverse curvature, bordered by the parameters, in units in which the diagonal of the curvature is 1.
struct State {
    /// Units.
    size: usize,
    /// The last row and column are the parameters. Whatever is subtracted from the rest for setting units to 0 and
    /// fitting the others again is, by the same formula, subtracted from them.
    bordered: Matrix,
}

impl State {
    fn new(units: &Units, theta: &[f64]) -> Option<Self> {
        let size = units.leaders.len();
        let deviation: Vec<f64> = (0..size).map(|unit| units.matrix[(unit, unit)].sqrt()).collect();
        let factor = RIDGES.iter().find_map(|ridge| {
            let scaled = Matrix::from_fn(size, size, |i, j| {
                let entry = units.matrix[(i, j)] / (deviation[i] * deviation[j]);
                if i == j { entry + ridge } else { entry }
            });
            Cholesky::new(scaled)
        })?;
        let mut inverse = Matrix::from_fn(size, size, |i, j| f64::from(u8::from(i == j)));
        factor.solve_rows(&mut inverse);
        let parameter = |unit: usize| theta[units.leaders[unit]] * deviation[unit];
        let bordered = Matrix::from_fn(size + 1, size + 1, |i, j| match (i < size, j < size) {
            (true, true) => inverse[(i, j)],
            (true, false) => parameter(i),
            (false, true) => parameter(j),
            (false, false) => 0.0,
        });
        Some(State { size, bordered })
    }

    /// The factor of the inverse among units; none if it is not positive definite.
    fn factor(&self, units: &[usize]) -> Option<Cholesky> {
        Cholesky::new(Matrix::from_fn(units.len(), units.len(), |i, j| self.bordered[(units[i], units[j])]))
    }

    /// What it costs to set units to 0 and fit the others again.
    fn cost(&self, units: &[usize]) -> f64 {
        let Some(factor) = self.factor(units) else {
            return f64::INFINITY;
        };
        let mut parameters = Matrix::from_fn(1, units.len(), |_, j| self.bordered[(self.size, units[j])]);
        factor.halve_rows(&mut parameters);
        (0..units.len()).map(|j| 0.5 * parameters[(0, j)] * parameters[(0, j)]).sum()
    }

    /// Sets units to 0 and moves the others to where they are best then.
    fn remove(&mut self, units: &[usize]) {
        let Some(factor) = self.factor(units) else {
            return;
        };
        let mut columns = Matrix::from_fn(self.size + 1, units.len(), |i, j| self.bordered[(i, units[j])]);
        factor.halve_rows(&mut columns);
        self.bordered.subtract_product(&columns, &columns);
        // What is left of them is rounding; they have no part in anything any more.
        units.iter().for_each(|&unit| self.bordered[(self.size, unit)] = 0.0);
    }
}
