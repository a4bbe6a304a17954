//! The layout of an evaluation: its sums, their parameters and the slots of their totals.

use std::ops::Range;

/// The kind of numbers that a sum adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SumKind {
    /// Pairs of a midgame and an endgame number; the total is a pair, too.
    Pair,
    /// Single numbers.
    Single,
}

impl SumKind {
    /// Returns the number of numbers of a leaf, and of a total.
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
    /// The name in formulas.
    pub name: String,
    /// The kind of its numbers.
    pub kind: SumKind,
    /// True if White and Black have a total each; otherwise Black's counts are negative.
    pub is_sided: bool,
    /// The leaves in order.
    pub leaves: Vec<Leaf>,
}

/// A leaf of a sum: a parameter, or a pair of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    /// Index of its parameter, or of the first of its two.
    pub parameter: usize,
    /// Unit of the counts of rows, which are whole multiples of it.
    pub unit: f64,
}

/// A segment of a row: one side of a sided sum, or a whole sum that is not sided.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Index of the sum.
    pub sum: usize,
    /// The kind of its numbers.
    pub kind: SumKind,
    /// Slot of its total, or the first of its two slots.
    pub slot: usize,
    /// Number of leaves of the sum.
    pub leaves: usize,
}

/// The shape of the rows and parameters of an evaluation.
///
/// A row has a sparse segment per sum, two if the sum is sided, and a number per fact. The totals of the segments are
/// numbered as *slots*, in their order. The slots of the common totals, which are the same in all rows, follow.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Layout {
    /// The sums.
    pub sums: Vec<Sum>,
    /// The segments of a row; a sided sum has White's, then Black's.
    pub segments: Vec<Segment>,
    /// Names of the facts, which are numbers of a row that do not depend on parameters. The first one, if there are
    /// any, is the row's constant, which is added to the score.
    pub facts: Vec<String>,
    /// The common totals, which are the same in all rows: parameters and their counts.
    pub common: Vec<Vec<(usize, f64)>>,
    /// Number of parameters.
    pub parameters: usize,
}

impl Layout {
    /// Creates the layout of sums over a number of parameters, of facts, and of common totals (parameters and their
    /// counts).
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

    /// Returns the first segment of a sum. Black's segment of a sided sum follows it.
    pub fn segment_of(&self, sum: usize) -> usize {
        self.segments.iter().position(|segment| segment.sum == sum).expect("every sum has a segment")
    }

    /// Returns the number of slots, including those of the common totals.
    pub fn slots(&self) -> usize {
        self.row_slots() + self.common.len()
    }

    /// Returns the number of slots of totals that differ between rows; these slots come first.
    pub fn row_slots(&self) -> usize {
        self.segments.last().map_or(0, |segment| segment.slot + segment.kind.width())
    }

    /// Returns the slots of a segment's total.
    pub fn slots_of(&self, segment: usize) -> Range<usize> {
        let Segment { slot, kind, .. } = self.segments[segment];
        slot..slot + kind.width()
    }

    /// Returns the leaves of a segment.
    pub fn leaves(&self, segment: usize) -> &[Leaf] {
        &self.sums[self.segments[segment].sum].leaves
    }
}
