//! The metric of quasi-Newton steps: a Gauss-Newton matrix of a sample of the rows, factorised.

use super::Work;
use super::iterate::Problem;
use crate::linear::{Cholesky, Matrix, dot};
use crate::objective::{HessianKind, SymmetricMatrix};

/// What is added to the diagonal, relative to it: above the rounding of the sums.
const RIDGE: f64 = 1e-7;

/// The smallest eigenvalues of a sample's matrix are too small, the more so the fewer rows there are a parameter: so much is
/// added for one parameter a row.
const SHRINKAGE: f64 = 0.5;

/// A step may be longer than it should be by this factor.
pub(super) const SLACK: f64 = 2.0;

/// A damped step may be shorter by this factor: another factorisation takes longer than another step.
const SHORT: f64 = 5.0;

/// Factorisations for one step at most.
const MOST_DAMPINGS: usize = 2;

/// As many parameters are held by what a factor of all makes of them; with more, the matrix of the others is factorised.
const MOST_CONSTRAINED: usize = 8;

/// A Gauss-Newton matrix, of every so-many-th row.
pub(super) struct Metric {
    matrix: SymmetricMatrix,
    /// What is added to the diagonal, relative to it.
    ridge: f64,
    /// What is added to all of the diagonal besides: it shortens steps, those most of which least is known.
    pub(super) damping: f64,
    factor: Option<Factor>,
}

impl Metric {
    /// The matrix at parameters, of every `stride`-th row, but with a diagonal that all rows have part in: what the
    /// sample has not seen is not taken for flat. `all` is that of all rows, here or near; where there is none yet, it is
    /// worked out.
    pub(super) fn new(
        problem: &Problem<'_>,
        theta: &[f64],
        stride: usize,
        all: &mut Option<Vec<f64>>,
        work: &mut Work,
    ) -> Self {
        let objective = problem.objective;
        let rows = objective.rows;
        let moves = |parameter: usize| !problem.limits.is_frozen(parameter);
        let mut matrix = objective.hessian_among(theta, HessianKind::GaussNewton, stride, &moves);
        work.outer_products += rows.len().div_ceil(stride);
        matrix.gather(problem.limits.leaders());
        if stride > 1 {
            let diagonal = all.get_or_insert_with(|| {
                work.passes += 1;
                let mut diagonal = objective.gauss_newton_diagonal(theta);
                problem.limits.gather(&mut diagonal);
                diagonal
            });
            matrix.raise_diagonal(diagonal);
        }
        // The flat direction of a scale turns with the parameters: elsewhere a gradient has a part along that of here.
        let diagonal = matrix.diagonal();
        for scale in problem.scales {
            let (normal, square) = scale.normal(theta, &diagonal);
            if square > 0.0 {
                matrix.add_outer(square.recip(), &normal);
            }
        }
        let sampled = rows.len().div_ceil(stride) as f64;
        let ridge = if stride == 1 { RIDGE } else { (SHRINKAGE * matrix.size() as f64 / sampled).clamp(RIDGE, 1.0) };
        Metric { matrix, ridge, damping: 0.0, factor: None }
    }

    /// What a gradient is in this metric, for parameters that are not held.
    pub(super) fn solve(&mut self, held: &[bool], gradient: &[f64], work: &mut Work) -> Vec<f64> {
        let moves = |j: &usize| self.matrix.row(*j)[*j] > 0.0;
        let mut constrained: Vec<usize> = (0..held.len()).filter(|&j| held[j]).filter(moves).collect();
        let mut left_out = vec![false; held.len()];
        if constrained.len() > MOST_CONSTRAINED {
            constrained.clear();
            left_out.copy_from_slice(held);
        }
        if self.factor.as_ref().is_none_or(|factor| factor.left_out != left_out || factor.damping != self.damping) {
            // A factor takes twice the memory of the matrix: the old one goes before the next is made.
            self.factor = None;
            self.factor = Some(Factor::new(&self.matrix, &left_out, self.ridge, self.damping));
            work.factorisations += 1;
        }
        let factor = self.factor.as_mut().expect("just made");
        factor.constrain(constrained);
        factor.solve_constrained(gradient)
    }

    /// Damps the metric, or damps it less, until a step against a gradient is about as long as it may be.
    ///
    /// One over the length is nearly linear in the damping. See Nocedal and Wright, Numerical Optimization, 2nd edition,
    /// section 4.3.
    pub(super) fn limit(&mut self, radius: f64, held: &[bool], gradient: &[f64], work: &mut Work) {
        for _ in 0..MOST_DAMPINGS {
            let step = self.solve(held, gradient, work);
            let square = dot(&step, &step);
            let ratio = square.sqrt() / radius;
            if ratio <= SLACK && (self.damping == 0.0 || ratio >= SHORT.recip()) {
                return;
            }
            let slope = dot(&step, &self.solve(held, &step, work));
            let next = self.damping + (ratio - 1.0) * square / slope;
            if !next.is_finite() {
                return;
            }
            self.damping = next.max(0.0);
        }
    }
}

