//! The choice of a solver.

use super::{Adam, Lbfgs, LocalSearch, Solver};
use crate::name_of;
use clap::ValueEnum;
use serde::Serialize;

/// A solver by name. All of them lead to the same minimum; they differ in the time they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Quasi-Newton steps in the metric of a Gauss-Newton matrix: exact in some dozens of passes.
    Lbfgs,
    /// Scaled gradient steps, the rate halved when they help no more.
    Adam,
    /// One parameter a step up or down, as in Texel's method.
    LocalSearch,
}

impl Method {
    /// The solver: L-BFGS as given, another with its usual settings; `seed` decides what it draws at random.
    pub fn solver(self, seed: u64, lbfgs: Lbfgs) -> Box<dyn Solver> {
        match self {
            Method::Lbfgs => Box::new(lbfgs),
            Method::Adam => Box::new(Adam::default()),
            Method::LocalSearch => Box::new(LocalSearch { seed, ..LocalSearch::default() }),
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> String {
        name_of(&self)
    }
}
