//! Child processes that do not outlive this one.
//!
//! A [`ProcessGroup`] that is dropped is dead, with all its children. [`kill_all`] ends every group before a process
//! exits at once. The watchdog ends them if the process itself is killed.

#[cfg(unix)]
mod group;
#[cfg(not(unix))]
mod single;
#[cfg(unix)]
mod watchdog;

#[cfg(unix)]
pub use group::{ProcessGroup, kill_all};
#[cfg(not(unix))]
pub use single::{ProcessGroup, kill_all};
#[cfg(unix)]
pub use watchdog::{run_watchdog, start_watchdog};
