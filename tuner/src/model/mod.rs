//! Evaluations as the tuner sees them: sums over parameters, joined to a score.

pub mod centre;
pub mod formula;
pub mod layout;
pub mod merino;
pub mod rows;
pub mod tape;
pub mod text;

use layout::Layout;
use tape::Tape;

/// How the score of a row follows from parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The sums.
    pub layout: Layout,
    /// How they are joined.
    pub tape: Tape,
}

impl Model {
    /// By parameter: the number of rows it occurs in, on either side. What all rows have in common occurs in all of them.
    pub fn occurrences(&self, rows: &rows::Rows) -> Vec<u32> {
        let layout = &self.layout;
        // By sum, by leaf: the number of rows, and the last of them, counted from 1.
        let mut seen: Vec<Vec<[u32; 2]>> = layout.sums().iter().map(|sum| vec![[0; 2]; sum.leaves.len()]).collect();
        let sums: Vec<usize> = layout.segments().iter().map(|segment| segment.sum).collect();
        for block in rows.blocks(0..rows.block_count()) {
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
        let mut occurrences = vec![0_u32; layout.parameters()];
        for (sum, seen) in layout.sums().iter().zip(seen) {
            for (leaf, [count, _]) in sum.leaves.iter().zip(seen) {
                for sum in &mut occurrences[leaf.parameter..leaf.parameter + sum.kind.width()] {
                    *sum = sum.saturating_add(count);
                }
            }
        }
        for &(parameter, _) in layout.common().iter().flatten() {
            occurrences[parameter] = rows.len() as u32;
        }
        occurrences
    }
}
