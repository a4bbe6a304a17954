//! Sums of outer products of sparse gradients.
//!
//! A row counts leaves, each in a segment, and its score is a function of the segments' totals alone. So the gradient of
//! the score has an entry a leaf, two for a pair: `count · slope` of its total. Cells of the matrix are 2 × 2 for the same
//! reason. Rows are added in batches, one row of the matrix after the other, so that this row stays in the L1 cache.

use std::ops::Range;

use crate::model::layout::{Layout, Leaf};
use crate::model::rows::SegmentEntries;
use crate::objective::linear::SymmetricMatrix;
use crate::objective::vectors::{Loop, Vectors, run};
use crate::parallel;
use crate::processes;
use serde::{Deserialize, Serialize};

/// A cell of the matrix: the first half of a leaf by the two halves of another, then the second half by them.
type Cell = [f64; 4];

/// The columns of the matrix by leaf: the leaves of all sums, then the common totals.
pub(super) struct MatrixColumns<'l> {
    layout: &'l Layout,
    /// The totals with wanted columns: those of segments, then the common ones.
    totals: Vec<Total>,
    /// Flag per column: true if it is computed.
    is_wanted: Vec<bool>,
}

/// A total of a row, of which some columns are wanted.
struct Total {
    /// Number of its segment; common totals follow the segments.
    number: usize,
    /// Slots of its halves; a single number has one.
    slots: [Option<usize>; 2],
    /// Column of its first leaf.
    column: usize,
    /// True if the total before has the same columns: that of the other side.
    is_second_side: bool,
}

impl<'l> MatrixColumns<'l> {
    /// Creates the columns of a layout. Columns of parameters that are not wanted stay 0 and are skipped.
    pub(super) fn new(layout: &'l Layout, is_wanted: &dyn Fn(usize) -> bool) -> Self {
        let mut columns = MatrixColumns { layout, totals: Vec::new(), is_wanted: Vec::new() };
        let of_column =
            |halves: &[Vec<(usize, f64)>; 2]| halves.iter().flatten().any(|&(parameter, _)| is_wanted(parameter));
        columns.is_wanted = columns.parameters().iter().map(of_column).collect();
        let mut of_sums = Vec::new();
        let mut count = 0;
        for sum in &layout.sums {
            of_sums.push(count..count + sum.leaves.len());
            count += sum.leaves.len();
        }
        let of_segments = layout.segments.iter().map(|segment| of_sums[segment.sum].clone());
        let of_common = (0..layout.common.len()).map(|common| count + common..count + common + 1);
        for (number, range) in of_segments.chain(of_common).enumerate() {
            if columns.is_wanted[range.clone()].contains(&true) {
                let is_second_side = columns.totals.last().is_some_and(|last| last.column == range.start);
                let slots = columns.slots(number);
                columns.totals.push(Total { number, slots, column: range.start, is_second_side });
            }
        }
        columns
    }

    fn count(&self) -> usize {
        self.is_wanted.len()
    }

    /// Returns the slots of a total, by the number of its segment; the second is `None` for a single number.
    fn slots(&self, number: usize) -> [Option<usize>; 2] {
        let slots = match number.checked_sub(self.layout.segments.len()) {
            None => self.layout.slots_of(number),
            Some(common) => self.layout.row_slots() + common..self.layout.row_slots() + common + 1,
        };
        [Some(slots.start), Some(slots.start + 1).filter(|slot| slots.contains(slot))]
    }

    /// Returns the parameters and their factors by column and half.
    fn parameters(&self) -> Vec<[Vec<(usize, f64)>; 2]> {
        let leaves = self.layout.sums.iter().flat_map(|sum| {
            let of_half = |leaf: &Leaf, half| {
                if half < sum.kind.width() { vec![(leaf.parameter + half, leaf.unit)] } else { Vec::new() }
            };
            sum.leaves.iter().map(move |leaf| [0, 1].map(|half| of_half(leaf, half)))
        });
        leaves.chain(self.layout.common.iter().map(|parts| [parts.clone(), Vec::new()])).collect()
    }

