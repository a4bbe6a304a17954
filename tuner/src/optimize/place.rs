//! Parameters together with the objective there.

use super::limits::Limits;
use super::ray::Ray;
use crate::objective::Objective;

/// An objective with the limits that hold on it.
pub(super) struct Ground<'g> {
    pub(super) objective: &'g Objective<'g>,
    pub(super) limits: &'g Limits,
    pub(super) ray: Option<&'g Ray>,
}

impl Ground<'_> {
    /// The place at `theta`, after it has been settled on its ray.
    pub(super) fn place(&self, mut theta: Vec<f64>) -> Place {
        if let Some(ray) = self.ray {
            ray.settle(&mut theta);
        }
        let (loss, gradient) = self.objective.loss_and_gradient(&theta);
        let held: Vec<bool> = (0..theta.len()).map(|j| self.limits.holds(j, theta[j], gradient[j])).collect();
        let projected: Vec<f64> =
            gradient.iter().zip(&held).map(|(&slope, &held)| if held { 0.0 } else { slope }).collect();
        let norm = projected.iter().map(|slope| slope * slope).sum::<f64>().sqrt();
        Place { theta, loss, gradient, projected, held, norm }
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
    pub(super) gradient: Vec<f64>,
    /// The gradient, with 0 for parameters that are held.
    pub(super) projected: Vec<f64>,
    /// Parameters that are frozen, or that the loss pulls out of a bound.
    pub(super) held: Vec<bool>,
    /// Norm of `projected`.
    pub(super) norm: f64,
}

impl Place {
    pub(super) fn is_finite(&self) -> bool {
        self.loss.is_finite() && self.norm.is_finite()
    }
}
