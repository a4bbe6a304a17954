//! Several processes that work on one computation, on one machine or many.
//!
//! All of them run the same program on the same data and come to the same numbers. What takes long is a sum over parts
//! that do not depend on the number of processes: each keeps and works on some of the parts, all are told of all, and every
//! process adds them up in their order. So the same bits come out of any number of processes, and one alone needs nobody to
//! talk to. Only the first one writes files and prints.

use std::ops::Range;
use std::sync::OnceLock;

use crate::parallel;
use bytemuck::Pod;

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

/// Takes part in a computation from now on. Does nothing the second time.
pub fn join(world: Box<dyn Communicator>) {
    _ = WORLD.set(world);
}

/// The other processes, if there are any.
fn others() -> Option<&'static dyn Communicator> {
    WORLD.get().map(|world| &**world).filter(|world| world.size() > 1)
}

/// What comes of every piece of work, in order: one process alone does `at_once` of them at a time, several do one after
/// the other together.
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

/// Whether this process is the one that writes and prints; so is every process alone.
pub fn is_first() -> bool {
    others().is_none_or(|world| world.rank() == 0)
}

/// Whether any of the processes says so.
pub(crate) fn any(own: bool) -> bool {
    others().map_or(own, |world| world.gather(vec![u8::from(own)]).concat().contains(&1))
}

/// Whether this process is alone.
pub fn is_alone() -> bool {
    others().is_none()
}

/// Whether a part is this process's to keep and to work on.
pub(crate) fn is_own(part: usize) -> bool {
    others().is_none_or(|world| is_of(world.rank(), world.size(), part))
}

fn is_of(rank: usize, size: usize, part: usize) -> bool {
    part % size == rank
}

/// What comes of so many parts, in order; processes share the work.
pub(crate) fn each<T: Shared>(parts: usize, work: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    each_of(0..parts, work)
}

/// The same of some parts.
pub(crate) fn each_of<T: Shared>(parts: Range<usize>, work: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    let own: Vec<usize> = parts.clone().filter(|&part| is_own(part)).collect();
    gather(parallel::map(own, work), parts)
}

/// What came of parts, in their order, of what came of those that are this process's.
pub(crate) fn gather<T: Shared>(own: Vec<T>, parts: impl IntoIterator<Item = usize>) -> Vec<T> {
    let Some(world) = others() else { return own };
    let mut all = exchange(world, &own);
    all[world.rank()] = own.into_iter();
    parts.into_iter().map(|part| all[part % world.size()].next().expect("as many as there are parts")).collect()
}

/// Replaces what is of other processes' parts by what they have there.
pub(crate) fn share<T: Shared>(items: &mut [T], part: impl Fn(usize) -> usize) {
    let Some(world) = others() else { return };
    let is_own = |number: usize| is_of(world.rank(), world.size(), part(number));
    let mut all = exchange(world, items.iter().enumerate().filter(|item| is_own(item.0)).map(|item| item.1));
    for (number, item) in items.iter_mut().enumerate().filter(|item| !is_own(item.0)) {
        *item = all[part(number) % world.size()].next().expect("as many as there are parts");
    }
}

/// What each process has, by number.
pub(crate) fn from_each<T: Shared + Clone>(own: &T) -> Vec<T> {
    let Some(world) = others() else { return vec![own.clone()] };
    let mut all = exchange(world, [own]);
    (0..all.len()).map(|rank| if rank == world.rank() { own.clone() } else { all[rank].next().expect("one") }).collect()
}

/// Gives things to all processes; what each of the others gave, by number.
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
    fn every_part_is_of_one_process() {
        for size in 1..6 {
            for part in 0..20 {
                assert_eq!((0..size).filter(|&rank| is_of(rank, size, part)).count(), 1, "{part} among {size}");
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
