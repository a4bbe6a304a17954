//! Formats of data files, each in a file or folder of its own. A reader turns the bytes of a file into samples. Writers
//! of games and chains are beside their readers, as both share codes and the order of moves.
//!
//! A file is read in parts of whole records. Parts are independent of one another, so they can be read in parallel. The
//! first bytes of a file determine its reader, not its name.

mod binary;
mod binpack;
mod bullet;
mod pgn;
mod text;
mod viri;

use std::ops::ControlFlow;

use serde::Serialize;
use tools::foreign::Foreign;

use super::label::Sample;
use super::left_out::LeftOut;
use super::record_error::RecordError;
use super::{DatasetError, ReadOptions};
pub(super) use binary::{castling_rooks, codes_of, put_pieces};
pub(crate) use binpack::{Chunks, LONGEST_CHAIN, write_chain};
pub(crate) use bullet::write_position;
pub use pgn::Plies;
pub(crate) use viri::{LONGEST_GAME, write_game};

/// The unit in which the records of a format are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// A line of a text.
    #[default]
    Line,
    /// A position of fixed size.
    Position,
    /// A game.
    Game,
    /// A chain of positions that follow one another, mostly of one game.
    Chain,
}

impl Record {
    /// Returns the name of the unit, in the singular.
    pub fn name(self) -> &'static str {
        match self {
            Record::Line => "line",
            Record::Position => "position",
            Record::Game => "game",
            Record::Chain => "chain",
        }
    }

    /// Formats a number of records.
    pub fn count(self, count: u64) -> String {
        format!("{count} {}s", self.name())
    }
}

/// A receiver of the content of a part of a file. Records are counted from 0 within the part.
pub(super) trait Sink {
    /// Takes a sample of a record. A game yields several.
    fn sample(&mut self, record: u32, sample: &Sample);

    /// Takes the error of an unreadable record. The return value decides if reading continues.
    fn fault(&mut self, record: u32, error: RecordError) -> ControlFlow<()>;

    /// Counts something that is valid and yields no sample.
    fn leave_out(&mut self, reason: LeftOut);
}

/// A reader of the files of one format.
pub(super) trait Reader: Sync {
    /// Returns the unit of the records, and the maximum number of bytes of one.
    fn unit(&self) -> (Record, usize);

    /// Returns true if noisy positions are left out by default.
    fn is_of_all_moves(&self) -> bool {
        false
    }

    /// Returns the number of bytes of the first record; `None` if it does not end within `bytes`.
    fn record_end(&self, bytes: &[u8]) -> Option<usize>;

    /// Reads a record: whole, or cut off by the end of the file. Adds the number of good records to `number`; only what
    /// holds several adds other than 1.
    fn read_record(&self, bytes: &[u8], number: &mut u32, sink: &mut dyn Sink) -> Result<(), RecordError>;

    /// Returns the end of a part that begins with `bytes`: that of the first record that ends at or after `least`.
    /// Returns `None` if the part does not end within `bytes`; at the end of a file, the rest is a part of its own.
    fn chunk_end(&self, bytes: &[u8], least: usize) -> Option<usize> {
        let mut end = 0;
        while end < least.max(1) {
            end += self.record_end(bytes.get(end..)?)?;
        }
        Some(end)
    }

    /// Reads a part and returns its number of records, good and bad.
    fn read(&self, part: &[u8], sink: &mut dyn Sink) -> u32 {
        let (mut number, mut rest) = (0, part);
        while !rest.is_empty() {
            let (record, after) = rest.split_at(self.record_end(rest).unwrap_or(rest.len()));
            rest = after;
            if let Err(error) = self.read_record(record, &mut number, sink) {
                number += 1;
                if sink.fault(number - 1, error).is_break() {
                    break;
                }
            }
        }
        number
    }
}

/// Returns the reader of a file with these first bytes.
pub(super) fn detect(name: &str, head: &[u8], options: &ReadOptions) -> Result<Box<dyn Reader>, DatasetError> {
    if binpack::recognises(head) {
        return Ok(Box::new(binpack::BinpackReader));
    }
    if bullet::recognises(head) {
        return Ok(Box::new(bullet::BulletReader));
    }
    if viri::recognises(head) {
        return Ok(Box::new(viri::ViriReader));
    }
    if let Some(foreign) = Foreign::of(head) {
        return Err(DatasetError::Foreign(format!("{name}: {foreign}")));
    }
    if let Some(offset) = head.iter().take(1 << 16).position(|&byte| byte == 0) {
        return Err(DatasetError::Refused(format!("{name}: is not text: byte {offset} is 0")));
    }
    if pgn::is_pgn(head) {
        return Ok(Box::new(pgn::PgnReader { plies: options.plies }));
    }
    text::detect(name, head, options)?.ok_or_else(|| text::fault(name, head))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The collected output of a reader.
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

        fn fault(&mut self, record: u32, error: RecordError) -> ControlFlow<()> {
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
