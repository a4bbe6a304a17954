//! Merino's engine: chess rules, a tapered evaluation whose parameters come from TOML, and search.
//!
//! Dependencies run one way: [`chess`] has the rules, [`eval`] evaluates a position with declared parameters, [`search`]
//! searches, [`options`] declares the options, [`uci`] and [`xboard`] are the protocols, and [`protocol`] chooses between
//! them. [`mod@bench`] is the signature of the search, [`book`] reads opening books, [`genfens`] generates openings,
//! [`random`] generates random numbers, [`mod@panic`] ends the program after a panic, [`cpu_features`] checks the
//! processor, [`shell_files`] writes completions and manual pages. `memory` holds the tables that are read at random. With
//! the feature `syzygy`, the room of that name opens Syzygy tables.

// Output goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

// The code that tests share with an example calls this library `engine`, as the example does.
#[cfg(test)]
extern crate self as engine;

pub mod bench;
pub mod book;
pub mod chess;
mod console;
pub mod cpu_features;
pub mod eval;
pub mod genfens;
mod memory;
mod opening;
pub mod options;
pub mod panic;
pub mod protocol;
mod queue;
pub mod random;
pub mod search;
pub mod shell_files;
#[cfg(feature = "syzygy")]
pub mod syzygy;
#[cfg(test)]
mod tests;
pub mod uci;
pub mod xboard;
