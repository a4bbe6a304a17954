//! The generations of a loop in words: the cells of the table for a terminal and of the table on the page.

use super::table::{aligned, duration, signed};
use crate::generation::{ADOPTED, Generation, UNCHANGED};

/// The headings of the cells of [`row`].
pub(super) const HEAD: [&str; 8] = ["generation", "games", "positions", "loss", "tuned", "Elo", "verdict", "time"];

/// The generations of a loop, a row each.
pub fn generations_table(generations: &[Generation]) -> String {
    let rows = std::iter::once(HEAD.map(str::to_owned)).chain(generations.iter().map(row));
    aligned(&rows.collect::<Vec<_>>())
}

/// The words of a generation; what is not known, or not yet, is a dash.
pub(super) fn row(generation: &Generation) -> [String; HEAD.len()] {
    let words = |value: Option<f64>, write: fn(f64) -> String| value.map_or_else(|| "–".to_owned(), write);
    let (whole, loss) = (|value: f64| format!("{value:.0}"), |value: f64| format!("{value:.6}"));
    [
        generation.name(),
        words(generation.number_at(["games", "games"]), whole),
        words(generation.number_at(["games", "positions"]), whole),
        words(generation.number_at(["tune", "loss", "before"]), loss),
        words(generation.number_at(["tune", "loss", "after"]), loss),
        elo(generation),
        verdict(generation).to_owned(),
        duration(generation.seconds()),
    ]
}

/// Elo of the tuned parameters over those of before.
pub(super) fn elo(generation: &Generation) -> String {
    let elo = generation.number_at(["test", "elo"]);
    match (elo, generation.number_at(["test", "elo_error"])) {
        (Some(elo), Some(error)) => format!("{} ± {error:.1}", signed(elo)),
        (Some(elo), None) => format!("{} ± unknown", signed(elo)),
        _ if generation.is_over() => "unknown".to_owned(),
        _ => "–".to_owned(),
    }
}

/// Returns the outcome of the test, with the decision that follows from it.
pub(super) fn verdict(generation: &Generation) -> &'static str {
    match generation.verdict() {
        Some(ADOPTED) => "H1: adopted",
        Some("H0 accepted") => "H0: kept before",
        Some(UNCHANGED) => "nothing changed",
        Some(_) => "undecided: kept before",
        None => "goes on",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_figures_are_shown_as_unknown() {
        let mut generation = Generation::new(1);
        assert_eq!(row(&generation).join("|"), "gen-001|–|–|–|–|–|goes on|0.0 s");
        generation.add("games", json!({ "games": 12, "positions": 300, "seconds": 1.0 }));
        generation.add("tune", json!({ "loss": { "before": 0.08, "after": 0.07 }, "seconds": 2.0 }));
        generation.add("test", json!({ "elo": null, "verdict": "H0 accepted", "seconds": 59.0 }));
        let words = "gen-001|12|300|0.080000|0.070000|unknown|H0: kept before|1:02";
        assert_eq!(row(&generation).join("|"), words);
        generation.add("test", json!({ "elo": -3.25, "elo_error": 10.0, "verdict": "undecided" }));
        assert_eq!([elo(&generation).as_str(), verdict(&generation)], ["-3.2 ± 10.0", "undecided: kept before"]);
    }
}
