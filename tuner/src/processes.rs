//! Several processes that work on one computation, on one machine or many.
//!
//! All of them run the same program on the same data and compute the same numbers. Long sums are divided into parts
//! that do not depend on the number of processes. Each process keeps and computes some of the parts, all processes
//! exchange the results, and each adds them up in the order of the parts. So any number of processes computes the same
//! bits, and a single process needs no communication. Only the first process writes files and prints.

use std::ops::Range;
use std::sync::OnceLock;

use crate::parallel;
use bytemuck::Pod;

/// The connection to the other processes.
pub trait Communicator: Send + Sync {
    /// Returns the number of this process, 0 for the first.
    fn rank(&self) -> usize;

    /// Returns the number of processes.
    fn size(&self) -> usize;

    /// Sends bytes to all processes and returns the bytes of each by its number, including its own (all-gather).
    /// All processes must call it, in the same order.
    fn gather(&self, own: Vec<u8>) -> Vec<Vec<u8>>;
}

static WORLD: OnceLock<Box<dyn Communicator>> = OnceLock::new();

/// Joins a computation of several processes. A second call has no effect.
pub fn join(world: Box<dyn Communicator>) {
    _ = WORLD.set(world);
}

/// Returns the connection if there are other processes.
fn others() -> Option<&'static dyn Communicator> {
    WORLD.get().map(|world| &**world).filter(|world| world.size() > 1)
}

/// Runs `act` on each item and returns the results in order. A single process runs `at_once` items at a time; several
/// processes work together on one item after the other.
pub(crate) fn in_turn<W: Send, T: Send, E: Send>(
    work: &mut [W],
    at_once: usize,
    act: impl Fn(&mut W) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let mut done = Vec::with_capacity(work.len());
    for some in work.chunks_mut(if others().is_some() { 1 } else { at_once.max(1) }) {
        match some {
            [one] => done.push(act(one)?),
            some => done.extend(parallel::map(some, &act).into_iter().collect::<Result<Vec<T>, E>>()?),
        }
    }
    Ok(done)
}

/// Returns true if this process writes and prints: the first one, or a single one.
pub fn is_first() -> bool {
    others().is_none_or(|world| world.rank() == 0)
}

/// Returns true if `own` is true in any of the processes.
pub(crate) fn any(own: bool) -> bool {
    others().map_or(own, |world| world.gather(vec![u8::from(own)]).concat().contains(&1))
}

/// Returns true if there are no other processes.
pub fn is_alone() -> bool {
    others().is_none()
}

/// Returns true if this process keeps and computes a part.
pub(crate) fn is_own(part: usize) -> bool {
    others().is_none_or(|world| is_of(world.rank(), world.size(), part))
}

fn is_of(rank: usize, size: usize, part: usize) -> bool {
    part % size == rank
}

/// Computes the result of each of `parts` parts, shared among the processes, and returns all results in order.
pub(crate) fn each<T: Shared>(parts: usize, work: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    each_of(0..parts, work)
}

/// Does the same as [`each`] for a range of parts.
pub(crate) fn each_of<T: Shared>(parts: Range<usize>, work: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    let own: Vec<usize> = parts.clone().filter(|&part| is_own(part)).collect();
    gather(parallel::map(own, work), parts)
}

/// Exchanges the results of each process's own parts and returns the results of all parts in their order.
pub(crate) fn gather<T: Shared>(own: Vec<T>, parts: impl IntoIterator<Item = usize>) -> Vec<T> {
    let Some(world) = others() else { return own };
    let mut all = exchange(world, &own);
    all[world.rank()] = own.into_iter();
    parts.into_iter().map(|part| all[part % world.size()].next().expect("as many as there are parts")).collect()
}

