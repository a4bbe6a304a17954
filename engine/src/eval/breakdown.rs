//! An evaluation explained term by term.

use std::fmt;

use super::endings::{self, Known};
use super::params::{Axis, Leaf, LeafIndex, PAIRS, Sink, Sums, Weights, leaves, numbers_of};
use super::{Evaluator, Score, Trace};
use crate::chess::Position;

/// What one term contributes, in centipawns, White's view: by how much the score grows when the term is added to those
/// before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Where its parameters stand in the TOML file, like `psqt.knight`.
    pub name: String,
    /// Its part of the midgame score.
    pub mg: i32,
    /// Its part of the endgame score.
    pub eg: i32,
    /// What it adds to the evaluation: within one centipawn of the blend of its parts, so that all terms together
    /// give the evaluation exactly.
    pub tapered: i32,
}

/// A position's evaluation and where it comes from, in centipawns, White's view.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The terms that occur, sum by sum, in the order of declaration. Single numbers that add nothing of their own, such
    /// as phase weights, are left out.
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
        if let Some(Known { name, score }) = endings::known(position) {
            let term = Term { name: name.to_owned(), mg: score, eg: score, tapered: score };
            return Breakdown { terms: vec![term], mg: score, eg: score, midgame_fraction: 0.0, total: score };
        }
        let leaves = leaves();
        let weights = self.weights.to_vector();
        let full = self.constants.full_phase.phase();
        // Differences of the running evaluation add up to the whole, which rounded terms would not.
        let scores = |sums: Sums<Score, i32>| {
            [self.combine(Sums { phase: full, ..sums }), self.combine(Sums { phase: 0, ..sums }), self.combine(sums)]
        };
        let mut terms: Vec<Term> = Vec::new();
        let mut sums = Sums::default();
        Trace::default().for_each(position, |entry| {
            let before = scores(sums);
            match &weights[numbers_of::<Weights>(entry.leaf)] {
                &[mg, eg] => sums.pair(entry.sum, entry.side, Score::new(mg as i32, eg as i32), entry.count),
                numbers => sums.single(entry.sum, entry.side, numbers[0] as i32, entry.count),
            }
            let after = scores(sums);
            let [mg, eg, tapered] = std::array::from_fn(|i| after[i] - before[i]);
            if is_single(entry.leaf) && [mg, eg, tapered] == [0; 3] {
                return;
            }
            let name = term_name(&leaves[entry.leaf.index()]);
            match terms.last_mut().filter(|term| term.name == name) {
                Some(term) => {
                    term.mg += mg;
                    term.eg += eg;
                    term.tapered += tapered;
                }
                None => terms.push(Term { name: name.to_owned(), mg, eg, tapered }),
            }
        });
        let [mg, eg, total] = scores(sums);
        let midgame_fraction = if full > 0 { (f64::from(sums.phase) / f64::from(full)).clamp(0.0, 1.0) } else { 1.0 };
        Breakdown { terms, mg, eg, midgame_fraction, total }
    }
}

fn is_single(leaf: LeafIndex) -> bool {
    leaf.index() >= PAIRS
}

/// The name of a leaf's field, and the first key within it: `psqt.knight` of `psqt.knight.e4`.
fn term_name(leaf: &Leaf) -> &str {
    let field = leaf.field.name.len();
    let rest = &leaf.path[field..];
    match leaf.field.axes.first() {
        Some(Axis::Keys(_)) => {
            let end = rest[1..].find(['.', '[']).map_or(rest.len(), |end| end + 1);
            &leaf.path[..field + end]
        }
        _ => leaf.field.name,
    }
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
