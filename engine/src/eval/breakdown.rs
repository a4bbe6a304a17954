//! An evaluation explained: by family, by term, and by what its joints are given.

use std::collections::BTreeMap;
use std::fmt;

use super::combine::{Pair, SCALE_UNIT};
use super::endings::{self, Known, WHOLE};
use super::params::{Axis, Indices, Leaf, LeafIndex, PAIRS, Sink, Sum, SumSet, Sums, Weights, leaves, numbers_of};
use super::{Evaluator, Score, accumulate};
use crate::chess::{Color, Position};

/// The contribution of one term, in centipawns: the growth of the score when the term is added to those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The path of its parameters in the TOML file, like `psqt.knight`.
    pub name: String,
    /// White's and Black's part of both scores, each in its own view; material counts for the side that has more. 0 where a
    /// term belongs to no side.
    pub sides: [Pair<i32>; 2],
    /// Its part of both scores, White's view.
    pub both: Pair<i32>,
    /// Its part of the evaluation, White's view. It is within one centipawn of the blend of `both`, so that all terms
    /// together give the evaluation exactly.
    pub tapered: i32,
}

impl Term {
    fn new(name: &str) -> Self {
        let none = Pair { mg: 0, eg: 0 };
        Term { name: name.to_owned(), sides: [none; 2], both: none, tapered: 0 }
    }

    fn add(&mut self, other: &Term) {
        let plus = |sum: &mut Pair<i32>, other: Pair<i32>| (sum.mg, sum.eg) = (sum.mg + other.mg, sum.eg + other.eg);
        self.sides.iter_mut().zip(other.sides).for_each(|(sum, side)| plus(sum, side));
        plus(&mut self.both, other.both);
        self.tapered += other.tapered;
    }
}

/// A position's evaluation and where it comes from, in centipawns.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The terms that occur, sum by sum, in the order of declaration. Single numbers that add nothing of their own, such
    /// as phase weights, are left out.
    pub terms: Vec<Term>,
    /// The sums that joints are made of; none of an ending that is known by rule.
    pub sums: Option<Sums<Score, i32>>,
    /// Sum of the parts of both scores, White's view.
    pub both: Pair<i32>,
    /// Share of the midgame in the blend, 0 to 1.
    pub midgame_fraction: f64,
    /// The evaluation, White's view: the sum of the tapered terms.
    pub total: i32,
}

/// The counts of each leaf of a sum for either side. Black's counts in an unsided sum are below 0.
#[derive(Default)]
struct BySide(BTreeMap<(usize, LeafIndex), [i32; 2]>);

impl Sink<Sum, LeafIndex, LeafIndex> for BySide {
    fn pair(&mut self, sum: Sum, side: Color, leaf: LeafIndex, count: i32) {
        let side = if count < 0 { Color::Black } else { side };
        self.0.entry((sum.index(), leaf)).or_default()[side.index()] += count;
    }

    fn single(&mut self, sum: Sum, side: Color, leaf: LeafIndex, count: i32) {
        self.pair(sum, side, leaf, count);
    }
}

