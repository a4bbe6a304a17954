//! Reports of a match: a text, an HTML page, and JSON; the pages of a run of SPSA and of a loop.

mod calc;
mod elo;
mod generations;
mod html;
mod json;
mod table;
mod warnings;

use std::time::Duration;

pub use calc::{calc_json, calc_table, plan_table};
pub use elo::{Anchor, AnchorError, PgnRatings};
pub use generations::generations_table;
pub use html::{MatchReport, REFRESH, Way, generations_to_html, spsa_to_html, to_html};
pub use json::to_json;
pub use table::{expected_games, status, to_table};

use crate::schedule::{Match, Tally};
use crate::stats::Sprt;

/// A match and its result.
#[derive(Clone, Copy, Debug)]
pub struct MatchResult<'a> {
    /// The plan.
    pub plan: &'a Match,
    /// The games played.
    pub tally: &'a Tally,
    /// The test that it was played for, if any.
    pub sprt: Option<&'a Sprt>,
    /// How long it took, before a pause too.
    pub elapsed: Duration,
}
