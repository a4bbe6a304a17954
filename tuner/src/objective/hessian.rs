//! Second derivatives of the loss, or what stands in for them, added up over rows.

use super::SampleLoss;
use super::loss::Cost;
use super::pass::{Point, Room};
use super::products::{Cell, Columns, Piece, Products};
use crate::linear::{Matrix, SymmetricMatrix};
use crate::model::Model;
use crate::model::layout::Layout;
use crate::model::rows::{BLOCK, Block, PARTS, Part, Rows, Segment};
use crate::model::tape::Lanes;
use crate::parallel;
use crate::processes::{self, Shared};
use std::ops::Range;

/// Entries of rows that are prepared by one thread, about, and how many such pieces are multiplied at once: together they
/// stay in the last cache. Threads wait for one another after as many.
const PIECE: usize = 1 << 13;
const PIECES: usize = 32;

/// The same with several processes: each keeps the pieces of all of them, as they are and as bytes.
const SHARED_PIECES: usize = 8;

/// Groups whose gradients are multiplied at once.
const GROUPS: usize = 256;

/// Chunks whose groups' gradients are kept at a time.
const CHUNKS: usize = 8;

/// What is added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HessianKind {
    /// The Gauss-Newton matrix: never negative in any direction.
    GaussNewton,
    /// Second derivatives.
    Full,
    /// Outer products of the rows' gradients, each with the square of its weight.
    Outer,
}

impl HessianKind {
    /// What the outer product of a score's derivatives counts.
    fn weight(self, cost: &Cost) -> f64 {
        match self {
            HessianKind::GaussNewton => cost.gauss_newton,
            HessianKind::Full => cost.full,
            HessianKind::Outer => cost.slope * cost.slope,
        }
    }
}

/// Rows, their model, where it stands and how scores are measured.
pub(super) struct Scored<'s> {
    pub(super) rows: &'s Rows,
    pub(super) model: &'s Model,
    pub(super) point: &'s Point,
    pub(super) loss: SampleLoss,
    pub(super) logit: f64,
}

