//! Child processes, each in a process group of its own, which the watchdog knows.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::watchdog::{self, kill_group};

/// The process groups that are alive.
static ALIVE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

fn alive<T>(act: impl FnOnce(&mut BTreeSet<i32>) -> T) -> T {
    act(&mut ALIVE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Kills every child with all its children at once. Threads that wait for one see its end.
pub fn kill_all() {
    alive(|groups| groups.iter().for_each(|&group| kill_group(group)));
}

/// A child in a process group of its own: Ctrl-C of the terminal does not reach it. One that is dropped is dead, with
/// all its children.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
    id: i32,
}

impl ProcessGroup {
    /// Starts a program.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        // The lock covers the start, so that `kill_all` misses nobody.
        let child = alive(|groups| {
            let child = command.process_group(0).spawn()?;
            groups.insert(child.id().cast_signed());
            io::Result::Ok(child)
        })?;
        let id = child.id().cast_signed();
        watchdog::has_begun(id);
        Ok(ProcessGroup { child, id })
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Returns true if the program has ended; its number stays taken.
    pub fn has_ended(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.id) else { return true };
        let now = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(pid), now), Ok(None))
    }

    /// Does what Ctrl-C does: asks the child and its children to end.
    pub fn interrupt(&self) {
        if let Some(group) = Pid::from_raw(self.id) {
            // The group may be gone already.
            let _ = kill_process_group(group, Signal::INT);
        }
    }

    /// Kills the child and all its children; how it ended, the first time.
    pub fn kill(&mut self) -> Option<ExitStatus> {
        if !alive(|groups| groups.remove(&self.id)) {
            return None;
        }
        // The process ID is not reused before `wait`.
        kill_group(self.id);
        let status = self.child.wait().ok();
        watchdog::has_ended(self.id);
        status
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
