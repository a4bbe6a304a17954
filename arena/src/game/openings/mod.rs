//! Openings: the positions of a book of EPD or FEN lines, the first moves of a book of games, or the starts of Chess960.
//! Books are plain or compressed.

mod chess960;
mod opening;
mod pgn;

use std::io::{self, BufRead};
use std::path::Path;

pub use chess960::double_chess960;
use chess960::{STARTS, chess960_fen};
use engine::chess::epd::{Epd, EpdError};
use engine::chess::{CastlingSide, Color, FenError, File, Move, Position, Rank, SanError, Square};
use engine::random::split_mix;
pub use opening::Opening;
use sha2::{Digest, Sha256};
use thiserror::Error;
use tools::compression;
use tools::pgn::PgnFault;

use common::lines::{self, Lines};

/// The rules that are played by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Castling is written as the king's two steps.
    #[default]
    Standard,
    /// Castling is written as the king taking its rook.
    Chess960,
}

/// Why a book cannot be used.
#[derive(Debug, Error)]
pub enum BookError {
    /// It cannot be read or unpacked.
    #[error("{name}: cannot be read: {error}")]
    Unreadable {
        /// The file.
        name: String,
        /// The system's error.
        error: io::Error,
    },
    /// Lines that are no positions to play from.
    #[error("{name}:{line}: {fault} ({count} such line{} in all)", if *count == 1 { "" } else { "s" })]
    Lines {
        /// The file.
        name: String,
        /// The first such line, from 1.
        line: u64,
        /// The fault.
        fault: LineFault,
        /// The number of such lines.
        count: usize,
    },
    /// There is no position in it.
    #[error("{0}: has no positions")]
    Empty(String),
    /// Its positions stand in it, and no moves.
    #[error("{0}: has positions and not games, of which so many plies could be taken")]
    NoGames(String),
    /// There are not as many openings.
    #[error("{name}: has {openings} openings, and cannot begin with opening {start}")]
    Start {
        /// The book.
        name: String,
        /// The number of openings that it has.
        openings: usize,
        /// The one asked for, from 1.
        start: usize,
    },
}

