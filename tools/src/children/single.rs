//! Child processes where there are no process groups: a wrapper's own children live on until their input ends.

use std::io;
use std::process::{Child, Command, ExitStatus};

/// Does nothing: a child ends when its input does.
pub fn kill_all() {}

/// A child. One that is dropped is dead.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
}

impl ProcessGroup {
    /// Starts a program.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(|child| ProcessGroup { child })
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Kills the child; how it ended.
    pub fn kill(&mut self) -> Option<ExitStatus> {
        // It may have ended already.
        let _ = self.child.kill();
        self.child.wait().ok()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
