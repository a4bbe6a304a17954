//! Matches between UCI engines: played, judged and told; and data from games of this project's own.
//!
//! Arrows run one way: [`uci_client`] drives one engine, [`game`] lets two of them play one game by the rules of
//! `engine::chess`, [`schedule`] plays many in pairs and side by side, [`stats`] judges counts and knows nothing of chess,
//! [`pool`] reads the results of games played elsewhere, [`mod@check`] tests how an engine
//! speaks, [`report`] puts it into words and JSON. [`datagen`] lets the
//! engine of this project play against itself, by the library: it alone uses more of the engine than its rules.

// What is printed goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod calendar;
pub mod check;
pub mod datagen;
pub mod files;
pub mod game;
pub mod pool;
pub mod report;
pub mod schedule;
pub mod stats;
pub mod uci_client;