    /// Converts the matrix by leaves to the matrix by parameters, times `scale`.
    fn by_parameter(&self, bands: &[Vec<Cell>], scale: f64) -> SymmetricMatrix {
        let parameters = self.parameters();
        let mut matrix = SymmetricMatrix::zeros(self.layout.parameters);
        for (i, of_row) in parameters.iter().enumerate() {
            let first = row_of(i / BAND * BAND).start;
            let row = row_of(i).start - first..row_of(i).end - first;
            for (j, (of_column, cell)) in parameters.iter().zip(&bands[i / BAND][row]).enumerate() {
                for (place, &entry) in cell.iter().enumerate().filter(|(_, entry)| **entry != 0.0) {
                    for &(p, by) in &of_row[place / 2] {
                        for &(q, times) in &of_column[place % 2] {
                            // A diagonal cell is complete. Any other cell stands for its mirror image, too, which
                            // matters if both have the same parameter.
                            let both = if i != j && p == q { 2.0 } else { 1.0 };
                            if i != j || p >= q {
                                matrix.add(p, q, scale * both * by * times * entry);
                            }
                        }
                    }
                }
            }
        }
        matrix
    }
}

/// Number of entries that a batch has room for at first.
const ROOM: usize = 1 << 14;

/// A batch of rows, indexed by column for their products.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RowBatch {
    /// The gradients of the rows, one after the other, each in the order of its columns.
    entries: Vec<GradientEntry>,
    /// Index of the first entry by row, then the number of entries.
    begins: Vec<u32>,
    /// Factor of the outer product by row.
    weights: Vec<f64>,
    /// Index of the first use by column.
    #[serde(skip)]
    use_begins: Vec<u32>,
    /// Uses by column.
    #[serde(skip)]
    uses: Vec<Use>,
}

/// The derivatives of a score by the two halves of a leaf.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct GradientEntry {
    column: u32,
    halves: [f64; 2],
}

/// An occurrence of a column in a row.
#[derive(Clone, Copy, Default)]
struct Use {
    row: u32,
    /// Index of the entry.
    place: u32,
}

impl RowBatch {
    pub(super) fn new() -> Self {
        RowBatch { entries: Vec::with_capacity(ROOM), begins: vec![0], ..RowBatch::default() }
    }