/// Why a line is no position to play from.
#[derive(Debug, Error)]
pub enum LineFault {
    /// It is no EPD.
    #[error(transparent)]
    Epd(#[from] EpdError),
    /// The tag `FEN` of a game holds no position.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A game's shape is wrong.
    #[error(transparent)]
    Pgn(#[from] PgnFault),
    /// A move of a game cannot be played.
    #[error(transparent)]
    Move(#[from] SanError),
    /// The game is over.
    #[error("there is no legal move")]
    Over,
    /// Castling from other squares than in standard chess.
    #[error("castling is as in Chess960")]
    Chess960,
}

/// Openings, in the order they are played.
#[derive(Clone, Debug)]
pub struct Book {
    name: String,
    openings: Vec<Entry>,
    seed: Option<u64>,
}

/// An opening in little memory: books have hundreds of thousands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// The position before the moves.
    root: String,
    moves: Vec<Move>,
    tags: Vec<(String, String)>,
}

impl From<Opening> for Entry {
    fn from(Opening { root, moves, tags }: Opening) -> Self {
        Entry { root: root.to_shredder_fen(), moves, tags }
    }
}

impl Book {
    /// Default of the plies of a game that form an opening: no book of openings has longer ones.
    pub const MAX_PLIES: usize = 40;

    /// Reads a book, plain or compressed. Either it has EPD or FEN lines, of which empty ones and those
    /// that begin with `#` are passed over, or games in PGN, of which the first `plies` are played, all up to
    /// [`Book::MAX_PLIES`] if not given.
    ///
    /// # Errors
    /// If it cannot be read, has a line that is too long or cannot be played from, or has none, or has positions where `plies` are given.
    pub fn load(path: &Path, variant: Variant, plies: Option<usize>) -> Result<Self, BookError> {
        let name = path.display().to_string();
        let text = compression::open_text(path).map_err(|error| BookError::Unreadable { name: name.clone(), error })?;
        Self::read(&name, text, variant, plies)
    }

    fn read(name: &str, text: impl BufRead, variant: Variant, plies: Option<usize>) -> Result<Self, BookError> {
        let mut reading = Reading::default();
        let unreadable = |error| BookError::Unreadable { name: name.to_owned(), error };
        let mut lines = Lines::new(text, lines::LONGEST);
        if is_of_games(&mut lines).map_err(unreadable)? {
            pgn::read(lines, variant, plies.unwrap_or(Self::MAX_PLIES), &mut reading).map_err(unreadable)?;
        } else if plies.is_some() {
            return Err(BookError::NoGames(name.to_owned()));
        } else {
            read_lines(lines, variant, &mut reading).map_err(unreadable)?;
        }
        reading.into_book(name)
    }

    /// The built-in book of this project; `data/README.md` describes how it was made.
    ///
    /// # Errors
    /// If the program was built with a file that is no book.
    pub fn own() -> Result<Self, BookError> {
        const NAME: &str = "data/openings.epd.zst, built in";
        const BYTES: &[u8] = include_bytes!(env!("MERINO_OPENINGS"));
        let text =
            compression::decode_text(BYTES).map_err(|error| BookError::Unreadable { name: NAME.to_owned(), error })?;
        Self::read(NAME, text, Variant::Standard, None)
    }

    /// The 960 start positions of Chess960, in the order of their numbers.
    pub fn chess960() -> Self {
        let entry = |number| Entry { root: chess960_fen(number), moves: Vec::new(), tags: Vec::new() };
        let openings = (0..STARTS).map(entry).collect();
        Book { name: "the starts of Chess960".to_owned(), openings, seed: None }
    }

    /// Puts the openings in an order that only the seed decides.
    #[must_use]
    pub fn shuffled(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        let mut state = seed;
        for last in (1..self.openings.len()).rev() {
            // The remainder favours low indices by one part in 2⁶⁴ / length.
            let index = split_mix(&mut state) % (last as u64 + 1);
            self.openings.swap(last, usize::try_from(index).unwrap_or(0));
        }
        self
    }

    /// Rotates the book so that it begins with opening `start`, from 1.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn starting_with(mut self, start: usize) -> Result<Self, BookError> {
        if start == 0 || start > self.len() {
            return Err(BookError::Start { openings: self.len(), name: self.name, start });
        }
        self.openings.rotate_left(start - 1);
        Ok(self)
    }

    /// SHA-256 of the openings in their order, in hexadecimal.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for opening in &self.openings {
            hash.update(&opening.root);
            opening.moves.iter().for_each(|mv| hash.update(format!(" {}", mv.to_uci(true))));
            hash.update("\n");
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The seed of the order; `None` if it is that of the book.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Returns the name of its source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of openings; at least one.
    #[allow(clippy::len_without_is_empty, reason = "an empty book is refused")]
    pub fn len(&self) -> usize {
        self.openings.len()
    }

    /// The opening of a pair of games; after the last comes the first.
    pub fn opening(&self, pair: u32) -> Opening {
        let Entry { root, moves, tags } = &self.openings[pair as usize % self.openings.len()];
        let root = Position::from_fen(root).expect("a book holds positions that were read before");
        Opening { root, moves: moves.clone(), tags: tags.clone() }
    }
}

/// The content of a book as it is read.
#[derive(Default)]
struct Reading {
    openings: Vec<Entry>,
    /// The first fault with its line, and how many there are.
    first_fault: Option<(u64, LineFault)>,
    faults: usize,
}

impl Reading {
    fn add(&mut self, line: u64, opening: Result<Opening, LineFault>, variant: Variant) {
        match opening.and_then(|opening| playable(opening, variant)) {
            Ok(opening) => self.openings.push(opening.into()),
            Err(fault) => {
                self.faults += 1;
                self.first_fault.get_or_insert((line, fault));
            }
        }
    }

