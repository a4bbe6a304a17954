//! Constant folding of fixed parameters: results that depend on them alone become facts of the rows, and their entries
//! are dropped.
//!
//! So a fit of few parameters sums few entries and differentiates a short tape, even for a large evaluation.

use anyhow::Result;

use super::Model;
use super::layout::{Layout, Segment};
use super::rows::{Block, RowBuilder, Rows, RowsWriter, Shape};
use super::tape::{LANES, Node, Op, Tape, Work};
use crate::data::io::Storage;
use crate::parallel;

/// A model of the free parameters, which converts rows of the whole model to its own rows.
pub(crate) struct Fold<'m> {
    whole: &'m Model,
    theta: &'m [f64],
    /// The model with the same layout except its facts, and a tape of the varying operations.
    pub(crate) model: Model,
    /// Flag by segment and leaf: true if its entries are dropped.
    dropped: Vec<Vec<bool>>,
    /// Value by fact of the new model.
    facts: Vec<FoldedFact>,
}

/// The value of a fact that results from folding.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FoldedFact {
    /// The result of an operation of the whole tape.
    Node(Node),
    /// The contribution of dropped entries to a slot's total.
    Offset(usize),
}

impl<'m> Fold<'m> {
    /// Folds the fixed parameters into facts; `None` if no leaf is fixed, or the score does not vary.
    pub(crate) fn new(whole: &'m Model, theta: &'m [f64], is_fixed: &dyn Fn(usize) -> bool) -> Option<Self> {
        let layout = &whole.layout;
        let of_segment = |segment: &Segment| -> Vec<bool> {
            let leaves = layout.sums[segment.sum].leaves.iter();
            leaves.map(|leaf| (0..segment.kind.width()).all(|half| is_fixed(leaf.parameter + half))).collect()
        };
        let dropped: Vec<Vec<bool>> = layout.segments.iter().map(of_segment).collect();
        if !dropped.iter().flatten().any(|&dropped| dropped) {
            return None;
        }
        let (tape, facts) = shortened(whole, &dropped, is_fixed)?;
        let names = (0..facts.len()).map(|fact| format!("folded {fact}")).collect();
        let model = Model { layout: Layout { facts: names, ..layout.clone() }, tape };
        Some(Fold { whole, theta, model, dropped, facts })
    }

    /// Converts rows to the new model. All rows must be local to this process.
    pub(crate) fn rows(&self, rows: &Rows, storage: &Storage) -> Result<Rows> {
        let mut folded = RowsWriter::new(Shape::from(&self.model.layout), storage);
        for chunk in parallel::map(0..rows.chunk_count(), |chunk| self.chunk(rows.blocks_of(chunk, 0..usize::MAX))) {
            folded.append(&chunk)?;
        }
        Ok(folded.finish()?.with_weights(rows.weighted().weights.to_vec()))
    }

    fn chunk<'r>(&self, blocks: impl Iterator<Item = Block<'r>>) -> Rows {
        let layout = &self.whole.layout;
        let mut work = Work::new(layout.slots(), layout.facts.len());
        for (total, common) in work.totals[layout.row_slots()..].iter_mut().zip(&layout.common) {
            *total = [common.iter().map(|&(number, count)| self.theta[number] * count).sum(); LANES];
        }
        let mut offsets = vec![[0.0; LANES]; layout.row_slots()];
        let mut writer = RowsWriter::in_memory(Shape::from(&self.model.layout));
        let mut row = RowBuilder::default();
        for block in blocks {
            self.add_up(&block, &mut work, &mut offsets);
            self.whole.tape.scores(&mut work);
            let mut segments = block.segments();
            for (lane, &target) in block.target.iter().enumerate() {
                row.clear(self.facts.len());
                for (number, segment) in segments.by_ref().take(layout.segments.len()).enumerate() {
                    for (&leaf, &count) in segment.leaves.iter().zip(segment.counts) {
                        if !self.dropped[number][usize::from(leaf)] {
                            row.add(number, leaf.into(), count.into());
                        }
                    }
                }
                for (fact, source) in self.facts.iter().enumerate() {
                    let value = match *source {
                        FoldedFact::Node(node) => work.value(node)[lane],
                        FoldedFact::Offset(slot) => offsets[slot][lane],
                    };
                    row.set_fact(fact, value as f32);
                }
                writer.push(&mut row, target).expect("a row that was sound");
            }
        }
        writer.finish().expect("rows in memory")
    }

    /// Computes the totals and facts of a block, and the contribution of dropped entries to the totals.
    fn add_up(&self, block: &Block<'_>, work: &mut Work, offsets: &mut [[f64; LANES]]) {
        let layout = &self.whole.layout;
        let row_slots = layout.row_slots();
        work.totals[..row_slots].fill([0.0; LANES]);
        offsets.fill([0.0; LANES]);
        for (place, segment) in block.segments().enumerate() {
            let (lane, number) = (place / layout.segments.len(), place % layout.segments.len());
            let Segment { sum, kind, slot, .. } = layout.segments[number];
            for (&leaf, &count) in segment.leaves.iter().zip(segment.counts) {
                let shape = layout.sums[sum].leaves[usize::from(leaf)];
                for half in 0..kind.width() {
                    let by = f64::from(count) * shape.unit * self.theta[shape.parameter + half];
                    work.totals[slot + half][lane] += by;
                    if self.dropped[number][usize::from(leaf)] {
                        offsets[slot + half][lane] += by;
                    }
                }
            }
        }
        for (lane, facts) in block.facts().enumerate() {
            work.facts.iter_mut().zip(facts).for_each(|(lanes, &fact)| lanes[lane] = fact.into());
        }
    }
}

