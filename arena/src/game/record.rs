//! The record of a game.

use std::time::Duration;

use engine::chess::{Color, GameEnd, GameResult, Move};

use super::Opening;
use crate::uci_client::{MAX_NOTES, Score, shortened};

/// Declares an enum whose values have a name for people and machines, listed once.
macro_rules! named_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$value_doc])* $value),+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$value),+];

            /// Its name, in words.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $text),+
                }
            }

            /// Its place in [`Self::ALL`].
            pub const fn index(self) -> usize {
                self as usize
            }
        }
    };
}

pub(crate) use named_enum;

named_enum! {
    /// Why a game ended.
    Ending {
        /// By the rules.
        Mate = "mate",
        /// By the rules.
        Stalemate = "stalemate",
        /// The same position for the third time.
        Threefold = "threefold repetition",
        /// Fifty moves of each side without a capture or a pawn move.
        FiftyMoves = "fifty moves",
        /// Neither side can mate.
        InsufficientMaterial = "insufficient material",
        /// Both sides' scores were near 0 for long enough.
        DrawAgreed = "draw adjudication",
        /// The loser's scores were bad for long enough.
        Resigned = "resign adjudication",
        /// Tables of endings know the result.
        Tablebase = "tablebase adjudication",
        /// The most plies a game may have.
        MaxPlies = "maximum length",
        /// The loser took too long, but answered.
        TimeLoss = "time forfeit",
        /// The loser's program ended.
        Crash = "crash",
        /// The loser's program did not answer, and was killed.
        Stall = "stall",
        /// The loser's move was not legal.
        IllegalMove = "illegal move",
    }
}

impl From<GameEnd> for Ending {
    fn from(end: GameEnd) -> Self {
        match end {
            GameEnd::Mate { .. } => Ending::Mate,
            GameEnd::Stalemate => Ending::Stalemate,
            GameEnd::Repetition => Ending::Threefold,
            GameEnd::FiftyMoves => Ending::FiftyMoves,
            GameEnd::Material => Ending::InsufficientMaterial,
        }
    }
}

named_enum! {
    /// A fault of an engine, whether it lost the game or not.
    Fault {
        /// It took too long, but answered.
        TimeLoss = "time losses",
        /// It reports well more nodes than its limit, or more depth.
        OverLimit = "limits exceeded",
        /// Its program ended.
        Crash = "crashes",
        /// It did not answer, and was killed.
        Stall = "stalls",
        /// Its move was not legal.
        IllegalMove = "illegal moves",
        /// A line of its analysis is not legal, or goes on after mate or stalemate.
        IllegalPv = "illegal PVs",
        /// A line of its analysis goes on after a draw by repetition or the fifty-move rule.
        PvPastDraw = "PVs past a draw",
        /// Its last line has an exact mate score, but does not end in mate after as many moves.
        UnfinishedMate = "unfinished mate PVs",
        /// Its move is not the first of its last line.
        OtherMove = "moves unlike PV",
        /// It gave no score before its move.
        NoScore = "moves without score",
    }
}

/// The number of times that each fault occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults([u64; Fault::ALL.len()]);

impl Faults {
    /// Returns the number of times that a fault occurred.
    pub fn count(&self, fault: Fault) -> u64 {
        self.0[fault.index()]
    }

    /// Counts a fault so many times more.
    pub fn add(&mut self, fault: Fault, times: u64) {
        let count = &mut self.0[fault.index()];
        *count = count.saturating_add(times);
    }
}

/// A fault with its circumstances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The side.
    pub color: Color,
    /// The fault.
    pub fault: Fault,
    /// The line it printed or how its process ended, and the position; long lines are truncated.
    pub text: String,
    /// The number of occurrences: 1, or more if the game has too many notes to keep each.
    pub times: u64,
}

impl Note {
    /// Adds a fault to the notes of a game, with its evidence and position. Beyond [`MAX_NOTES`] of them, it is
    /// counted with the last one of its kind.
    pub(crate) fn add(notes: &mut Vec<Note>, color: Color, fault: Fault, text: &str, place: &str) {
        if notes.len() >= MAX_NOTES
            && let Some(alike) = notes.iter_mut().rfind(|note| (note.color, note.fault) == (color, fault))
        {
            alike.times += 1;
        } else {
            notes.push(Note { color, fault, text: shortened(text) + place, times: 1 });
        }
    }
}

/// A move of a game, with the engine's report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedMove {
    /// The move.
    pub mv: Move,
    /// From the view of the moving side.
    pub score: Option<Score>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// As measured by the arena.
    pub time: Duration,
}

/// A game that was played.
#[derive(Clone, Debug)]
pub struct GameRecord {
    /// Its number in the match, from 0; games 2n and 2n + 1 are a pair.
    pub number: u32,
    /// Which of the engines played, White first.
    pub players: [usize; 2],
    /// Its moves come before those of the engines.
    pub opening: Opening,
    /// Their moves.
    pub moves: Vec<PlayedMove>,
    /// The result.
    pub outcome: GameResult,
    /// Why it ended.
    pub ending: Ending,
    /// Faults, in order.
    pub notes: Vec<Note>,
    /// The time that it took.
    pub duration: Duration,
    /// The last lines exchanged with an engine that failed or sent an illegal move, in a game that was just played.
    pub exchange: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci_client::LONGEST_TEXT;

    #[test]
    fn a_flood_of_faults_is_counted_and_not_kept() {
        let mut notes = Vec::new();
        let flood = "x".repeat(100_000);
        for _ in 0..10_000 {
            Note::add(&mut notes, Color::White, Fault::IllegalPv, &flood, "");
        }
        for color in Color::ALL {
            Note::add(&mut notes, color, Fault::Stall, "silent", "");
        }
        Note::add(&mut notes, Color::Black, Fault::Stall, "again", "");
        let kept: Vec<(Color, Fault, u64)> =
            notes[MAX_NOTES - 1..].iter().map(|note| (note.color, note.fault, note.times)).collect();
        let flooded = 10_000 - MAX_NOTES as u64 + 1;
        let expected = [
            (Color::White, Fault::IllegalPv, flooded),
            (Color::White, Fault::Stall, 1),
            (Color::Black, Fault::Stall, 2),
        ];
        assert_eq!(kept, expected);
        assert!(notes[..MAX_NOTES - 1].iter().all(|note| note.times == 1 && note.text.len() <= LONGEST_TEXT));
    }
}
