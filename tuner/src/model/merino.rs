//! Merino's own evaluation as a model: the layout of its parameters, and a tape that combines their sums.

use std::cell::RefCell;
use std::ops::{Add, Mul, Neg, Range, Sub};
use std::sync::LazyLock;

use engine::chess::{Color, Position};
use engine::eval::params::{Kind, LeafIndex, PAIRS, Sum, SumSet, Sums, Weights, leaves, numbers_of};
use engine::eval::{Constant, Constants, Entry, Number, Pair, Trace, combine};

use super::Model;
use super::layout::{self, Layout, Leaf, SumKind};
use super::rows::RowBuilder;
use super::tape::{Node, Op, Tape};

/// The fact that is added to a row's score, such as the score of a mate, which does not depend on parameters.
pub const CONSTANT: usize = 0;

/// Avoids 0 / 0 for phase weights that are all 0; the phase is 1 then, as in play.
const NO_PHASE: f64 = 1e-12;

/// The model of Merino's evaluation.
pub struct Merino {
    /// The model. Its parameters are numbered as in [`Weights::to_vector`].
    pub model: Model,
    /// Index in its sum by leaf.
    places: Vec<usize>,
    /// Segment by sum and side; the same of both if the sum is not sided.
    segments: Vec<[usize; 2]>,
}

/// Returns the model of Merino's evaluation as compiled.
pub fn merino() -> &'static Merino {
    static MERINO: LazyLock<Merino> = LazyLock::new(Merino::new);
    &MERINO
}

impl Merino {
    fn new() -> Self {
        let leaves = leaves();
        let mut places = vec![0; leaves.len()];
        let mut sums: Vec<layout::Sum> = Sum::ALL
            .iter()
            .map(|&sum| {
                let kind = match sum.info().kind {
                    Kind::Pair => SumKind::Pair,
                    Kind::Scalar => SumKind::Single,
                };
                let is_sided = sum.sides().len() == Color::COUNT;
                layout::Sum { name: sum.info().name.to_owned(), kind, is_sided, leaves: Vec::new() }
            })
            .collect();
        for (index, leaf) in leaves.iter().enumerate() {
            let own = &mut sums[leaf.field.sum].leaves;
            places[index] = own.len();
            own.push(Leaf { parameter: numbers_of_leaf(index).start, unit: 1.0 });
        }
        let common = Constant::ALL.iter().map(|constant| {
            let term = |&(leaf, count): &(LeafIndex, i32)| (numbers_of::<Weights>(leaf).start, f64::from(count));
            constant.terms().iter().map(term).collect()
        });
        let layout = Layout::new(Weights::DIMENSIONS, sums, vec!["constant".to_owned()], common.collect());
        let sided =
            |sum: usize| [0, 1].map(|side| layout.segment_of(sum) + side * usize::from(layout.sums[sum].is_sided));
        let segments: Vec<[usize; 2]> = (0..layout.sums.len()).map(sided).collect();
        let tape = record(&layout, &segments);
        Merino { model: Model { layout, tape }, places, segments }
    }

    /// Adds the counts of a position's parameters to an empty row.
    pub fn trace(&self, trace: &mut Trace, position: &Position, row: &mut RowBuilder) {
        trace.for_each(position, |Entry { sum, side, leaf, count }| {
            let segment = self.segments[sum.index()][side.index()];
            row.add(segment, self.places[leaf.index()], count);
        });
    }
}

/// Returns the indices of the numbers of a leaf in the parameter vector.
pub fn numbers_of_leaf(leaf: usize) -> Range<usize> {
    if leaf < PAIRS { 2 * leaf..2 * leaf + 2 } else { PAIRS + leaf..PAIRS + leaf + 1 }
}

/// Records the tape of the evaluation's `combine`.
fn record(layout: &Layout, segments: &[[usize; 2]]) -> Tape {
    let slot = |slot: usize| Recorded::new(Op::Slot(slot as u32));
    let slots = |sum: Sum, side: Color| layout.slots_of(segments[sum.index()][side.index()]);
    let sums: Sums<Pair<Recorded>, Recorded> = Sums::from_fn(
        |sum, side| {
            let slots = slots(sum, side);
            Pair { mg: slot(slots.start), eg: slot(slots.start + 1) }
        },
        |sum, side| slot(slots(sum, side).start),
    );
    let place = |constant: Constant| Constant::ALL.iter().position(|&other| other == constant).expect("one of all");
    let constants = Constants::from_fn(|constant| slot(layout.row_slots() + place(constant)));
    let score = combine(sums, &constants) + Recorded::new(Op::Fact(CONSTANT as u32));
    TAPE.take().ending(score.0)
}

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

/// A recorded number: a node on this thread's tape instead of a value.
#[derive(Clone, Copy, Debug)]
struct Recorded(Node);

impl Recorded {
    fn new(op: Op) -> Self {
        Recorded(TAPE.with_borrow_mut(|tape| tape.push(op)))
    }

    fn number(number: f64) -> Self {
        Recorded::new(Op::Constant(number))
    }
}

/// Records operators by the operations of the same names.
macro_rules! record_operators {
    ($($name:ident $function:ident),*) => {$(
        impl $name for Recorded {
            type Output = Self;

            fn $function(self, other: Self) -> Self {
                Recorded::new(Op::$name(self.0, other.0))
            }
        }
    )*};
}

record_operators!(Add add, Sub sub, Mul mul);

impl Neg for Recorded {
    type Output = Self;

    fn neg(self) -> Self {
        Recorded::number(0.0) - self
    }
}

impl Number for Recorded {
    type Full = Self;

    fn constant(value: i32) -> Self {
        Recorded::number(value.into())
    }

    fn min(self, other: Self) -> Self {
        Recorded::new(Op::Min(self.0, other.0))
    }

    fn max(self, other: Self) -> Self {
        Recorded::new(Op::Max(self.0, other.0))
    }

    fn abs(self) -> Self {
        Recorded::new(Op::Abs(self.0))
    }

    fn times(self, factor: Self, unit: Self) -> Self {
        Recorded::new(Op::Div((self * factor).0, unit.0))
    }

    fn full(phase: Self) -> Self {
        phase
    }

    fn taper(scores: Pair<Self>, phase: Self, &full: &Self) -> Self {
        let tiny = Recorded::number(NO_PHASE);
        let share = Recorded::new(Op::Div((phase + tiny).0, (full + tiny).0));
        // At a share of exactly 0 or 1, the derivative is that of the share, so that a weight of 0 can move.
        let fraction = Recorded::number(0.0).max(Recorded::number(1.0).min(share));
        scores.eg + fraction * (scores.mg - scores.eg)
    }
}
