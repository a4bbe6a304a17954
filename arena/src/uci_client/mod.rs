//! A child engine that speaks UCI: handshake, options, searches under a deadline, certain death.
//!
//! No call waits past its deadline, whatever the engine does; an engine that is dropped is dead, with all its children.

mod bounds;
mod engine;
mod guard;
mod info;
mod limit;
mod process;
mod session;
mod spec;

pub use bounds::{LONGEST_TEXT, MOST_NOTES, shortened};
pub use engine::{Answer, Engine, EngineError, Search, Timeouts};
pub use guard::{stand_guard, start_guard};
pub use info::{Info, Score};
pub use limit::{Limit, LimitError, TimeControl};
pub use process::kill_all;
pub use session::{Heed, Session, Silence};
pub use spec::{EngineSpec, NameError, SpecError, checked_name};
