//! Positions with results, from games that an engine plays against itself: Merino within this program, or any UCI engine.
//!
//! A game follows from the seed, its number and the [`Settings`] alone: each thread has a [player](crate::player) of its
//! own, which forgets everything before a game. Games are written in the order of their numbers, a chunk at a time. The
//! output therefore does not depend on the threads, and a run that was interrupted goes on to the same file.
//!
//! The positions kept are *quiet*: the side to move is not in check, the move played neither captures nor promotes, and
//! the quiescence search is within a margin of the static evaluation. No position is kept twice in a run. Instead of
//! the positions of a game, the ends of the best lines of its searches can be taken ([`Source::PvEnd`]).
//!
//! # Formats
//!
//! * **EPD**, plain or zstd, a position a line:
//!   `rn2k1nr/pbppbppp/8/1P6/1P1QP3/P1N5/5PPP/R3KBNR b KQkq - c0 "1.17"; c9 "1-0"; ce -825;`.
//!   `c0` is the game: the seed, a point, its number from 0; equal for all positions of a game and for no others of a
//!   run, so that a set can be split by games. `c9` is the result of the game. `ce` is the score of the search in
//!   centipawns, as the standard of EPD has it in the view of the side to move; positions in which the search saw a
//!   forced mate are not kept.
//! * **bulletformat**: a position in 32 bytes, with score and result, in the view of the side to move. It has no place
//!   for castling rights, en passant and the game; a position that reads the same as an earlier one is a duplicate.
//! * **viriformat**: whole games with a score for every move, in White's view. Nothing is filtered but games that were
//!   played before: the reader of the games chooses among their positions.

mod filter;
mod formats;
mod output;
mod play;
mod run;
mod settings;
mod tally;

pub use filter::{Filter, FilterOutcome, Source};
pub(crate) use formats::bullet;
pub use formats::{Format, FormatError};
pub use output::Store;
pub use play::{ScoredMove, SelfGame, play_game};
pub use run::{DatagenError, Extent, run};
pub use settings::Settings;
pub use tally::Tally;

pub use crate::chunks::{NoThread, StoreError, state_path};
