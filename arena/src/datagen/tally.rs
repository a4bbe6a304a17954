//! Counts of a run.

use engine::chess::GameResult;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::{FilterOutcome, SelfGame};
use crate::game::Ending;

/// How often each thing of a list occurred, by its place in the list.
pub(super) type Counts<const N: usize> = [u64; N];

/// Counts of games and positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Games by their result; discarded games have none.
    pub outcomes: Counts<{ GameResult::ALL.len() }>,
    /// Games by their ending.
    pub endings: Counts<{ Ending::ALL.len() }>,
    /// Games that were not played, for want of a balanced opening.
    pub without_opening: u64,
    /// Positions by the result of the filter.
    pub filtered: Counts<{ FilterOutcome::ALL.len() }>,
    /// Nodes of all searches of games.
    pub nodes: u64,
    /// How long the run took, with all its interruptions taken out.
    pub elapsed: Duration,
}

impl Tally {
    /// Games that were played.
    pub fn games(&self) -> u64 {
        self.endings.iter().sum()
    }

    /// Numbers of games that were used up, with a game or without.
    pub(super) fn numbers(&self) -> u64 {
        self.games() + self.without_opening
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

    /// The counts in JSON, by name.
    pub(super) fn to_json(&self) -> Json {
        json!({
            "outcomes": by_name(GameResult::ALL.map(GameResult::name), self.outcomes),
            "endings": by_name(Ending::ALL.map(Ending::name), self.endings),
            "without_opening": self.without_opening,
            "positions": by_name(FilterOutcome::ALL.map(FilterOutcome::name), self.filtered),
            "nodes": self.nodes,
            "elapsed_ms": u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Parses [`Tally::to_json`]; the error names what is missing.
    pub(super) fn from_json(json: &Json) -> Result<Self, String> {
        let number = |key: &str| count(&json[key]).ok_or_else(|| format!("`{key}` is not a number"));
        Ok(Tally {
            outcomes: from_names(&json["outcomes"], GameResult::ALL.map(GameResult::name))?,
            endings: from_names(&json["endings"], Ending::ALL.map(Ending::name))?,
            without_opening: number("without_opening")?,
            filtered: from_names(&json["positions"], FilterOutcome::ALL.map(FilterOutcome::name))?,
            nodes: number("nodes")?,
            elapsed: Duration::from_millis(number("elapsed_ms")?),
        })
    }
}

/// A count that sums and further games do not lead beyond its type.
fn count(json: &Json) -> Option<u64> {
    json.as_u64().filter(|&count| count < 1 << 56)
}

fn by_name<const N: usize>(names: [&'static str; N], counts: Counts<N>) -> Json {
    let occurred = names.into_iter().zip(counts).filter(|&(_, count)| count > 0);
    Map::from_iter(occurred.map(|(name, count)| (name.to_owned(), json!(count)))).into()
}

fn from_names<const N: usize>(json: &Json, names: [&'static str; N]) -> Result<Counts<N>, String> {
    let object = json.as_object().ok_or_else(|| format!("{json} is not an object"))?;
    if let Some(unknown) = object.keys().find(|key| !names.contains(&key.as_str())) {
        return Err(format!("`{unknown}` is not known"));
    }
    let mut counts = [0; N];
    for (number, name) in counts.iter_mut().zip(names) {
        if let Some(value) = object.get(name) {
            *number = count(value).ok_or_else(|| format!("`{name}` is not a number"))?;
        }
    }
    Ok(counts)
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
        writeln!(f, "positions  {}", self.positions())?;
        for (filter_outcome, count) in FilterOutcome::ALL.into_iter().zip(self.filtered) {
            writeln!(f, "  {count:>10}  {:5.1} %  {}", share(count, self.positions()), filter_outcome.name())?;
        }
        write!(
            f,
            "speed      {:.0} kept an hour, {:.0} games an hour, {:.0} nodes a second, in {:.1} s",
            self.kept() as f64 / hours,
            games as f64 / hours,
            self.nodes as f64 / hours / 3600.0,
            self.elapsed.as_secs_f64()
        )
    }
}
