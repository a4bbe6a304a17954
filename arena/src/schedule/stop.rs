//! Ending a match from outside.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::uci_client::kill_all;

/// Asks a match to end; shared with whoever may ask.
#[derive(Debug, Default)]
pub struct Stop(AtomicU8);

impl Stop {
    const SOON: u8 = 1;
    const NOW: u8 = 2;

    /// Asks to end: first when the running games are over, the second time at once.
    pub fn ask(&self) {
        if self.0.fetch_max(Self::SOON, Ordering::SeqCst) >= Self::SOON {
            self.end_now();
        }
    }

    /// Ends the match at once: the running games are given up and count for nothing.
    pub fn end_now(&self) {
        self.0.store(Self::NOW, Ordering::SeqCst);
        kill_all();
    }

    /// Whether anybody has asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= Self::SOON
    }

    /// Whether running games are to be given up.
    pub(crate) fn is_now(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= Self::NOW
    }
}
