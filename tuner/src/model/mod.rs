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
    /// By parameter: the number of rows it occurs in. What all rows have in common occurs in all of them.
    pub fn occurrences(&self, rows: &rows::Rows) -> Vec<u32> {
        let layout = &self.layout;
        let mut occurrences = vec![0_u32; layout.parameters()];
        for (segment, seen) in rows.occurrences().into_iter().enumerate() {
            for (leaf, seen) in layout.leaves(segment).iter().zip(seen) {
                for half in 0..layout.slots_of(segment).len() {
                    let sum = &mut occurrences[leaf.parameter + half];
                    *sum = sum.saturating_add(seen);
                }
            }
        }
        for &(parameter, _) in layout.common().iter().flatten() {
            occurrences[parameter] = rows.len() as u32;
        }
        occurrences
    }
}
