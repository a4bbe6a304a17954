//! Ending a match from outside.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::uci_client::kill_all;

/// A request to end a match, shared between threads.
#[derive(Debug, Default)]
pub struct Stop(AtomicU8);

impl Stop {
    const SOON: u8 = 1;
    const NOW: u8 = 2;

    /// Requests the end: after the running games the first time, at once the second time.
    pub fn request(&self) {
        if self.0.fetch_max(Self::SOON, Ordering::SeqCst) >= Self::SOON {
            self.end_now();
        }
    }

    /// Ends the match at once: running games are abandoned and do not count.
    pub fn end_now(&self) {
        self.0.store(Self::NOW, Ordering::SeqCst);
        kill_all();
    }

    /// Whether the end was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= Self::SOON
    }

    /// Whether running games are abandoned.
    pub(crate) fn is_immediate(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= Self::NOW
    }
}
