//! One game between two engines: its clocks, rules, adjudication and record.

mod adjudicate;
mod check_pv;
mod clock;
mod openings;
mod pgn;
mod play;
mod record;
mod summary;
mod tablebase;

pub(crate) use adjudicate::Adjudicator;
pub use adjudicate::{Adjudication, AdjudicationError, DrawRule, ResignRule};
pub(crate) use check_pv::{parse_move, search_faults};
pub use clock::Clock;
pub(crate) use openings::castles_as_in_standard_chess;
pub use openings::{Book, BookError, LineFault, Opening, Variant, double_chess960};
pub use pgn::{Headers, to_pgn};
pub use play::{Conditions, Played, Player, play};
pub(crate) use play::{loss_by, position_command};
pub(crate) use record::named_enum;
pub use record::{Ending, Fault, Faults, GameRecord, Note, PlayedMove};
pub(crate) use summary::Fingerprint;
pub use summary::{GameSummary, SearchTotals};
pub use tablebase::{Tablebase, TablebaseError};
