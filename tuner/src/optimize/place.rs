//! Parameters together with the objective there.

use super::OptimizeError;
use super::limits::Limits;
use super::memory::dot;
use super::ray::Ray;
use crate::objective::Objective;

/// A step must lower the loss by this share of what its slope promises.
const SUFFICIENT: f64 = 1e-4;
/// Relative rounding error of a loss.
pub(super) const ROUNDING: f64 = 2e-15;
/// A step that was refused is shortened by this factor, so many times at most.
const SHORTER: f64 = 0.3;
const SHORTENINGS: usize = 10;

/// An objective with the limits that hold on it.
pub(super) struct Ground<'g> {
    pub(super) objective: &'g Objective<'g>,
    pub(super) limits: &'g Limits,
    pub(super) ray: Option<&'g Ray>,
}

impl Ground<'_> {
    /// The place at `theta`, after followers have been given the values of their leaders and it has been settled on
    /// its ray.
    pub(super) fn place(&self, mut theta: Vec<f64>) -> Place {
        self.limits.align(&mut theta);
        if let Some(ray) = self.ray {
            ray.settle(&mut theta);
        }
        self.at(theta)
    }

    /// The place at `theta` exactly: of a place, it gives the same place again.
    pub(super) fn at(&self, theta: Vec<f64>) -> Place {
        let (loss, mut gradient) = self.objective.loss_and_gradient(&theta);
        self.limits.gather(&mut gradient);
        let held: Vec<bool> = (0..theta.len()).map(|j| self.limits.holds(j, theta[j], gradient[j])).collect();
        let projected: Vec<f64> =
            gradient.iter().zip(&held).map(|(&slope, &held)| if held { 0.0 } else { slope }).collect();
        let norm = projected.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
        Place { theta, loss, gradient, projected, held, norm }
    }

    /// Where a fit begins.
    ///
    /// # Errors
    /// If the objective is not finite there.
    pub(super) fn origin(&self, start: &[f64]) -> Result<Place, OptimizeError> {
        let origin = self.place(start.to_vec());
        if origin.is_finite() { Ok(origin) } else { Err(OptimizeError::NotFinite(origin.loss)) }
    }

    /// Looks for a better place along `direction`, with all parameters kept within their bounds, and counts the places
    /// it looks at.
    ///
    /// Better means a lower loss; or, where losses cannot be told apart any more, a smaller gradient.
    pub(super) fn search(&self, place: &Place, direction: &[f64], looks: &mut usize) -> Option<Place> {
        let mut length = 1.0;
        for _ in 0..=SHORTENINGS {
            let along = |(j, (&value, &part)): (usize, (&f64, &f64))| {
                if part == 0.0 { value } else { self.limits.clamp(j, value + length * part) }
            };
            let theta: Vec<f64> = place.theta.iter().zip(direction).enumerate().map(along).collect();
            let next = self.place(theta);
            *looks += 1;
            let slope = dot(&difference(&next.theta, &place.theta), &place.gradient);
            let falls = slope < 0.0 && next.loss <= place.loss + SUFFICIENT * slope;
            let settles = next.loss <= place.loss * (1.0 + ROUNDING) && next.norm < place.norm;
            if next.is_finite() && (falls || settles) {
                return Some(next);
            }
            length *= SHORTER;
        }
        None
    }

    /// How much the minimal loss depends on which rows were drawn, when so many parameters are fitted to them.
    pub(super) fn uncertainty(&self, place: &Place) -> f64 {
        let free = place.projected.iter().filter(|&&slope| slope != 0.0).count();
        place.loss * free as f64 / self.objective.rows().len() as f64
    }
}

/// Parameters, the objective there, and what holds them.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) theta: Vec<f64>,
    pub(super) loss: f64,
    /// Derivatives by all that move alone; those by followers are added to those by their leaders, and 0.
    pub(super) gradient: Vec<f64>,
    /// The gradient, with 0 for parameters that are held.
    pub(super) projected: Vec<f64>,
    /// Parameters that are frozen, that the loss pulls out of a bound, or that follow others.
    pub(super) held: Vec<bool>,
    /// Norm of `projected`.
    pub(super) norm: f64,
}

impl Place {
    pub(super) fn is_finite(&self) -> bool {
        self.loss.is_finite() && self.norm.is_finite()
    }
}

/// Component by component.
pub(super) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
