//! Handling of Ctrl-C, SIGTERM and SIGHUP. The first one ends a fit with its best parameters so far. A second one, or one
//! outside of a fit, ends the program at once, but never in the middle of writing a file.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use common::files::{WriteError, write_whole};
use common::{note, print};

/// Exit status after Ctrl-C.
pub(crate) const INTERRUPTED: i32 = 130;

/// Set by the first Ctrl-C during a fit.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// True while a fit runs that has a best result so far.
static FITTING: AtomicBool = AtomicBool::new(false);

/// Held while the output is written, so that Ctrl-C leaves a whole file or none.
static WRITING: Mutex<()> = Mutex::new(());

/// Installs the handler.
pub(crate) fn listen() -> Result<()> {
    let on_interrupt = || {
        if FITTING.load(Ordering::Relaxed) && !STOP.swap(true, Ordering::Relaxed) {
            note!("interrupted: finishing with the best so far; once more to end at once");
            return;
        }
        let _written = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        note!("interrupted, nothing more is written");
        tools::children::kill_all();
        std::process::exit(INTERRUPTED);
    };
    tools::signals::listen(on_interrupt).context("cannot listen for signals")
}

/// Marks that a fit has a best result so far.
pub(crate) fn fitting() {
    FITTING.store(true, Ordering::Relaxed);
}

/// Writes a whole file, uninterrupted by Ctrl-C. Of several processes only the first writes.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> std::result::Result<(), WriteError> {
    written_once(|| write_whole(path, content))
}

/// Writes files, uninterrupted by Ctrl-C. Of several processes only the first writes.
pub(crate) fn written_once<E>(write: impl FnOnce() -> std::result::Result<(), E>) -> std::result::Result<(), E> {
    if print::is_silent() {
        return Ok(());
    }
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    write()
}