    fn into_book(self, name: &str) -> Result<Book, BookError> {
        let name = name.to_owned();
        match self.first_fault {
            Some((line, fault)) => Err(BookError::Lines { name, line, fault, count: self.faults }),
            None if self.openings.is_empty() => Err(BookError::Empty(name)),
            None => Ok(Book { name, openings: self.openings, seed: None }),
        }
    }
}

/// Reads up to the first line that is neither empty nor marked with `#`, which is to be read again; whether that line is
/// one of games.
fn is_of_games(lines: &mut Lines<impl BufRead>) -> io::Result<bool> {
    let mut bytes = Vec::new();
    loop {
        let is_end = !lines.read(&mut bytes)?;
        let line = bytes.trim_ascii();
        if is_end || !(line.is_empty() || line.starts_with(b"#")) {
            // No field of pieces begins so.
            let is_game = [&b"["[..], b"{", b"%", b";", b"1."].iter().any(|sign| line.starts_with(sign));
            lines.put_back(bytes);
            return Ok(is_game);
        }
    }
}

fn read_lines(mut lines: Lines<impl BufRead>, variant: Variant, reading: &mut Reading) -> io::Result<()> {
    let mut bytes = Vec::new();
    while lines.read(&mut bytes)? {
        let line = String::from_utf8_lossy(bytes.trim_ascii());
        if !line.is_empty() && !line.starts_with('#') {
            let opening = Epd::parse(&line).map(|epd| epd.position.into());
            reading.add(lines.number(), opening.map_err(LineFault::from), variant);
        }
    }
    Ok(())
}

fn playable(opening: Opening, variant: Variant) -> Result<Opening, LineFault> {
    if !opening.position().has_legal_move() {
        return Err(LineFault::Over);
    }
    if variant == Variant::Standard && !castles_as_in_standard_chess(&opening.root) {
        return Err(LineFault::Chess960);
    }
    Ok(opening)
}

pub(crate) fn castles_as_in_standard_chess(position: &Position) -> bool {
    let sides = [(CastlingSide::King, File::H), (CastlingSide::Queen, File::A)];
    Color::ALL.into_iter().all(|color| {
        let home = Square::new(File::E, Rank::First.relative_to(color));
        let is_usual = |(side, file)| position.castling().rook_file(color, side).is_none_or(|rook| rook == file);
        !position.castling().has_any(color) || (position.king(color) == home && sides.into_iter().all(is_usual))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_960_different_legal_starts() {
        let book = Book::chess960();
        let starts: BTreeSet<String> = (0..960).map(|pair| book.opening(pair).root.to_shredder_fen()).collect();
        assert_eq!((book.len(), starts.len()), (960, 960));
        assert_eq!(book.opening(518), Position::start().into());
        assert!(book.opening(0).root.to_fen().starts_with("bbqnnrkr/"));
        assert!(book.opening(959).root.to_fen().starts_with("rkrnnqbb/"));
    }

    /// Every position has a legal move and enough pieces, and none occurs twice.
    #[test]
    fn the_own_book_holds_many_different_openings() {
        let book = Book::own().unwrap();
        assert!(book.len() >= 20_000, "{}", book.len());
        let mut keys = BTreeSet::new();
        for pair in 0..book.len() as u32 {
            let position = book.opening(pair).root;
            assert!(keys.insert(position.key()), "{}: occurs twice", position.to_fen());
            assert!(position.occupied().count() >= 26, "{}", position.to_fen());
        }
    }

    #[test]
    fn the_seed_decides_the_order() {
        let order = |seed| Book::chess960().shuffled(seed).openings;
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let sorted: BTreeSet<String> = order(1).into_iter().map(|entry| entry.root).collect();
        assert_eq!(sorted.len(), 960);
    }

    #[test]
    fn bad_lines_are_reported_with_number_and_count() {
        let read = |text: &str, variant| Book::read("book.epd", text.as_bytes(), variant, None);
        let parse = |text: &str| read(text, Variant::Standard).map_err(|error| error.to_string());
        let start = Position::start().to_fen();
        assert_eq!(parse(&format!("# starts\n\n{start}\n{start}\n")).unwrap().len(), 2);
        assert_eq!(parse("\n").unwrap_err(), "book.epd: has no positions");
        let error = parse(&format!("{start}\n8/8 w - -\nx\n")).unwrap_err();
        assert_eq!(error, "book.epd:2: expected 8 ranks, found 2 (2 such lines in all)");
        let over = parse("7k/8/5K2/6Q1/8/8/8/7R b - - 0 1").unwrap_err();
        assert_eq!(over, "book.epd:1: there is no legal move (1 such line in all)");
        let shuffled = Book::chess960().opening(0).root.to_fen();
        assert_eq!(parse(&shuffled).unwrap_err(), "book.epd:1: castling is as in Chess960 (1 such line in all)");
        assert!(read(&shuffled, Variant::Chess960).is_ok());
    }

    #[test]
    fn a_book_may_begin_in_its_middle() {
        let book = Book::chess960();
        let starts = |start| Ok::<_, BookError>(book.clone().starting_with(start)?.openings);
        assert_eq!(starts(1).unwrap(), book.openings);
        assert_eq!(starts(960).unwrap()[..2], [book.openings[959].clone(), book.openings[0].clone()]);
        let error = starts(961).unwrap_err().to_string();
        assert_eq!(error, "the starts of Chess960: has 960 openings, and cannot begin with opening 961");
        assert!(starts(0).is_err());
    }
}
