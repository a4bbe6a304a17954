//! Rows by parameter: which rows a change of one parameter touches.

use crate::objective::Rows;

/// For every pair feature, the rows that have it and how often; 5 bytes an entry.
pub(super) struct Columns {
    /// Where the entries of a feature begin; one more than there are features.
    start: Vec<usize>,
    row: Vec<u32>,
    count: Vec<i8>,
}

impl Columns {
    pub(super) fn new(rows: &Rows) -> Self {
        let mut start = vec![0; rows.features() + 1];
        for (feature, &count) in rows.occurrences().iter().enumerate() {
            start[feature + 1] = start[feature] + count as usize;
        }
        let mut next = start.clone();
        let mut columns = Columns { start, row: vec![0; rows.entries()], count: vec![0; rows.entries()] };
        for row in 0..rows.len() {
            let (features, counts) = rows.row(row);
            for (&feature, &count) in features.iter().zip(counts) {
                let at = &mut next[usize::from(feature)];
                (columns.row[*at], columns.count[*at]) = (row as u32, count);
                *at += 1;
            }
        }
        columns
    }

    /// The rows that have a feature, ascending, and how often each has it.
    pub(super) fn of(&self, feature: usize) -> (&[u32], &[i8]) {
        let range = self.start[feature]..self.start[feature + 1];
        (&self.row[range.clone()], &self.count[range])
    }
}
