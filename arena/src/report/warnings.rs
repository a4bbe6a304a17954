//! Warnings about a result.

use super::MatchResult;
use crate::schedule::Tally;
use crate::uci_client::Limit;

/// Below this share of the nodes or plies asked for, an engine is suspected to go by another limit.
const SUSPICIOUS: f64 = 0.2;

/// The data that warnings are based on.
pub(super) struct Facts<'a> {
    pub(super) tally: &'a Tally,
    pub(super) names: Vec<&'a str>,
    pub(super) limits: Vec<Limit>,
    pub(super) encounters: usize,
    /// How many openings there are, if that is known.
    pub(super) openings: Option<u64>,
}

/// Texts of the warnings.
pub(super) fn warnings(outcome: &MatchResult<'_>) -> Vec<String> {
    let MatchResult { plan, tally, .. } = *outcome;
    doubts(&Facts {
        tally,
        names: plan.names(),
        limits: (0..plan.engines.len()).map(|index| plan.limit_of(index)).collect(),
        encounters: plan.encounters().len(),
        openings: Some(plan.book.len() as u64),
    })
}

/// Texts of the warnings.
pub(super) fn doubts(facts: &Facts<'_>) -> Vec<String> {
    let tally = facts.tally;
    let mut warnings = Vec::new();
    let again = tally.games - tally.distinct_games();
    if again > 0 {
        warnings.push(format!("{again} games are exact copies of others, and tell nothing new"));
    }
    let pairs = (tally.games / facts.encounters as u64).div_ceil(2);
    if let Some(openings) = facts.openings.filter(|&openings| pairs > openings) {
        warnings.push(format!("the {openings} openings were played more than once"));
    }
    for (index, engine) in tally.engines.iter().enumerate().filter(|(_, engine)| engine.search_total.moves > 0) {
        let (limit, done) = match facts.limits[index] {
            Limit::Nodes(limit) => (limit as f64, engine.search_total.nodes),
            Limit::Depth(limit) => (f64::from(limit), engine.search_total.depths),
            Limit::Clock(_) | Limit::MoveTime(_) => continue,
        };
        let done = done as f64 / engine.search_total.moves as f64;
        if done < SUSPICIOUS * limit {
            let (name, asked) = (facts.names[index], facts.limits[index]);
            warnings.push(format!("{name} reports {done:.1} on average; its limit is {asked}"));
        }
    }
    warnings
}