impl Scored<'_> {
    fn cost(&self, room: &Room, block: &Block<'_>, lane: usize) -> Cost {
        let cost = self.loss.cost(self.logit * room.scores[lane], f64::from(block.target[lane]));
        cost.times(block.weighted().weight(lane))
    }

    /// Means over every `stride`-th row, among the parameters that are wanted; others may be 0.
    pub(super) fn hessian(
        &self,
        kind: HessianKind,
        stride: usize,
        is_wanted: &dyn Fn(usize) -> bool,
    ) -> SymmetricMatrix {
        let columns = Columns::new(&self.model.layout, is_wanted);
        let blocks = PIECE * stride * self.rows.len().div_ceil(BLOCK) / self.rows.entries_of_all().max(1);
        let places = self.pieces(blocks.max(1));
        let mut products = Products::new(&columns);
        let at_once = if processes::is_alone() { PIECES } else { SHARED_PIECES };
        let mut pieces: Vec<Piece> = (0..at_once.min(places.len())).map(|_| Piece::default()).collect();
        for places in places.chunks(at_once) {
            let pieces = &mut pieces[..places.len()];
            let part = |number: usize| places[number].0;
            let own = pieces.iter_mut().zip(places).filter(|(_, place)| processes::is_own(place.0));
            parallel::for_each(own, |(piece, (chunk, blocks))| {
                self.fill(piece, &columns, (*chunk, blocks.clone()), kind, stride);
            });
            processes::share(pieces, part);
            parallel::for_each(pieces.iter_mut(), |piece| piece.sort(&columns));
            products.add(pieces);
        }
        products.finish(1.0 / self.rows.weight(stride))
    }

    /// All rows in pieces of so many blocks: a chunk, and blocks of it. Neighbours are of different chunks, so that
    /// processes share every few of them.
    fn pieces(&self, size: usize) -> Vec<(usize, Range<usize>)> {
        let mut places = Vec::new();
        let blocks = |chunk: &usize| self.rows.chunk_len(*chunk).div_ceil(BLOCK);
        for first in (0..self.rows.chunk_count()).step_by(PARTS) {
            let chunks = first..(first + PARTS).min(self.rows.chunk_count());
            let longest = chunks.clone().map(|chunk| blocks(&chunk)).max().unwrap_or(0);
            for first in (0..longest).step_by(size) {
                let is_longer = chunks.clone().filter(|chunk| blocks(chunk) > first);
                places.extend(is_longer.map(|chunk| (chunk, first..(first + size).min(blocks(&chunk)))));
            }
        }
        places
    }

    /// Fills a piece with every `stride`-th row of some blocks of a chunk.
    fn fill(
        &self,
        piece: &mut Piece,
        columns: &Columns<'_>,
        (chunk, blocks): (usize, Range<usize>),
        kind: HessianKind,
        stride: usize,
    ) {
        let Scored { rows, model, logit, .. } = *self;
        let totals: Vec<[Option<usize>; 2]> = (0..columns.totals()).map(|total| columns.slots(total)).collect();
        let mut room = Room::new(&model.layout, self.point);
        let mut seconds: Vec<Vec<Lanes>> = Vec::new();
        piece.clear();
        for block in blocks.map(|number| rows.block(chunk, number)) {
            room.evaluate(&block, model, self.point);
            model.tape.differentiate(&mut room.work);
            if kind == HessianKind::Full {
                seconds.resize(model.layout.slots(), vec![[0.0; BLOCK]; model.layout.slots()]);
                for (slot, seconds) in seconds.iter_mut().enumerate() {
                    model.tape.second(slot, &mut room.work, seconds);
                }
            }
            each_row(&block, &model.layout, |lane, segments| {
                if (block.first + lane) % stride != 0 {
                    return;
                }
                let cost = self.cost(&room, &block, lane);
                let (weight, slope) = (logit * logit * kind.weight(&cost), logit * cost.slope);
                let of_slot = |slot: Option<usize>| slot.map_or(0.0, |slot| room.work.slopes[slot][lane]);
                let entry = |slot: Option<usize>, other: Option<usize>| {
                    let second = match (slot, other) {
                        (Some(slot), Some(other)) if kind == HessianKind::Full => seconds[slot][other][lane],
                        _ => 0.0,
                    };
                    weight * of_slot(slot) * of_slot(other) + slope * second
                };
                piece.push(columns, segments, |total, other| -> Cell {
                    let ([a, b], [c, d]) = (totals[total], totals[other]);
                    [entry(a, c), entry(a, d), entry(b, c), entry(b, d)]
                });
            });
        }
        rows.release(chunk);
    }

    /// The diagonal of the Gauss-Newton matrix, added up over the rows of a part.
    pub(super) fn diagonal(&self, part: Part<'_>) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.model.layout.parameters];
        self.each_gradient(part.blocks(), |_, cost, gradient| {
            let weight = self.logit * self.logit * cost.gauss_newton;
            gradient.each(|parameter, number| diagonal[parameter] += weight * number * number);
        });
        diagonal
    }

    /// The mean, over the rows, of outer products of the gradients of groups of rows, among the parameters that are
    /// wanted, others are 0; and the number of groups.
    pub(super) fn outer_by_group(&self, groups: &[u32], is_wanted: &dyn Fn(usize) -> bool) -> (SymmetricMatrix, usize) {
        assert_eq!(groups.len(), self.rows.len(), "a group a row");
        let mut size = 0;
        let place = |parameter: usize| {
            is_wanted(parameter).then(|| {
                size += 1;
                size - 1
            })
        };
        let places: Vec<Option<usize>> = (0..self.model.layout.parameters).map(place).collect();
        let mut total = Matrix::zeros(size, size);
        let mut batch = Batch { gradients: Matrix::zeros(size, GROUPS), filled: 0, group: None };
        let mut count = 0;
        let chunks = self.rows.chunk_count();
        for first in (0..chunks).step_by(CHUNKS) {
            let several = first..(first + CHUNKS).min(chunks);
            let found = processes::each_of(several, |chunk| self.by_group(chunk, groups));
            for GroupGradients { groups, ends, gradients } in found {
                let mut begin = 0;
                for (group, end) in groups.into_iter().zip(ends) {
                    if batch.group != Some(group) {
                        batch.next(group, &mut total);
                        count += 1;
                    }
                    for (parameter, number) in &gradients[begin..end] {
                        if let Some(place) = places[*parameter as usize] {
                            batch.gradients[(place, batch.filled - 1)] += number;
                        }
                    }
                    begin = end;
                }
            }
        }
        batch.flush(&mut total);
        let scale = 1.0 / self.rows.weight(1);
        let entry = |i: usize, j: usize| places[i].zip(places[j]).map_or(0.0, |place| -scale * total[place]);
        (SymmetricMatrix::from_fn(places.len(), entry), count)
    }

    /// The gradients of the groups of a chunk.
    fn by_group(&self, chunk: usize, groups: &[u32]) -> GroupGradients {
        let mut found = GroupGradients::default();
        let mut sum = RowGradient { numbers: vec![0.0; self.model.layout.parameters], touched: Vec::new() };
        self.each_gradient(self.rows.blocks_of(chunk), |row, cost, gradient| {
            if found.groups.last() != Some(&groups[row]) {
                found.end(&mut sum);
                found.groups.push(groups[row]);
            }
            let slope = self.logit * cost.slope;
            gradient.each(|parameter, number| sum.add(parameter, slope * number));
        });
        found.end(&mut sum);
        found
    }

    /// Shows the number of every row, its loss, and the derivatives of its score by the parameters.
    fn each_gradient<'b>(
        &self,
        blocks: impl Iterator<Item = Block<'b>>,
        mut see: impl FnMut(usize, &Cost, &mut RowGradient),
    ) {
        let layout = &self.model.layout;
        let mut room = Room::new(layout, self.point);
        let mut gradient = RowGradient { numbers: vec![0.0; layout.parameters], touched: Vec::new() };
        for block in blocks {
            room.evaluate(&block, self.model, self.point);
            self.model.tape.differentiate(&mut room.work);
            each_row(&block, layout, |lane, segments| {
                gradient.add_row(layout, segments, |slot| room.work.slopes[slot][lane]);
                see(block.first + lane, &self.cost(&room, &block, lane), &mut gradient);
            });
        }
    }
}