/// Cholesky factor of the matrix among parameters that are not left out, scaled to a unit diagonal.
struct Factor {
    left_out: Vec<bool>,
    damping: f64,
    /// Parameters that the factor is about, ascending: those that some other one has to do with.
    coupled: Vec<usize>,
    /// 1 / √diagonal, by position in `coupled`.
    scale: Vec<f64>,
    cholesky: Cholesky,
    /// The others, such as those that no row has, and their diagonals.
    alone: Vec<(usize, f64)>,
    /// Parameters that are kept in their place, and the columns of the inverse that do it.
    constrained: Vec<usize>,
    columns: Vec<Vec<f64>>,
}

impl Factor {
    fn new(matrix: &SymmetricMatrix, left_out: &[bool], ridge: f64, damping: f64) -> Self {
        let mut diagonal = matrix.diagonal();
        diagonal.iter_mut().for_each(|entry| *entry += damping);
        let free: Vec<usize> = (0..matrix.size()).filter(|&j| !left_out[j] && diagonal[j] > 0.0).collect();
        let mut is_coupled = vec![false; matrix.size()];
        for (i, &row) in free.iter().enumerate() {
            let entries = matrix.row(row);
            for &column in free[..i].iter().filter(|&&column| entries[column] != 0.0) {
                (is_coupled[row], is_coupled[column]) = (true, true);
            }
        }
        let (coupled, alone): (Vec<usize>, Vec<usize>) = free.into_iter().partition(|&j| is_coupled[j]);
        let alone = alone.into_iter().map(|j| (j, diagonal[j] * (1.0 + ridge))).collect();
        let scale: Vec<f64> = coupled.iter().map(|&j| diagonal[j].sqrt().recip()).collect();
        let mut scaled = Matrix::zeros(coupled.len(), coupled.len());
        for (i, &row) in coupled.iter().enumerate() {
            let entries = matrix.row(row);
            for (j, &column) in coupled[..=i].iter().enumerate() {
                scaled[(i, j)] = entries[column] * scale[i] * scale[j];
            }
            scaled[(i, i)] = 1.0 + ridge;
        }
        // The ridge is above the rounding: what is replaced all the same only makes a step shorter.
        let cholesky = Cholesky::replacing(scaled, 0.1 * RIDGE).expect("finite entries");
        let (constrained, columns) = (Vec::new(), Vec::new());
        Factor { left_out: left_out.to_vec(), damping, coupled, scale, cholesky, alone, constrained, columns }
    }

