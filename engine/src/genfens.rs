//! Openings for games that make data: random moves from the start or from a book, kept where both sides have a game.
//!
//! An opening has a legal move, is no draw by rule, and its value by a search of [`DEPTH`] plies is within ±[`BALANCE`]
//! centipawns. The same request gives the same openings on every machine.
//! See <https://github.com/AndyGrant/OpenBench/wiki>, datagen workloads.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use common::input;
use thiserror::Error;

use crate::chess::epd::{Epd, EpdError};
use crate::chess::{Game, Position};
use crate::eval::Evaluator;
use crate::random::Random;
use crate::search::{Limits, Searcher, Signals, Value};

/// Random moves from the start: this many plies, or one more, so that either side may be to move.
pub const PLIES: u64 = 8;

/// The depth at which an opening is judged, plies.
pub const DEPTH: i32 = 6;

/// The most by which either side may be ahead, centipawns.
pub const BALANCE: i32 = 150;

/// The most tries for an opening.
const MAX_TRIES: u32 = 2000;

/// A request for openings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The number of openings.
    pub count: u64,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Positions to start from, one a line as FEN or EPD; without it, the start of chess.
    pub book: Option<PathBuf>,
}

/// Why no openings are generated.
#[derive(Debug, Error)]
pub enum GenfensError {
    /// The words of the request.
    #[error("expected `N seed S book <None|file>`, found `{0}`")]
    Request(String),
    /// The book cannot be read.
    #[error("{}: cannot be read: {error}", file.display())]
    Unreadable {
        /// The book.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A line of the book is no position.
    #[error("{}:{line}: {fault}", file.display())]
    Line {
        /// The book.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The fault.
        fault: EpdError,
    },
    /// There is no position in the book.
    #[error("{}: holds no position", .0.display())]
    Empty(PathBuf),
    /// No balanced opening was found.
    #[error("none of {MAX_TRIES} tries gave a game within {BALANCE} centipawns")]
    NoBalancedOpening,
    /// There is no memory for a search.
    #[error("no memory for a search: {0}")]
    Memory(io::Error),
}

impl Request {
    /// Reads what follows `genfens`: `N seed S book <None|file>`; words after that are for other engines.
    ///
    /// # Errors
    /// If the words do not read so.
    pub fn parse(text: &str) -> Result<Self, GenfensError> {
        let fault = || GenfensError::Request(text.to_owned());
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let [count, "seed", seed, "book", book, ..] = words[..] else { return Err(fault()) };
        Ok(Request {
            count: count.parse().map_err(|_| fault())?,
            seed: seed.parse().map_err(|_| fault())?,
            book: (!book.eq_ignore_ascii_case("none")).then(|| PathBuf::from(book)),
        })
    }
}

/// Generates openings and passes each to `take`, until there are enough or `signals` stop it.
///
/// # Errors
/// If the book has a fault, or nothing balanced comes of it.
pub fn generate(
    request: &Request,
    evaluator: Arc<Evaluator>,
    signals: &Signals,
    mut take: impl FnMut(&Position),
) -> Result<(), GenfensError> {
    let mut random = Random::seeded(request.seed);
    let starts = read_starts(request.book.as_ref())?;
    let mut searcher = Searcher::new(1).map_err(GenfensError::Memory)?;
    searcher.set_evaluator(evaluator);
    for _ in 0..request.count {
        let mut tries = (0..MAX_TRIES).take_while(|_| !signals.is_stopped());
        let found = tries.find_map(|_| {
            let start = &starts[random.below(starts.len() as u64) as usize];
            let plies = PLIES + random.below(2);
            let game = play_randomly(Epd::parse(start).ok()?.position, plies, &mut random)?;
            is_balanced(&mut searcher, &game, Limits::depth(DEPTH), BALANCE).then_some(game)
        });
        match found {
            Some(game) => take(game.position()),
            None if signals.is_stopped() => break,
            None => return Err(GenfensError::NoBalancedOpening),
        }
    }
    Ok(())
}

/// The lines of a book, each of which has been read.
fn read_starts(book: Option<&PathBuf>) -> Result<Vec<String>, GenfensError> {
    let Some(file) = book else { return Ok(vec![Position::start().to_fen()]) };
    let text = input::require_regular(file).and_then(|()| input::read_text(file, input::SETTINGS));
    let text = text.map_err(|error| GenfensError::Unreadable { file: file.clone(), error })?;
    let mut starts = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        Epd::parse(line).map_err(|fault| GenfensError::Line { file: file.clone(), line: i + 1, fault })?;
        starts.push(line.to_owned());
    }
    if starts.is_empty() { Err(GenfensError::Empty(file.clone())) } else { Ok(starts) }
}

