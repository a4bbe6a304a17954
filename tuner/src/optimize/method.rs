//! The choice of an optimiser.

use super::{Adam, Lbfgs, LocalSearch, Newton, Optimizer};
use crate::name_of;
use clap::ValueEnum;

/// An optimiser by name. All of them lead to the same minimum; they differ in the time they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Second-order steps: exact in some dozens of steps.
    Newton,
    /// Quasi-Newton steps without a matrix (L-BFGS).
    Lbfgs,
    /// Scaled gradient steps, the rate halved when they help no more.
    Adam,
    /// One parameter a step up or down, as in Texel's method.
    LocalSearch,
}

impl Method {
    /// The optimiser with its usual settings; `seed` decides what it draws at random, `batch` how many rows a step looks
    /// at where it need not be all.
    pub fn optimizer(self, seed: u64, batch: Option<usize>) -> Box<dyn Optimizer> {
        match self {
            Method::Newton => Box::new(Newton::default()),
            Method::Lbfgs => Box::new(Lbfgs::default()),
            Method::Adam => Box::new(Adam { seed, batch, ..Adam::default() }),
            Method::LocalSearch => Box::new(LocalSearch { seed, ..LocalSearch::default() }),
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> String {
        name_of(&self)
    }
}
