//! What pawns and kings add to the evaluation, remembered by where they stand: they move rarely.
//!
//! For play alone: traces and explanations work everything out anew.

use super::context::PawnFacts;
use super::params::{Sums, Weights};
use super::score::Score;
use super::{Color, Position, accumulate_pawns};

/// Entries of a table; a power of two. They stay within the cache of a core, and serve nine lookups of ten.
const ENTRIES: usize = 1 << 13;

const _: () = assert!(size_of::<Entry>() == 64 && ENTRIES >= 1 << 12);

/// A memory of one thread, for one set of parameters: it is cleared when others are taken.
#[derive(Clone, Debug)]
pub struct PawnTable {
    entries: Box<[Entry]>,
}

/// One cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Entry {
    /// Where the kings stand in the lowest twelve bits, six each, and the key of the pawns above: with the place of the
    /// entry, it tells all of the key. 0 in an empty entry, as kings never share a square.
    tag: u64,
    facts: PawnFacts,
    main: Score,
    danger: [Score; 2],
}

impl PawnTable {
    /// An empty table; none if there is not enough memory.
    pub fn new() -> Option<Self> {
        let mut entries = Vec::new();
        entries.try_reserve_exact(ENTRIES).ok()?;
        entries.resize(ENTRIES, Entry::default());
        Some(PawnTable { entries: entries.into_boxed_slice() })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(Entry::default());
    }

    /// Adds the terms of pawns and kings to the sums, and returns what else follows from pawns.
    #[inline(always)]
    pub(super) fn add(&mut self, position: &Position, weights: &Weights, sums: &mut Sums<Score, i32>) -> PawnFacts {
        let [white, black] = Color::ALL.map(|color| position.king(color).index() as u64);
        let (key, kings) = (position.pawn_key(), white << 6 | black);
        let place = key ^ kings.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let entry = &mut self.entries[place as usize % ENTRIES];
        let tag = key & !0xFFF | kings;
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
