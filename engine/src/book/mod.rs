//! Opening books in the Polyglot format: which moves others have played in a position, and how well they fared.
//!
//! A file is a row of entries of 16 bytes, numbers with the highest byte first: 8 bytes key, 2 move, 2 weight, 4 that
//! a learning GUI may use, in the order of the keys. Files are read strictly: one that is cut off or out of order is
//! refused, since a search in it would miss moves in silence.
//! See <http://hgm.nubati.net/book_format.html>.

mod key;

use std::io;
use std::path::Path;

use common::input;
use thiserror::Error;

use crate::chess::{Move, Position};
use crate::random::Random;

const ENTRY_SIZE: usize = 16;

/// The largest file that is read, in bytes; the largest books in use have a tenth of it.
const LARGEST: u64 = 4 << 30;

/// Why a book was refused. Every message fits one line.
#[derive(Debug, Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {error}")]
    Unreadable {
        /// The file, as it was named.
        file: String,
        /// The system's error.
        error: io::Error,
    },
    /// The file holds a fault.
    #[error("{file}: {fault}")]
    InFile {
        /// The file, as it was named.
        file: String,
        /// The fault.
        fault: Box<BookError>,
    },
    /// The last entry is cut off.
    #[error("a book is made of entries of {ENTRY_SIZE} bytes, found {0} bytes")]
    Size(usize),
    /// A key is smaller than the one before it.
    #[error("entry {entry}: expected a key of at least {before:016x}, found {found:016x}")]
    Order {
        /// The number of the entry, from 1.
        entry: usize,
        /// The key of the entry before.
        before: u64,
        /// Its own key.
        found: u64,
    },
}

/// An opening book.
#[derive(Clone, Debug)]
pub struct Book {
    /// Sorted by key.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    code: u16,
    weight: u16,
}

impl Entry {
    fn new(bytes: &[u8; ENTRY_SIZE]) -> Self {
        let [key @ .., m0, m1, w0, w1, _, _, _, _] = *bytes;
        let (code, weight) = (u16::from_be_bytes([m0, m1]), u16::from_be_bytes([w0, w1]));
        Entry { key: u64::from_be_bytes(key), code, weight }
    }
}

