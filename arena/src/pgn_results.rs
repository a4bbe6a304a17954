//! Results of games from their PGN.
//!
//! Moves are skipped, so that archives of any size can be read as streams. An unclear result is not a draw:
//! its game is left out, and counted by the reason. A game that contradicts itself is an error.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

use engine::chess::{Color, GameResult};
use thiserror::Error;
use tools::pgn::{PgnFault, PgnGame, PgnReader, PgnResult};

use crate::game::named_enum;
use crate::stats::{Counts, Meeting};

named_enum! {
    /// Why a game does not count.
    LeftOut {
        /// Its result is missing or cannot be read, or it is not over.
        NoResult = "without a result",
        /// It ends within a comment or a variation.
        BrokenOff = "broken off",
        /// A tag of a player is missing or empty.
        NoName = "without a player's name",
        /// One name on both sides.
        Oneself = "against oneself",
    }
}

/// Why games cannot be read.
#[derive(Debug, Error)]
pub enum PgnResultsError {
    /// The text cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// A game contradicts itself, or has too many tags.
    #[error("line {line}: {fault}")]
    Game {
        /// The number of the line, from 1.
        line: u64,
        /// The fault.
        fault: PgnFault,
    },
}

/// The players of many games, and their results.
#[derive(Clone, Debug, Default)]
pub struct PgnResults {
    /// Their names, in the order they occurred.
    pub players: Vec<String>,
    /// Losses, draws and wins of the first of two players, the one that occurred first.
    pub encounters: BTreeMap<[usize; 2], [u64; 3]>,
    /// Losses, draws and wins of White in all games that count.
    pub white: [u64; 3],
    /// Games that do not count, by [`LeftOut::index`].
    pub left_out: [u64; LeftOut::ALL.len()],
    numbers: HashMap<String, usize>,
}

impl PgnResults {
    /// Adds the games of a text in PGN.
    ///
    /// # Errors
    /// If it cannot be read, or a game contradicts itself; the games before that have been added.
    pub fn read(&mut self, text: impl BufRead) -> Result<(), PgnResultsError> {
        let mut games = PgnReader::new(text, 0);
        while let Some(game) = games.next_game()? {
            if let Some((line, fault @ (PgnFault::TwoTags(_) | PgnFault::TwoResults | PgnFault::ManyTags))) = game.fault
            {
                return Err(PgnResultsError::Game { line, fault });
            }
            self.add(&game);
        }
        Ok(())
    }

    fn add(&mut self, game: &PgnGame) {
        match result_of(game) {
            Err(reason) => self.left_out[reason.index()] += 1,
            Ok((names, outcome)) => {
                let players = names.map(|name| self.number(name));
                self.white[usize::from(outcome.half_points(Color::White))] += 1;
                let (ordered, color) = match players {
                    [white, black] if white < black => (players, Color::White),
                    [white, black] => ([black, white], Color::Black),
                };
                self.encounters.entry(ordered).or_default()[usize::from(outcome.half_points(color))] += 1;
            }
        }
    }

    fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.players.len();
        self.players.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The number of a player, by name.
    pub fn player(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Returns the number of games that count.
    pub fn games(&self) -> u64 {
        self.white.iter().sum()
    }

    /// A text about the games that do not count, with reasons; `None` if all do.
    pub fn left_out_text(&self) -> Option<String> {
        let counted = LeftOut::ALL.into_iter().map(|reason| (self.left_out[reason.index()], reason.name()));
        let parts: Vec<String> =
            counted.filter(|(count, _)| *count > 0).map(|(count, reason)| format!("{count} {reason}")).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Losses, draws and wins of every player.
    pub fn results(&self) -> Vec<[u64; 3]> {
        let mut results = vec![[0; 3]; self.players.len()];
        for (&[a, b], &[losses, draws, wins]) in &self.encounters {
            for (sum, count) in results[a].iter_mut().zip([losses, draws, wins]) {
                *sum += count;
            }
            for (sum, count) in results[b].iter_mut().zip([wins, draws, losses]) {
                *sum += count;
            }
        }
        results
    }

    /// The encounters as single games: PGN does not say which games were pairs.
    pub fn meetings(&self) -> Vec<Meeting> {
        let encounters = self.encounters.iter();
        encounters.map(|(&players, &results)| Meeting { players, counts: Counts::Games(results) }).collect()
    }
}

/// White's and Black's name and the result, or why a game does not count.
fn result_of(game: &PgnGame) -> Result<([&str; 2], GameResult), LeftOut> {
    if let Some((_, PgnFault::OpenComment | PgnFault::OpenVariation)) = game.fault {
        return Err(LeftOut::BrokenOff);
    }
    let tagged = game.tag("Result").and_then(PgnResult::parse);
    let outcome = match (tagged, game.result()) {
        (Some(PgnResult::Ended(outcome)), _) => outcome,
        // An unfinished or unreadable result in the tag is not overridden by the moves.
        (None, Some(PgnResult::Ended(outcome))) if game.tag("Result").is_none() => outcome,
        _ => return Err(LeftOut::NoResult),
    };
    let name = |tag: &str| game.tag(tag).filter(|name| !name.is_empty() && *name != "?");
    let (Some(white), Some(black)) = (name("White"), name("Black")) else { return Err(LeftOut::NoName) };
    if white == black { Err(LeftOut::Oneself) } else { Ok(([white, black], outcome)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(white: &str, black: &str, tag: &str, end: &str) -> String {
        format!("[White \"{white}\"]\n[Black \"{black}\"]\n{tag}\n\n1. e4 {{+1/3}} e5 {end}\n\n")
    }

    #[test]
    fn clear_results_count_and_others_are_reported() {
        let mut pgn = PgnResults::default();
        for (white, black, tag, end) in [
            ("a", "b", "[Result \"1-0\"]", "1-0"),
            ("b", "a", "[Result \"1-0\"]", ""),
            ("b", "a", "", "1/2-1/2"),
            ("c", " a ", "[Result \"0-1\"]", "*"),
            ("a", "b", "[Result \"1-0\"]", "{torn"),
            ("a", "b", "[Result \"1-0\"]", "((((1-0"),
            ("a", "b", "[Result \"*\"]", "0-1"),
            ("a", "b", "[Result \"won\"]", "0-1"),
            ("a", "b", "", "*"),
            ("a", "b", "", "torn"),
            ("a", "?", "", "1-0"),
            ("", "b", "", "1-0"),
            ("a", "a", "", "1-0"),
        ] {
            pgn.read(game(white, black, tag, end).as_bytes()).unwrap();
        }
        assert_eq!(pgn.players, ["a", "b", "c"]);
        assert_eq!(pgn.encounters, BTreeMap::from([([0, 1], [1, 1, 1]), ([0, 2], [0, 0, 1])]));
        assert_eq!((pgn.white, pgn.games(), pgn.left_out), ([1, 1, 2], 4, [4, 2, 2, 1]));
        assert_eq!(pgn.results(), [[1, 1, 2], [1, 1, 1], [1, 0, 0]]);
    }
    #[test]
    fn contradictions_are_errors_with_their_line() {
        let mut pgn = PgnResults::default();
        for (tag, end, expected) in [
            ("[Result \"1-0\"]", "0-1", "line 7: the tag Result contradicts the result after the moves"),
            ("[Result \"1-0\"]\n[Result \"0-1\"]", "", "line 7: two tags Result contradict each other"),
            ("[Result \"1-0\"]\n[Result \"*\"]", "1-0", "line 7: two tags Result contradict each other"),
        ] {
            let text = game("a", "b", "", "1-0") + &game("a", "b", tag, end);
            assert_eq!(pgn.read(text.as_bytes()).unwrap_err().to_string(), expected);
        }
        assert_eq!(pgn.games(), 3);
    }
}
