//! Merino's tuner: fits the numbers of a chess evaluation to labelled positions.
//!
//! [`data`] reads labelled positions. A [`source`] turns them into rows: Merino's own evaluation, an external engine,
//! or a file. The rows, the parameters and their starts form a [`source::Problem`]. [`run::run`] fits it and returns a
//! [`run::Outcome`], which [`answer`] shows and [`mod@write`] writes to files.
//!
//! ```
//! use std::fmt::Write;
//! use tuner::data::io::Storage;
//! use tuner::run::{Hooks, Seconds, Settings, run};
//! use tuner::source::Problem;
//!
//! // Knights and bishops win as often, but bishops start at a third.
//! let mut rows = "merino-rows 2\nsum main pair\nfact phase 0 1\nscore = taper(main.mg, main.eg, phase)\n\
//!     pair main Knight 300 300\npair main Bishop 100 100\nrows result score phase\n".to_owned();
//! for row in 0..4000 {
//!     let (piece, side) = (row % 2, if row % 4 < 2 { 1 } else { -1 });
//!     let result = if row / 4 % 10 < 5 + 2 * side { 1 } else { 0 };
//!     writeln!(rows, "{result} {} 0.5 {piece}:{side}", side * [300, 100][piece as usize])?;
//! }
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("rows");
//! std::fs::write(&file, rows)?;
//!
//! let problem = Problem::read_rows(&[file], &Storage::default(), |_| Ok(()), &())?;
//! let settings = Settings { prior: Some(1e-10), ..Settings::default() };
//! let outcome = run(problem, Vec::new(), &settings, Seconds::default(), Hooks::new(&()))?;
//! assert!(outcome.loss.after < outcome.loss.before);
//! // Knight and bishop, midgame and endgame.
//! assert!((outcome.theta[2] - outcome.theta[0]).abs() < 10.0, "{:?}", outcome.theta);
//! # Ok::<_, anyhow::Error>(())
//! ```

// All output goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod answer;
pub mod data;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod objective;
#[doc(hidden)]
pub mod optimize;
mod parallel;
pub mod processes;
pub mod progress;
pub mod run;
pub mod source;
#[cfg(test)]
mod tests;
pub mod write;

/// Returns the name of a choice on the command line.
fn name_of(choice: &impl clap::ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