/// Returns the tape of the varying operations, and its facts; `None` if the score does not vary.
fn shortened(
    whole: &Model,
    dropped: &[Vec<bool>],
    is_fixed: &dyn Fn(usize) -> bool,
) -> Option<(Tape, Vec<FoldedFact>)> {
    let layout = &whole.layout;
    // Flags by slot: the total is constant in the fit, and dropped entries contribute to it.
    let of_segments = layout.segments.iter().zip(dropped).flat_map(|(segment, dropped)| {
        let leaves = &layout.sums[segment.sum].leaves;
        let is_half_fixed = move |half| leaves.iter().all(|leaf| is_fixed(leaf.parameter + half));
        (0..segment.kind.width()).map(move |half| (is_half_fixed(half), dropped.contains(&true)))
    });
    let of_common = layout.common.iter().map(|common| (common.iter().all(|&(number, _)| is_fixed(number)), false));
    let (fixed, has_offset): (Vec<bool>, Vec<bool>) = of_segments.chain(of_common).unzip();
    let ops = whole.tape.ops();
    let mut is_constant: Vec<bool> = Vec::with_capacity(ops.len());
    for op in ops {
        is_constant.push(match *op {
            Op::Slot(slot) => fixed[slot as usize],
            op => op.operands().all(|operand| is_constant[operand as usize]),
        });
    }
    if *is_constant.last()? {
        return None;
    }
    let (mut tape, mut facts, mut places) = (Tape::default(), Vec::new(), Vec::<Option<Node>>::new());
    let mut fact = |source: FoldedFact, tape: &mut Tape| {
        let known = facts.iter().position(|other| *other == source);
        let number = known.unwrap_or_else(|| {
            facts.push(source);
            facts.len() - 1
        });
        tape.push(Op::Fact(number as u32))
    };
    for (place, &op) in ops.iter().enumerate() {
        if is_constant[place] {
            places.push(None);
            continue;
        }
        let mut operand = |node: Node, tape: &mut Tape| match (places[node as usize], ops[node as usize]) {
            (Some(place), _) => place,
            (None, op @ Op::Constant(_)) => tape.push(op),
            (None, _) => fact(FoldedFact::Node(node), tape),
        };
        let moved = op.with_operands(|node| operand(node, &mut tape));
        let mut node = tape.push(moved);
        if let Op::Slot(slot) = op
            && has_offset[slot as usize]
        {
            let offset = fact(FoldedFact::Offset(slot as usize), &mut tape);
            node = tape.push(Op::Add(node, offset));
        }
        places.push(Some(node));
    }
    let result = (*places.last()?)?;
    Some((tape.ending(result), facts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rows::{CHUNK, PARTS};
    use crate::objective::tests::{SIZE, THETA, model, moved, rows};
    use crate::objective::{HessianKind, Objective, scores};

    #[test]
    fn folded_rows_keep_losses_and_derivatives() {
        let model = model();
        let (rows, _) = rows(&model, 700);
        let rows = rows.with_weights((0..700).map(|row| [1.0, 0.25, 3.0][row % 3]).collect());
        for fixed in [&[0, 1, 2][..], &[2, 3, 8, 9], &[4, 5, 6, 7, 10, 11, 12], &(3..SIZE).collect::<Vec<_>>()] {
            let is_fixed = |j: usize| fixed.contains(&j);
            let Some(fold) = Fold::new(&model, &THETA, &is_fixed) else { panic!("{fixed:?}") };
            let folded = fold.rows(&rows, &Storage::default()).unwrap();
            assert!(folded.entries() < rows.entries(), "{fixed:?}");
            let whole = Objective::new(&rows, &model, 1.2).unwrap();
            let short = Objective::new(&folded, &fold.model, 1.2).unwrap();
            let free = (0..SIZE).find(|&j| !is_fixed(j)).unwrap();
            let theta = moved(&THETA, free, 7.0);
            let [(loss, slopes), (other, others)] = [&whole, &short].map(|of| of.loss_and_gradient(&theta));
            assert!((loss - other).abs() < 1e-8, "{fixed:?}: {loss} and {other}");
            let [curves, other_curves] = [&whole, &short].map(|of| of.hessian(&theta, HessianKind::GaussNewton));
            for j in (0..SIZE).filter(|&j| !is_fixed(j)) {
                assert!((slopes[j] - others[j]).abs() < 1e-9, "{fixed:?}, {j}: {} and {}", slopes[j], others[j]);
                assert!((curves.get(j, j) - other_curves.get(j, j)).abs() < 1e-9, "{fixed:?}, {j}");
            }
        }
        assert!(Fold::new(&model, &THETA, &|_| true).is_none() && Fold::new(&model, &THETA, &|_| false).is_none());
    }

    #[test]
    fn folded_rows_of_many_chunks_keep_their_order() {
        let model = model();
        let (rows, _) = rows(&model, PARTS * CHUNK + 100);
        let fold = Fold::new(&model, &THETA, &|j| j < 3).unwrap();
        let folded = fold.rows(&rows, &Storage::default()).unwrap();
        let [whole, short] = [(&rows, &model), (&folded, &fold.model)].map(|(rows, model)| scores(rows, model, &THETA));
        let apart = whole.iter().zip(&short).position(|(score, other)| (score - other).abs() > 1e-3);
        assert_eq!((whole.len(), apart), (short.len(), None));
        assert_eq!(rows.targets(), folded.targets());
    }
}
