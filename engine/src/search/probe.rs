//! Probes of the tablebase at a node.

use super::table::{Bound, Entry};
use super::value::{MAX_PLY, Value};
use super::worker::Worker;
use crate::chess::Position;

impl Worker {
    /// The value of a position that a tablebase knows. It is stored if it decides a node with this window.
    #[inline(always)]
    pub(super) fn probe_tablebase(
        &self,
        position: &Position,
        depth: i32,
        window: (Value, Value),
        is_pv: bool,
    ) -> Option<Known> {
        if !self.has_tablebase {
            return None;
        }
        self.look_up(position, depth, window, is_pv)
    }

    #[cold]
    fn look_up(&self, position: &Position, depth: i32, (alpha, beta): (Value, Value), is_pv: bool) -> Option<Known> {
        let (value, bound) = self.shared.endings.probe(position, depth, self.ply)?;
        Some(match bound {
            Bound::Lower if value < beta => Known::AtLeast(value),
            Bound::Upper if value > alpha => Known::AtMost(value),
            _ => {
                let depth = (depth + 6).min(MAX_PLY as i32 - 1);
                let entry = Entry { mv: None, value, eval: None, depth, bound, is_pv };
                self.shared.table.store(position.key(), self.ply, entry);
                Known::Decided(value)
            }
        })
    }
}

/// The answer of a tablebase at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The node has this value, or a bound outside of its window.
    Decided(Value),
    /// The value is at least this.
    AtLeast(Value),
    /// The value is at most this.
    AtMost(Value),
}
