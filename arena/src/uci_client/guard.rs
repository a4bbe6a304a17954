//! A small process that stays when the arena is killed by force, and then kills the engines that it leaves behind. An
//! engine that works ends by itself at the end of its input; one that is stuck does not.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// The guard of this process, once it is there.
static GUARD: Mutex<Option<Child>> = Mutex::new(None);

/// Starts the guard: a program that, with this argument, does nothing but call [`stand_guard`].
///
/// # Errors
/// If the system cannot start it. Engines can be played without.
pub fn start_guard(program: &Path, argument: &str) -> io::Result<()> {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C is not meant for it.
    let child = command.process_group(0).spawn()?;
    *GUARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    Ok(())
}

/// What the guard does: takes note of process groups that begin and end, and kills the rest when its input ends.
pub fn stand_guard() {
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

/// Tells the guard, if there is one, that a process group has begun.
pub(super) fn has_begun(group: i32) {
    tell(&format!("+{group}\n"));
}

/// Tells the guard, if there is one, that a process group is no more.
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
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(input) = guard.as_mut().and_then(|guard| guard.stdin.as_mut()) {
        // A guard that was killed cannot be helped.
        let _ = input.write_all(line.as_bytes());
    }
}
