//! Parallel loops. All of them go through one non-generic function, so that rayon's code is compiled once.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Maps each item on all threads and returns the results in the order of the items.
///
/// Dispatching an item costs about a microsecond, so an item should take longer than that.
pub(crate) fn map<I: Send, T: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let slots: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    run(slots.len(), &|number| {
        let mut slot = slots[number].lock().unwrap_or_else(PoisonError::into_inner);
        let (item, done) = &mut *slot;
        *done = item.take().map(&work);
    });
    slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1).collect()
}

/// Calls `work` with each item, on all threads.
pub(crate) fn for_each<I: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) + Sync) {
    map(items, work);
}

/// Runs `work` on a thread of the pool. A pool thread waits for parallel loops faster than one outside of the pool.
pub(crate) fn on_pool_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}

/// Calls `work` with every number below `count`, on all threads.
fn run(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_every_item_once_and_keeps_the_order() {
        for count in [0, 1, 2, 1000] {
            let found = map(0..count, |item| vec![item, item * item]);
            assert_eq!(found, (0..count).map(|item| vec![item, item * item]).collect::<Vec<_>>());
        }
        let mut numbers = vec![1; 100];
        for_each(numbers.iter_mut().enumerate(), |(index, number)| *number += index);
        assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn propagates_panics() {
        for_each(0..10, |item| assert!(item != 7, "item {item}"));
    }
}
