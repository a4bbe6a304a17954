//! Many games: in pairs with colours reversed, several at a time, with engines that are kept or started anew.

mod identity;
mod journal;
mod plan;
mod run;
mod stop;
mod tally;

pub use identity::identity;
pub use journal::{Found, Journal, JournalError};
pub use plan::{Format, Match, Seating};
pub use run::{MatchError, run};
pub use stop::Stop;
pub use tally::{Encounter, EngineTally, Tally};
