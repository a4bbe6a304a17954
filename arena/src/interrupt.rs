//! Ctrl-C.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use arena::schedule::Stop;

/// What Ctrl-C requests, from the first call on; the same for all parts of a run.
pub(crate) fn listen() -> Result<Arc<Stop>> {
    static STOP: OnceLock<Arc<Stop>> = OnceLock::new();
    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
    let requested = Arc::clone(&stop);
    ctrlc::set_handler(move || requested.request()).context("cannot listen for Ctrl-C")?;
    Ok(stop)
}