impl Evaluator {
    /// Explains the evaluation of a position.
    pub fn breakdown(&self, position: &Position) -> Breakdown {
        if let Some(Known { name, score }) = endings::known(position) {
            let both = Pair { mg: score, eg: score };
            let term = Term { both, tapered: score, ..Term::new(name) };
            return Breakdown { terms: vec![term], sums: None, both, midgame_fraction: 0.0, total: score };
        }
        let mut counts = BySide::default();
        accumulate(position, Indices::get(), &mut counts);
        let leaves = leaves();
        let weights = self.weights.to_vector();
        let full = self.constants.full_phase.phase();
        // Differences of the running evaluation add up to the whole, which rounded terms would not.
        let scores = |sums: Sums<Score, i32>| {
            let of = |phase: i32| self.combine(Sums { phase, ..sums });
            (Pair { mg: of(full), eg: of(0) }, self.combine(sums))
        };
        // Until a scale is known, it changes nothing.
        let mut sums = Sums { scale: [SCALE_UNIT; 2], ..Sums::default() };
        let mut terms: Vec<Term> = Vec::new();
        for ((sum, leaf), sides) in counts.0 {
            let sum = Sum::ALL[sum];
            let mut term = Term::new(term_name(&leaves[leaf.index()]));
            for (color, count) in Color::ALL.into_iter().zip(sides).filter(|(_, count)| *count != 0) {
                let side = if sum.info().is_sided { color } else { Color::White };
                let before = scores(sums);
                if sum == Sum::Scale {
                    sums.scale[side.index()] = 0;
                }
                match &weights[numbers_of::<Weights>(leaf)] {
                    &[mg, eg] => sums.pair(sum, side, Score::new(mg as i32, eg as i32), count),
                    numbers => sums.single(sum, side, numbers[0] as i32, count),
                }
                let (Pair { mg, eg }, tapered) = scores(sums);
                let both = Pair { mg: mg - before.0.mg, eg: eg - before.0.eg };
                let own = Pair { mg: color.sign() * both.mg, eg: color.sign() * both.eg };
                let mut part = Term { both, tapered: tapered - before.1, ..Term::new("") };
                if sum == Sum::Main || sum.info().is_sided {
                    part.sides[color.index()] = own;
                }
                term.add(&part);
            }
            let is_silent = leaf.index() >= PAIRS && term.both == Pair { mg: 0, eg: 0 } && term.tapered == 0;
            match terms.iter_mut().find(|other| other.name == term.name) {
                _ if is_silent => {}
                Some(other) => other.add(&term),
                None => terms.push(term),
            }
        }
        let (both, total) = scores(sums);
        let midgame_fraction = if full > 0 { (f64::from(sums.phase) / f64::from(full)).clamp(0.0, 1.0) } else { 1.0 };
        Breakdown { terms, sums: Some(sums), both, midgame_fraction, total }
    }
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

impl Breakdown {
    /// The terms of each family together: what stands before the first full stop of their names.
    pub fn families(&self) -> Vec<Term> {
        let mut families: Vec<Term> = Vec::new();
        for term in &self.terms {
            let name = term.name.split('.').next().unwrap_or_default();
            match families.iter_mut().find(|family| family.name == name) {
                Some(family) => family.add(term),
                None => families.push(Term { name: name.to_owned(), ..term.clone() }),
            }
        }
        families
    }

    /// The table of every term, as the breakdown itself is shown as that of families.
    pub fn by_term(&self) -> impl fmt::Display {
        fmt::from_fn(|f| self.table(f, "term", &self.terms))
    }

    fn table(&self, f: &mut fmt::Formatter<'_>, of: &str, terms: &[Term]) -> fmt::Result {
        let width = terms.iter().map(|term| term.name.len()).chain(["evaluation".len()]).max().unwrap_or(0);
        let rule = "-".repeat(width + 7 * 8);
        writeln!(f, "{:width$} {:>15} {:>15} {:>23}", "", "White's", "Black's", "White's view")?;
        writeln!(
            f,
            "{of:width$} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7}",
            "midgame", "endgame", "midgame", "endgame", "midgame", "endgame", "tapered"
        )?;
        writeln!(f, "{rule}")?;
        for Term { name, sides: [white, black], both, tapered } in terms {
            write!(f, "{name:width$} {:>7} {:>7} {:>7} {:>7} ", white.mg, white.eg, black.mg, black.eg)?;
            writeln!(f, "{:>+7} {:>+7} {tapered:>+7}", both.mg, both.eg)?;
        }
        writeln!(f, "{rule}")?;
        let Pair { mg, eg } = self.both;
        writeln!(f, "{:width$} {:>31} {mg:>+7} {eg:>+7} {:>+7}", "evaluation", "", self.total)?;
        if let Some(Sums { danger: [white, black], complexity, scale, .. }) = self.sums {
            let danger = |of: Score| format!("{} and {}", of.mg(), of.eg());
            writeln!(
                f,
                "joints: danger by White {}, by Black {}; complexity {complexity};",
                danger(white),
                danger(black)
            )?;
            let [white, black] = scale.map(|scale| f64::from(scale) / f64::from(WHOLE));
            writeln!(f, "        scale of White's advantage {white}, of Black's {black}, of {}", SCALE_UNIT / WHOLE)?;
        }
        write!(f, "centipawns; {:.0} % midgame", 100.0 * self.midgame_fraction)
    }
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.table(f, "family", &self.families())
    }
}
