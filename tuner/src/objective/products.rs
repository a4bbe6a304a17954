//! Sums of outer products of sparse rows.
//!
//! A row counts leaves, each in a segment, and its score is a function of the segments' totals alone. So a matrix `W`
//! by totals, such as the Hessian of the loss, becomes a matrix by parameters: `count · W · count` for two entries of a
//! row. Its cells are 2 × 2, because leaves may be pairs. Rows are added in batches, one row of the matrix after the
//! other, so that this row stays in the L1 cache.

use std::ops::Range;

use crate::model::layout::{Layout, Leaf};
use crate::model::rows::SegmentEntries;
use crate::objective::linear::SymmetricMatrix;
use crate::parallel;
use crate::processes;
use serde::{Deserialize, Serialize};

/// A cell of the matrix: the first half of a leaf by the two halves of another, then the second half by them.
pub(super) type Cell = [f64; 4];

/// The columns of the matrix by leaf: the leaves of all sums, then the common totals.
pub(super) struct MatrixColumns<'l> {
    layout: &'l Layout,
    /// The totals with wanted columns: those of segments, then the common ones.
    totals: Vec<Total>,
    /// Flag per column: true if it is computed.
    is_wanted: Vec<bool>,
}

/// A total of a row, of which some columns are wanted.
#[derive(Clone, Copy)]
struct Total {
    /// Number of its segment; common totals follow the segments.
    number: usize,
    /// Column of its first leaf.
    column: usize,
    /// Index of the first and of the last total of the same sum.
    first: usize,
    last: usize,
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
                columns.totals.push(Total { number, column: range.start, first: 0, last: 0 });
            }
        }
        for total in 0..columns.totals.len() {
            let is_same = |other: &Total| other.column == columns.totals[total].column;
            let [first, last] = [columns.totals.iter().position(is_same), columns.totals.iter().rposition(is_same)];
            let range = first.zip(last).expect("the total itself");
            (columns.totals[total].first, columns.totals[total].last) = range;
        }
        columns
    }

    fn count(&self) -> usize {
        self.is_wanted.len()
    }

    /// Returns the number of totals with wanted columns.
    pub(super) fn totals(&self) -> usize {
        self.totals.len()
    }

    /// Returns the slots of a total; the second is `None` for a single number.
    pub(super) fn slots(&self, total: usize) -> [Option<usize>; 2] {
        let number = self.totals[total].number;
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

/// Number of entries, and of cells of `W`, that a batch has room for at first: about those of a full evaluation.
const ROOM: usize = 1 << 14;

/// A batch of rows, indexed by column for their products.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct RowBatch {
    /// Column of every entry, by row and total, ascending within a total.
    entries: Vec<u32>,
    /// Count of every entry.
    counts: Vec<f64>,
    /// End of the entries by row and total, after an initial 0.
    begins: Vec<u32>,
    /// The matrix `W` by row, total and total.
    weights: Vec<Cell>,
    /// Index of the first use by column.
    #[serde(skip)]
    use_begins: Vec<u32>,
    /// Uses by column.
    #[serde(skip)]
    uses: Vec<Use>,
}

/// An occurrence of a column in a row.
#[derive(Clone, Copy, Default)]
struct Use {
    /// Index of the row's first total in `begins`.
    row: u32,
    total: u32,
    /// Index of the entry.
    place: u32,
}

impl RowBatch {
    pub(super) fn new() -> Self {
        let (entries, counts, weights) = (Vec::with_capacity(ROOM), Vec::with_capacity(ROOM), Vec::with_capacity(ROOM));
        RowBatch { entries, counts, weights, begins: vec![0], ..RowBatch::default() }
    }

