//! Ctrl-C, SIGTERM, SIGHUP.

use std::io::IsTerminal;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result};
use arena::schedule::Stop;
use common::note;

/// Returns the stop that Ctrl-C requests from the first call on. All parts of a run share it.
pub(crate) fn listen() -> Result<Arc<Stop>> {
    static STOP: OnceLock<Arc<Stop>> = OnceLock::new();
    if let Some(stop) = STOP.get() {
        return Ok(Arc::clone(stop));
    }
    let stop = Arc::clone(STOP.get_or_init(Arc::default));
    let requested = Arc::clone(&stop);
    let act = move || {
        if !requested.is_requested() {
            // A bar of progress may stand on the line.
            let line = if std::io::stderr().is_terminal() { "\n" } else { "" };
            note!("{line}ends with the games in hand; Ctrl-C again gives them up");
        }
        requested.request();
    };
    tools::signals::listen(act).context("cannot listen for signals")?;
    Ok(stop)
}
