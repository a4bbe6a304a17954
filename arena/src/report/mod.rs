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
pub use html::{REFRESH, Way, generations_to_html, spsa_to_html, to_html};
pub use json::to_json;
pub use table::{expected_games, status, to_table};

use crate::schedule::{Head, LiveGame, Recorded, Setup, Tally};
use crate::stats::{Meeting, Rating, ratings};

/// The data of a report: those of a journal, or of a match that could write one.
#[derive(Clone, Copy, Debug)]
pub struct MatchReport<'a> {
    /// The identity of the match.
    pub head: &'a Head,
    /// The same, understood.
    pub setup: &'a Setup,
    /// The games played.
    pub tally: &'a Tally,
    /// The time that the match took, including the time before a pause.
    pub elapsed: Duration,
    /// The games in progress, while there are any: the page is then read anew every [`REFRESH`].
    pub live: Option<&'a [LiveGame]>,
}

impl<'a> From<&'a Recorded> for MatchReport<'a> {
    fn from(recorded: &'a Recorded) -> Self {
        let Recorded { head, setup, tally, elapsed } = recorded;
        MatchReport { head, setup, tally, elapsed: *elapsed, live: None }
    }
}

impl<'a> MatchReport<'a> {
    /// The ratings of the engines, fitted over all encounters.
    fn ratings(&self) -> Vec<Rating> {
        let meetings = self.setup.schedule.encounters().into_iter().zip(&self.tally.encounters);
        let meetings: Vec<Meeting> =
            meetings.map(|(players, encounter)| Meeting { players, counts: encounter.counts() }).collect();
        ratings(self.setup.names.len(), &meetings)
    }

    /// The names of the engines with their ratings, best first, those without last.
    fn standings(&self) -> Vec<(&'a str, Rating)> {
        let mut rated: Vec<(&str, Rating)> = self.setup.names.iter().map(String::as_str).zip(self.ratings()).collect();
        rated.sort_by(|(_, a), (_, b)| b.elo.unwrap_or(f64::MIN).total_cmp(&a.elo.unwrap_or(f64::MIN)));
        rated
    }
}
