//! Requests to end: Ctrl-C, and what batch systems, containers and closed terminals send instead.

use std::io;

/// Has something done, on a thread of its own, whenever the program is to end: at SIGINT (Ctrl-C), SIGTERM and SIGHUP.
///
/// # Errors
/// If the system refuses.
#[cfg(unix)]
pub fn listen(mut act: impl FnMut() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    // `nohup` has a program ignore that its terminal closes.
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| signal != SIGHUP || !is_ignored(signal));
    let mut signals = Signals::new(heeded)?;
    std::thread::Builder::new().spawn(move || signals.forever().for_each(|_| act()))?;
    Ok(())
}

/// Has something done, on a thread of its own, whenever Ctrl-C is pressed.
///
/// # Errors
/// If the system refuses.
#[cfg(not(unix))]
pub fn listen(act: impl FnMut() + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(act).map_err(io::Error::other)
}

/// Returns true if the program was started to ignore a signal. Only Linux reports that.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| (mask >> (signal - 1)) & 1 == 1)
}
