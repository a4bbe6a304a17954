//! The transposition table, shared by all threads without locks.
//!
//! A bucket is one cache line of six entries of ten bytes: a word of data, and the lowest 16 bits of the key, whose
//! highest bits choose the bucket. A probe may find the entry of another position: one with the same bits, which happens
//! once in 10,000 to 50,000 probes, or one whose data another thread has put beside bits that are not its own. The data
//! are whole, as they are one word. A wrong value misleads one node; a wrong move is played only if it is legal; lines are
//! never cut off by an entry, so that a mate's line ends in mate.
//! Mates and results of tablebases are stored as distances from the entry's own position.
//! See <https://www.chessprogramming.org/Transposition_Table> and
//! <https://www.chessprogramming.org/Shared_Hash_Table>.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, mpsc};

use super::thread::JobThread;
use super::value::{Value, is_loss, is_win};
use crate::chess::Move;
use crate::memory::{Memory, Plain};

/// The relation of a stored value to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// The true value is at most this.
    Upper = 1,
    /// The true value is at least this.
    Lower = 2,
    /// This is the value.
    Exact = 3,
}

impl Bound {
    const fn from_bits(bits: u64) -> Option<Self> {
        match bits & 3 {
            1 => Some(Bound::Upper),
            2 => Some(Bound::Lower),
            3 => Some(Bound::Exact),
            _ => None,
        }
    }

    /// Returns the relation of a value to the true one, given the window it was searched with.
    #[inline(always)]
    pub(super) fn of(value: Value, alpha: Value, beta: Value) -> Self {
        match () {
            () if value >= beta => Bound::Lower,
            () if value > alpha => Bound::Exact,
            () => Bound::Upper,
        }
    }

    /// Returns true if a value with this bound proves that the true value is at least `beta`, or that it is less.
    #[inline(always)]
    pub(super) fn decides(self, value: Value, beta: Value) -> bool {
        let needed = if value >= beta { Bound::Lower } else { Bound::Upper };
        self as u8 & needed as u8 != 0
    }
}

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The best move, if one was found; it may be illegal if two positions share a key.
    pub mv: Option<Move>,
    /// The value in the view of the side to move, mates and results of tablebases counted from the root of the search.
    pub value: Value,
    /// The uncorrected static evaluation in the view of the side to move; none in check.
    pub eval: Option<Value>,
    /// The depth of the search in plies, 0 for quiescence.
    pub depth: i32,
    /// The relation of the value to the true one.
    pub bound: Bound,
    /// True if the position has been on a principal variation.
    pub is_pv: bool,
}

const NO_EVAL: i16 = i16::MIN;
const GENERATIONS: u8 = 32;
const SLOTS: usize = 6;

#[repr(C, align(64))]
struct Bucket {
    data: [AtomicU64; SLOTS],
    checks: [AtomicU16; SLOTS],
}

const _: () = assert!(size_of::<Bucket>() == 64);

// SAFETY: a bucket is nothing but atomic integers, of which any bits are a value; it is aligned to 64 bytes.
#[allow(unsafe_code, reason = "the promise that `Memory` asks for")]
unsafe impl Plain for Bucket {}

/// A transposition table of fixed size.
pub(super) struct Table {
    buckets: Memory<Bucket>,
    generation: AtomicU8,
}

impl Table {
    /// An empty table of `mebibytes`, at least one.
    ///
    /// # Errors
    /// If there is not that much memory.
    pub(super) fn new(mebibytes: usize) -> io::Result<Self> {
        let count = mebibytes.max(1).saturating_mul(1 << 20) / size_of::<Bucket>();
        Ok(Table { buckets: Memory::new(count)?, generation: AtomicU8::new(0) })
    }

    /// Its size in mebibytes.
    pub(super) fn mebibytes(&self) -> usize {
        (self.buckets.len() * size_of::<Bucket>()) >> 20
    }

    /// Clears all entries, in parallel on `helpers`.
    pub(super) fn clear(self: &Arc<Self>, helpers: &[JobThread]) {
        let share = self.buckets.len().div_ceil(helpers.len() + 1);
        let (sender, done) = mpsc::channel::<()>();
        for (number, helper) in helpers.iter().enumerate() {
            let (table, sender) = (Arc::clone(self), sender.clone());
            helper.run(move || {
                table.clear_part(number * share, share);
                drop(sender);
            });
        }
        drop(sender);
        self.clear_part(helpers.len() * share, share);
        // Nothing is sent: the channel closes when all helpers are done.
        let _ = done.recv();
        self.generation.store(0, Relaxed);
    }

    /// Empties `len` buckets from `start` on, as far as there are any.
    fn clear_part(&self, start: usize, len: usize) {
        for bucket in self.buckets.iter().skip(start).take(len) {
            bucket.data.iter().for_each(|data| data.store(0, Relaxed));
            bucket.checks.iter().for_each(|check| check.store(0, Relaxed));
        }
    }

    /// Begins a new search: entries of earlier ones are replaced sooner.
    pub(super) fn begin_search(&self) {
        self.generation.store((self.generation.load(Relaxed) + 1) % GENERATIONS, Relaxed);
    }

