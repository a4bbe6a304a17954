//! The transposed rows: for each leaf, the rows in which it occurs.

use crate::model::rows::Rows;

/// The rows and counts of every leaf of every segment, as a compressed sparse column matrix.
pub(super) struct RowsByLeaf {
    /// Index of the first entry, by segment and leaf; one more at the end.
    start: Vec<Vec<usize>>,
    row: Vec<u32>,
    count: Vec<i8>,
}

impl RowsByLeaf {
    pub(super) fn new(rows: &Rows) -> Self {
        let leaves = &rows.shape().leaves;
        let mut start: Vec<Vec<usize>> = leaves.iter().map(|&leaves| vec![0; leaves + 1]).collect();
        each_entry(rows, |_, segment, leaf, _| start[segment][leaf + 1] += 1);
        let mut sum = 0;
        for start in start.iter_mut().flatten() {
            sum += *start;
            *start = sum;
        }
        let mut next = start.clone();
        let mut columns = RowsByLeaf { start, row: vec![0; rows.entries()], count: vec![0; rows.entries()] };
        each_entry(rows, |row, segment, leaf, count| {
            let at = &mut next[segment][leaf];
            (columns.row[*at], columns.count[*at]) = (row as u32, count);
            *at += 1;
        });
        columns
    }

    /// Iterates over the rows in which a leaf occurs, ascending, with its count in each.
    pub(super) fn of(&self, segment: usize, leaf: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.start[segment][leaf]..self.start[segment][leaf + 1];
        let counts = self.count[range.clone()].iter();
        self.row[range].iter().zip(counts).map(|(&row, &count)| (row as usize, f64::from(count)))
    }
}

/// Calls `see` with row, segment, leaf and count of every entry.
fn each_entry(rows: &Rows, mut see: impl FnMut(usize, usize, usize, i8)) {
    let segments = rows.shape().leaves.len();
    for block in rows.blocks() {
        for (number, segment) in block.segments().enumerate() {
            for (&leaf, &count) in segment.leaves.iter().zip(segment.counts) {
                see(block.first + number / segments, number % segments, usize::from(leaf), count);
            }
        }
    }
}
