//! Positions with game results, as they come in files.
//!
//! A [`Dataset`] keeps its files mapped and remembers of each position where its line begins and what its label says:
//! twelve bytes, four more if there are scores. What is kept has been read once in full, so that positions can be read
//! again without errors, as often as needed.

mod label;
mod source;
mod text;

use std::collections::BTreeMap;
use std::ops::Range;

use engine::chess::Position;
use rayon::prelude::*;
use thiserror::Error;

use crate::progress::{Progress, Unit};
use label::Labels;
pub use label::{Grouping, Label, Outcome};
pub use source::{Source, SourceError};
pub use text::{LabelStyle, LineError};

/// Lines are read in parallel in parts of this many bytes; the parts do not depend on the number of threads.
const PART: usize = 1 << 18;

/// Parts, or batches of positions, that are worked on before what came of them is collected: bounds the memory.
pub(crate) const WAVE: usize = 32;

/// A line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}: {error}, in `{text}`")]
pub struct BadLine {
    /// Name of the file.
    pub file: String,
    /// Its line, 1 for the first.
    pub line: u64,
    /// What is wrong.
    pub error: LineError,
    /// The line, shortened if it is long.
    pub text: String,
}

/// Why a data set cannot be used.
#[derive(Debug, Error)]
pub enum DatasetError {
    /// A file cannot be opened, or holds no text.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A line cannot be read, and no more may be skipped.
    #[error("{line}{}", hint(*.skipped))]
    BadLine {
        /// The line.
        line: Box<BadLine>,
        /// How many were skipped before.
        skipped: usize,
    },
    /// No line of a file has a result in a known style.
    #[error("{0}: no line has a result like `c9 \"1-0\";` or `[1.0]` after a FEN")]
    NoStyle(String),
    /// There is not one position.
    #[error("{0}: no positions")]
    Empty(String),
}

fn hint(skipped: usize) -> String {
    if skipped == 0 { String::new() } else { format!(" (after {skipped} bad lines that were skipped)") }
}

/// What was read from one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSummary {
    /// Its name as given.
    pub name: String,
    /// Its lines, comments and blank ones included.
    pub lines: u64,
    /// Its usable positions.
    pub positions: u64,
    /// SHA-256 of the file as it is on the disk, in hexadecimal.
    pub sha256: String,
    /// How its results are written.
    pub style: LabelStyle,
}

impl FileSummary {
    /// Of a file of which nothing has been read yet.
    fn new(source: &Source, style: LabelStyle) -> Self {
        FileSummary { name: source.name().to_owned(), lines: 0, positions: 0, sha256: String::new(), style }
    }
}

/// Lines that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// The first of them.
    pub first: BadLine,
}

/// Labelled positions.
pub struct Dataset {
    sources: Vec<Source>,
    labels: Labels,
    grouping: Grouping,
    files: Vec<FileSummary>,
    skipped: BTreeMap<&'static str, Skipped>,
}

/// Where a position stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'d> {
    /// Name of the file.
    pub file: &'d str,
    /// The line, 1 for the first.
    pub line: u64,
}

/// Is shown the positions of one part of the data, in order.
pub trait Visitor: Send {
    /// A position and what is known of it.
    fn visit(&mut self, position: &Position, label: Label);
}

/// Looks at nothing: for data that are only to be read.
impl Visitor for () {
    fn visit(&mut self, _position: &Position, _label: Label) {}
}

/// What came of one part of a file.
struct Part<V> {
    visitor: V,
    labels: Labels,
    lines: u64,
    /// Line within the part, error, text.
    bad: Vec<(u64, LineError, String)>,
}

impl Dataset {
    /// Reads all lines of `sources`, passing over at most `skip_bad` lines that cannot be read, and shows every
    /// position to a visitor, one a part of the data. The visitors are handed to `collect` in the order of the data.
    ///
    /// # Errors
    /// The first line beyond what may be skipped; a file without a known label style; no positions at all.
    pub fn read<V: Visitor>(
        sources: Vec<Source>,
        skip_bad: usize,
        visitor: impl Fn() -> V + Sync,
        mut collect: impl FnMut(V) + Send,
        progress: &dyn Progress,
    ) -> Result<Self, DatasetError> {
        let names = sources.iter().map(Source::name).collect::<Vec<_>>().join(", ");
        let mut dataset = Dataset {
            sources: Vec::new(),
            labels: Labels::default(),
            grouping: Grouping::Positions,
            files: Vec::new(),
            skipped: BTreeMap::new(),
        };
        progress.begin("reading", sources.iter().map(|source| source.text().len() as u64).sum(), Unit::Bytes);
        let mut base = 0;
        for source in sources {
            let reader = PartReader { text: source.text(), base, style: style_of(&source)?, skip_bad };
            let mut file = FileSummary::new(&source, reader.style);
            let read = |range: &Range<usize>| {
                let part = reader.read(range.clone(), visitor());
                progress.advance(range.len() as u64);
                part
            };
            let mut read_all = || {
                for wave in parts(source.text()).chunks(WAVE) {
                    for part in wave.par_iter().map(read).collect::<Vec<Part<V>>>() {
                        collect(dataset.take(part, &mut file, skip_bad)?);
                    }
                }
                Ok::<(), DatasetError>(())
            };
            let (sha256, read) = rayon::join(|| source.sha256(), &mut read_all);
            read?;
            file.sha256 = sha256;
            base += source.text().len() as u64;
            dataset.files.push(file);
            dataset.sources.push(source);
        }
        progress.end();
        dataset.labels.shrink();
        dataset.grouping = dataset.labels.settle();
        if dataset.is_empty() {
            return Err(DatasetError::Empty(names));
        }
        Ok(dataset)
    }

