//! Matches between UCI engines with their statistics and reports, and training data from self-play.
//!
//! Dependencies run one way: [`uci_client`] drives one engine, [`game`] plays one game between two by the rules of
//! `engine::chess`, [`schedule`] plays many in pairs and in parallel, [`stats`] has the statistics and knows nothing of
//! chess, [`pgn_results`] reads the results of games in PGN, [`mod@check`] tests an engine's UCI, [`report`] writes
//! text, HTML and JSON. [`spsa`] tunes options of an engine by games. [`player`] is one interface to this project's engine,
//! in process, and to any other; [`datagen`] has one play against itself. Only these two use more of the engine than its
//! rules. [`generation`] is what is recorded of a loop of
//! games, tuning and test.

// Output goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

mod calendar;
pub mod check;
mod chunks;
pub mod datagen;
pub mod game;
pub mod generation;
mod lock;
pub mod pgn_results;
pub mod player;
pub mod relabel;
pub mod report;
pub mod schedule;
pub mod spsa;
pub mod stats;
pub mod uci_client;
