//! Merino's tuner: fits the numbers of a chess evaluation to labelled positions.
//!
//! [`data`] reads labelled positions. A [`source`] makes rows of them: Merino's own evaluation, an engine that is asked, or a
//! file. The rows, the parameters and where these start are a [`source::Problem`]. [`run::run`] fits it and gives a
//! [`run::Outcome`], which [`answer`] shows and [`write`] puts into files.

// What is printed goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod answer;
pub mod constraints;
pub mod data;
mod exponential;
pub mod io;
mod linear;
pub mod model;
pub mod numbers;
pub mod objective;
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

/// The name of a choice on the command line.
fn name_of(choice: &impl clap::ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
