//! Ending a match from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tools::children::kill_all;

/// A request to end a match, shared between threads.
#[derive(Debug, Default)]
pub struct Stop {
    level: AtomicU8,
    above: Option<Arc<Stop>>,
}

impl Stop {
    const SOON: u8 = 1;
    const NOW: u8 = 2;

    /// A request to end one part of a run: made by itself, or by a request to end the whole run.
    pub fn below(above: Arc<Stop>) -> Self {
        Stop { level: AtomicU8::new(0), above: Some(above) }
    }

    /// Requests the end: after the running games the first time, at once the second time.
    pub fn request(&self) {
        if self.level.fetch_max(Self::SOON, Ordering::SeqCst) >= Self::SOON {
            self.end_now();
        }
    }

    /// Ends the match at once: running games are abandoned and do not count.
    pub fn end_now(&self) {
        self.level.store(Self::NOW, Ordering::SeqCst);
        kill_all();
    }

    /// Returns true if the end was requested.
    pub fn is_requested(&self) -> bool {
        self.reached() >= Self::SOON
    }

    /// Returns true if running games are abandoned.
    pub(crate) fn is_immediate(&self) -> bool {
        self.reached() >= Self::NOW
    }

    fn reached(&self) -> u8 {
        let own = self.level.load(Ordering::SeqCst);
        self.above.as_ref().map_or(own, |above| own.max(above.reached()))
    }
}