/// Replaces each item that belongs to a part of another process by that process's item.
pub(crate) fn share<T: Shared>(items: &mut [T], part: impl Fn(usize) -> usize) {
    let Some(world) = others() else { return };
    let is_own = |number: usize| is_of(world.rank(), world.size(), part(number));
    let mut all = exchange(world, items.iter().enumerate().filter(|item| is_own(item.0)).map(|item| item.1));
    for (number, item) in items.iter_mut().enumerate().filter(|item| !is_own(item.0)) {
        *item = all[part(number) % world.size()].next().expect("as many as there are parts");
    }
}

/// Returns the value of each process by its number.
pub(crate) fn from_each<T: Shared + Clone>(own: &T) -> Vec<T> {
    let Some(world) = others() else { return vec![own.clone()] };
    let mut all = exchange(world, [own]);
    (0..all.len()).map(|rank| if rank == world.rank() { own.clone() } else { all[rank].next().expect("one") }).collect()
}

/// Sends values to all processes and returns the values of the others by their numbers; none for this process.
fn exchange<'t, T: Shared + 't>(
    world: &dyn Communicator,
    own: impl IntoIterator<Item = &'t T>,
) -> Vec<std::vec::IntoIter<T>> {
    let mut bytes = Vec::new();
    for item in own {
        let start = bytes.len();
        bytes.extend_from_slice(&[0; LENGTH]);
        item.pack(&mut bytes);
        let length = (bytes.len() - start - LENGTH) as u64;
        bytes[start..start + LENGTH].copy_from_slice(&length.to_ne_bytes());
    }
    let unpack = |(rank, bytes): (usize, Vec<u8>)| {
        let (mut packed, mut rest) = (Vec::new(), &bytes[..]);
        while rank != world.rank() && !rest.is_empty() {
            packed.push(take_counted(&mut rest, 1));
        }
        let items: Vec<T> = parallel::map(packed, |mut bytes| T::unpack(&mut bytes));
        items.into_iter()
    };
    world.gather(bytes).into_iter().enumerate().map(unpack).collect()
}

/// A value that processes of the same program exchange.
pub(crate) trait Shared: Send {
    /// Appends the value to a buffer.
    fn pack(&self, bytes: &mut Vec<u8>);

    /// Takes a value from the front of a buffer.
    fn unpack(bytes: &mut &[u8]) -> Self;
}

/// Number of bytes of a length prefix.
const LENGTH: usize = size_of::<u64>();

/// Takes a count and as many records of `size` bytes from the front of a buffer; returns the records.
fn take_counted<'b>(bytes: &mut &'b [u8], size: usize) -> &'b [u8] {
    let (count, rest) = bytes.split_first_chunk::<LENGTH>().expect("a number of the same program");
    let (taken, rest) = rest.split_at(u64::from_ne_bytes(*count) as usize * size);
    *bytes = rest;
    taken
}

/// Appends records to a buffer in the format of a [`Vec`].
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
    fn every_part_belongs_to_one_process() {
        for size in 1..6 {
            for part in 0..20 {
                assert_eq!((0..size).filter(|&rank| is_of(rank, size, part)).count(), 1, "{part} among {size}");
            }
        }
    }

    #[test]
    fn packed_values_are_unpacked_unchanged() {
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
    fn a_single_process_owns_all_parts() {
        assert!(is_first() && any(true) && !any(false));
        assert!(is_alone() && (0..7).all(is_own));
        assert_eq!(gather(vec![vec![1_u8], vec![2]], 0..2), [[1], [2]]);
        assert_eq!(each(3, |part| vec![part as u8]), [[0], [1], [2]]);
        assert_eq!(from_each(&vec![1_u8]), [[1]]);
        let mut items = [vec![1_u8], vec![2]];
        share(&mut items, |number| number);
        assert_eq!(items, [[1], [2]]);
        let act = |number: &mut u8| if *number < 9 { Ok(vec![2 * *number]) } else { Err(*number) };
        for at_once in 0..4 {
            assert_eq!(in_turn(&mut [3, 4, 5], at_once, act), Ok(vec![vec![6], vec![8], vec![10]]));
            assert_eq!(in_turn(&mut [3, 9, 5], at_once, act), Err(9));
        }
    }
}
