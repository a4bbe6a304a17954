//! Whole matches, played by the program as users run it, with mock engines.

mod books;
mod changing_engines;
mod check;
mod documents;
mod exchange;
mod files;
mod journal;
mod loop_safety;
mod looping;
mod misconduct;
mod own_engine;
mod params;
mod pin;
mod report;
mod spsa;
mod spsa_settings;
mod support;
mod tablebase;
mod tournament;

pub(crate) use support::mock;
