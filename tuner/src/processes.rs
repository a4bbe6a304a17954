//! Several processes that work on one computation, on one machine or many.
//!
//! All of them run the same program on the same data and come to the same numbers. What takes long is a sum over parts
//! that do not depend on the number of processes: each works on a range of the parts, all are told of all, and every
//! process adds them up in their order. Whole fits that do not depend on one another are dealt out instead. So the same
//! bits come out of any number of processes, and one alone needs nobody to talk to. Only the first one writes files and
//! prints.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;
use rayon::prelude::*;

/// The connection to the other processes.
pub trait Communicator: Send + Sync {
    /// Number of this process, 0 for the first.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// Gives bytes to all processes; what each of them gave, by number, its own among them. All processes must call it,
    /// in the same order.
    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>>;
}

static WORLD: OnceLock<Box<dyn Communicator>> = OnceLock::new();

/// Whether this process works for itself for now.
static IS_APART: AtomicBool = AtomicBool::new(false);

/// Takes part in a computation from now on. Does nothing the second time.
pub fn join(world: Box<dyn Communicator>) {
    _ = WORLD.set(world);
}

/// The other processes, if there are any.
fn others() -> Option<&'static dyn Communicator> {
    WORLD.get().map(|world| &**world).filter(|world| world.size() > 1 && !IS_APART.load(Ordering::Relaxed))
}

/// What comes of every piece of work, in order. The pieces are of about one size: where there are enough of them, each
/// process does some by itself, `at_once` of them at a time; else all processes do one after the other together.
pub(crate) fn deal<W: Send, T: Shared, E: Send>(
    work: &mut [W],
    at_once: usize,
    act: impl Fn(&mut W) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    /// Waiting for those who have one piece more may take this share of the time.
    const IDLE: f64 = 0.2;
    let size = others().map_or(1, |world| world.size());
    let longest = work.len().div_ceil(size);
    if (1.0 - IDLE) * (longest * size) as f64 > work.len() as f64 {
        return work.iter_mut().map(act).collect();
    }
    let own = share(work.len());
    let own = &mut work[own];
    let done = apart(|| {
        let mut done = Vec::new();
        for some in own.chunks_mut(at_once.max(1)) {
            done.extend(some.par_iter_mut().map(&act).collect::<Result<Vec<T>, E>>()?);
        }
        Ok(done)
    });
    done.map(gather)
}

/// Works without the other processes.
fn apart<T>(act: impl FnOnce() -> T) -> T {
    /// Ends it, whatever happens.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            IS_APART.store(false, Ordering::Relaxed);
        }
    }
    let _end = End;
    IS_APART.store(true, Ordering::Relaxed);
    act()
}

/// Whether this process is the one that writes and prints; so is every process alone.
pub fn is_first() -> bool {
    others().is_none_or(|world| world.rank() == 0)
}

/// Whether any of the processes says so.
pub(crate) fn any(own: bool) -> bool {
    others().map_or(own, |world| world.gather(vec![u8::from(own)]).concat().contains(&1))
}

/// The parts that are this process's to work on, of so many.
pub(crate) fn share(parts: usize) -> Range<usize> {
    others().map_or(0..parts, |world| share_of(world.rank(), world.size(), parts))
}

fn share_of(rank: usize, size: usize, parts: usize) -> Range<usize> {
    parts * rank / size..parts * (rank + 1) / size
}

/// What came of all parts, in order, of what came of this process's [`share`] of them.
pub(crate) fn gather<T: Shared>(mut own: Vec<T>) -> Vec<T> {
    let Some(world) = others() else { return own };
    let mut bytes = Vec::new();
    for part in &own {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; LENGTH]);
        part.pack(&mut bytes);
        let length = (bytes.len() - start - LENGTH) as u64;
        bytes[start..start + LENGTH].copy_from_slice(&length.to_ne_bytes());
    }
    let mut parts = Vec::new();
    for (rank, bytes) in world.gather(bytes).into_iter().enumerate() {
        if rank == world.rank() {
            parts.append(&mut own);
            continue;
        }
        let (mut packed, mut rest) = (Vec::new(), &bytes[..]);
        while !rest.is_empty() {
            packed.push(take_counted(&mut rest, 1));
        }
        parts.par_extend(packed.into_par_iter().map(|mut bytes| T::unpack(&mut bytes)));
    }
    parts
}

/// What processes tell one another; all of them are of the same program.
pub(crate) trait Shared: Send {
    /// Appends it to a buffer.
    fn pack(&self, bytes: &mut Vec<u8>);

    /// Takes it from the front of a buffer.
    fn unpack(bytes: &mut &[u8]) -> Self;
}

/// Bytes of the number that says how much follows.
const LENGTH: usize = size_of::<u64>();

/// Takes a number and as many records of a size from the front of a buffer.
fn take_counted<'b>(bytes: &mut &'b [u8], size: usize) -> &'b [u8] {
    let (count, rest) = bytes.split_first_chunk::<LENGTH>().expect("a number of the same program");
    let (taken, rest) = rest.split_at(u64::from_ne_bytes(*count) as usize * size);
    *bytes = rest;
    taken
}

/// Appends records to a buffer, as a [`Vec`] of them would be.
pub(crate) fn pack_records<T: Pod>(records: &[T], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(records.len() as u64).to_ne_bytes());
    bytes.extend_from_slice(bytemuck::cast_slice(records));
}

impl<T: Pod + Send> Shared for Vec<T> {
    fn pack(&self, bytes: &mut Vec<u8>) {
        pack_records(self, bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        let packed = take_counted(bytes, size_of::<T>());
        let mut records = vec![T::zeroed(); packed.len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut records).copy_from_slice(packed);
        records
    }
}

impl<A: Shared, B: Shared> Shared for (A, B) {
    fn pack(&self, bytes: &mut Vec<u8>) {
        self.0.pack(bytes);
        self.1.pack(bytes);
    }

    fn unpack(bytes: &mut &[u8]) -> Self {
        (A::unpack(bytes), B::unpack(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_one_another_and_leave_nothing_out() {
        for size in 1..6 {
            for parts in 0..20 {
                let shares: Vec<usize> = (0..size).flat_map(|rank| share_of(rank, size, parts)).collect();
                assert!(shares.into_iter().eq(0..parts), "{parts} among {size}");
            }
        }
    }

    #[test]
    fn what_is_packed_comes_back() {
        let (numbers, letters) = (vec![1.5, f64::NEG_INFINITY, -0.0], vec![7_u8, 8]);
        let mut bytes = Vec::new();
        letters.pack(&mut bytes);
        numbers.pack(&mut bytes);
        Vec::<u32>::new().pack(&mut bytes);
        let mut rest = &bytes[..];
        assert_eq!(Vec::<u8>::unpack(&mut rest), letters);
        assert_eq!(Vec::<f64>::unpack(&mut rest), numbers);
        assert!(Vec::<u32>::unpack(&mut rest).is_empty() && rest.is_empty());
    }

    #[test]
    fn a_process_alone_does_everything() {
        assert!(is_first() && any(true) && !any(false));
        assert_eq!(share(7), 0..7);
        assert_eq!(gather(vec![vec![1_u8], vec![2]]), [[1], [2]]);
        let act = |number: &mut u8| if *number < 9 { Ok(vec![2 * *number]) } else { Err(*number) };
        for at_once in 0..4 {
            assert_eq!(deal(&mut [3, 4, 5], at_once, act), Ok(vec![vec![6], vec![8], vec![10]]));
            assert_eq!(deal(&mut [3, 9, 5], at_once, act), Err(9));
        }
    }
}
