//! What a check has found, as text and as JSON.

use std::fmt::{self, Write};

use serde_json::{Value, json};

use super::{BEND_TOLERANCE, Check, SCORE_TOLERANCE, Slope};
use crate::numbers::Numbers;

/// How many derivatives are shown, the worst first.
const SHOWN: usize = 10;

impl Check {
    /// What was found, for people.
    pub fn to_table(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).expect("a String takes all");
        text.trim_end().to_owned()
    }

    fn write(&self, to: &mut String) -> fmt::Result {
        writeln!(to, "{} positions, K {:.4}\n", self.positions, self.k)?;
        writeln!(to, "{:<20}{:>14}{:>14}{:>10}", "slope by", "computed", "difference", "error")?;
        let numbers = Numbers::declared();
        for slope in self.slopes.iter().take(SHOWN) {
            write_slope(to, numbers.name(slope.index), slope)?;
        }
        let word = verdict(self.are_slopes_good());
        writeln!(to, "{} slopes, errors up to {:.1e}: {word}\n", self.slopes.len(), self.tolerance)?;
        writeln!(to, "{:<20}{:>14}{:>14}{:>10}", "curvature along", "computed", "difference", "error")?;
        for bend in &self.bends {
            write_slope(to, &format!("direction {}", bend.index + 1), bend)?;
        }
        let word = verdict(self.are_bends_good());
        writeln!(to, "{} directions, errors up to {BEND_TOLERANCE:.1e}: {word}\n", self.bends.len())?;
        let scores = &self.scores;
        writeln!(to, "played {} and by its row {:.3}: {}", scores.played, scores.row, scores.fen)?;
        let word = verdict(self.are_scores_good());
        writeln!(
            to,
            "{} scores, {:.3} centipawns apart at most, up to {SCORE_TOLERANCE}: {word}\n",
            self.positions, scores.error
        )?;
        writeln!(to, "{}", if self.is_good() { "passed" } else { "FAILED" })
    }

    /// The same for machines, with the worst derivatives.
    pub fn to_json(&self) -> Value {
        let numbers = Numbers::declared();
        let slope = |name: String, slope: &Slope| json!({ "name": name, "computed": slope.analytic, "difference": slope.numeric, "error": slope.error() });
        let slopes = self.slopes.iter().take(SHOWN).map(|found| slope(numbers.name(found.index).to_owned(), found));
        let bends = self.bends.iter().map(|found| slope(format!("direction {}", found.index + 1), found));
        json!({
            "positions": self.positions,
            "k": self.k,
            "passed": self.is_good(),
            "slopes": { "count": self.slopes.len(), "tolerance": self.tolerance, "passed": self.are_slopes_good(),
                "worst": slopes.collect::<Vec<Value>>() },
            "curvature": { "tolerance": BEND_TOLERANCE, "passed": self.are_bends_good(),
                "worst": bends.collect::<Vec<Value>>() },
            "scores": { "tolerance": SCORE_TOLERANCE, "passed": self.are_scores_good(), "error": self.scores.error,
                "fen": self.scores.fen, "played": self.scores.played, "row": self.scores.row },
        })
    }
}

fn write_slope(to: &mut String, name: &str, slope: &Slope) -> fmt::Result {
    writeln!(to, "{name:<20}{:>+14.6e}{:>+14.6e}{:>10.1e}", slope.analytic, slope.numeric, slope.error())
}

fn verdict(is_good: bool) -> &'static str {
    if is_good { "good" } else { "WRONG" }
}
