//! The positions games begin with: a book of EPD lines, plain or zstd, or the starts of Chess960.

use std::fs;
use std::io;
use std::path::Path;

use engine::chess::epd::{Epd, EpdError};
use engine::chess::{CastlingSide, Color, File, Position, Rank, Square};
use sha2::{Digest, Sha256};
use thiserror::Error;

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
        /// What the system says.
        error: io::Error,
    },
    /// Lines that are no positions to play from.
    #[error("{name}:{line}: {fault} ({count} such line{} in all)", if *count == 1 { "" } else { "s" })]
    Lines {
        /// The file.
        name: String,
        /// The first such line, from 1.
        line: usize,
        /// What is wrong with it.
        fault: LineFault,
        /// How many there are.
        count: usize,
    },
    /// There is no position in it.
    #[error("{0}: has no positions")]
    Empty(String),
}

/// Why a line is no position to play from.
#[derive(Debug, Error)]
pub enum LineFault {
    /// It is no EPD.
    #[error(transparent)]
    Epd(#[from] EpdError),
    /// The game is over.
    #[error("there is no legal move")]
    Over,
    /// Castling from other squares than in standard chess.
    #[error("castling is as in Chess960")]
    Chess960,
}

/// Positions to begin with, in the order they are played.
#[derive(Clone, Debug)]
pub struct Book {
    name: String,
    openings: Vec<String>,
}

impl Book {
    /// Reads a book of EPD or FEN lines; empty lines and those that begin with `#` are passed over.
    ///
    /// # Errors
    /// If it cannot be read, has a line that cannot be played from, or has none.
    pub fn load(path: &Path, variant: Variant) -> Result<Self, BookError> {
        const ZSTD_MAGIC: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
        let name = path.display().to_string();
        let unreadable = |error| BookError::Unreadable { name: name.clone(), error };
        let mut bytes = fs::read(path).map_err(unreadable)?;
        if bytes.starts_with(ZSTD_MAGIC) {
            bytes = zstd::decode_all(&bytes[..]).map_err(unreadable)?;
        }
        Self::parse(&name, &String::from_utf8_lossy(&bytes), variant)
    }

    fn parse(name: &str, text: &str, variant: Variant) -> Result<Self, BookError> {
        let mut openings = Vec::new();
        let mut first_fault = None;
        let mut count = 0;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match opening(line, variant) {
                Ok(position) => openings.push(position.to_shredder_fen()),
                Err(fault) => {
                    count += 1;
                    first_fault.get_or_insert((index + 1, fault));
                }
            }
        }
        let name = name.to_owned();
        match first_fault {
            Some((line, fault)) => Err(BookError::Lines { name, line, fault, count }),
            None if openings.is_empty() => Err(BookError::Empty(name)),
            None => Ok(Book { name, openings }),
        }
    }

    /// The 960 start positions of Chess960, in the order of their numbers.
    pub fn chess960() -> Self {
        let openings = (0..960).map(chess960_fen).collect();
        Book { name: "the starts of Chess960".to_owned(), openings }
    }

    /// Puts the openings in an order that only the seed decides.
    #[must_use]
    pub fn shuffled(mut self, seed: u64) -> Self {
        let mut state = seed;
        for last in (1..self.openings.len()).rev() {
            // The remainder favours low indices by one part in 2⁶⁴ / length.
            let index = random(&mut state) % (last as u64 + 1);
            self.openings.swap(last, usize::try_from(index).unwrap_or(0));
        }
        self
    }

    /// SHA-256 of the openings in their order, in hexadecimal.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        for opening in &self.openings {
            hash.update(opening);
            hash.update("\n");
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Where it comes from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many openings there are; at least one.
    #[allow(clippy::len_without_is_empty, reason = "an empty book is refused")]
    pub fn len(&self) -> usize {
        self.openings.len()
    }

    /// The opening of a pair of games; after the last comes the first.
    pub fn opening(&self, pair: u32) -> Position {
        let fen = &self.openings[pair as usize % self.openings.len()];
        Position::from_fen(fen).expect("a book holds positions that were read before")
    }
}

