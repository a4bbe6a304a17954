//! Warnings about a result.

use super::MatchReport;
use crate::uci_client::Limit;

/// Below this share of the nodes or plies asked for, an engine is suspected to go by another limit.
const SUSPICIOUS: f64 = 0.2;

/// Texts of the warnings.
pub(super) fn doubts(report: &MatchReport<'_>) -> Vec<String> {
    let MatchReport { setup, tally, .. } = *report;
    let mut warnings = Vec::new();
    let again = tally.games - tally.distinct_games();
    if again > 0 {
        warnings.push(format!("{again} games are exact copies of others, and tell nothing new"));
    }
    let pairs = (tally.games / tally.encounters.len() as u64).div_ceil(2);
    if let Some(openings) = setup.openings.filter(|&openings| pairs > openings) {
        warnings.push(format!("the {openings} openings were played more than once"));
    }
    for (index, engine) in tally.engines.iter().enumerate().filter(|(_, engine)| engine.search_total.moves > 0) {
        let (limit, done) = match setup.limits[index] {
            Limit::Nodes(limit) => (limit as f64, engine.search_total.nodes),
            Limit::Depth(limit) => (f64::from(limit), engine.search_total.depths),
            Limit::Clock(_) | Limit::MoveTime(_) => continue,
        };
        let done = done as f64 / engine.search_total.moves as f64;
        if done < SUSPICIOUS * limit {
            let (name, asked) = (&setup.names[index], setup.limits[index]);
            warnings.push(format!("{name} reports {done:.1} on average; its limit is {asked}"));
        }
    }
    warnings
}
