//! JSON for programs.

use serde_json::{Map, Value, json};

use super::Outcome;
use super::table::{judged, verdict_name};
use super::warnings::warnings;
use crate::game::{Ending, Fault};
use crate::schedule::identity;
use crate::stats::{Counts, Sprt};

/// The result of a match. Numbers that the counts cannot tell are null.
pub fn to_json(outcome: &Outcome<'_>) -> Value {
    let Outcome { plan, tally, sprt, elapsed } = *outcome;
    let judged = judged(tally);
    let engines: Vec<Value> = (0..2).map(|index| engine(outcome, index)).collect();
    let endings = Ending::ALL.iter().map(|ending| (key(ending.name()), tally.endings[ending.index()].into()));
    let [losses, draws, wins] = tally.engines[0].results;
    json!({
        "match": identity(plan, sprt),
        "engines": engines,
        "openings": plan.book.name(),
        "games_planned": plan.games,
        "games": tally.games,
        "distinct_games": tally.distinct_games(),
        "wins": wins,
        "losses": losses,
        "draws": draws,
        "pentanomial": tally.pairs().as_slice(),
        "score": judged.score,
        "elo": judged.elo,
        "elo_error": judged.elo_error,
        "nelo": judged.nelo,
        "nelo_error": judged.nelo_error,
        "los": judged.los,
        "sprt": sprt.map(|sprt| sprt_json(sprt, &tally.pairs())),
        "endings": Map::from_iter(endings),
        "warnings": warnings(outcome),
        "plies": tally.plies,
        "seconds": elapsed.as_secs_f64(),
    })
}

/// A test and what it says about counts.
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
    })
}

fn engine(outcome: &Outcome<'_>, index: usize) -> Value {
    let Outcome { plan, tally, .. } = *outcome;
    let (spec, engine) = (&plan.engines[index], &tally.engines[index]);
    let faults = Fault::ALL.iter().map(|&fault| (key(fault.name()), engine.faults.count(fault).into()));
    json!({
        "name": spec.name,
        "moves": engine.moves,
        "nodes": engine.nodes,
        "depths": engine.depths,
        "seconds": engine.time.as_secs_f64(),
        "faults": Map::from_iter(faults),
        "notes": engine.notes,
    })
}

/// A name as a key: `illegal PVs` becomes `illegal_pvs`.
fn key(name: &str) -> String {
    name.to_ascii_lowercase().replace(' ', "_")
}
