//! A child engine that speaks UCI: handshake, options, searches under a deadline, certain death.
//!
//! No call waits past its deadline, whatever the engine does; an engine that is dropped is dead, with all its children.

mod bounds;
mod engine;
mod exchange;
mod info;
mod limit;
mod option;
mod process;
mod reported;
mod session;
mod spec;

pub use bounds::{LONGEST_TEXT, MAX_NOTES, shortened};
pub use engine::{Answer, Engine, EngineError, Search, Timeouts};
pub use exchange::{LOG_MARK, log_to};
pub use info::{Info, Score};
pub use limit::{Limit, LimitError, TimeControl};
pub use reported::Reported;
pub use session::{Reply, Session, WaitError};
pub use spec::{EngineSpec, NameError, SpecError, checked_name, quoted, split_words};
