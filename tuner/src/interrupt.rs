//! Ctrl-C: the program ends at once, but never in the middle of a file.

use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

/// Exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Held while the output is written, so that Ctrl-C leaves a whole file or none.
static WRITING: Mutex<()> = Mutex::new(());

/// Ends the program at Ctrl-C from now on.
pub(crate) fn listen() -> Result<()> {
    let on_interrupt = || {
        let _written = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        eprintln!("interrupted, nothing more is written");
        std::process::exit(INTERRUPTED);
    };
    ctrlc::set_handler(on_interrupt).context("cannot listen for Ctrl-C")
}

/// Does what must not be cut short.
pub(crate) fn uninterrupted<T>(act: impl FnOnce() -> T) -> T {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    act()
}