fn opening(line: &str, variant: Variant) -> Result<Position, LineFault> {
    let position = Epd::parse(line)?.position;
    if !position.has_legal_move() {
        return Err(LineFault::Over);
    }
    if variant == Variant::Standard && !castles_as_in_standard_chess(&position) {
        return Err(LineFault::Chess960);
    }
    Ok(position)
}

fn castles_as_in_standard_chess(position: &Position) -> bool {
    let sides = [(CastlingSide::King, File::H), (CastlingSide::Queen, File::A)];
    Color::ALL.into_iter().all(|color| {
        let home = Square::new(File::E, Rank::First.relative_to(color));
        let is_usual = |(side, file)| position.castling().rook_file(color, side).is_none_or(|rook| rook == file);
        !position.castling().has_any(color) || (position.king(color) == home && sides.into_iter().all(is_usual))
    })
}

/// One output of splitmix64. See <https://prng.di.unimi.it/splitmix64.c>.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The start position of a number from 0 to 959; 518 is that of standard chess.
/// See <https://en.wikipedia.org/wiki/Fischer_random_chess_numbering_scheme>.
fn chess960_fen(number: usize) -> String {
    // The places of two knights on the five squares that bishops and queen leave.
    const KNIGHTS: [[usize; 2]; 10] = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]];
    let mut files = [' '; 8];
    files[number % 4 * 2 + 1] = 'b';
    files[number / 4 % 4 * 2] = 'b';
    let free = |files: &[char; 8]| -> Vec<usize> { (0..8).filter(|&file| files[file] == ' ').collect() };
    let queen = free(&files)[number / 16 % 6];
    files[queen] = 'q';
    let left = free(&files);
    for place in KNIGHTS[number / 96 % 10] {
        files[left[place]] = 'n';
    }
    let mut rooks = String::new();
    for (file, piece) in free(&files).into_iter().zip(['r', 'k', 'r']) {
        files[file] = piece;
        if piece == 'r' {
            rooks.insert(0, File::ALL[file].letter());
        }
    }
    let black: String = files.iter().collect();
    let white = black.to_ascii_uppercase();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w {}{rooks} - 0 1", rooks.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_960_different_legal_starts() {
        let book = Book::chess960();
        let starts: BTreeSet<String> = (0..960).map(|pair| book.opening(pair).to_shredder_fen()).collect();
        assert_eq!((book.len(), starts.len()), (960, 960));
        assert_eq!(book.opening(518), Position::start());
        assert!(book.opening(0).to_fen().starts_with("bbqnnrkr/"));
        assert!(book.opening(959).to_fen().starts_with("rkrnnqbb/"));
    }

    #[test]
    fn the_seed_decides_the_order() {
        let order = |seed| Book::chess960().shuffled(seed).openings;
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let sorted: BTreeSet<String> = order(1).into_iter().collect();
        assert_eq!(sorted.len(), 960);
    }

    #[test]
    fn bad_lines_are_told_with_their_number_and_count() {
        let parse = |text: &str| Book::parse("book.epd", text, Variant::Standard).map_err(|error| error.to_string());
        let start = Position::start().to_fen();
        assert_eq!(parse(&format!("# starts\n\n{start}\n{start}\n")).unwrap().len(), 2);
        assert_eq!(parse("\n").unwrap_err(), "book.epd: has no positions");
        let error = parse(&format!("{start}\n8/8 w - -\nx\n")).unwrap_err();
        assert_eq!(error, "book.epd:2: expected 8 ranks, found 2 (2 such lines in all)");
        let over = parse("7k/8/5K2/6Q1/8/8/8/7R b - - 0 1").unwrap_err();
        assert_eq!(over, "book.epd:1: there is no legal move (1 such line in all)");
        let shuffled = Book::chess960().opening(0).to_fen();
        assert_eq!(parse(&shuffled).unwrap_err(), "book.epd:1: castling is as in Chess960 (1 such line in all)");
        assert!(Book::parse("book.epd", &shuffled, Variant::Chess960).is_ok());
    }
}
