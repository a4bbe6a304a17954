//! JSON for programs.

use serde_json::{Map, Value, json};

use super::MatchReport;
use super::table::verdict_name;
use super::warnings::doubts;
use crate::game::{Ending, Fault};
use crate::schedule::{Encounter, Setup};
use crate::stats::{Counts, Rating, Sprt, Unbiased, estimate};

/// The result of a match. Numbers that the counts do not determine are null.
pub fn to_json(report: &MatchReport<'_>) -> Value {
    let MatchReport { head, setup, tally, elapsed, .. } = *report;
    let engines: Vec<Value> =
        report.ratings().into_iter().enumerate().map(|(index, rating)| engine(report, index, rating)).collect();
    let endings = Ending::ALL.iter().map(|ending| (key(ending.name()), tally.endings[ending.index()].into()));
    let mut value = json!({
        "match": head.identity,
        "engines": engines,
        "openings": head.about["openings"],
        "games_planned": setup.total_games(),
        "games": tally.games,
        "distinct_games": tally.distinct_games(),
        "endings": Map::from_iter(endings),
        "warnings": doubts(report),
        "plies": tally.plies,
        "seconds": elapsed.as_secs_f64(),
        "pinned": head.about["pinned"],
    });
    let encounters: Vec<Value> = setup
        .schedule
        .encounters()
        .into_iter()
        .zip(&tally.encounters)
        .map(|(players, found)| encounter(setup, players, found))
        .collect();
    // A match of two has its numbers at the top level; a tournament by encounter.
    if let ([Value::Object(only)], Value::Object(all)) = (&encounters[..], &mut value) {
        all.extend(only.clone());
        all.insert("sprt".to_owned(), setup.sprt.map_or(Value::Null, |sprt| sprt_json(&sprt, &tally.pairs())));
    } else {
        value["encounters"] = encounters.into();
    }
    value
}

/// The results of two engines against each other, from the view of the first.
fn encounter(setup: &Setup, players: [usize; 2], encounter: &Encounter) -> Value {
    let judged = estimate(&encounter.counts());
    let [losses, draws, wins] = encounter.results;
    json!({
        "players": players.map(|player| &setup.names[player]),
        "wins": wins,
        "losses": losses,
        "draws": draws,
        "pentanomial": encounter.pairs,
        "score": judged.score,
        "elo": judged.elo,
        "elo_error": judged.elo_error,
        "nelo": judged.nelo,
        "nelo_error": judged.nelo_error,
        "los": judged.los,
    })
}

/// A test and its verdict on counts.
pub(super) fn sprt_json(sprt: &Sprt, counts: &Counts) -> Value {
    let (lower, upper) = sprt.limits();
    let llr = sprt.llr(counts).ok();
    json!({
        "model": sprt.model.name(),
        "bounds": sprt.bounds.as_array(),
        "alpha": sprt.alpha,
        "beta": sprt.beta,
        "llr": llr,
        "lower": lower,
        "upper": upper,
        "verdict": llr.map(|llr| verdict_name(sprt.verdict(llr))),
        "unbiased": sprt.unbiased(counts).ok().flatten().map(|unbiased| unbiased_json(&unbiased)),
    })
}

/// Elo that allows for the rule that stops the games; `low` and `high` are the ends of a 95 % interval. What is infinite
/// is null.
fn unbiased_json(Unbiased { elo, nelo }: &Unbiased) -> Value {
    json!({
        "elo": elo.median,
        "elo_low": elo.low,
        "elo_high": elo.high,
        "nelo": nelo.median,
        "nelo_low": nelo.low,
        "nelo_high": nelo.high,
    })
}

fn engine(report: &MatchReport<'_>, index: usize, rating: Rating) -> Value {
    let engine = &report.tally.engines[index];
    let faults = Fault::ALL.iter().map(|&fault| (key(fault.name()), engine.faults.count(fault).into()));
    json!({
        "name": report.setup.names[index],
        "rating": rating.elo,
        "rating_error": rating.error,
        "moves": engine.search_total.moves,
        "nodes": engine.search_total.nodes,
        "depths": engine.search_total.depths,
        "seconds": engine.search_total.time.as_secs_f64(),
        "faults": Map::from_iter(faults),
        "notes": engine.notes,
    })
}

/// A name as a key: `illegal PVs` becomes `illegal_pvs`.
pub(super) fn key(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "_").replace('\'', "")
}
