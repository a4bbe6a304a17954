//! One game between two engines: its clocks, rules, adjudication and record.

mod adjudicate;
mod audit;
mod clock;
mod openings;
mod pgn;
mod play;
mod record;
mod summary;
mod tablebase;

pub(crate) use adjudicate::Adjudicator;
pub use adjudicate::{Adjudication, AdjudicationError, DrawRule, ResignRule};
pub(crate) use audit::{faults_of_search, parse_move};
pub use clock::Clock;
pub use openings::{Book, BookError, LineFault, Variant};
pub use pgn::{Headers, to_pgn};
pub(crate) use play::blame;
pub use play::{Conditions, Played, Seat, play};
pub(crate) use record::named_enum;
pub use record::{Ending, Fault, Faults, GameRecord, Note, PlayedMove};
pub(crate) use summary::Fingerprint;
pub use summary::{Effort, GameSummary};
pub use tablebase::{Tablebase, TablebaseError};
