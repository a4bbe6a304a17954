//! Merino's tuner: fits the parameters of the engine's evaluation to positions with game results.
//!
//! [`data`] reads labelled positions, [`features`] resolves them with the engine's own quiescence search and
//! evaluation into sparse rows, [`objective`] is the function of the parameters to be minimised, [`optimize`]
//! minimises it, [`tune`] runs the whole, [`params_file`] writes what comes out, [`inspect`] looks at it.

// What is printed goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod constraints;
pub mod data;
mod exponential;
pub mod features;
pub mod fit;
pub mod inspect;
pub mod io;
mod linear;
pub mod model;
pub mod numbers;
pub mod objective;
pub mod optimize;
mod parallel;
pub mod params_file;
pub mod processes;
pub mod progress;
pub mod run;
pub mod target;
#[cfg(test)]
mod tests;
pub mod tune;
mod vectors;

/// The name of a choice on the command line.
fn name_of(choice: &impl clap::ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
