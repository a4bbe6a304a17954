//! Many games: in pairs with colours reversed, several at a time, with engines that are kept or started anew.

mod identity;
mod journal;
mod run;
mod tally;

pub use identity::identity;
pub use journal::{Found, Journal, JournalError};
pub use run::{Match, MatchError, Stop, run};
pub use tally::{EngineTally, Tally};
