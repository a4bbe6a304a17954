//! The watchdog: a small process that outlives one killed by SIGKILL, and then kills the children left behind. A
//! working engine ends by itself at the end of its input; a stuck one does not.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// The watchdog of this process, once started.
static WATCHDOG: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the watchdog: `program` with `argument`, which must only call [`run_watchdog`].
///
/// # Errors
/// If the system cannot start it. All else works without it.
pub fn start_watchdog(program: &Path, argument: &str) -> io::Result<()> {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C is not meant for it.
    let child = command.process_group(0).spawn()?;
    *WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    Ok(())
}

/// The main loop of the watchdog: records process groups that begin and end, and kills the rest when its input ends.
pub fn run_watchdog() {
    let mut groups = BTreeSet::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match (line.strip_prefix('+').map(str::parse::<i32>), line.strip_prefix('-').map(str::parse::<i32>)) {
            (Some(Ok(group)), _) => groups.insert(group),
            (_, Some(Ok(group))) => groups.remove(&group),
            _ => false,
        };
    }
    groups.into_iter().for_each(kill_group);
}

/// Notifies the watchdog, if any, that a process group has begun.
pub(super) fn has_begun(group: i32) {
    tell(&format!("+{group}\n"));
}

/// Notifies the watchdog, if any, that a process group has ended.
pub(super) fn has_ended(group: i32) {
    tell(&format!("-{group}\n"));
}

/// Kills a process group, if it is there.
pub(super) fn kill_group(group: i32) {
    if let Some(group) = Pid::from_raw(group) {
        // The group may be gone already.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

fn tell(line: &str) {
    let mut guard = WATCHDOG.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(input) = guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
        // The watchdog may have been killed.
        let _ = input.write_all(line.as_bytes());
    }
}