    /// Adds a part of a file and gives its visitor back.
    fn take<V>(&mut self, part: Part<V>, file: &mut FileSummary, skip_bad: usize) -> Result<V, DatasetError> {
        for (line, error, text) in part.bad {
            self.skip(BadLine { file: file.name.clone(), line: file.lines + line, error, text }, skip_bad)?;
        }
        self.labels.append(&part.labels);
        file.lines += part.lines;
        file.positions += part.labels.len() as u64;
        Ok(part.visitor)
    }

    fn skip(&mut self, line: BadLine, skip_bad: usize) -> Result<(), DatasetError> {
        let skipped = self.skipped_lines() as usize;
        if skipped == skip_bad {
            return Err(DatasetError::BadLine { line: Box::new(line), skipped });
        }
        let reason = line.error.reason();
        self.skipped.entry(reason).and_modify(|entry| entry.count += 1).or_insert(Skipped { count: 1, first: line });
        Ok(())
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no position; never so after [`Dataset::read`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The files, in order.
    pub fn files(&self) -> &[FileSummary] {
        &self.files
    }

    /// The lines that were skipped, by reason.
    pub fn skipped(&self) -> &BTreeMap<&'static str, Skipped> {
        &self.skipped
    }

    /// How many lines were skipped.
    pub fn skipped_lines(&self) -> u64 {
        self.skipped.values().map(|skipped| skipped.count).sum()
    }

    /// The positions of a range and what is known of them.
    pub fn samples(&self, range: Range<usize>) -> impl Iterator<Item = (Position, Label)> {
        range.map(|index| (self.position(index), self.labels.get(index)))
    }

    /// What is known of a position.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn label(&self, index: usize) -> Label {
        self.labels.get(index)
    }

    /// By position: what it must not be parted from when data are divided. See [`Label::group`].
    pub fn groups(&self) -> &[u32] {
        self.labels.groups()
    }

    /// What positions stay together by.
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// The groups by which results scatter, where they are more than single positions.
    pub fn games(&self) -> Option<&[u32]> {
        (self.grouping != Grouping::Positions).then(|| self.groups())
    }

    /// A position, read again.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn position(&self, index: usize) -> Position {
        let (source, offset) = self.find(index);
        text::reread_position(&source.text()[offset..])
    }

    /// Where a position stands. The lines before it are counted anew each time.
    ///
    /// # Panics
    /// If there is no such position.
    pub fn place(&self, index: usize) -> Place<'_> {
        let (source, offset) = self.find(index);
        let before = source.text()[..offset].iter().filter(|&&byte| byte == b'\n').count();
        Place { file: source.name(), line: before as u64 + 1 }
    }

    /// The source of a position, and where its line begins there.
    fn find(&self, index: usize) -> (&Source, usize) {
        let mut offset = self.labels.place(index) as usize;
        for source in &self.sources {
            match offset.checked_sub(source.text().len()) {
                Some(beyond) => offset = beyond,
                None => return (source, offset),
            }
        }
        unreachable!("a sample stands in one of the sources")
    }
}

/// Divides a text into parts that end with a line.
fn parts(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let reach = (start + PART).min(text.len());
        let end = text[reach..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| reach + at + 1);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

fn style_of(source: &Source) -> Result<LabelStyle, DatasetError> {
    text::detect_style(source.text()).ok_or_else(|| DatasetError::NoStyle(source.name().to_owned()))
}

/// What it takes to read any part of a file.
struct PartReader<'t> {
    text: &'t [u8],
    /// Where the file begins among all files.
    base: u64,
    style: LabelStyle,
    skip_bad: usize,
}

impl PartReader<'_> {
    fn read<V: Visitor>(&self, range: Range<usize>, visitor: V) -> Part<V> {
        let mut part = Part { visitor, labels: Labels::default(), lines: 0, bad: Vec::new() };
        let mut start = range.start;
        for line in self.text[range].split_inclusive(|&byte| byte == b'\n') {
            part.lines += 1;
            match text::read_line(line, self.style) {
                None => {}
                Some(Ok((position, label))) => {
                    part.labels.push(self.base + start as u64, label);
                    part.visitor.visit(&position, label);
                }
                Some(Err(error)) => part.bad.push((part.lines, error, text::excerpt(line))),
            }
            // The run fails then, whatever else this part holds.
            if part.bad.len() > self.skip_bad {
                break;
            }
            start += line.len();
        }
        part
    }
}
