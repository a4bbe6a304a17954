//! Merino's engine: chess rules, a tapered evaluation whose parameters come from TOML, and search.
//!
//! Arrows run one way: [`chess`] knows the rules and nothing else, [`eval`] judges a position by declared parameters,
//! [`search`] looks ahead, [`options`] set what it works with, [`uci`] and [`xboard`] speak to whoever asks, [`protocol`]
//! says which of them.
//! [`mod@bench`] is the signature of the whole, [`book`] reads opening books, [`genfens`] makes openings, [`random`] is
//! where chance comes from, [`mod@panic`] is for what must not happen, [`machine`] for where the program cannot run,
//! [`shell_files`] for shells that complete what is typed.

// What is printed goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod bench;
pub mod book;
pub mod chess;
mod console;
pub mod eval;
pub mod genfens;
pub mod machine;
mod opening;
pub mod options;
pub mod panic;
pub mod protocol;
mod queue;
pub mod random;
pub mod search;
pub mod shell_files;
pub mod uci;
pub mod xboard;