    /// Adds a row; `weight` returns the cell of `W` for two totals.
    #[inline]
    pub(super) fn push(
        &mut self,
        columns: &MatrixColumns<'_>,
        segments: &[SegmentEntries<'_>],
        weight: impl Fn(usize, usize) -> Cell,
    ) {
        for total in &columns.totals {
            match segments.get(total.number) {
                Some(SegmentEntries { leaves, counts }) => {
                    for (&leaf, &count) in leaves.iter().zip(*counts) {
                        self.push_entry(columns, total.column + usize::from(leaf), f64::from(count));
                    }
                }
                None => self.push_entry(columns, total.column, 1.0),
            }
            self.begins.push(self.entries.len() as u32);
        }
        let totals = columns.totals();
        for (total, &Total { last, .. }) in columns.totals.iter().enumerate() {
            self.weights.extend((0..=last).map(|other| weight(total, other)));
            self.weights.resize(self.weights.len() + totals - 1 - last, Cell::default());
        }
    }

    #[inline(always)]
    fn push_entry(&mut self, columns: &MatrixColumns<'_>, column: usize, count: f64) {
        if columns.is_wanted[column] {
            self.entries.push(column as u32);
            self.counts.push(count);
        }
    }

    /// Sorts the uses by column (counting sort).
    pub(super) fn sort(&mut self, columns: &MatrixColumns<'_>) {
        let begins = &mut self.use_begins;
        begins.clear();
        begins.resize(columns.count() + 2, 0);
        self.entries.iter().for_each(|&column| begins[column as usize + 2] += 1);
        (1..begins.len()).for_each(|column| begins[column] += begins[column - 1]);
        self.uses.resize(self.entries.len(), Use::default());
        let totals = columns.totals();
        // No total is left where no parameter moves.
        for row in (0..self.begins.len() - 1).step_by(totals.max(1)) {
            for total in 0..totals {
                for place in self.begins[row + total]..self.begins[row + total + 1] {
                    let next = &mut begins[self.entries[place as usize] as usize + 1];
                    self.uses[*next as usize] = Use { row: row as u32, total: total as u32, place };
                    *next += 1;
                }
            }
        }
    }

    /// Adds the batch's contribution to a row of the matrix.
    fn add_to(&self, columns: &MatrixColumns<'_>, column: usize, cells: &mut [Cell]) {
        let totals = columns.totals();
        let is_later = |&j: &u32| j as usize > column;
        for &Use { row, total, place } in
            &self.uses[self.use_begins[column] as usize..self.use_begins[column + 1] as usize]
        {
            let [row, total, place] = [row, total, place].map(|number| number as usize);
            let begins = &self.begins[row..][..=totals];
            let weights = &self.weights[(row + total) * totals..][..totals];
            let Total { first, last, .. } = columns.totals[total];
            for other in 0..=last {
                let (begin, end) = (begins[other] as usize, begins[other + 1] as usize);
                // Two entries of the same sum occur in both orders; only the lower triangle is added.
                let end = if other < first {
                    end
                } else if other == total {
                    (place + 1..end).find(|&place| is_later(&self.entries[place])).unwrap_or(end)
                } else {
                    begin + self.entries[begin..end].partition_point(|j| !is_later(j))
                };
                let own = weights[other].map(|number| self.counts[place] * number);
                for (&j, &count) in self.entries[begin..end].iter().zip(&self.counts[begin..end]) {
                    cells[j as usize].iter_mut().zip(own).for_each(|(cell, number)| *cell += count * number);
                }
            }
        }
    }
}

/// Number of rows of a band of the matrix, which one thread of one process computes.
const BAND: usize = 8;

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
            let mut cells = &mut band[..];
            for column in *number * BAND.. {
                let Some((row, others)) = cells.split_at_mut_checked(column + 1) else { break };
                batches.iter().for_each(|batch| batch.add_to(self.columns, column, row));
                cells = others;
            }
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
            let mut weights = SymmetricMatrix::zeros(slots);
            (0..slots).for_each(|i| (0..=i).for_each(|j| weights.add(i, j, random.below(200) as f64 / 100.0 - 1.0)));
            let segments = rows.row(row);
            // Count by slot and parameter.
            let mut counts = vec![vec![0.0; layout.parameters]; slots];
            for (number, segment) in segments.iter().enumerate() {
                for (&leaf, &count) in segment.leaves.iter().zip(segment.counts) {
                    let leaf = layout.leaves(number)[usize::from(leaf)];
                    for (half, slot) in layout.slots_of(number).enumerate() {
                        counts[slot][leaf.parameter + half] += f64::from(count) * leaf.unit;
                    }
                }
            }
            (counts[layout.row_slots()][111], counts[layout.row_slots()][7]) = (3.0, 1.0);
            for (slot, of_slot) in counts.iter().enumerate() {
                for (other, of_other) in counts.iter().enumerate() {
                    for (i, count) in of_slot.iter().enumerate().filter(|(_, count)| **count != 0.0) {
                        let by = weights.get(slot, other) * count;
                        of_other.iter().enumerate().for_each(|(j, count)| expected[i][j] += by * count);
                    }
                }
            }
            let batch = &mut batches[row % 3];
            batch.push(&columns, &segments, |total, other| {
                let ([a, b], [c, d]) = (columns.slots(total), columns.slots(other));
                [(a, c), (a, d), (b, c), (b, d)].map(|(i, j)| i.zip(j).map_or(0.0, |(i, j)| weights.get(i, j)))
            });
        }
        assert_eq!(columns.totals(), 7);
        batches.iter_mut().for_each(|batch| batch.sort(&columns));
        products.add(&batches);
        let found = products.finish(0.5);
        for (i, row) in expected.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                assert!((found.get(i, j) - 0.5 * entry).abs() < 1e-6, "{i}, {j}: {} for {entry}", found.get(i, j));
            }
        }
    }
}
