//! A match in words and as a page, for people, and as JSON, for programs.

mod calc;
mod elo;
mod html;
mod json;
mod table;
mod warnings;

use std::time::Duration;

pub use calc::{calc_json, calc_table, plan_table};
pub use elo::{Anchor, AnchorError, PoolRatings};
pub use html::{Story, to_html};
pub use json::to_json;
pub use table::{expected_games, status, to_table};

use crate::schedule::{Match, Tally};
use crate::stats::Sprt;

/// A match with what came of it.
#[derive(Clone, Copy, Debug)]
pub struct MatchResult<'a> {
    /// What was to be played.
    pub plan: &'a Match,
    /// What was played.
    pub tally: &'a Tally,
    /// The test that it was played for, if any.
    pub sprt: Option<&'a Sprt>,
    /// How long it took, before a pause too.
    pub elapsed: Duration,
}
