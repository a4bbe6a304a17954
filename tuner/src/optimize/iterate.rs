//! Iterates: parameters with the objective and its gradient, and the line search between them.

use super::Limits;
use crate::model::Model;
use crate::model::centre::scales;
use crate::objective::Objective;
use crate::objective::linear::dot;

/// The constant c₁ of the sufficient decrease (Armijo) condition.
const SUFFICIENT: f64 = 1e-4;

/// Relative rounding error of a loss.
const ROUNDING: f64 = 2e-15;

/// Backtracking factors of the line search: the largest, the smallest, and the default.
const SHORTER: [f64; 3] = [0.6, 0.02, 0.3];

/// Maximum number of backtracking steps.
const SHORTENINGS: usize = 10;

/// An objective with its limits and its free scales.
pub struct BoundedProblem<'p> {
    pub(super) objective: &'p Objective<'p>,
    pub(super) limits: &'p Limits,
    pub(super) scales: &'p [Scale],
}

/// A scale that no score depends on: a common factor of some parameters.
pub(super) struct Scale {
    members: Vec<usize>,
    /// Target value by member.
    centre: Vec<f64>,
}

/// Returns the scales that no score depends on and that limits leave open, as powers by parameter. A scale is not open
/// if a member is frozen at a value other than 0, or tied to a parameter with another power.
pub(crate) fn open_scales(model: &Model, theta: &[f64], limits: &Limits) -> Vec<Vec<f64>> {
    let is_open = |powers: &Vec<f64>| {
        (0..powers.len()).filter(|&j| powers[j] != 0.0).all(|j| {
            let is_settled = limits.is_frozen(j) && theta[j] != 0.0;
            powers[limits.leaders()[j]] == powers[j] && !is_settled
        })
    };
    scales(model, 0.0).into_iter().filter(is_open).collect()
}

impl Scale {
    /// Returns the open scales along which iterates can be moved.
    pub(super) fn open(objective: &Objective<'_>, start: &[f64], limits: &Limits) -> Vec<Scale> {
        let centre = if objective.prior.strength > 0.0 { &objective.prior.centre } else { start };
        let scale = |powers: Vec<f64>| {
            let members: Vec<usize> = (0..powers.len()).filter(|&j| powers[j] != 0.0).collect();
            // Only scales whose members all have the same power are supported.
            let is_plain = members.iter().all(|&j| powers[j] == powers[members[0]]);
            let centre = members.iter().map(|&j| centre[j]).collect();
            is_plain.then_some(Scale { members, centre })
        };
        open_scales(objective.model, start, limits).into_iter().filter_map(scale).collect()
    }

    /// Returns the product of a diagonal metric and the scale's direction, and the squared length of the direction in
    /// this metric.
    pub(super) fn normal(&self, theta: &[f64], diagonal: &[f64]) -> (Vec<f64>, f64) {
        let mut normal = vec![0.0; theta.len()];
        self.members.iter().for_each(|&j| normal[j] = diagonal[j] * theta[j]);
        let square = dot(&normal, theta);
        (normal, square)
    }

    /// Moves parameters along the scale to the minimum of the prior, within bounds. Without a prior, they move to the
    /// point nearest to the start.
    fn settle(&self, theta: &mut [f64], limits: &Limits) {
        let (mut ahead, mut square, mut most, mut least) = (0.0, 0.0, f64::INFINITY, 0.0_f64);
        for (&j, &centre) in self.members.iter().zip(&self.centre) {
            let (lower, upper) = limits.bounds(j);
            ahead += theta[j] * centre;
            square += theta[j] * theta[j];
            if theta[j] > 0.0 {
                most = most.min(upper / theta[j]);
                least = least.max(lower / theta[j]);
            }
        }
        let scale = (ahead / square).min(most).max(least);
        if scale.is_finite() && scale > 0.0 {
            self.members.iter().for_each(|&j| theta[j] = limits.clamp(j, theta[j] * scale));
        }
    }
}

impl BoundedProblem<'_> {
    /// Evaluates the objective after aligning tied parameters with their leaders and settling the scales.
    pub(super) fn iterate(&self, mut theta: Vec<f64>) -> Iterate {
        self.limits.align(&mut theta);
        self.scales.iter().for_each(|scale| scale.settle(&mut theta, self.limits));
        let (loss, mut gradient) = self.objective.loss_and_gradient(&theta);
        self.limits.gather(&mut gradient);
        let held: Vec<bool> = (0..theta.len()).map(|j| self.limits.holds(j, theta[j], gradient[j])).collect();
        let projected: Vec<f64> =
            gradient.iter().zip(&held).map(|(&slope, &held)| if held { 0.0 } else { slope }).collect();
        let norm = dot(&projected, &projected).sqrt();
        Iterate { theta, loss, gradient, projected, held, norm }
    }

    /// Returns parameters moved along a direction, within their bounds.
    pub(super) fn along(&self, theta: &[f64], direction: &[f64], length: f64) -> Vec<f64> {
        let moved = |(j, (&value, &part)): (usize, (&f64, &f64))| {
            if part == 0.0 { value } else { self.limits.clamp(j, value + length * part) }
        };
        theta.iter().zip(direction).enumerate().map(moved).collect()
    }

    /// Takes a step along a direction by a backtracking line search; `None` if no length satisfies the sufficient
    /// decrease condition.
    ///
    /// Each backtracking step goes to the minimum of the cubic interpolant of the losses and slopes at both ends.
    /// See Nocedal and Wright, Numerical Optimization, 2nd edition, section 3.5.
    pub(super) fn line_search(&self, from: &Iterate, direction: &[f64], passes: &mut usize) -> Option<Iterate> {
        let mut length = 1.0;
        for _ in 0..=SHORTENINGS {
            let next = self.iterate(self.along(&from.theta, direction, length));
            *passes += 1;
            let slope = dot(&difference(&next.theta, &from.theta), &from.gradient);
            let falls = slope < 0.0 && next.loss <= from.loss + SUFFICIENT * slope;
            let settles = next.loss <= from.loss * (1.0 + ROUNDING) && next.norm < from.norm;
            if next.is_finite() && (falls || settles) {
                return Some(next);
            }
            length *= if next.is_finite() {
                let end = dot(&difference(&next.theta, &from.theta), &next.gradient);
                let sum = slope + end - 3.0 * (next.loss - from.loss);
                let root = (sum * sum - slope * end).sqrt();
                let shorter = 1.0 - (end + root - sum) / (end - slope + 2.0 * root);
                if shorter > 0.0 { shorter.clamp(SHORTER[1], SHORTER[0]) } else { SHORTER[2] }
            } else {
                SHORTER[2]
            };
        }
        None
    }
}

/// The parameters of a step, with the objective and its gradient.
#[derive(Clone)]
pub struct Iterate {
    pub(super) theta: Vec<f64>,
    pub(super) loss: f64,
    /// The gradient. The components of tied parameters are summed in their leader.
    pub(super) gradient: Vec<f64>,
    /// The gradient with 0 in the held components.
    pub(super) projected: Vec<f64>,
    /// Flag per parameter: true if it is frozen, follows another, or is at a bound that its descent direction leaves.
    pub(super) held: Vec<bool>,
    /// Euclidean norm of the projected gradient.
    pub(super) norm: f64,
}

impl Iterate {
    /// Returns true if the loss and the gradient are finite.
    pub(super) fn is_finite(&self) -> bool {
        self.loss.is_finite() && self.norm.is_finite()
    }
}

/// Returns `a − b`.
pub(super) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
