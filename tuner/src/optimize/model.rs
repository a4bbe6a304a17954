//! What a descent takes the objective for: a curvature, factorised for the parameters that are free.

use super::factor::{Factor, Treatment};
use super::place::{Ground, Place};
use super::state::{StateError, check_size};
use crate::objective::{Curvature, CurvatureKind};
use serde::{Deserialize, Serialize};

/// By how much more steps are damped for each time in a row that none was found.
const MORE_DAMPING: f64 = 100.0;

/// How a model came about, and how it comes about again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Recipe {
    /// Where the curvature was computed.
    curved_at: Vec<f64>,
    kind: CurvatureKind,
    /// Where it was factorised.
    factored_at: Vec<f64>,
    /// Parameters held there.
    held: Vec<bool>,
    /// How careful the descent was there.
    caution: i32,
}

impl Recipe {
    /// Whether this can be followed on a ground.
    pub(super) fn check(&self, ground: &Ground<'_>) -> Result<(), StateError> {
        ground.check(&self.curved_at)?;
        ground.check(&self.factored_at)?;
        check_size(self.held.len(), self.curved_at.len())
    }
}

/// A factorised curvature.
pub(super) struct Model {
    recipe: Recipe,
    curvature: Curvature,
    /// None if it is not finite.
    factor: Option<Factor>,
}

impl Model {
    /// The model of a kind at a place, for what is held there; `damping` in curvatures of a single row.
    pub(super) fn new(ground: &Ground<'_>, place: &Place, kind: CurvatureKind, damping: f64, caution: i32) -> Self {
        let (curved_at, factored_at) = (place.theta.clone(), place.theta.clone());
        Self::by(ground, Recipe { curved_at, kind, factored_at, held: place.held.clone(), caution }, damping)
    }

    /// The model that a recipe makes, always the same.
    pub(super) fn by(ground: &Ground<'_>, recipe: Recipe, damping: f64) -> Self {
        let mut curvature = ground.objective.curvature(&recipe.curved_at, recipe.kind);
        curvature.gather(ground.limits.leaders());
        let factor = factorise(ground, &curvature, &recipe, damping);
        Self { recipe, curvature, factor }
    }

    /// Factorises the curvature anew at another place, for what is held there.
    pub(super) fn move_to(&mut self, ground: &Ground<'_>, place: &Place, damping: f64, caution: i32) {
        self.recipe.factored_at.clone_from(&place.theta);
        self.recipe.held.clone_from(&place.held);
        self.recipe.caution = caution;
        self.factor = factorise(ground, &self.curvature, &self.recipe, damping);
    }

    pub(super) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    pub(super) fn factor(&self) -> Option<&Factor> {
        self.factor.as_ref()
    }

    /// Whether the model is of what is held at a place.
    pub(super) fn suits(&self, place: &Place) -> bool {
        self.recipe.held == place.held
    }

    pub(super) fn is_definite(&self) -> bool {
        self.factor.as_ref().is_some_and(Factor::is_definite)
    }
}

fn factorise(ground: &Ground<'_>, curvature: &Curvature, recipe: &Recipe, damping: f64) -> Option<Factor> {
    let damping = ground.objective.row_curvature() * damping * MORE_DAMPING.powi(recipe.caution);
    let stiff = ground.ray.map(|ray| ray.direction(&recipe.factored_at));
    Factor::new(curvature, &Treatment { held: &recipe.held, damping, stiff })
}