    /// Adds a row, whose outer product counts `weight` times; `slope` is the derivative of its score by a slot.
    #[inline]
    pub(super) fn push(
        &mut self,
        columns: &MatrixColumns<'_>,
        segments: &[SegmentEntries<'_>],
        weight: f64,
        slope: impl Fn(usize) -> f64,
    ) {
        let (row, mut of_sum) = (self.entries.len(), self.entries.len());
        for total in &columns.totals {
            if !total.is_second_side {
                of_sum = self.entries.len();
            }
            let slopes = total.slots.map(|slot| slot.map_or(0.0, &slope));
            match segments.get(total.number) {
                Some(SegmentEntries { leaves, counts }) => {
                    for (&leaf, &count) in leaves.iter().zip(*counts) {
                        let column = total.column + usize::from(leaf);
                        if columns.is_wanted[column] {
                            let halves = slopes.map(|slope| f64::from(count) * slope);
                            self.entries.push(GradientEntry { column: column as u32, halves });
                        }
                    }
                }
                None => self.entries.push(GradientEntry { column: total.column as u32, halves: slopes }),
            }
            if total.is_second_side {
                self.entries[of_sum..].sort_unstable_by_key(|entry| entry.column);
            }
        }
        self.merge(row);
        self.begins.push(self.entries.len() as u32);
        self.weights.push(weight);
    }

    /// Adds up entries of one column, from `first` on. Both sides may have it, and large counts take several entries.
    #[inline]
    fn merge(&mut self, first: usize) {
        let mut end = first;
        for place in first..self.entries.len() {
            let entry = self.entries[place];
            if end > first && self.entries[end - 1].column == entry.column {
                self.entries[end - 1].halves.iter_mut().zip(entry.halves).for_each(|(sum, half)| *sum += half);
            } else {
                self.entries[end] = entry;
                end += 1;
            }
        }
        self.entries.truncate(end);
    }

    /// Sorts the uses by column (counting sort).
    pub(super) fn sort(&mut self, columns: &MatrixColumns<'_>) {
        let begins = &mut self.use_begins;
        begins.clear();
        begins.resize(columns.count() + 2, 0);
        self.entries.iter().for_each(|entry| begins[entry.column as usize + 2] += 1);
        (1..begins.len()).for_each(|column| begins[column] += begins[column - 1]);
        self.uses.resize(self.entries.len(), Use::default());
        for (row, ends) in self.begins.windows(2).enumerate() {
            for place in ends[0]..ends[1] {
                let next = &mut begins[self.entries[place as usize].column as usize + 1];
                self.uses[*next as usize] = Use { row: row as u32, place };
                *next += 1;
            }
        }
    }

    /// Adds the batch's contribution to a row of the lower triangle of the matrix.
    #[inline(always)]
    fn add_to(&self, column: usize, cells: &mut [Cell]) {
        for &Use { row, place } in &self.uses[self.use_begins[column] as usize..self.use_begins[column + 1] as usize] {
            let (row, place) = (row as usize, place as usize);
            let [first, second] = self.entries[place].halves.map(|half| self.weights[row] * half);
            for &GradientEntry { column, halves: [a, b] } in &self.entries[self.begins[row] as usize..=place] {
                let products = [first * a, first * b, second * a, second * b];
                cells[column as usize].iter_mut().zip(products).for_each(|(cell, product)| *cell += product);
            }
        }
    }
}

/// Number of rows of a band of the matrix, which one thread of one process computes.
const BAND: usize = 8;

/// The loop that adds batches to a band of the matrix.
struct AddToBand<'b> {
    batches: &'b [RowBatch],
    /// The first column of the band.
    first: usize,
    cells: &'b mut [Cell],
}

impl Loop for AddToBand<'_> {
    #[inline(always)]
    fn run(self, _vectors: Vectors) {
        let mut cells = self.cells;
        for column in self.first.. {
            let Some((row, others)) = cells.split_at_mut_checked(column + 1) else { break };
            self.batches.iter().for_each(|batch| batch.add_to(column, row));
            cells = others;
        }
    }
}

/// The sum of outer products.
pub(super) struct Products<'c> {
    columns: &'c MatrixColumns<'c>,
    /// This process's bands of the lower triangle, each with its number, in row-major order.
    bands: Vec<(usize, Vec<Cell>)>,
}

impl<'c> Products<'c> {
    pub(super) fn new(columns: &'c MatrixColumns<'c>) -> Self {
        let band = |number: usize| {
            let cells = row_of(((number + 1) * BAND).min(columns.count())).start - row_of(number * BAND).start;
            (number, vec![Cell::default(); cells])
        };
        let bands = 0..columns.count().div_ceil(BAND);
        Products { columns, bands: bands.filter(|&number| processes::is_own(number)).map(band).collect() }
    }

    /// Adds batches of rows. Every process and every thread computes its own rows of the matrix.
    pub(super) fn add(&mut self, batches: &[RowBatch]) {
        parallel::for_each(self.bands.iter_mut(), |(number, band)| {
            run(AddToBand { batches, first: *number * BAND, cells: band });
        });
    }

    /// Returns the matrix by parameters, times `scale`.
    pub(super) fn finish(self, scale: f64) -> SymmetricMatrix {
        let own = self.bands.into_iter().map(|(_, band)| band).collect();
        let bands = processes::gather(own, 0..self.columns.count().div_ceil(BAND));
        self.columns.by_parameter(&bands, scale)
    }
}

