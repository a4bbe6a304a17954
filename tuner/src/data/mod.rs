//! Data sets of positions with game results, read from files.
//!
//! A [`Dataset`] keeps its positions packed: 40 bytes per position with its result, score, move and record in the file,
//! and four for its group. The files are read once, as streams, and not kept.

mod chunks;
pub mod convert;
mod filter;
mod folder;
mod formats;
mod input;
pub mod io;
pub(crate) mod judge;
mod label;
mod left_out;
mod material;
mod outcome;
mod packed;
mod read;
mod record_error;
mod reservoir;
pub(crate) mod result_runs;
mod results;
pub(crate) mod runs;
pub mod stats;
mod store;
mod weight;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use clap::Args;
use engine::chess::{Move, Position};
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::data::io::{Column, Storage, StorageError};
pub use filter::{Filters, Noisy};
pub use folder::POSITIONS;
pub(crate) use formats::{Chunks, LONGEST_CHAIN, LONGEST_GAME, write_chain, write_game, write_position};
pub use formats::{Plies, Record};
pub use input::Source;
pub use judge::Evidence;
pub use label::{Label, LabelOptions, LabelView, Sample, ScoreUnit};
pub use left_out::{LeftOut, LeftOutCounts};
pub use material::{FULL_PHASE, MOST_PAWNS, PHASE_PARTS, material_balance, phase, phase_part};
pub use outcome::ResultLabel;
use packed::{Packed, move_of, outcome_of, position_of, record_of, score_of};
pub use record_error::RecordError;
pub use reservoir::Subsample;
pub use results::Results;
pub use store::Grouping;
pub use weight::Weight;

/// The number of bytes of a chunk of a file. Chunks are parsed in parallel and do not depend on the number of threads.
const CHUNK_BYTES: usize = 1 << 18;

/// The number of chunks of a block. One block is processed before the next, which bounds the memory.
const BLOCK: usize = 32;

/// The number of positions of a chunk of a data set. Chunks are processed in parallel and do not depend on the number
/// of threads.
pub(crate) const CHUNK: usize = 2048;

/// The options of reading data.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Data")]
pub struct ReadOptions {
    /// Skip up to N records (lines, positions or games) that cannot be read, and report them by reason.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip_bad: usize,
    /// The interpretation of labels in texts, for files without their own; see [`Source::labels`].
    #[command(flatten)]
    pub labels: LabelOptions,
    /// The range of positions read from games in PGN.
    #[command(flatten)]
    pub plies: Plies,
    /// The filters of the positions.
    #[command(flatten)]
    pub filters: Filters,
    /// The sample to draw from the filtered positions; all of them if not given.
    #[command(flatten)]
    pub subsample: Option<Subsample>,
    /// The storage of the positions, and of the rows made from them.
    #[command(flatten)]
    pub storage: Storage,
}

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {error}")]
pub struct BadRecord {
    /// Its place.
    pub place: Place,
    /// The error.
    pub error: RecordError,
}

/// An error of a data set.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// A file that is empty, or in a known format that cannot be read. In a folder, it is skipped.
    #[error("{0}")]
    Foreign(String),
    /// A record that cannot be read when no more may be skipped, or the first record of a file in no known style.
    #[error("{bad}{}", hint(*.skipped, bad.place.record))]
    BadRecord {
        /// The record.
        bad: Box<BadRecord>,
        /// The number of records skipped before.
        skipped: usize,
    },
    /// A file that cannot be opened or decompressed, or is in no known format; columns that cannot be identified; data
    /// without positions, possibly after filtering.
    #[error("{0}")]
    Refused(String),
    /// Data that cannot be stored.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

fn hint(skipped: usize, record: Record) -> String {
    if skipped == 0 {
        return String::new();
    }
    format!(" (after {skipped} bad {}s that were skipped)", record.name())
}

/// A summary of the data read from one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileSummary {
    /// The name as given.
    #[serde(rename = "file")]
    pub name: String,
    /// The unit of its records.
    #[serde(skip)]
    pub record: Record,
    /// The number of records, including those without content: all lines of a text.
    pub records: u64,
    /// The number of usable positions.
    pub positions: u64,
    /// Counts of the records and positions left out.
    pub left_out: LeftOutCounts,
    /// The evidence for and against its labels.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// SHA-256 of the file as it is on the disk, in hexadecimal.
    #[serde(skip)]
    pub sha256: String,
    /// The weight of its positions.
    #[serde(skip)]
    pub weight: Weight,
}

/// The records that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The number of records.
    pub count: u64,
    /// The first of them.
    pub first: BadRecord,
}

