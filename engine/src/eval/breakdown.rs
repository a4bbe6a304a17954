//! An evaluation explained term by term.

use std::fmt;

use super::params::leaves;
use super::{Evaluator, Score, Trace, phase_counts};
use crate::chess::Position;

/// What one term contributes, in centipawns, White's view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Where its parameters stand in the TOML file, like `psqt.knight`.
    pub name: String,
    /// Its midgame part.
    pub mg: i32,
    /// Its endgame part.
    pub eg: i32,
    /// What it adds to the evaluation: within one centipawn of the blend of its parts, so that all terms together
    /// give the evaluation exactly.
    pub tapered: i32,
}

/// A position's evaluation and where it comes from, in centipawns, White's view.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The terms that occur, in the order of declaration.
    pub terms: Vec<Term>,
    /// Sum of the midgame parts.
    pub mg: i32,
    /// Sum of the endgame parts.
    pub eg: i32,
    /// Share of the midgame in the blend, 0 to 1.
    pub midgame_fraction: f64,
    /// The evaluation: the sum of the tapered terms.
    pub total: i32,
}

impl Evaluator {
    /// Explains the evaluation of a position.
    pub fn breakdown(&self, position: &Position) -> Breakdown {
        let leaves = leaves();
        let weights = self.weights.to_vector();
        let counts = phase_counts(position);
        let mut terms: Vec<Term> = Vec::new();
        let mut sum = Score::ZERO;
        Trace::default().for_each(position, |index, count| {
            let index = usize::from(index);
            let value = Score::new(weights[2 * index] as i32, weights[2 * index + 1] as i32) * i32::from(count);
            let before = self.taper.blend(&counts, sum.mg(), sum.eg());
            sum += value;
            // Differences of the running evaluation add up to the whole, which rounded terms would not.
            let tapered = self.taper.blend(&counts, sum.mg(), sum.eg()) - before;
            let name = term_name(&leaves[index].path);
            match terms.last_mut().filter(|term| term.name == name) {
                Some(term) => {
                    term.mg += value.mg();
                    term.eg += value.eg();
                    term.tapered += tapered;
                }
                None => terms.push(Term { name: name.to_owned(), mg: value.mg(), eg: value.eg(), tapered }),
            }
        });
        let total = self.taper.blend(&counts, sum.mg(), sum.eg());
        let midgame_fraction = super::taper::fraction(&self.weights.phase.map(f64::from), &counts);
        Breakdown { terms, mg: sum.mg(), eg: sum.eg(), midgame_fraction, total }
    }
}

/// The first two parts of a path: `psqt.knight` of `psqt.knight.e4`.
fn term_name(path: &str) -> &str {
    let second = path.match_indices('.').nth(1);
    second.map_or(path, |(end, _)| &path[..end])
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = format!("{:-<16}-{:->8}-{:->8}-{:->8}", "", "", "", "");
        writeln!(f, "{:<16} {:>8} {:>8} {:>8}", "term", "midgame", "endgame", "tapered")?;
        writeln!(f, "{rule}")?;
        for Term { name, mg, eg, tapered } in &self.terms {
            writeln!(f, "{name:<16} {mg:>+8} {eg:>+8} {tapered:>+8}")?;
        }
        writeln!(f, "{rule}")?;
        writeln!(f, "{:<16} {:>+8} {:>+8} {:>+8}", "evaluation", self.mg, self.eg, self.total)?;
        write!(f, "centipawns, white's view; {:.0} % midgame", 100.0 * self.midgame_fraction)
    }
}
