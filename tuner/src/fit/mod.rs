//! Tuning the evaluation of any engine.
//!
//! An evaluation says what it adds up and how a score comes of it, and has a row for every position: how often each
//! parameter counts. That is all a [`Problem`] needs, which is fitted to the results of games as Merino's own evaluation
//! is. Engines in other languages write declarations and rows as text, of which [`crate::model::text`] has the format:
//! [`Problem::read_rows`] reads them. What comes out is written as TOML or JSON by [`Fitted::emit`], or into the engine's
//! sources by [`Sources`].

mod check;
mod emit;
mod engine;
mod fitted;
mod fitting;
mod groups;
mod problem;
mod reference;
mod source;
#[cfg(test)]
mod tests;

pub use crate::model::text::{Parameter, Start, TextError};
pub use crate::run::{Hooks, RunError, Settings};
pub use check::{Check, Worst};
pub use emit::{EmitError, Language, check_names};
pub use engine::{Accept, AskedRows, CommandLine, Engine};
pub use fitted::Fitted;
pub use groups::Grouping;
pub use problem::{Declared, Problem};
pub use source::{Found, Pair, Rewritten, SourceError, Sources};
