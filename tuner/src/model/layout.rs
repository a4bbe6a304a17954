//! The sums of an evaluation: what they are called, which parameters they add up, and where their totals stand.

use std::ops::Range;

/// What a sum adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumKind {
    /// Pairs of a midgame and an endgame number: the total is a pair, too.
    Pair,
    /// Single numbers.
    Single,
}

impl SumKind {
    /// Numbers of a leaf, and of a total.
    pub const fn width(self) -> usize {
        match self {
            SumKind::Pair => 2,
            SumKind::Single => 1,
        }
    }
}

/// A sum of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    /// What it is called in formulas.
    pub name: String,
    /// What it adds up.
    pub kind: SumKind,
    /// Whether White and Black have a total each; if not, Black's counts are negative.
    pub is_sided: bool,
    /// Its leaves, in order.
    pub leaves: Vec<Leaf>,
}

/// A leaf of a sum: a parameter, or a pair of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    /// Index of its number, or of the first of its two, among the parameters.
    pub parameter: usize,
    /// What a count of one is worth: counts of rows are whole numbers of this unit.
    pub unit: f64,
}

/// One side's part of a sum, or all of a sum that is not sided.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The sum.
    pub sum: usize,
    /// What it adds up.
    pub kind: SumKind,
    /// Slot of its total, or of the first of the two.
    pub slot: usize,
    /// Leaves of the sum.
    pub leaves: usize,
}

/// Everything that rows and parameters of an evaluation are shaped by.
///
/// A row has a sparse segment a sum, two where the sum is sided, and a number a fact. The totals of the segments are
/// numbered as *slots*, in their order; behind them come the totals that are the same in all rows.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Layout {
    /// The sums.
    pub sums: Vec<Sum>,
    /// The segments of a row: those of a sided sum are White's, then Black's.
    pub segments: Vec<Segment>,
    /// Names of the facts, the numbers of a row that no parameter has part in. The first one, if there are any, is added
    /// to the score: the row's constant.
    pub facts: Vec<String>,
    /// Totals that are the same in all rows: parameters, and what each counts.
    pub common: Vec<Vec<(usize, f64)>>,
    /// Number of parameters.
    pub parameters: usize,
}

impl Layout {
    /// The layout of sums over so many parameters, of facts, and of totals that are the same in all rows: parameters and
    /// what each counts.
    ///
    /// # Panics
    /// If a parameter does not exist.
    pub fn new(parameters: usize, sums: Vec<Sum>, facts: Vec<String>, common: Vec<Vec<(usize, f64)>>) -> Self {
        let mut segments = Vec::new();
        let mut slot = 0;
        for (index, sum) in sums.iter().enumerate() {
            let width = sum.kind.width();
            assert!(sum.leaves.iter().all(|leaf| leaf.parameter + width <= parameters), "parameters of a sum");
            for _ in 0..if sum.is_sided { 2 } else { 1 } {
                segments.push(Segment { sum: index, kind: sum.kind, slot, leaves: sum.leaves.len() });
                slot += width;
            }
        }
        assert!(common.iter().flatten().all(|&(parameter, _)| parameter < parameters), "parameters of a common total");
        Layout { sums, segments, facts, common, parameters }
    }

    /// The first segment of a sum; Black's of a sided one follows it.
    pub fn segment_of(&self, sum: usize) -> usize {
        self.segments.iter().position(|segment| segment.sum == sum).expect("every sum has a segment")
    }

    /// Number of slots, those of common totals among them.
    pub fn slots(&self) -> usize {
        self.row_slots() + self.common.len()
    }

    /// Slots of totals that differ from row to row: the first ones.
    pub fn row_slots(&self) -> usize {
        self.segments.last().map_or(0, |segment| segment.slot + segment.kind.width())
    }

    /// The slots of a segment's total.
    pub fn slots_of(&self, segment: usize) -> Range<usize> {
        let Segment { slot, kind, .. } = self.segments[segment];
        slot..slot + kind.width()
    }

    /// The leaves of a segment.
    pub fn leaves(&self, segment: usize) -> &[Leaf] {
        &self.sums[self.segments[segment].sum].leaves
    }
}
