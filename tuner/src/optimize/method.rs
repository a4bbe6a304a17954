//! The choice of a solver.

use super::{Adam, Lbfgs, LocalSearch, Solver};
use crate::name_of;
use clap::ValueEnum;
use serde::Serialize;

/// A solver by name. All of them lead to the same minimum; they differ in the time they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Quasi-Newton steps in the metric of a Gauss-Newton matrix: converges in some dozens of passes.
    Lbfgs,
    /// Gradient steps scaled by running means; the rate is halved when the loss stops falling.
    Adam,
    /// Moves of one parameter by a step up or down, as in Texel's method.
    LocalSearch,
}

impl Method {
    /// Returns the solver: L-BFGS with the given settings, another with its defaults. `seed` seeds its random numbers.
    pub fn solver(self, seed: u64, lbfgs: Lbfgs) -> Box<dyn Solver> {
        match self {
            Method::Lbfgs => Box::new(lbfgs),
            Method::Adam => Box::new(Adam::default()),
            Method::LocalSearch => Box::new(LocalSearch { seed, ..LocalSearch::default() }),
        }
    }

    /// Returns the name on the command line.
    pub fn name(self) -> String {
        name_of(&self)
    }
}
