//! Numbers that keep their value, folded into the rows: what follows from them alone becomes facts of a row, and their
//! entries go.
//!
//! A fit of few parameters then adds up few entries and differentiates a short tape, however large the evaluation is.

use super::Model;
use super::layout::{Layout, Segment};
use super::rows::{Block, Part, RowBuilder, Rows, RowsError, RowsWriter, Shape};
use super::tape::{LANES, Node, Op, Tape, Work};
use crate::io::Storage;

/// A model of the numbers that move, and the way from the rows of the whole model to rows of it.
pub(crate) struct Fold<'m> {
    whole: &'m Model,
    theta: &'m [f64],
    /// The same layout but for its facts, and a tape of what varies.
    pub(crate) model: Model,
    /// By segment: by leaf, whether its entries are dropped.
    dropped: Vec<Vec<bool>>,
    /// By fact of the new model.
    facts: Vec<Source>,
}

/// The value of a fact.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// Of an operation of the whole tape.
    Node(Node),
    /// The part of a slot's total that dropped entries have.
    Offset(usize),
}

impl<'m> Fold<'m> {
    /// Folds the numbers that are fixed into facts; none if nothing is fixed, or nothing varies.
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

    /// The rows of the new model; this process has to have all of them.
    pub(crate) fn rows(&self, rows: &Rows, storage: &Storage) -> Result<Rows, RowsError> {
        let mut folded = RowsWriter::new(Shape::from(&self.model.layout), storage);
        for part in rows.each_part(|part| self.part(part)) {
            folded.append(&part)?;
        }
        Ok(folded.finish()?.with_weights(rows.weighted().weights.to_vec()))
    }

    fn part(&self, part: Part<'_>) -> Rows {
        let layout = &self.whole.layout;
        let mut work = Work::new(layout.slots(), layout.facts.len());
        for (total, common) in work.totals[layout.row_slots()..].iter_mut().zip(&layout.common) {
            *total = [common.iter().map(|&(number, count)| self.theta[number] * count).sum(); LANES];
        }
        let mut offsets = vec![[0.0; LANES]; layout.row_slots()];
        let mut writer = RowsWriter::in_memory(Shape::from(&self.model.layout));
        let mut row = RowBuilder::default();
        for block in part.blocks() {
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
                        Source::Node(node) => work.value(node)[lane],
                        Source::Offset(slot) => offsets[slot][lane],
                    };
                    row.set_fact(fact, value as f32);
                }
                writer.push(&mut row, target).expect("a row that was sound");
            }
        }
        writer.finish().expect("rows in memory")
    }

    /// Totals and facts of a block, and the part of the totals that dropped entries have.
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

/// The tape of what varies, and its facts; none if nothing varies.
fn shortened(whole: &Model, dropped: &[Vec<bool>], is_fixed: &dyn Fn(usize) -> bool) -> Option<(Tape, Vec<Source>)> {
    let layout = &whole.layout;
    // By slot: whether its total is the same for all that is fitted, and whether dropped entries have part in it.
    let (mut fixed, mut has_offset) = (Vec::new(), Vec::new());
    for (segment, dropped) in layout.segments.iter().zip(dropped) {
        let leaves = &layout.sums[segment.sum].leaves;
        for half in 0..segment.kind.width() {
            fixed.push(leaves.iter().all(|leaf| is_fixed(leaf.parameter + half)));
            has_offset.push(dropped.contains(&true));
        }
    }
    for common in &layout.common {
        fixed.push(common.iter().all(|&(parameter, _)| is_fixed(parameter)));
        has_offset.push(false);
    }
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
    let mut fact = |source: Source, tape: &mut Tape| {
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
            (None, _) => fact(Source::Node(node), tape),
        };
        let moved = op.with_operands(|node| operand(node, &mut tape));
        let mut node = tape.push(moved);
        if let Op::Slot(slot) = op
            && has_offset[slot as usize]
        {
            let offset = fact(Source::Offset(slot as usize), &mut tape);
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
    use crate::objective::tests::{SIZE, THETA, model, moved, rows};
    use crate::objective::{HessianKind, Objective};

    #[test]
    fn folded_rows_have_the_losses_and_derivatives_of_the_whole() {
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
            let [curves, other_curves] = [&whole, &short].map(|of| of.hessian(&theta, HessianKind::Full));
            for j in (0..SIZE).filter(|&j| !is_fixed(j)) {
                assert!((slopes[j] - others[j]).abs() < 1e-9, "{fixed:?}, {j}: {} and {}", slopes[j], others[j]);
                assert!((curves.get(j, j) - other_curves.get(j, j)).abs() < 1e-9, "{fixed:?}, {j}");
            }
        }
        assert!(Fold::new(&model, &THETA, &|_| true).is_none() && Fold::new(&model, &THETA, &|_| false).is_none());
    }
}
