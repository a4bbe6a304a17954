//! The setup of a match, from its description alone.

use serde_json::Value;

use super::{Format, Head, Schedule};
use crate::stats::{Bounds, Model, Sprt};
use crate::uci_client::Limit;

/// A match as its [`Head`] describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The encounters.
    pub schedule: Schedule,
    /// The names of the engines.
    pub names: Vec<String>,
    /// The limit of each engine.
    pub limits: Vec<Limit>,
    /// The test it is played for, if any.
    pub sprt: Option<Sprt>,
    /// The number of openings, if known.
    pub openings: Option<u64>,
    /// The number of games planned for each encounter, if known.
    pub games: Option<u64>,
}

impl Setup {
    /// Parses the head of a journal.
    ///
    /// # Errors
    /// The missing or invalid key.
    pub fn of(head: &Head) -> Result<Self, String> {
        let Head { identity, about } = head;
        let engines = identity["engines"].as_array().filter(|engines| engines.len() > 1);
        let engines = engines.ok_or("`engines` is not a list of two or more")?;
        let text = |engine: &Value, key: &str| {
            engine[key].as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` of an engine is not text"))
        };
        let limit = |engine: &Value| -> Result<Limit, String> {
            text(engine, "limit")?.parse::<Limit>().map_err(|error| error.to_string())
        };
        let format = match identity["round_robin"].as_bool().ok_or("`round_robin` is neither true nor false")? {
            true => Format::RoundRobin,
            false => Format::Gauntlet,
        };
        Ok(Setup {
            schedule: Schedule { format, engines: engines.len() },
            names: engines.iter().map(|engine| text(engine, "name")).collect::<Result<_, _>>()?,
            limits: engines.iter().map(limit).collect::<Result<_, _>>()?,
            sprt: sprt(&identity["sprt"])?,
            openings: about["openings_count"].as_u64(),
            games: about["games"].as_u64(),
        })
    }

    /// The number of games planned in all, if known.
    pub fn total_games(&self) -> Option<u64> {
        Some(self.games? * self.schedule.encounters().len() as u64)
    }
}

fn sprt(value: &Value) -> Result<Option<Sprt>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let read = || {
        let model = value["model"].as_str()?;
        let [elo0, elo1] = value["bounds"].as_array()?.as_slice() else { return None };
        let bounds: Bounds = format!("{},{}", elo0.as_f64()?, elo1.as_f64()?).parse().ok()?;
        let rate = |key: &str| value[key].as_f64().filter(|&rate| rate > 0.0 && rate < 0.5);
        let model = Model::ALL.into_iter().find(|known| known.name() == model)?;
        Some(Sprt { model, bounds, alpha: rate("alpha")?, beta: rate("beta")? })
    };
    read().map(Some).ok_or_else(|| format!("`sprt` is not a test: {value}"))
}
