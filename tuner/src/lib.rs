//! Merino's tuner: fits the numbers of a chess evaluation to labelled positions.
//!
//! [`data`] reads labelled positions. A [`source`] turns them into rows: Merino's own evaluation, an external engine,
//! or a file. The rows, the parameters and their starts form a [`source::Problem`]. [`run::run`] fits it and returns a
//! [`run::Outcome`], which [`answer`] shows and [`write`] writes to files.

// All output goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod answer;
pub mod constraints;
pub mod data;
mod exponential;
pub mod io;
mod linear;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod numbers;
#[doc(hidden)]
pub mod objective;
#[doc(hidden)]
pub mod optimize;
mod parallel;
pub mod processes;
pub mod progress;
pub mod run;
pub mod source;
pub mod target;
#[cfg(test)]
mod tests;
mod vectors;
pub mod write;

/// Returns the name of a choice on the command line.
fn name_of(choice: &impl clap::ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
