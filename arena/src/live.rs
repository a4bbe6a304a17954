//! A match's page while it is played: written anew every few seconds, and read anew by the browser.

use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arena::report::{MatchReport, REFRESH, to_html};
use arena::schedule::{Head, Live, Setup, Tally};
use common::files::write_whole;

/// The page of a match in progress.
pub(crate) struct LivePage<'a> {
    path: &'a Path,
    head: &'a Head,
    setup: &'a Setup,
    /// When the match began, without its pauses.
    started: Instant,
    before: Duration,
    /// The games in progress.
    pub(crate) games: Live,
    /// The games that are over; none at the end of the match.
    tally: Mutex<Option<Tally>>,
    ended: Condvar,
}

impl<'a> LivePage<'a> {
    pub(crate) fn new(path: &'a Path, head: &'a Head, setup: &'a Setup, tally: Tally, before: Duration) -> Self {
        let (games, tally, ended) = (Live::default(), Mutex::new(Some(tally)), Condvar::new());
        LivePage { path, head, setup, started: Instant::now(), before, games, tally, ended }
    }

    /// More games are over.
    pub(crate) fn update(&self, tally: &Tally) {
        *self.tally.lock().unwrap_or_else(PoisonError::into_inner) = Some(tally.clone());
    }

    /// Writes the page for as long as `play` lasts.
    pub(crate) fn during<T>(&self, play: impl FnOnce() -> T) -> T {
        /// Ends the writing, after a panic too.
        struct End<'a>(&'a LivePage<'a>);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                *self.0.tally.lock().unwrap_or_else(PoisonError::into_inner) = None;
                self.0.ended.notify_all();
            }
        }
        std::thread::scope(|scope| {
            scope.spawn(|| self.keep_writing());
            let _end = End(self);
            play()
        })
    }

    /// Writes the page until the match is over. A page that cannot be written now is tried again: the last one, which
    /// the match writes itself, says what is wrong.
    fn keep_writing(&self) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(so_far) = tally.clone() {
            drop(tally);
            let (elapsed, live) = (self.before + self.started.elapsed(), self.games.games());
            let report = MatchReport { head: self.head, setup: self.setup, tally: &so_far, elapsed, live: Some(&live) };
            let _ = write_whole(self.path, to_html(&report));
            tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            if tally.is_some() {
                let waited = self.ended.wait_timeout_while(tally, REFRESH, |tally| tally.is_some());
                tally = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }
}
