//! Work for all threads. All of it passes through one function of numbers, so that the machinery behind it is compiled
//! once, not once for each kind of work.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// What `work` makes of each item, in the order of the items. The items are worked on by all threads; one is worth the
/// microsecond that handing it over takes.
pub(crate) fn map<I: Send, T: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let slots: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
    run(slots.len(), &|number| {
        let mut slot = slots[number].lock().unwrap_or_else(PoisonError::into_inner);
        let (item, done) = &mut *slot;
        *done = item.take().map(&work);
    });
    slots.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1).collect()
}

/// Calls `work` with each item.
pub(crate) fn for_each<I: Send>(items: impl IntoIterator<Item = I>, work: impl Fn(I) + Sync) {
    map(items, work);
}

/// Has a thread of the pool do something that hands out work again and again: to wait for the others is quicker from
/// among them.
pub(crate) fn among_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| work())
}

/// Calls `work` with every number below `count`.
fn run(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_in_its_place() {
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
    fn a_panic_is_passed_on() {
        for_each(0..10, |item| assert!(item != 7, "item {item}"));
    }
}
