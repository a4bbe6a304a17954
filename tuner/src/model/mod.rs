//! Models of evaluations: sums over parameters, combined into a score.

pub mod centre;
pub(crate) mod fold;
pub(crate) mod formula;
pub mod layout;
pub mod merino;
pub mod rows;
pub mod tape;
pub mod text;

use layout::Layout;
use tape::Tape;

/// A model of the score of a row as a function of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The sums.
    pub layout: Layout,
    /// The operations that combine the sums into the score.
    pub tape: Tape,
}

impl Model {
    /// Returns the number of rows in which each parameter occurs, on either side. Parameters of common totals occur in
    /// all rows.
    pub fn occurrences(&self, rows: &rows::Rows) -> Vec<u32> {
        let layout = &self.layout;
        let parts = rows.each_part(|part| self.rows_by_leaf(part));
        let mut occurrences = vec![0_u32; layout.parameters];
        let leaves = || layout.sums.iter().flat_map(|sum| sum.leaves.iter().map(|leaf| (sum.kind.width(), leaf)));
        for ((width, leaf), count) in parts.iter().flat_map(|counts| leaves().zip(counts)) {
            for sum in &mut occurrences[leaf.parameter..leaf.parameter + width] {
                *sum = sum.saturating_add(*count);
            }
        }
        for &(parameter, _) in layout.common.iter().flatten() {
            occurrences[parameter] = rows.len() as u32;
        }
        occurrences
    }

    /// Returns the number of rows of a part in which each leaf occurs, sum after sum.
    fn rows_by_leaf(&self, part: rows::Part<'_>) -> Vec<u32> {
        let layout = &self.layout;
        // Number of rows and number of the last row (from 1), by sum and leaf.
        let mut seen: Vec<Vec<[u32; 2]>> = layout.sums.iter().map(|sum| vec![[0; 2]; sum.leaves.len()]).collect();
        let sums: Vec<usize> = layout.segments.iter().map(|segment| segment.sum).collect();
        for block in part.blocks() {
            for (number, segment) in block.segments().enumerate() {
                let row = (block.first + number / sums.len()) as u32 + 1;
                let seen = &mut seen[sums[number % sums.len()]];
                for &leaf in segment.leaves {
                    let [count, last] = &mut seen[usize::from(leaf)];
                    *count += u32::from(*last != row);
                    *last = row;
                }
            }
        }
        seen.into_iter().flatten().map(|[count, _]| count).collect()
    }
}