    /// Returns the share of the table that entries of this search fill, in thousandths, estimated from a sample.
    pub(super) fn fullness(&self) -> u32 {
        let generation = self.generation.load(Relaxed);
        let sample = &self.buckets[..self.buckets.len().min(1000 / SLOTS)];
        let entries = sample.iter().flat_map(|bucket| &bucket.data).map(|data| Packed(data.load(Relaxed)));
        let used = entries.filter(|data| !data.is_empty() && data.generation() == generation).count();
        (used * 1000 / (sample.len() * SLOTS)) as u32
    }

    #[inline(always)]
    fn index(&self, key: u64) -> usize {
        ((u128::from(key) * self.buckets.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn bucket(&self, key: u64) -> &Bucket {
        &self.buckets[self.index(key)]
    }

    /// Prefetches the bucket of a position.
    #[inline(always)]
    pub(super) fn prefetch(&self, key: u64) {
        self.buckets.prefetch(self.index(key));
    }

    /// The entry of a position `ply` plies from the root.
    #[inline]
    pub(super) fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        let bucket = self.bucket(key);
        let slot = bucket.checks.iter().position(|check| check.load(Relaxed) == key as u16)?;
        Packed(bucket.data[slot].load(Relaxed)).entry(ply)
    }

    /// Stores an entry for a position `ply` plies from the root, unless the bucket has a better one: that only learns a
    /// move, if it has none.
    #[inline]
    pub(super) fn store(&self, key: u64, ply: usize, mut entry: Entry) {
        let generation = self.generation.load(Relaxed);
        let bucket = self.bucket(key);
        let (mut slot, mut known, mut lowest) = (0, Packed(0), i32::MAX);
        for (index, (check, data)) in bucket.checks.iter().zip(&bucket.data).enumerate() {
            let data = Packed(data.load(Relaxed));
            if data.is_empty() || check.load(Relaxed) == key as u16 {
                (slot, known) = (index, data);
                break;
            }
            let worth = data.worth(generation);
            if worth < lowest {
                (slot, lowest) = (index, worth);
            }
        }
        if !known.is_empty() {
            let is_deeper = entry.depth + 4 + 2 * i32::from(entry.is_pv) > known.depth();
            if entry.bound != Bound::Exact && !is_deeper && known.generation() == generation {
                if let (None, Some(mv)) = (known.mv(), entry.mv) {
                    bucket.data[slot].store(known.with_move(mv).0, Relaxed);
                }
                return;
            }
            entry.mv = entry.mv.or(known.mv());
        }
        bucket.data[slot].store(Packed::new(&entry, ply, generation).0, Relaxed);
        bucket.checks[slot].store(key as u16, Relaxed);
    }
}

/// An entry in 64 bits, from the lowest: 16 move, 16 value, 16 evaluation, 8 depth, 2 bound, 1 PV, 5 generation.
#[derive(Clone, Copy)]
struct Packed(u64);

impl Packed {
    #[inline(always)]
    fn new(entry: &Entry, ply: usize, generation: u8) -> Self {
        let value = if is_win(entry.value) {
            entry.value + ply as Value
        } else if is_loss(entry.value) {
            entry.value - ply as Value
        } else {
            entry.value
        };
        let eval = entry.eval.map_or(NO_EVAL, |eval| eval as i16);
        Packed(
            u64::from(entry.mv.map_or(0, Move::to_bits))
                | u64::from(value as i16 as u16) << 16
                | u64::from(eval as u16) << 32
                | u64::from(entry.depth.clamp(0, 255) as u8) << 48
                | (entry.bound as u64) << 56
                | u64::from(entry.is_pv) << 58
                | u64::from(generation) << 59,
        )
    }

    #[inline(always)]
    fn entry(self, ply: usize) -> Option<Entry> {
        let bound = Bound::from_bits(self.0 >> 56)?;
        let stored = Value::from((self.0 >> 16) as u16 as i16);
        let value = if is_win(stored) {
            stored - ply as Value
        } else if is_loss(stored) {
            stored + ply as Value
        } else {
            stored
        };
        let eval = (self.0 >> 32) as u16 as i16;
        Some(Entry {
            mv: self.mv(),
            value,
            eval: (eval != NO_EVAL).then_some(Value::from(eval)),
            depth: self.depth(),
            bound,
            is_pv: self.0 >> 58 & 1 != 0,
        })
    }

    #[inline(always)]
    fn is_empty(self) -> bool {
        self.0 >> 56 & 3 == 0
    }

    #[inline(always)]
    fn mv(self) -> Option<Move> {
        Move::from_bits(self.0 as u16)
    }

    /// An entry that has no move, with one.
    #[inline(always)]
    fn with_move(self, mv: Move) -> Self {
        Packed(self.0 | u64::from(mv.to_bits()))
    }

    #[inline(always)]
    fn depth(self) -> i32 {
        i32::from((self.0 >> 48) as u8)
    }

    #[inline(always)]
    fn generation(self) -> u8 {
        (self.0 >> 59) as u8
    }

    /// The value of keeping an entry: its depth, reduced by its age.
    #[inline(always)]
    fn worth(self, generation: u8) -> i32 {
        let age = (GENERATIONS + generation - self.generation()) % GENERATIONS;
        self.depth() - 8 * i32::from(age)
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::{mate_in, mated_in};
    use super::*;
    use crate::chess::{MoveKind, Square};

    fn entry(value: Value, depth: i32) -> Entry {
        let mv = Move::new(Square::from_index(12), Square::from_index(28), MoveKind::Normal);
        Entry { mv: Some(mv), value, eval: Some(-77), depth, bound: Bound::Exact, is_pv: true }
    }

    #[test]
    fn entries_come_back_as_they_were_stored() {
        let table = Arc::new(Table::new(1).unwrap());
        assert_eq!(table.mebibytes(), 1);
        for (i, value) in [0, 1, -1, 250, -30_000, 30_000, mate_in(7), mated_in(8)].into_iter().enumerate() {
            let key = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            for wanted in [entry(value, 9), Entry { mv: None, eval: None, is_pv: false, ..entry(value, 200) }] {
                table.clear(&[]);
                table.store(key, 5, wanted);
                assert_eq!(table.probe(key, 5), Some(wanted));
                assert_eq!(table.probe(key ^ 1, 5), None);
            }
        }
    }

    #[test]
    fn mates_are_counted_from_the_node_that_asks() {
        let table = Arc::new(Table::new(1).unwrap());
        table.store(42, 3, entry(mate_in(7), 9));
        assert_eq!(table.probe(42, 10).unwrap().value, mate_in(14));
        table.store(43, 3, entry(mated_in(7), 9));
        assert_eq!(table.probe(43, 1).unwrap().value, mated_in(5));
    }

    #[test]
    fn shallow_results_do_not_drive_out_deep_ones() {
        let table = Arc::new(Table::new(1).unwrap());
        table.store(7, 0, entry(10, 20));
        table.store(7, 0, Entry { bound: Bound::Lower, ..entry(20, 3) });
        assert_eq!(table.probe(7, 0).unwrap().depth, 20);
        table.begin_search();
        table.store(7, 0, Entry { bound: Bound::Lower, mv: None, ..entry(20, 3) });
        assert_eq!(table.probe(7, 0).unwrap().depth, 3);
        assert!(table.probe(7, 0).unwrap().mv.is_some());
    }

    #[test]
    fn a_kept_entry_learns_the_move_of_a_shallower_result() {
        let table = Arc::new(Table::new(1).unwrap());
        let other = Move::new(Square::from_index(1), Square::from_index(18), MoveKind::Normal);
        let kept = Entry { mv: None, bound: Bound::Upper, ..entry(10, 20) };
        table.store(7, 0, kept);
        for mv in [None, entry(20, 3).mv, Some(other)] {
            table.store(7, 0, Entry { mv, bound: Bound::Lower, ..entry(20, 3) });
        }
        assert_eq!(table.probe(7, 0), Some(Entry { mv: entry(20, 3).mv, ..kept }));
    }

    #[test]
    fn a_full_bucket_drops_what_is_worth_least() {
        let table = Arc::new(Table::new(1).unwrap());
        let depths = |keys: std::ops::Range<u64>| -> Vec<_> {
            keys.map(|key| table.probe(key, 0).map(|entry| entry.depth)).collect()
        };
        // Small keys have one bucket.
        for key in 1..=SLOTS as u64 {
            table.store(key, 0, entry(0, 20 - key as i32));
        }
        table.store(7, 0, entry(0, 1));
        assert_eq!(depths(1..8), [Some(19), Some(18), Some(17), Some(16), Some(15), None, Some(1)]);
        table.begin_search();
        table.store(8, 0, entry(0, 8));
        table.store(9, 0, entry(0, 1));
        assert_eq!(depths(1..10), [19, 18, 17, 16, 0, 0, 0, 8, 1].map(|depth| (depth > 0).then_some(depth)));
    }

    #[test]
    fn the_lowest_bits_tell_the_positions_of_a_bucket_apart() {
        let table = Arc::new(Table::new(1).unwrap());
        assert_eq!(table.probe(0, 0), None);
        table.store(5, 0, entry(30, 9));
        assert_eq!(table.probe(6, 0), None);
        assert_eq!(table.probe(5 | 1 << 16, 0), Some(entry(30, 9)));
    }

    #[test]
    fn fullness_counts_this_search_only() {
        let table = Arc::new(Table::new(1).unwrap());
        for key in 0..200_000_u64 {
            table.store(key.wrapping_mul(0x9E37_79B9_7F4A_7C15), 0, entry(0, 5));
        }
        assert!(table.fullness() > 900);
        table.begin_search();
        assert_eq!(table.fullness(), 0);
        let helpers = [JobThread::start().unwrap(), JobThread::start().unwrap()];
        table.clear(&helpers);
        assert!(table.buckets.iter().flat_map(|bucket| &bucket.data).all(|data| data.load(Relaxed) == 0));
        assert_eq!(table.fullness(), 0);
    }
}