/// A game of `plies` random legal moves, if it does not end before.
pub fn play_randomly(start: Position, plies: u64, random: &mut Random) -> Option<Game> {
    let mut game = Game::new(start);
    for _ in 0..plies {
        let moves = game.position().legal_moves();
        game.play(*moves.get(random.below(moves.len() as u64) as usize)?);
    }
    (!game.is_over()).then_some(game)
}

/// Returns true if a search within `limits` judges the position of a game to be within ±`balance` centipawns. The
/// searcher forgets what it knew before: what is found must not depend on it.
pub fn is_balanced(searcher: &mut Searcher, game: &Game, limits: Limits, balance: Value) -> bool {
    searcher.clear();
    searcher.search(game, limits, &mut ()).value.abs() <= balance
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use std::collections::HashSet;

    fn fens(text: &str) -> Vec<String> {
        let mut fens = Vec::new();
        let request = Request::parse(text).unwrap();
        generate(&request, Arc::default(), &Signals::default(), |position| fens.push(position.to_fen())).unwrap();
        fens
    }

    #[test]
    fn openings_follow_from_the_seed_and_differ() {
        let one = fens("20 seed 7 book None");
        assert_eq!(one, fens("20 seed 7 book none some extra words"));
        assert_eq!(one[..5], fens("5 seed 7 book None"));
        assert_eq!(one.iter().chain(&fens("20 seed 8 book None")).collect::<HashSet<_>>().len(), 40);
        for fen in one {
            let fields: Vec<&str> = fen.split(' ').collect();
            assert_eq!((fields.len(), fields[5]), (6, "5"), "{fen}");
            assert!(Position::from_fen(&fen).unwrap().has_legal_move());
        }
    }

    #[test]
    fn requests_are_read_strictly() {
        let request = Request { count: 3, seed: u64::MAX, book: Some("Books/x.epd".into()) };
        assert_eq!(Request::parse(" 3 seed 18446744073709551615  book Books/x.epd ").unwrap(), request);
        for bad in ["", "3", "3 seed", "3 seed 1", "3 seed 1 book", "x seed 1 book None", "3 seed -1 book None"] {
            assert_eq!(
                Request::parse(bad).unwrap_err().to_string(),
                format!("expected `N seed S book <None|file>`, found `{bad}`")
            );
        }
    }

    #[test]
    fn books_are_read_strictly() {
        let write = |name: &str, text: &str| {
            let path = std::env::temp_dir().join(format!("merino-genfens-{}-{name}", std::process::id()));
            fs::write(&path, text).unwrap();
            path
        };
        let fault = |book: &PathBuf| {
            let request = Request { count: 1, seed: 1, book: Some(book.clone()) };
            let fault = generate(&request, Arc::default(), &Signals::default(), |_| {}).unwrap_err().to_string();
            fault.replace(&book.display().to_string(), "BOOK")
        };
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        let bad = write("bad", &format!("{start} hmvc 0;\n\n8/8 w - -\n"));
        let empty = write("empty", "\n");
        let lost = write("lost", "4k3/8/8/8/8/8/8/QQQQK3 w - -");
        assert_eq!(fault(&bad), "BOOK:3: expected 8 ranks, found 2");
        assert_eq!(fault(&empty), "BOOK: holds no position");
        assert!(fault(&lost).starts_with("none of 2000 tries"));
        assert!(fault(&PathBuf::from("/no/such.epd")).starts_with("BOOK: cannot be read"));
        for path in [bad, empty, lost] {
            fs::remove_file(path).unwrap();
        }
    }
}
