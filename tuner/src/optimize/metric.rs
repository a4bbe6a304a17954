//! The metric of quasi-Newton steps: a factorised Gauss-Newton matrix of a sample of the rows.

use super::FitWork;
use super::iterate::BoundedProblem;
use crate::objective::linear::{Cholesky, Matrix, dot};
use crate::objective::{HessianKind, SymmetricMatrix};

/// Ridge on the diagonal, relative to it; larger than the rounding errors of the sums.
const RIDGE: f64 = 1e-7;

/// Relative ridge at one parameter per sampled row. The smallest eigenvalues of a sample's matrix are biased towards 0,
/// and the bias grows with the number of parameters per row.
const SHRINKAGE: f64 = 0.5;

/// Factor by which a step may exceed the trust radius.
pub(super) const SLACK: f64 = 2.0;

/// Factor by which a damped step may fall short of the trust radius: another factorisation costs more than another
/// step.
const SHORT: f64 = 5.0;

/// Maximum number of dampings for one step.
const MOST_DAMPINGS: usize = 2;

/// A Gauss-Newton matrix of a sample of the rows.
pub(super) struct Metric {
    matrix: SymmetricMatrix,
    /// Ridge on the diagonal, relative to it.
    ridge: f64,
    /// Levenberg–Marquardt damping added to the diagonal. It shortens steps, most of all along directions of small
    /// curvature.
    pub(super) damping: f64,
    factor: Option<Factor>,
}

impl Metric {
    /// Computes the matrix at `theta` from every `stride`-th row. Its diagonal is raised to that of all rows, so that
    /// parameters missing from the sample are not taken for flat. `all` caches the diagonal of all rows, at `theta` or
    /// near; it is computed if it is `None`.
    pub(super) fn new(
        problem: &BoundedProblem<'_>,
        theta: &[f64],
        stride: usize,
        all: &mut Option<Vec<f64>>,
        work: &mut FitWork,
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
        // The flat direction of a scale changes with the parameters, so gradients elsewhere have a component along it.
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

    /// Solves for the step of a gradient in this metric; the components of held parameters are 0.
    pub(super) fn solve(&mut self, held: &[bool], gradient: &[f64], work: &mut FitWork) -> Vec<f64> {
        if self.factor.as_ref().is_none_or(|factor| factor.held != held || factor.damping != self.damping) {
            // A factor takes twice the memory of the matrix, so the old one is freed before the next is computed.
            self.factor = None;
            self.factor = Some(Factor::new(&self.matrix, held, self.ridge, self.damping));
            work.factorisations += 1;
        }
        self.factor.as_ref().expect("just made").solve(gradient)
    }

    /// Adjusts the damping until the length of the step is close to the trust radius.
    ///
    /// This is Newton's method on 1 / length, which is nearly linear in the damping.
    /// See Nocedal and Wright, Numerical Optimization, 2nd edition, section 4.3.
    pub(super) fn limit(&mut self, radius: f64, held: &[bool], gradient: &[f64], work: &mut FitWork) {
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

/// The Cholesky factor of the matrix of some parameters, scaled to a unit diagonal.
struct Factor {
    /// Flag per parameter: true if it is held, and not in the factor.
    held: Vec<bool>,
    damping: f64,
    /// Parameters of the factor, ascending: those with an off-diagonal entry that is not 0.
    coupled: Vec<usize>,
    /// 1 / √diagonal by position in `coupled`.
    scale: Vec<f64>,
    cholesky: Cholesky,
    /// Parameters without off-diagonal entries, such as those that occur in no row, and their diagonal entries.
    alone: Vec<(usize, f64)>,
}

impl Factor {
    fn new(matrix: &SymmetricMatrix, held: &[bool], ridge: f64, damping: f64) -> Self {
        let mut diagonal = matrix.diagonal();
        diagonal.iter_mut().for_each(|entry| *entry += damping);
        let free: Vec<usize> = (0..matrix.size()).filter(|&j| !held[j] && diagonal[j] > 0.0).collect();
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
        // The ridge exceeds the rounding errors. A pivot that is replaced nevertheless only shortens a step.
        let cholesky = Cholesky::replacing(scaled, 0.1 * RIDGE).expect("finite entries");
        Factor { held: held.to_vec(), damping, coupled, scale, cholesky, alone }
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
    fn solves_the_matrix_of_the_parameters_that_are_not_held() {
        let model = model();
        let (rows, _) = rows(&model, 3000);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let objective = objective.with_prior(1e-6, &THETA, PriorScale::Fixed).unwrap();
        let limits = Limits::none(SIZE);
        let problem = BoundedProblem { objective: &objective, limits: &limits, scales: &[] };
        let mut work = FitWork::default();
        let mut metric = Metric::new(&problem, &THETA, 1, &mut None, &mut work);
        assert_eq!((work.outer_products, work.factorisations, work.passes), (3000, 0, 0));
        let gradient: Vec<f64> = (0..SIZE).map(|j| (j as f64 - 4.5) * 1e-4).collect();
        let matrix = objective.hessian(&THETA, HessianKind::GaussNewton);
        for (held, factorisations) in [(vec![], 1), (vec![0, 7, 12], 2), (vec![2], 3), (vec![2], 3)] {
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
    fn damping_limits_steps_to_the_radius() {
        let model = model();
        let (rows, _) = rows(&model, 3000);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let limits = Limits::none(SIZE);
        let problem = BoundedProblem { objective: &objective, limits: &limits, scales: &[] };
        let mut work = FitWork::default();
        let mut metric = Metric::new(&problem, &THETA, 1, &mut None, &mut work);
        let held = [false; SIZE];
        let gradient: Vec<f64> = (0..SIZE).map(|j| (j as f64 - 4.5) * 1e-4).collect();
        let length = |metric: &mut Metric, work: &mut FitWork| {
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
        // A gradient of NaN leaves the damping as it is.
        metric.limit(whole, &held, &[f64::NAN; SIZE], &mut work);
        assert_eq!(metric.damping, 0.0);
    }

    #[test]
    fn the_matrix_of_a_sample_has_the_diagonal_of_all_rows() {
        let model = model();
        let (rows, _) = rows(&model, 3000);
        let objective = Objective::new(&rows, &model, 1.2).unwrap();
        let mut limits = Limits::none(SIZE);
        limits.tie(&[6, 9]);
        let mut theta = THETA;
        theta[9] = theta[6];
        let problem = BoundedProblem { objective: &objective, limits: &limits, scales: &[] };
        let mut work = FitWork::default();
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
