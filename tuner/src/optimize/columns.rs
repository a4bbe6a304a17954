//! Rows by parameter: which rows a change of one parameter touches.

use crate::objective::Rows;
use std::ops::Range;

/// Rows of a span; does not depend on the number of threads.
pub(super) const SPAN: usize = 16_384;

/// For every pair feature, the rows that have it and how often, span by span; 3 bytes an entry.
pub(super) struct Columns {
    spans: usize,
    /// Where the entries of a feature in a span begin, feature by feature; one more at the end.
    start: Vec<usize>,
    /// Rows, counted from the first of their span.
    row: Vec<u16>,
    count: Vec<i8>,
}

impl Columns {
    pub(super) fn new(rows: &Rows) -> Self {
        let spans = rows.len().div_ceil(SPAN);
        let entries = || (0..rows.len()).flat_map(|row| rows.row(row).0.iter().map(move |&feature| (row, feature)));
        let mut start = vec![0; rows.features() * spans + 1];
        let cell = |row: usize, feature: u16| usize::from(feature) * spans + row / SPAN;
        entries().for_each(|(row, feature)| start[cell(row, feature) + 1] += 1);
        let mut sum = 0;
        start.iter_mut().for_each(|start| {
            sum += *start;
            *start = sum;
        });
        let mut next = start.clone();
        let mut columns = Columns { spans, start, row: vec![0; rows.entries()], count: vec![0; rows.entries()] };
        for row in 0..rows.len() {
            let (features, counts) = rows.row(row);
            for (&feature, &count) in features.iter().zip(counts) {
                let at = &mut next[cell(row, feature)];
                (columns.row[*at], columns.count[*at]) = ((row % SPAN) as u16, count);
                *at += 1;
            }
        }
        columns
    }

    /// Number of rows that have a feature.
    pub(super) fn len(&self, feature: usize) -> usize {
        self.range(feature * self.spans..(feature + 1) * self.spans).len()
    }

    /// The rows of a span that have a feature, ascending and counted from the first of the span, and how often each
    /// has it.
    pub(super) fn part(&self, feature: usize, span: usize) -> impl Iterator<Item = (usize, f64)> {
        let cell = feature * self.spans + span;
        let range = self.range(cell..cell + 1);
        self.row[range.clone()]
            .iter()
            .zip(&self.count[range])
            .map(|(&row, &count)| (usize::from(row), f64::from(count)))
    }

    fn range(&self, cells: Range<usize>) -> Range<usize> {
        self.start[cells.start]..self.start[cells.end]
    }
}
