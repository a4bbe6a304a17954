//! Signals to a running search: stop, and ponderhit.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Signals shared by a search and the thread that controls it.
#[derive(Debug, Default)]
pub struct Signals {
    stop: AtomicBool,
    pondering: AtomicBool,
    /// When the opponent played the expected move.
    hit: Mutex<Option<Instant>>,
    changed: Condvar,
}

impl Signals {
    fn hit(&self) -> MutexGuard<'_, Option<Instant>> {
        self.hit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Readies the signals for a new search.
    pub fn reset(&self, pondering: bool) {
        *self.hit() = None;
        self.stop.store(false, Relaxed);
        self.pondering.store(pondering, Relaxed);
    }

    /// Stops the search; does nothing if there is none.
    pub fn stop(&self) {
        let _guard = self.hit();
        self.stop.store(true, Relaxed);
        self.changed.notify_all();
    }

    /// Starts the clock of a pondering search; does nothing if there is none.
    pub fn ponderhit(&self) {
        let mut hit = self.hit();
        if self.pondering.swap(false, Relaxed) {
            *hit = Some(Instant::now());
        }
        self.changed.notify_all();
    }

    /// Returns true if the search has been stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    #[inline]
    pub(super) fn is_pondering(&self) -> bool {
        self.pondering.load(Relaxed)
    }

    /// When the clock began to run, if that was after the search began.
    pub(super) fn clock_start(&self) -> Option<Instant> {
        *self.hit()
    }

    /// Waits for `stop`, or, unless `infinite`, for the end of pondering.
    pub(super) fn wait(&self, infinite: bool) {
        let guard = self.hit();
        let waits_for_stop = |_: &mut Option<Instant>| !self.is_stopped() && (infinite || self.is_pondering());
        drop(self.changed.wait_while(guard, waits_for_stop));
    }
}
