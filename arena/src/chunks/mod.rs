//! Long work in numbered tasks whose results come in order: threads that do them, and a file that grows by chunks.
//!
//! A task must depend on its number and the settings alone. Then the file is the same whatever the threads, and a run
//! that was interrupted or killed goes on to the same bytes.

mod counts;
mod crew;
mod store;

pub(crate) use counts::{Counts, List, by_name, count, from_names, millis};
pub use crew::NoThread;
pub(crate) use crew::{Collect, work_in_order};
pub(crate) use store::Store;
pub use store::{StoreError, state_path};
