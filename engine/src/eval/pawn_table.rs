//! A cache of the pawn and king terms of the evaluation, by the squares of pawns and kings: these move rarely.
//!
//! Only play uses the cache. Traces and explanations compute every term anew.

use super::context::PawnFacts;
use super::params::{Sums, Weights};
use super::score::Score;
use super::{Color, Position, accumulate_pawns};
use crate::memory::{Memory, Plain};

/// Entries of a table; a power of two. They stay within the cache of a core, and serve nine lookups of ten.
const ENTRIES: usize = 1 << 13;

const _: () = assert!(size_of::<Entry>() == 64 && ENTRIES >= 1 << 12);

/// A memory of one thread, for one set of parameters: it is cleared when others are taken.
pub struct PawnTable {
    entries: Memory<Entry>,
}

/// One cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Entry {
    /// The squares of the kings in the lowest twelve bits, six each, and the key of the pawns above. The tag and the
    /// place of the entry determine the whole key. The tag is 0 in an empty entry: kings never share a square.
    tag: u64,
    facts: PawnFacts,
    main: Score,
    danger: [Score; 2],
}

// SAFETY: integers, of which any bits are a value, aligned to 64 bytes.
#[allow(unsafe_code, reason = "the promise that `Memory` asks for")]
unsafe impl Plain for Entry {}

impl PawnTable {
    /// An empty table; none if there is not enough memory.
    pub fn new() -> Option<Self> {
        Some(PawnTable { entries: Memory::new(ENTRIES).ok()? })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(Entry::default());
    }

    /// Prefetches what the evaluation of a position will look up.
    #[inline(always)]
    pub(crate) fn prefetch(&self, position: &Position) {
        self.entries.prefetch(place_and_tag(position).0);
    }

    /// Adds the terms of pawns and kings to the sums, and returns what else follows from pawns.
    #[inline(always)]
    pub(super) fn add(&mut self, position: &Position, weights: &Weights, sums: &mut Sums<Score, i32>) -> PawnFacts {
        let (place, tag) = place_and_tag(position);
        let entry = &mut self.entries[place];
        if entry.tag != tag {
            let (facts, mut own) = (PawnFacts::new(position), Sums::default());
            accumulate_pawns(position, &facts, weights, &mut own);
            let Sums { main, danger, .. } = own;
            debug_assert_eq!(own, Sums { main, danger, ..Sums::default() }, "sums that are not remembered");
            *entry = Entry { tag, facts, main, danger };
        }
        sums.main += entry.main;
        for (sum, own) in sums.danger.iter_mut().zip(entry.danger) {
            *sum += own;
        }
        entry.facts
    }
}

/// The place of a position's entry, and its tag.
#[inline(always)]
fn place_and_tag(position: &Position) -> (usize, u64) {
    let [white, black] = Color::ALL.map(|color| position.king(color).index() as u64);
    let (key, kings) = (position.pawn_key(), white << 6 | black);
    let place = key ^ kings.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (place as usize % ENTRIES, key & !0xFFF | kings)
}
