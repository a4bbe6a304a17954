//! Evaluations of positions seen before: many come again, and no entry of the transposition table keeps those that are cut
//! off at once.

use crate::chess::Position;
use crate::memory::Memory;

/// Few, so that they stay in the cache of a core. Place and entry together tell 62 bits of a key.
const ENTRIES: usize = 1 << 14;

/// A memory of one thread, for one set of parameters: it is cleared when others are taken.
pub struct EvalCache {
    /// The highest 48 bits of a key, and an evaluation in the view of the side to move.
    entries: Memory<u64>,
}

impl EvalCache {
    /// An empty one; none if there is not enough memory.
    pub fn new() -> Option<Self> {
        Some(EvalCache { entries: Memory::new(ENTRIES).ok()? })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(0);
    }

    /// Prefetches the entry of a position.
    #[inline(always)]
    pub(crate) fn prefetch(&self, position: &Position) {
        self.entries.prefetch(position.key() as usize % ENTRIES);
    }

    /// The evaluation of a position: the one kept, or what `evaluate` finds.
    #[inline(always)]
    pub(crate) fn get_or(&mut self, position: &Position, evaluate: impl FnOnce() -> i32) -> i32 {
        let key = position.key();
        let entry = &mut self.entries[key as usize % ENTRIES];
        if *entry >> 16 != key >> 16 {
            *entry = key & !0xFFFF | u64::from(evaluate() as i16 as u16);
        }
        i32::from(*entry as i16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_kept_for_their_position() {
        let mut cache = EvalCache::new().unwrap();
        let position = Position::start();
        let next = position.after(position.parse_uci("e2e4").unwrap());
        assert_eq!(cache.get_or(&position, || -30_000), -30_000);
        assert_eq!(cache.get_or(&next, || 77), 77);
        assert_eq!(cache.get_or(&position, || 1), -30_000);
        cache.clear();
        assert_eq!(cache.get_or(&position, || 1), 1);
    }
}