impl Book {
    /// Reads a book from a file.
    ///
    /// # Errors
    /// If the file cannot be read, or holds a fault; the message begins with the name of the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, BookError> {
        let path = path.as_ref();
        let file = || path.display().to_string();
        let unreadable = |error| BookError::Unreadable { file: file(), error };
        input::require_regular(path).map_err(unreadable)?;
        let bytes = input::read(path, LARGEST).map_err(unreadable)?;
        Self::from_bytes(&bytes).map_err(|fault| BookError::InFile { file: file(), fault: Box::new(fault) })
    }

    /// Reads a book from the bytes of a file.
    ///
    /// # Errors
    /// If the last entry is cut off, or an entry is out of order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BookError> {
        let (entries, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            return Err(BookError::Size(bytes.len()));
        }
        let entries: Vec<Entry> = entries.iter().map(Entry::new).collect();
        for (i, pair) in entries.windows(2).enumerate() {
            if pair[0].key > pair[1].key {
                return Err(BookError::Order { entry: i + 2, before: pair[0].key, found: pair[1].key });
            }
        }
        Ok(Book { entries })
    }

    /// The legal moves that the book has for a position, with their weights, in the order of the book; a move of
    /// weight 0 is not to be played.
    pub fn moves(&self, position: &Position) -> Vec<(Move, u16)> {
        let legal = position.legal_moves();
        let filed_under = |key: u64| {
            let start = self.entries.partition_point(|entry| entry.key < key);
            self.entries[start..].iter().take_while(move |entry| entry.key == key)
        };
        let entries = key::keys(position).into_iter().flat_map(filed_under);
        let known = |entry: &Entry| {
            let mv = legal.iter().copied().find(|&mv| key::code(mv) == entry.code)?;
            Some((mv, entry.weight))
        };
        entries.filter_map(known).collect()
    }

    /// A move for a position, chosen at random by weight.
    pub fn choose(&self, position: &Position, random: &mut Random) -> Option<Move> {
        let moves = self.moves(position);
        let total = moves.iter().map(|&(_, weight)| u64::from(weight)).sum();
        let mut ticket = random.below(total);
        let wins = |&&(_, weight): &&(Move, u16)| {
            let is_within = ticket < u64::from(weight);
            ticket = ticket.saturating_sub(u64::from(weight));
            is_within
        };
        moves.iter().find(wins).map(|&(mv, _)| mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A book of (position, moves with weights).
    fn book(lines: &[(&str, &[(&str, u16)])]) -> Book {
        let mut entries = Vec::new();
        for (fen, moves) in lines {
            let position = Position::from_fen(fen).unwrap();
            for (text, weight) in *moves {
                let code = position.parse_uci(text).map_or(0o1234, key::code);
                entries.push((key::keys(&position)[0], code, *weight));
            }
        }
        entries.sort_by_key(|entry| entry.0);
        let bytes = |&(key, code, weight): &(u64, u16, u16)| {
            let mut bytes = key.to_be_bytes().to_vec();
            bytes.extend([code.to_be_bytes(), weight.to_be_bytes(), [1, 2], [3, 4]].concat());
            bytes
        };
        Book::from_bytes(&entries.iter().flat_map(bytes).collect::<Vec<u8>>()).unwrap()
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    const CASTLING: &str = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

    fn moves(book: &Book, fen: &str) -> Vec<(String, u16)> {
        let moves = book.moves(&Position::from_fen(fen).unwrap());
        moves.into_iter().map(|(mv, weight)| (mv.to_string(), weight)).collect()
    }

    #[test]
    fn moves_are_found_by_position() {
        let book = book(&[
            (START, &[("e2e4", 3), ("no move", 9), ("d2d4", 1)]),
            (CASTLING, &[("e1g1", 2), ("e1c1", 1), ("e1e2", 1)]),
            ("8/4P3/8/8/8/8/k7/2K5 w - - 0 1", &[("e7e8n", 1), ("e7e8q", 65535)]),
        ]);
        let expected = |list: &[(&str, u16)]| list.iter().map(|&(mv, n)| (mv.to_owned(), n)).collect::<Vec<_>>();
        assert_eq!(moves(&book, START), expected(&[("e2e4", 3), ("d2d4", 1)]));
        assert_eq!(moves(&book, CASTLING), expected(&[("e1g1", 2), ("e1c1", 1), ("e1e2", 1)]));
        assert_eq!(moves(&book, "8/4P3/8/8/8/8/k7/2K5 w - - 9 9"), expected(&[("e7e8n", 1), ("e7e8q", 65535)]));
        assert!(moves(&book, "r3k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1").is_empty());
    }

    /// Bytes that another program wrote: e2e4 in the start position, and e1h1, castling.
    #[test]
    fn the_bytes_of_the_format_are_read() {
        let mut bytes = vec![0x46, 0x3b, 0x96, 0x18, 0x16, 0x91, 0xfc, 0x9c, 0x03, 0x1c, 0, 7, 0, 0, 0, 0];
        let key = key::keys(&Position::from_fen(CASTLING).unwrap())[0];
        bytes.extend([&key.to_be_bytes()[..], &[0x01, 0x07, 0, 1, 0, 0, 0, 0]].concat());
        bytes.as_chunks_mut::<16>().0.sort_unstable();
        let book = Book::from_bytes(&bytes).unwrap();
        assert_eq!(moves(&book, START), [("e2e4".to_owned(), 7)]);
        assert_eq!(moves(&book, CASTLING), [("e1g1".to_owned(), 1)]);
    }

    #[test]
    fn moves_are_chosen_as_often_as_their_weight_says() {
        let book = book(&[(START, &[("a2a3", 0), ("e2e4", 300), ("d2d4", 100), ("h2h3", 0)])]);
        let mut random = Random::seeded(3);
        let mut choose = || book.choose(&Position::start(), &mut random).unwrap().to_string();
        let chosen: Vec<String> = (0..4000).map(|_| choose()).collect();
        let count = |mv: &str| chosen.iter().filter(|&chosen| chosen == mv).count();
        assert_eq!(count("e2e4") + count("d2d4"), 4000);
        // Five standard deviations.
        assert!(count("d2d4").abs_diff(1000) < 137, "{}", count("d2d4"));
    }

    #[test]
    fn nothing_is_chosen_where_nothing_may_be_played() {
        let mut random = Random::seeded(3);
        let idle = book(&[(START, &[("a2a3", 0)])]);
        assert_eq!(idle.choose(&Position::start(), &mut random), None);
        assert_eq!(book(&[]).choose(&Position::start(), &mut random), None);
    }

    #[test]
    fn faults_are_reported_with_their_place() {
        let fault = |bytes: &[u8]| Book::from_bytes(bytes).unwrap_err().to_string();
        assert_eq!(fault(&[0; 33]), "a book is made of entries of 16 bytes, found 33 bytes");
        let mut bytes = [0; 64];
        bytes[32 + 7] = 2;
        bytes[48 + 7] = 1;
        assert_eq!(fault(&bytes), "entry 4: expected a key of at least 0000000000000002, found 0000000000000001");
        assert!(
            Book::load("/no/such/book.bin").unwrap_err().to_string().starts_with("/no/such/book.bin: cannot be read")
        );
        assert_eq!(Book::load("/").unwrap_err().to_string(), "/: cannot be read: is not a regular file");
    }
}