    /// Keeps parameters in their place.
    fn constrain(&mut self, parameters: Vec<usize>) {
        if self.constrained != parameters {
            let unit = |j: usize| (0..self.left_out.len()).map(|i| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
            self.columns = parameters.iter().map(|&j| self.solve(&unit(j))).collect();
            self.constrained = parameters;
        }
    }

    /// The solution in which what is constrained is 0: forces that act on it alone see to that.
    /// See Nocedal and Wright, Numerical Optimization, 2nd edition, section 16.2 (Schur complement).
    fn solve_constrained(&self, gradient: &[f64]) -> Vec<f64> {
        let mut solution = self.solve(gradient);
        let count = self.constrained.len();
        if count > 0 {
            let among = Matrix::from_fn(count, count, |i, j| self.columns[i][self.constrained[j]]);
            let mut forces = Matrix::from_fn(1, count, |_, i| solution[self.constrained[i]]);
            // Definite, as part of the inverse of what is.
            Cholesky::replacing(among, 0.0).expect("finite entries").solve_rows(&mut forces);
            for (i, column) in self.columns.iter().enumerate() {
                solution.iter_mut().zip(column).for_each(|(entry, part)| *entry -= forces[(0, i)] * part);
            }
            self.constrained.iter().for_each(|&j| solution[j] = 0.0);
        }
        solution
    }

    fn solve(&self, gradient: &[f64]) -> Vec<f64> {
        let mut x = Matrix::from_fn(1, self.coupled.len(), |_, i| gradient[self.coupled[i]] * self.scale[i]);
        self.cholesky.solve_rows(&mut x);
        let mut solution = vec![0.0; gradient.len()];
        for (i, &j) in self.coupled.iter().enumerate() {
            solution[j] = x[(0, i)] * self.scale[i];
        }
        for &(j, diagonal) in &self.alone {
            solution[j] = gradient[j] / diagonal;
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::tests::{SIZE, THETA, model, rows};
    use crate::objective::{Objective, PriorScale};
    use crate::optimize::Limits;

    #[test]
    fn what_is_solved_is_the_matrix_among_what_is_not_held() {
        let model = model();
        let (rows, _) = rows(&model, 3000);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let objective = objective.with_prior(1e-6, &THETA, PriorScale::Fixed).unwrap();
        let limits = Limits::none(SIZE);
        let problem = Problem { objective: &objective, limits: &limits, scales: &[] };
        let mut work = Work::default();
        let mut metric = Metric::new(&problem, &THETA, 1, &mut None, &mut work);
        assert_eq!((work.outer_products, work.factorisations, work.passes), (3000, 0, 0));
        let gradient: Vec<f64> = (0..SIZE).map(|j| (j as f64 - 4.5) * 1e-4).collect();
        let matrix = objective.hessian(&THETA, HessianKind::GaussNewton);
        let many: Vec<usize> = (0..=MOST_CONSTRAINED).collect();
        for (held, factorisations) in [(vec![], 1), (vec![0, 7, 12], 1), (vec![2], 1), (many.clone(), 2), (many, 2)] {
            let is_held: Vec<bool> = (0..SIZE).map(|j| held.contains(&j)).collect();
            let found = metric.solve(&is_held, &gradient, &mut work);
            assert_eq!(work.factorisations, factorisations);
            for i in 0..SIZE {
                let product: f64 = (0..SIZE).map(|j| matrix.get(i, j) * found[j]).sum();
                if is_held[i] {
                    assert_eq!(found[i], 0.0);
                } else {
                    assert!((product - gradient[i]).abs() < 1e-3 * gradient[i].abs(), "{product} for {}", gradient[i]);
                }
            }
        }
    }

    #[test]
    fn damping_makes_steps_as_long_as_they_may_be() {
        let model = model();
        let (rows, _) = rows(&model, 3000);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let limits = Limits::none(SIZE);
        let problem = Problem { objective: &objective, limits: &limits, scales: &[] };
        let mut work = Work::default();
        let mut metric = Metric::new(&problem, &THETA, 1, &mut None, &mut work);
        let held = [false; SIZE];
        let gradient: Vec<f64> = (0..SIZE).map(|j| (j as f64 - 4.5) * 1e-4).collect();
        let length = |metric: &mut Metric, work: &mut Work| {
            let step = metric.solve(&held, &gradient, work);
            dot(&step, &step).sqrt()
        };
        let whole = length(&mut metric, &mut work);
        for share in [0.3, 0.01, 1e-4] {
            metric.limit(share * whole, &held, &gradient, &mut work);
            let ratio = length(&mut metric, &mut work) / (share * whole);
            assert!(metric.damping > 0.0 && (SLACK.recip()..=SLACK).contains(&ratio), "{share}: {ratio}");
        }
        metric.limit(10.0 * whole, &held, &gradient, &mut work);
        assert!((length(&mut metric, &mut work) / whole - 1.0).abs() < 1e-9 && metric.damping == 0.0);
        // Nothing to go by changes nothing.
        metric.limit(whole, &held, &[f64::NAN; SIZE], &mut work);
        assert_eq!(metric.damping, 0.0);
    }

    #[test]
    fn a_sample_is_seconded_by_the_diagonal_of_all_rows() {
        let model = model();
        let (rows, _) = rows(&model, 3000);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let mut limits = Limits::none(SIZE);
        limits.tie(&[6, 9]).unwrap();
        let mut theta = THETA;
        theta[9] = theta[6];
        let problem = Problem { objective: &objective, limits: &limits, scales: &[] };
        let mut work = Work::default();
        let mut all = None;
        let metric = Metric::new(&problem, &theta, 7, &mut all, &mut work);
        assert_eq!((work.outer_products, work.passes), (429, 1));
        let mut whole = objective.gauss_newton_diagonal(&theta);
        limits.gather(&mut whole);
        assert_eq!(whole[9], 0.0);
        assert!(metric.matrix.diagonal().iter().zip(&whole).all(|(entry, least)| entry >= least));
        assert_eq!(metric.ridge, SHRINKAGE * SIZE as f64 / 429.0);
        assert_eq!(all, Some(whole));
        Metric::new(&problem, &theta, 7, &mut all, &mut work);
        assert_eq!((work.outer_products, work.passes), (858, 1));
    }
}