/// Shows every row of a block: its lane and its segments.
fn each_row<'r>(block: &Block<'r>, layout: &Layout, mut see: impl FnMut(usize, &[Segment<'r>])) {
    let mut all = block.segments();
    let mut segments = Vec::with_capacity(layout.segments.len());
    for lane in 0..block.len() {
        segments.clear();
        segments.extend(all.by_ref().take(layout.segments.len()));
        see(lane, &segments);
    }
}

/// The derivatives of a score by the parameters, of which most are 0.
struct RowGradient {
    numbers: Vec<f64>,
    /// Those that may not be 0, some of them twice.
    touched: Vec<usize>,
}

impl RowGradient {
    #[inline]
    fn add(&mut self, parameter: usize, number: f64) {
        self.numbers[parameter] += number;
        self.touched.push(parameter);
    }

    fn add_row(&mut self, layout: &Layout, segments: &[Segment<'_>], slope: impl Fn(usize) -> f64) {
        for (number, Segment { leaves, counts }) in segments.iter().enumerate() {
            let (slots, of) = (layout.slots_of(number), layout.leaves(number));
            for (&leaf, &count) in leaves.iter().zip(*counts) {
                let leaf = of[usize::from(leaf)];
                let count = f64::from(count) * leaf.unit;
                slots.clone().enumerate().for_each(|(half, slot)| self.add(leaf.parameter + half, count * slope(slot)));
            }
        }
        for (total, parts) in layout.common.iter().enumerate() {
            let slope = slope(layout.row_slots() + total);
            parts.iter().for_each(|&(parameter, count)| self.add(parameter, slope * count));
        }
    }

    /// Hands out each of them, once; all are 0 afterwards.
    fn each(&mut self, mut take: impl FnMut(usize, f64)) {
        for parameter in self.touched.drain(..) {
            take(parameter, std::mem::take(&mut self.numbers[parameter]));
        }
    }
}

/// Gradients of the groups of a chunk; the first and the last may be parts of groups.
#[derive(Default)]
struct GroupGradients {
    groups: Vec<u32>,
    /// By group: where its gradient ends.
    ends: Vec<usize>,
    /// Parameters, and derivatives by them that are not 0.
    gradients: Vec<(u32, f64)>,
}

impl GroupGradients {
    /// Ends the gradient of the last group, if there is one.
    fn end(&mut self, sum: &mut RowGradient) {
        if self.ends.len() < self.groups.len() {
            sum.each(|parameter, number| self.gradients.extend((number != 0.0).then_some((parameter as u32, number))));
            self.ends.push(self.gradients.len());
        }
    }
}

impl Shared for GroupGradients {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.groups.pack(bytes);
        self.ends.pack(bytes);
        let (parameters, numbers): (Vec<u32>, Vec<f64>) = self.gradients.iter().copied().unzip();
        parameters.pack(bytes);
        numbers.pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        let (groups, ends) = (Vec::unpack(bytes), Vec::unpack(bytes));
        let (parameters, numbers) = (Vec::<u32>::unpack(bytes), Vec::<f64>::unpack(bytes));
        GroupGradients { groups, ends, gradients: parameters.into_iter().zip(numbers).collect() }
    }
}

/// Gradients of groups, a column each, until they are multiplied.
struct Batch {
    gradients: Matrix,
    filled: usize,
    group: Option<u32>,
}

impl Batch {
    /// Begins the column of another group.
    fn next(&mut self, group: u32, total: &mut Matrix) {
        if self.filled == GROUPS {
            self.flush(total);
        }
        self.filled += 1;
        self.group = Some(group);
    }

    /// Subtracts the products of all columns.
    fn flush(&mut self, total: &mut Matrix) {
        total.subtract_square(&self.gradients);
        self.gradients.clear();
        self.filled = 0;
    }
}
