//! Positions with game results, as they come in files.
//!
//! A [`Dataset`] keeps its positions packed: 32 bytes a position with its result and score, four for what it must not
//! be parted from and four for where it stood, and two for its move where moves are asked for. The files are read once,
//! as streams, and not kept.

mod chunk;
mod chunks;
pub mod convert;
mod filter;
mod folder;
mod formats;
mod input;
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
mod show;
pub mod stats;
mod store;
mod weight;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use engine::chess::{Move, Position};
use serde::Serialize;
use thiserror::Error;

use crate::io::{Storage, StorageError};
pub use filter::{Filters, Noisy, PIECES};
pub use folder::POSITIONS;
pub(crate) use formats::{Chunks, LONGEST_CHAIN, LONGEST_GAME, codes_of, write_chain, write_game};
pub use formats::{Format, LabelStyle, Opcode, Plies, Record, Sample, Table};
pub use input::{Source, SourceError};
pub use judge::Evidence;
pub use label::{Label, LabelView, Labels, ScoreUnit};
pub use left_out::{LeftOut, LeftOutCounts};
pub use material::{FULL_PHASE, MOST_PAWNS, PHASE_PARTS, material_balance, phase, phase_part};
pub use outcome::{Outcome, Share};
pub use record_error::RecordError;
pub use reservoir::Subsample;
pub use results::Results;
pub use runs::Unfit;
pub(crate) use show::{skipped_by_reason, together, write_files, write_skipped};
pub use store::Grouping;
use store::Store;
pub use weight::Weight;

/// Bytes of a chunk of a file; chunks are parsed in parallel and do not depend on the number of threads.
const CHUNK_BYTES: usize = 1 << 18;

/// Chunks of a block, which is worked on before the next one: bounds the memory.
const BLOCK: usize = 32;

/// Positions of a chunk of a data set; chunks are worked on in parallel and do not depend on the number of threads.
pub(crate) const CHUNK: usize = 2048;

/// How data are read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Records that cannot be read and are passed over at most.
    pub skip_bad: usize,
    /// What labels of texts mean, where a file does not have its own; see [`Source::with_labels`].
    pub labels: Labels,
    /// Which positions of games in PGN are read.
    pub plies: Plies,
    /// Which positions are wanted of those that can be read.
    pub filters: Filters,
    /// How many positions are sampled of those that the filters leave; all if not given.
    pub subsample: Option<Subsample>,
    /// Whether moves are kept beside positions, where the format tells them; see [`Dataset::best`]. Caches never keep
    /// them.
    pub moves: bool,
    /// Where positions are kept, and the rows that are made of them.
    pub storage: Storage,
}

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}{}: {error}{}", .record.place(*.number), self.quotation())]
pub struct BadRecord {
    /// Name of the file.
    pub file: String,
    /// What its records are.
    pub record: Record,
    /// Which one, 1 for the first.
    pub number: u64,
    /// What is wrong.
    pub error: RecordError,
    /// The record, shortened if it is long; empty if it is no text.
    pub excerpt: String,
}

impl BadRecord {
    fn quotation(&self) -> String {
        if self.excerpt.is_empty() { String::new() } else { format!(", in `{}`", self.excerpt) }
    }
}

/// Why a data set cannot be used.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// A file cannot be opened or unpacked, or is in no known format.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A record cannot be read, and no more may be skipped, or no record tells the style of the file.
    #[error("{bad}{}", hint(*.skipped, bad.record))]
    BadRecord {
        /// The record.
        bad: Box<BadRecord>,
        /// How many were skipped before.
        skipped: usize,
    },
    /// The columns of a file do not say what they are, or no position is there, or wanted.
    #[error("{0}")]
    Refused(String),
    /// What was read cannot be kept.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

fn hint(skipped: usize, record: Record) -> String {
    if skipped == 0 {
        return String::new();
    }
    format!(" (after {skipped} bad {}s that were skipped)", record.name())
}

/// What was read from one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileSummary {
    /// Its name as given.
    pub name: String,
    /// What its records are.
    pub record: Record,
    /// How many there are, those that say nothing included: of a text all lines.
    pub records: u64,
    /// Its usable positions.
    pub positions: u64,
    /// What was left out of it.
    pub left_out: LeftOutCounts,
    /// What speaks for and against its labels.
    pub evidence: Evidence,
    /// SHA-256 of the file as it is on the disk, in hexadecimal.
    pub sha256: String,
    /// How it is written.
    pub format: Format,
    /// How much its positions count. Nothing that is kept depends on it.
    #[serde(skip)]
    pub weight: Weight,
}

/// Records that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: BadRecord,
}

/// Labelled positions.
pub struct Dataset {
    store: Store,
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

/// Where a position stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'d> {
    /// Name of the file.
    pub file: &'d str,
    /// What its records are.
    pub record: Record,
    /// The line or game, or whatever the file counts; 1 for the first.
    pub number: u64,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.file, self.record.place(self.number))
    }
}

impl Dataset {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is no position; never so after [`Dataset::read`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The files, in order.
    pub fn files(&self) -> &[FileSummary] {
        &self.files
    }

    /// By position: how much it counts; none if every position counts as one.
    pub(crate) fn weights(&self) -> Vec<f32> {
        Weight::each(self.sets())
    }

    /// The files: name, weight, and number of positions.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (&str, Weight, usize)> + Clone {
        self.files.iter().map(|file| (&file.name[..], file.weight, file.positions as usize))
    }

    /// The records that were skipped, by reason.
    pub fn skipped(&self) -> &BTreeMap<&'static str, Skipped> {
        &self.skipped
    }

    /// How many records were skipped.
    pub fn skipped_records(&self) -> u64 {
        self.skipped.values().map(|skipped| skipped.count).sum()
    }

    /// The positions of a range and what is known of them.
    pub fn samples(&self, range: Range<usize>) -> impl Iterator<Item = (Position, Label)> {
        self.store.samples(range)
    }

    /// What is known of a position.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn label(&self, index: usize) -> Label {
        self.store.label(index)
    }

    /// The results of a range of positions: White's points.
    pub(crate) fn points(&self, range: Range<usize>) -> Vec<f32> {
        range.map(|index| self.label(index).outcome.points()).collect()
    }

    /// The move that was played in a position or found best there. None where the data do not tell it, or where it was
    /// not asked for; see [`ReadOptions::moves`].
    ///
    /// # Panics
    /// If there is no such position.
    pub fn best(&self, index: usize) -> Option<Move> {
        assert!(index < self.len(), "there is a position {index}");
        self.store.best(index)
    }

    /// By position: what it must not be parted from when data are divided. See [`Label::group`].
    pub fn groups(&self) -> &[u32] {
        self.store.groups()
    }

    /// What positions stay together by.
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The groups by which results scatter, where they are more than single positions.
    pub fn games(&self) -> Option<&[u32]> {
        (self.grouping != Grouping::Positions).then(|| self.groups())
    }

    /// A position.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn position(&self, index: usize) -> Position {
        self.store.position(index)
    }

    /// Where what is made of the positions is kept.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Tells that positions are not looked at again soon: what a mapped file had to be read for goes back to the system.
    pub(crate) fn release(&self, range: Range<usize>) {
        self.store.release(range);
    }

    /// The number of the file that a position stands in.
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

    /// Where a position stands.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn place(&self, index: usize) -> Place<'_> {
        let file = &self.files[self.file_of(index)];
        Place { file: &file.name, record: file.record, number: u64::from(self.store.record(index)) + 1 }
    }
}
