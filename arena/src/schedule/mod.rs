//! Many games: in pairs with colours reversed, several at a time, with engines that are kept or started anew.

mod identity;
mod journal;
mod live;
mod pin;
mod plan;
mod run;
mod setup;
mod stop;
mod tally;

pub(crate) use identity::engine_identity;
pub use identity::{about, identity};
pub(crate) use journal::JournalFile;
pub use journal::{Found, Head, Journal, JournalError, Recorded, difference, read_journal};
pub use live::{Live, LiveGame};
pub use pin::{PinError, Pinning};
pub use plan::{Format, Match, Pairing, Schedule};
pub use run::{MatchError, run};
pub use setup::Setup;
pub use stop::Stop;
pub use tally::{Encounter, EngineTally, Tally};
