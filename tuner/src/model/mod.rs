//! Models of evaluations: sums over parameters, combined into a score.

pub mod centre;
pub(crate) mod fold;
pub(crate) mod formula;
pub mod layout;
pub mod merino;
pub mod rows;
pub mod tape;
pub mod text;

use layout::{Layout, SumKind};
use tape::Tape;

/// A model of the score of a row as a function of the parameters.
#[derive(Clone, Debug, Default, PartialEq)]
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
        let mut occurrences = vec![0_u32; layout.parameters];
        for part in rows.each_part(|part| self.rows_by_parameter(part)) {
            occurrences.iter_mut().zip(part).for_each(|(sum, count)| *sum = sum.saturating_add(count));
        }
        for leaf in layout.sums.iter().filter(|sum| sum.kind == SumKind::Pair).flat_map(|sum| &sum.leaves) {
            occurrences[leaf.parameter + 1] = occurrences[leaf.parameter];
        }
        for &(parameter, _) in layout.common.iter().flatten() {
            occurrences[parameter] = rows.len() as u32;
        }
        occurrences
    }

    /// Returns the number of rows of a part in which each parameter occurs; of a pair, at its first parameter.
    fn rows_by_parameter(&self, part: rows::Part<'_>) -> Vec<u32> {
        let segments = &self.layout.segments;
        // Number of rows and number of the last row (from 1).
        let mut seen = vec![[0_u32; 2]; self.layout.parameters];
        for block in part.blocks() {
            for (number, segment) in block.segments().enumerate() {
                let row = (block.first + number / segments.len()) as u32 + 1;
                let leaves = self.layout.leaves(number % segments.len());
                for &leaf in segment.leaves {
                    let [count, last] = &mut seen[leaves[usize::from(leaf)].parameter];
                    *count += u32::from(*last != row);
                    *last = row;
                }
            }
        }
        seen.into_iter().map(|[count, _]| count).collect()
    }
}