/// The JSON form of skipped records is their number.
impl Serialize for Skipped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.count)
    }
}

/// A data set of labelled positions.
pub struct Dataset {
    packed: Column<Packed>,
    groups: Column<u32>,
    storage: Storage,
    grouping: Grouping,
    files: Vec<FileSummary>,
    skipped: BTreeMap<&'static str, Skipped>,
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} positions", self.len())
    }
}

/// The place of a record in its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// The unit of its records.
    pub record: Record,
    /// The number of the line, game or other record, from 1.
    pub number: u64,
}

/// Lines are formatted in the style of compilers.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.record {
            Record::Line => write!(f, "{}:{}", self.file, self.number),
            record => write!(f, "{}, {} {}", self.file, record.name(), self.number),
        }
    }
}

impl Dataset {
    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Returns true if there is no position, which is never the case after [`Dataset::read`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the files, in order.
    pub fn files(&self) -> &[FileSummary] {
        &self.files
    }

    /// Returns the weight of each position; empty if every weight is 1.
    pub(crate) fn weights(&self) -> Vec<f32> {
        Weight::each(self.sets())
    }

    /// Returns name, weight and number of positions of each file.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (&str, Weight, usize)> + Clone {
        self.files.iter().map(|file| (&file.name[..], file.weight, file.positions as usize))
    }

    /// Returns the records that were skipped, by reason.
    pub fn skipped(&self) -> &BTreeMap<&'static str, Skipped> {
        &self.skipped
    }

    /// Returns the number of skipped records.
    pub fn skipped_records(&self) -> u64 {
        self.skipped.values().map(|skipped| skipped.count).sum()
    }

    /// Describes each file, what was left out of it, and the records that could not be read, a line each.
    pub(crate) fn description(&self) -> String {
        let file = |FileSummary { name, record, records, positions, weight, .. }: &FileSummary| {
            format!("data         {name}: {}, {positions} positions{}\n", record.count(*records), weight.suffix())
        };
        let filtered = self.files.iter().filter(|file| file.left_out != LeftOutCounts::default());
        let left_out = filtered.map(|file| format!("left out     {} of {}\n", file.left_out, file.name));
        let skipped = self
            .skipped
            .iter()
            .map(|(reason, skipped)| format!("skipped      {} {reason}, first {}\n", skipped.count, skipped.first));
        self.files.iter().map(file).chain(left_out).chain(skipped).collect()
    }

    /// Returns the positions of a range with their labels.
    pub fn samples(&self, range: Range<usize>) -> impl Iterator<Item = (Position, Label)> {
        range.map(|index| (self.position(index), self.label(index)))
    }

    /// Returns the label of a position.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn label(&self, index: usize) -> Label {
        let packed = &self.packed[index];
        Label { outcome: outcome_of(packed), score: score_of(packed), group: self.groups[index] }
    }

    /// Returns White's points in a range of positions.
    pub(crate) fn points(&self, range: Range<usize>) -> Vec<f32> {
        range.map(|index| self.label(index).outcome.points()).collect()
    }

    /// Returns the move that was played in a position or found best there. Returns `None` if the data do not have it.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn best(&self, index: usize) -> Option<Move> {
        move_of(&self.packed[index])
    }

    /// Returns the group of each position; groups stay together when data are divided. See [`Label::group`].
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// Returns the criterion by which positions stay together.
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// Returns the groups of positions with dependent results, unless every position is a group of its own.
    pub fn games(&self) -> Option<&[u32]> {
        (self.grouping != Grouping::Positions).then(|| self.groups())
    }

    /// Returns a position.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn position(&self, index: usize) -> Position {
        position_of(&self.packed[index])
    }

    /// Returns the storage of everything that is made from the positions.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Releases the mapped memory of positions that are not needed again soon.
    pub(crate) fn release(&self, range: Range<usize>) {
        self.packed.release(range.clone());
        self.groups.release(range);
    }

    /// Returns the index of the file of a position.
    ///
    /// # Panics
    /// If there is no such position.
    pub(crate) fn file_of(&self, index: usize) -> usize {
        let mut end = 0;
        let is_in = |file: &FileSummary| {
            end += file.positions;
            (index as u64) < end
        };
        self.files.iter().position(is_in).expect("a position stands in one of the files")
    }

    /// Returns the place of a position.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn place(&self, index: usize) -> Place {
        let file = &self.files[self.file_of(index)];
        Place { file: file.name.clone(), record: file.record, number: u64::from(record_of(&self.packed[index])) + 1 }
    }
}
