//! Tuning the options of an engine by games: simultaneous perturbation stochastic approximation.
//!
//! Each pair of games is played between the present values moved by a step, up or down at random for each option, and the
//! values moved the other way; all values then move a little towards the side that won. See Spall, An Overview of the
//! Simultaneous Perturbation Method for Efficient Optimization (1998), and
//! <https://www.chessprogramming.org/SPSA>.
//!
//! Pairs are played in batches, all from the same values: what is found depends neither on how many games run at a time
//! nor on which ends first.

mod journal;
mod options;
mod run;
mod settings;
mod tuning;

pub use journal::{SpsaJournal, spsa_identity};
pub use options::{OptionsError, SpsaOption};
pub use run::{Batch, SpsaError, run_spsa};
pub use settings::{
    OPTIONS, SettingsError, SettingsFile, is_of_options, is_settings, load_options, load_starts, options_text,
};
pub use tuning::{Gains, TELLING, Trial, Tuning};
