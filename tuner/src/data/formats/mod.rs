//! One file or folder a format: each turns the bytes of its files into samples. Formats of games and chains are written
//! beside where they are read: both ways share codes and the order of moves.
//!
//! A file is read in parts of whole records; parts know nothing of one another, so that they can be read at the same
//! time. Which reader a file gets, its first bytes say and not its name.

mod binary;
mod binpack;
mod bullet;
mod pgn;
mod text;
mod viri;

use std::ops::ControlFlow;

use engine::chess::{Move, Position};
use serde::Serialize;
use tools::foreign::Foreign;

use super::label::Label;
use super::left_out::LeftOut;
use super::record_error::RecordError;
use super::{DatasetError, ReadOptions, SourceError};
use binary::BinaryError;
pub(crate) use binary::codes_of;
pub(super) use binary::{castling_rooks, put_pieces};
pub(crate) use binpack::{Chunks, LONGEST_CHAIN, write_chain};
pub use pgn::Plies;
pub use text::{LabelStyle, Opcode, Table};
pub(crate) use viri::{LONGEST_GAME, write_game};

/// A labelled position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The position.
    pub position: Position,
    /// What is known of it.
    pub label: Label,
    /// The move that was played or found best, where the format has one.
    pub best: Option<Move>,
}

/// What a format counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Record {
    /// Lines of a text.
    Line,
    /// Positions of fixed size.
    Position,
    /// Games.
    Game,
    /// Positions that follow one another, of a game mostly.
    Chain,
}

impl Record {
    /// What one of them is called.
    pub fn name(self) -> &'static str {
        match self {
            Record::Line => "line",
            Record::Position => "position",
            Record::Game => "game",
            Record::Chain => "chain",
        }
    }

    /// One of them, as it stands behind the name of a file. Lines are told as compilers tell them.
    pub(super) fn place(self, number: u64) -> String {
        match self {
            Record::Line => format!(":{number}"),
            record => format!(", {} {number}", record.name()),
        }
    }

    /// So many of them, in words.
    pub fn count(self, count: u64) -> String {
        format!("{count} {}s", self.name())
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Format {
    /// Lines of a FEN and a label.
    Text(LabelStyle),
    /// Games.
    Pgn,
    /// Positions of 32 bytes: <https://github.com/jw1912/bulletformat>.
    Bullet,
    /// Games: <https://docs.rs/viriformat>.
    Viri,
    /// Chunks of chains: <https://github.com/official-stockfish/Stockfish/blob/tools/docs/binpack.md>.
    Binpack,
}

impl Format {
    /// What it counts.
    pub(super) fn record(self) -> Record {
        match self {
            Format::Text(_) => Record::Line,
            Format::Bullet => Record::Position,
            Format::Pgn | Format::Viri => Record::Game,
            Format::Binpack => Record::Chain,
        }
    }
}

impl From<BinaryError> for RecordError {
    fn from(error: BinaryError) -> Self {
        RecordError::new(error.reason(), error.to_string())
    }
}

/// Is handed what a part of a file holds. Records are counted from 0, the first of the part.
pub(super) trait Sink {
    /// A sample of a record. A game hands out several.
    fn sample(&mut self, record: u32, sample: &Sample);

    /// A record that cannot be read: what is wrong, and an excerpt of it if it is text. Reading goes on only if it says
    /// so.
    fn fault(&mut self, record: u32, error: RecordError, excerpt: String) -> ControlFlow<()>;

    /// Something that can be read and says nothing.
    fn leave_out(&mut self, reason: LeftOut);

    /// A record of one sample, or why it cannot be read.
    fn record(&mut self, record: u32, read: Result<Sample, BinaryError>) -> ControlFlow<()> {
        match read {
            Ok(sample) => {
                self.sample(record, &sample);
                ControlFlow::Continue(())
            }
            Err(error) => self.fault(record, error.into(), String::new()),
        }
    }
}

/// Reads the files of one format.
pub(super) trait Reader: Sync {
    /// The format, with all that was found out about the file.
    fn format(&self) -> Format;

    /// Bytes that no record exceeds.
    fn longest_record(&self) -> usize;

    /// Where a part that begins with `bytes` ends: behind the first record that ends at or behind `least`. None if it
    /// does not end within `bytes`; at the end of a file, what is left is a part of its own.
    fn chunk_end(&self, bytes: &[u8], least: usize) -> Option<usize>;

    /// Reads a part and says how many records it has, good and bad.
    fn read(&self, part: &[u8], sink: &mut dyn Sink) -> u32;
}

/// The reader for a file that begins like this.
pub(super) fn detect(name: &str, head: &[u8], options: &ReadOptions) -> Result<Box<dyn Reader>, DatasetError> {
    if binpack::knows(head) {
        return Ok(Box::new(binpack::BinpackReader));
    }
    if bullet::knows(head) {
        return Ok(Box::new(bullet::BulletReader));
    }
    if viri::knows(head) {
        return Ok(Box::new(viri::ViriReader));
    }
    if let Some(foreign) = Foreign::of(head) {
        return Err(SourceError::Foreign(format!("{name}: {foreign}")).into());
    }
    if let Some(offset) = head.iter().take(1 << 16).position(|&byte| byte == 0) {
        return Err(SourceError::Refused(format!("{name}: is not text: byte {offset} is 0")).into());
    }
    if pgn::is_pgn(head) {
        return Ok(Box::new(pgn::PgnReader { plies: options.plies }));
    }
    text::detect(name, head, options)?.ok_or_else(|| text::fault(name, head))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that a reader has found.
    #[derive(Default)]
    pub(super) struct Collected {
        pub(super) samples: Vec<(u32, Sample)>,
        pub(super) faults: Vec<(u32, RecordError)>,
        pub(super) records: u32,
    }

    impl Sink for Collected {
        fn leave_out(&mut self, _reason: LeftOut) {}

        fn sample(&mut self, record: u32, sample: &Sample) {
            self.samples.push((record, sample.clone()));
        }

        fn fault(&mut self, record: u32, error: RecordError, _excerpt: String) -> ControlFlow<()> {
            self.faults.push((record, error));
            ControlFlow::Continue(())
        }
    }

    pub(super) fn collect(reader: &dyn Reader, bytes: &[u8]) -> Collected {
        let mut collected = Collected::default();
        collected.records = reader.read(bytes, &mut collected);
        collected
    }
}
