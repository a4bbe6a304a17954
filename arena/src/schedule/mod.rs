//! Many games: in pairs with colours reversed, several at a time, with engines that are kept or started anew.

mod run;
mod tally;

pub use run::{Match, MatchError, Stop, run};
pub use tally::{EngineTally, Tally};
