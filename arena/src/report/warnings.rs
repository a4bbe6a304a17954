//! What makes a result worth less than it looks.

use super::Outcome;
use crate::uci_client::Limit;

/// Below this share of the nodes or plies asked for, an engine is suspected to go by another limit.
const SUSPICIOUS: f64 = 0.2;

/// Reasons to doubt a result, in words.
pub(super) fn warnings(outcome: &Outcome<'_>) -> Vec<String> {
    let Outcome { plan, tally, .. } = *outcome;
    let mut warnings = Vec::new();
    let again = tally.games - tally.distinct_games();
    if again > 0 {
        warnings.push(format!("{again} games are exact copies of others, and tell nothing new"));
    }
    let pairs = (tally.games / plan.encounters().len() as u64).div_ceil(2);
    if pairs > plan.book.len() as u64 {
        warnings.push(format!("the {} openings were played more than once", plan.book.len()));
    }
    for (index, engine) in tally.engines.iter().enumerate().filter(|(_, engine)| engine.moves > 0) {
        let (limit, done) = match plan.limit_of(index) {
            Limit::Nodes(limit) => (limit as f64, engine.nodes),
            Limit::Depth(limit) => (f64::from(limit), engine.depths),
            Limit::Clock(_) | Limit::MoveTime(_) => continue,
        };
        let done = done as f64 / engine.moves as f64;
        if done < SUSPICIOUS * limit {
            let (name, asked) = (&plan.engines[index].name, plan.limit_of(index));
            warnings.push(format!("{name} says it did {done:.1} on average, where {asked} was asked"));
        }
    }
    warnings
}
