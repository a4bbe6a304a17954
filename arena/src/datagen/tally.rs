//! Counts of a run.

use engine::chess::GameResult;
use std::fmt;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{FilterOutcome, SelfGame};
use crate::chunks::{Counts, List, by_name, count, from_names, millis};
use crate::game::Ending;
use crate::player::FailureKind;

/// Counts of games and positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games by their result; discarded games have none.
    pub outcomes: List<{ GameResult::ALL.len() }>,
    /// Games by their ending.
    pub endings: List<{ Ending::ALL.len() }>,
    /// Games that were not played, for want of a balanced opening.
    pub without_opening: u64,
    /// Games that were left out, by what the engine failed at.
    pub left_out: List<{ FailureKind::ALL.len() }>,
    /// Positions by the result of the filter.
    pub filtered: List<{ FilterOutcome::ALL.len() }>,
    /// Nodes of all searches of games.
    pub nodes: u64,
    /// The duration of the run without its interruptions.
    pub elapsed: Duration,
    /// The time of all threads.
    pub threads: Duration,
    /// The part of it in which the engine searched.
    pub searching: Duration,
}

impl Tally {
    /// Games that were played.
    pub fn games(&self) -> u64 {
        self.endings.iter().sum()
    }

    /// Numbers of games that were used up, with a game or without.
    pub(super) fn numbers(&self) -> u64 {
        self.games() + self.without_opening + self.left_out.iter().sum::<u64>()
    }

    /// Positions that were kept.
    pub fn kept(&self) -> u64 {
        self.filtered[FilterOutcome::Kept.index()]
    }

    /// Positions in which a move was played.
    pub fn positions(&self) -> u64 {
        self.filtered.iter().sum()
    }

    /// Counts a game, and whether its result is known.
    pub(super) fn add_game(&mut self, game: &SelfGame) {
        self.endings[game.ending.index()] += 1;
        if game.ending != Ending::MaxPlies {
            self.outcomes[game.outcome.index()] += 1;
        }
        self.nodes += game.nodes;
    }

    /// The share of the threads' time in which the engine searched, if that is known.
    pub fn share_of_searching(&self) -> Option<f64> {
        (!self.threads.is_zero()).then(|| self.searching.as_secs_f64() / self.threads.as_secs_f64())
    }
}

impl Counts for Tally {
    const TASK: &'static str = "game";

    fn tasks(&self) -> u64 {
        self.numbers()
    }

    fn to_json(&self) -> Json {
        json!({
            "outcomes": by_name(GameResult::ALL.map(GameResult::name), self.outcomes),
            "endings": by_name(Ending::ALL.map(Ending::name), self.endings),
            "without_opening": self.without_opening,
            "positions": by_name(FilterOutcome::ALL.map(FilterOutcome::name), self.filtered),
            "left_out": by_name(FailureKind::ALL.map(FailureKind::name), self.left_out),
            "nodes": self.nodes,
            "elapsed_ms": millis(self.elapsed),
            "threads_ms": millis(self.threads),
            "searching_ms": millis(self.searching),
        })
    }

    fn from_json(json: &Json) -> Result<Self, String> {
        let number = |key: &str| count(&json[key]).ok_or_else(|| format!("`{key}` is not a number"));
        // States of before there were other engines do not speak of these.
        let newer = |key: &str| if json[key].is_null() { Ok(0) } else { number(key) };
        let left_out = if json["left_out"].is_null() { &json!({}) } else { &json["left_out"] };
        Ok(Tally {
            outcomes: from_names(&json["outcomes"], GameResult::ALL.map(GameResult::name))?,
            endings: from_names(&json["endings"], Ending::ALL.map(Ending::name))?,
            without_opening: number("without_opening")?,
            filtered: from_names(&json["positions"], FilterOutcome::ALL.map(FilterOutcome::name))?,
            left_out: from_names(left_out, FailureKind::ALL.map(FailureKind::name))?,
            nodes: number("nodes")?,
            elapsed: Duration::from_millis(number("elapsed_ms")?),
            threads: Duration::from_millis(newer("threads_ms")?),
            searching: Duration::from_millis(newer("searching_ms")?),
        })
    }
}

impl fmt::Display for Tally {
    /// A table of several lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        let hours = self.elapsed.as_secs_f64().max(1e-9) / 3600.0;
        let [white, black, draw] = self.outcomes;
        let games = self.games();
        let thrown_away = self.endings[Ending::MaxPlies.index()];
        writeln!(
            f,
            "games      {games}: {white} won by White, {black} by Black, {draw} drawn, {thrown_away} thrown away"
        )?;
        for (ending, &count) in Ending::ALL.into_iter().zip(&self.endings).filter(|&(_, &count)| count > 0) {
            writeln!(f, "  {count:>10}  {:5.1} %  {}", share(count, games), ending.name())?;
        }
        if self.without_opening > 0 {
            writeln!(f, "  {:>10}  not played: no balanced opening", self.without_opening)?;
        }
        for (kind, &count) in FailureKind::ALL.into_iter().zip(&self.left_out).filter(|&(_, &count)| count > 0) {
            writeln!(f, "  {count:>10}  left out: {}", kind.name())?;
        }
        writeln!(f, "positions  {}", self.positions())?;
        let is_shown = |outcome: FilterOutcome, count: u64| outcome != FilterOutcome::NoScore || count > 0;
        let filtered = FilterOutcome::ALL.into_iter().zip(self.filtered);
        for (filter_outcome, count) in filtered.filter(|&(outcome, count)| is_shown(outcome, count)) {
            writeln!(f, "  {count:>10}  {:5.1} %  {}", share(count, self.positions()), filter_outcome.name())?;
        }
        write!(
            f,
            "speed      {:.0} kept an hour, {:.0} games an hour, {:.0} nodes a second, in {:.1} s",
            self.kept() as f64 / hours,
            games as f64 / hours,
            self.nodes as f64 / hours / 3600.0,
            self.elapsed.as_secs_f64()
        )?;
        self.share_of_searching().map_or(Ok(()), |share| write!(f, ", searching {share:.2} of the time"))
    }
}