/// Returns the range of a row of the lower triangle.
fn row_of(row: usize) -> Range<usize> {
    row * (row + 1) / 2..(row + 1) * (row + 2) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::layout::{Sum, SumKind};
    use crate::model::rows::{RowBuilder, RowsWriter};
    use engine::random::Random;

    /// Returns a layout of pairs, sided pairs and single numbers in several units. The last one is a parameter of a
    /// common total, too.
    fn layout() -> Layout {
        let leaves = |first: usize, width: usize, count: usize, unit: f64| {
            (0..count).map(|leaf| Leaf { parameter: first + width * leaf, unit }).collect()
        };
        let sum = |name: &str, kind, is_sided, leaves| Sum { name: name.to_owned(), kind, is_sided, leaves };
        let sums = vec![
            sum("main", SumKind::Pair, false, leaves(0, 2, 40, 1.0)),
            sum("danger", SumKind::Single, true, leaves(80, 1, 11, 0.5)),
            sum("attack", SumKind::Pair, true, leaves(91, 2, 9, 1.0)),
            sum("phase", SumKind::Single, false, leaves(109, 1, 3, 2.0)),
        ];
        Layout::new(112, sums, Vec::new(), vec![vec![(111, 3.0), (7, 1.0)]])
    }

    #[test]
    fn products_equal_those_of_dense_matrices() {
        let layout = layout();
        let columns = MatrixColumns::new(&layout, &|_| true);
        let mut random = Random::seeded(3);
        let mut writer = RowsWriter::in_memory((&layout).into());
        let mut row = RowBuilder::default();
        for _ in 0..300 {
            row.clear(0);
            for (number, segment) in layout.segments.iter().enumerate() {
                for _ in 0..random.below(9) {
                    row.add(number, random.below(segment.leaves as u64) as usize, random.below(300) as i32 - 150);
                }
            }
            writer.push(&mut row, 0.5).unwrap();
        }
        let rows = writer.finish().unwrap();
        let slots = layout.slots();
        let mut expected = vec![vec![0.0; layout.parameters]; layout.parameters];
        let mut products = Products::new(&columns);
        let mut batches: Vec<RowBatch> = (0..3).map(|_| RowBatch::new()).collect();
        for row in 0..rows.len() {
            let weight = random.below(200) as f64 / 100.0;
            let slopes: Vec<f64> = (0..slots).map(|_| random.below(200) as f64 / 100.0 - 1.0).collect();
            let segments = rows.row(row);
            let mut gradient = vec![0.0; layout.parameters];
            for (number, segment) in segments.iter().enumerate() {
                for (&leaf, &count) in segment.leaves.iter().zip(segment.counts) {
                    let leaf = layout.leaves(number)[usize::from(leaf)];
                    for (half, slot) in layout.slots_of(number).enumerate() {
                        gradient[leaf.parameter + half] += f64::from(count) * leaf.unit * slopes[slot];
                    }
                }
            }
            let common = slopes[layout.row_slots()];
            (gradient[111], gradient[7]) = (gradient[111] + 3.0 * common, gradient[7] + common);
            for (i, of_row) in gradient.iter().enumerate() {
                gradient.iter().enumerate().for_each(|(j, of_column)| expected[i][j] += weight * of_row * of_column);
            }
            batches[row % 3].push(&columns, &segments, weight, |slot| slopes[slot]);
        }
        batches.iter_mut().for_each(|batch| batch.sort(&columns));
        products.add(&batches);
        let found = products.finish(0.5);
        for (i, row) in expected.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                let size = (expected[i][i] * expected[j][j]).abs().sqrt();
                let (found, entry) = (found.get(i, j), 0.5 * entry);
                assert!((found - entry).abs() < 1e-12 * size, "{i}, {j}: {found} for {entry}");
            }
        }
    }
}
