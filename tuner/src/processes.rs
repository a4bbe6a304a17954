//! Several processes that work on one computation, on one machine or many.
//!
//! All of them run the same program on the same data and compute the same numbers. Long sums are divided into parts
//! that do not depend on the number of processes. Each process keeps and computes some of the parts, all processes
//! exchange the results, and each adds them up in the order of the parts. So any number of processes computes the same
//! bits, and a single process needs no communication. Only the first process writes files and prints.

use std::sync::OnceLock;

use serde::Serialize;
use serde::de::DeserializeOwned;

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
#[cfg(feature = "mpi")]
pub fn join(world: Box<dyn Communicator>) {
    _ = WORLD.set(world);
}

/// Returns the connection if there are other processes.
fn others() -> Option<&'static dyn Communicator> {
    WORLD.get().map(|world| &**world).filter(|world| world.size() > 1)
}

/// A value that processes of the same program exchange.
pub(crate) trait Shared: Serialize + DeserializeOwned + Send {}

impl<T: Serialize + DeserializeOwned + Send> Shared for T {}

/// Returns true if there are other processes.
pub(crate) fn are_several() -> bool {
    others().is_some()
}

/// Returns true if this process keeps and computes a part.
pub(crate) fn is_own(part: usize) -> bool {
    others().is_none_or(|world| part % world.size() == world.rank())
}

/// Returns true if `own` is true in any of the processes.
pub(crate) fn any(own: bool) -> bool {
    gather(vec![own], 0..others().map_or(1, Communicator::size)).contains(&true)
}

/// Exchanges the results of each process's own parts and returns the results of all parts in their order.
pub(crate) fn gather<T: Shared>(own: Vec<T>, parts: impl IntoIterator<Item = usize>) -> Vec<T> {
    #[cfg(feature = "mpi")]
    if let Some(world) = others() {
        let of_process = |bytes: Vec<u8>| unpack(&bytes).into_iter();
        let mut all: Vec<_> = world.gather(pack(&own)).into_iter().map(of_process).collect();
        let next = |part: usize| all[part % world.size()].next().expect("as many as there are parts");
        return parts.into_iter().map(next).collect();
    }
    drop(parts);
    own
}

#[cfg(feature = "mpi")]
fn pack<T: Shared>(values: &Vec<T>) -> Vec<u8> {
    postcard::to_stdvec(values).expect("numbers and lists of known lengths")
}

#[cfg(feature = "mpi")]
fn unpack<T: Shared>(bytes: &[u8]) -> Vec<T> {
    postcard::from_bytes(bytes).expect("values of the same program")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_process_owns_all_parts() {
        assert!(any(true) && !any(false));
        assert!(!are_several() && (0..7).all(is_own));
        assert_eq!(gather(vec![vec![1_u8], vec![2]], 0..2), [[1], [2]]);
    }

    #[cfg(feature = "mpi")]
    #[test]
    fn exchanged_values_keep_their_bits() {
        type Value = (Vec<f64>, Vec<[f64; 4]>, (Vec<i8>, Vec<u16>, Vec<u32>, Vec<u64>), Option<Vec<usize>>, Vec<f32>);
        let numbers = vec![1.5, f64::NEG_INFINITY, -0.0, 5e-324, f64::MAX, 0.1];
        let whole = (vec![-128, 127], vec![u16::MAX, 0], vec![u32::MAX], vec![u64::MAX, 1 << 40]);
        let value: Value =
            (numbers, vec![[0.1, -0.0, 1e300, 3.0]], whole, Some(vec![7]), vec![f32::MIN_POSITIVE, -0.0]);
        let found = unpack::<Value>(&pack(&vec![value.clone(), Value::default()]));
        assert_eq!(found, [value.clone(), Value::default()]);
        let bits =
            |value: &Value| value.0.iter().chain(&value.1[0]).map(|number| number.to_bits()).collect::<Vec<u64>>();
        assert_eq!(bits(&found[0]), bits(&value));
    }
}
