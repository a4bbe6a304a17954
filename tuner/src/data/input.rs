//! Where the bytes of a data set come from: files, the program itself; unpacked as they are read, block by block.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use thiserror::Error;
use tools::compression::{Compression, LONGEST_MAGIC};

use super::formats::Reader;
use super::{BLOCK, CHUNK_BYTES, Labels, Weight};
use crate::progress::Progress;

/// Bytes of unpacked content that are in memory as one; a block is read while the one before is worked on.
const BLOCK_BYTES: usize = BLOCK * CHUNK_BYTES;

/// Why a file of data cannot be used.
#[derive(Debug, Error)]
pub enum SourceError {
    /// It is empty, or in a format that is known and not read: among others in a folder, it is passed over.
    #[error("{0}")]
    Foreign(String),
    /// It cannot be read, is in no known format, or damaged.
    #[error("{0}")]
    Refused(String),
}

impl SourceError {
    /// The system refused to open or read it.
    pub(super) fn unreadable(name: &str, error: &io::Error) -> Self {
        SourceError::Refused(format!("{name}: cannot be read: {error}"))
    }

    /// It has no bytes.
    fn empty(name: &str) -> Self {
        SourceError::Foreign(format!("{name}: is empty"))
    }
}

enum Origin {
    /// A regular file; it is opened again when its turn comes.
    File {
        path: PathBuf,
        size: u64,
    },
    /// What can be read only once.
    Pipe(Box<dyn Read + Send>),
    Memory(Cow<'static, [u8]>),
}

/// A file of labelled positions, plain or compressed, that is still to be read.
pub struct Source {
    name: String,
    origin: Origin,
    weight: Weight,
    labels: Labels,
    sample: Option<usize>,
}

impl Source {
    /// The path that names standard input.
    pub const STANDARD_INPUT: &'static str = "-";

    /// Looks whether a file can be read.
    ///
    /// # Errors
    /// If it is missing, unreadable or empty.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        let unreadable = |error| SourceError::unreadable(&name, &error);
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let origin = match metadata.len() {
            _ if !metadata.is_file() => Origin::Pipe(Box::new(file)),
            0 => return Err(SourceError::empty(&name)),
            size => Origin::File { path: path.to_owned(), size },
        };
        Ok(Source::new(name, origin))
    }

    /// Takes what comes on standard input.
    pub fn standard_input() -> Self {
        let (name, origin) = ("standard input".to_owned(), Origin::Pipe(Box::new(io::stdin())));
        Source::new(name, origin)
    }

    /// Takes bytes that are part of the program.
    ///
    /// # Errors
    /// If there are none.
    pub fn embedded(name: &str, bytes: &'static [u8]) -> Result<Self, SourceError> {
        Self::in_memory(name, bytes)
    }

    /// Takes bytes that are at hand.
    ///
    /// # Errors
    /// If there are none.
    pub fn in_memory(name: &str, bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, SourceError> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(SourceError::empty(name));
        }
        Ok(Source::new(name.to_owned(), Origin::Memory(bytes)))
    }

    fn new(name: String, origin: Origin) -> Self {
        Source { name, origin, weight: Weight::default(), labels: Labels::default(), sample: None }
    }

    /// The same, with labels that mean this, whatever is said of others.
    pub fn with_labels(self, labels: Labels) -> Self {
        Source { labels, ..self }
    }

    /// What is said of its labels.
    pub(super) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The same, of which so many positions are drawn at random.
    pub fn with_sample(self, sample: Option<usize>) -> Self {
        Source { sample, ..self }
    }

    /// How many of its positions are drawn, if not all.
    pub(super) fn sample(&self) -> Option<usize> {
        self.sample
    }

    /// How it is read, if there is anything that is not said of all sources.
    pub(crate) fn reading(&self) -> String {
        if self.labels == Labels::default() && self.sample.is_none() {
            return String::new();
        }
        format!("{:?}, {:?}", self.labels, self.sample)
    }

    /// The same, with positions that count as much.
    pub fn with_weight(self, weight: Weight) -> Self {
        Source { weight, ..self }
    }

    /// How much its positions count.
    pub fn weight(&self) -> Weight {
        self.weight
    }

    /// Its name as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes there are on the disk, as far as that is known.
    pub(crate) fn size(&self) -> u64 {
        match &self.origin {
            Origin::File { size, .. } => *size,
            Origin::Pipe(_) => 0,
            Origin::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// SHA-256 of the file as it is on the disk, in hexadecimal; `None` if it can be read only once.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn digest(&self, progress: &dyn Progress) -> Result<Option<String>, SourceError> {
        let unreadable = |error| SourceError::unreadable(&self.name, &error);
        let mut bytes: Box<dyn Read + Send + '_> = match &self.origin {
            Origin::File { path, .. } => Box::new(File::open(path).map_err(unreadable)?),
            Origin::Pipe(_) => return Ok(None),
            Origin::Memory(bytes) => Box::new(&bytes[..]),
        };
        let mut digest = Sha256::new();
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let count = bytes.read(&mut buffer).map_err(unreadable)?;
            if count == 0 {
                return Ok(Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()));
            }
            digest.update(&buffer[..count]);
            progress.advance(count as u64);
        }
    }

    /// Begins to read.
    pub(super) fn stream(self, progress: &dyn Progress) -> Result<Stream<'_>, SourceError> {
        let Source { name, origin, .. } = self;
        let unreadable = |error| SourceError::unreadable(&name, &error);
        let bytes: Box<dyn Read + Send> = match origin {
            Origin::File { path, .. } => Box::new(File::open(path).map_err(unreadable)?),
            Origin::Pipe(pipe) => pipe,
            Origin::Memory(bytes) => Box::new(io::Cursor::new(bytes)),
        };
        let sha256 = Arc::new(Mutex::new(Sha256::new()));
        let mut raw = Raw { bytes, sha256: Arc::clone(&sha256), progress };
        let mut magic = Vec::new();
        raw.by_ref().take(LONGEST_MAGIC as u64).read_to_end(&mut magic).map_err(unreadable)?;
        let packing = Compression::of(&magic);
        let whole = io::Cursor::new(magic).chain(raw);
        let content: Box<dyn Read + Send> = match packing {
            None => Box::new(whole),
            Some(packing) => packing.decode(Box::new(whole)).map_err(unreadable)?,
        };
        Ok(Stream { name, packing, content, sha256, offset: 0 })
    }
}

/// Bytes as they are on the disk.
struct Raw<'p> {
    bytes: Box<dyn Read + Send>,
    sha256: Arc<Mutex<Sha256>>,
    progress: &'p dyn Progress,
}

impl Read for Raw<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.sha256.lock().unwrap_or_else(PoisonError::into_inner).update(&buffer[..count]);
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// The content of a file, unpacked as it is read.
pub(super) struct Stream<'p> {
    name: String,
    packing: Option<Compression>,
    content: Box<dyn Read + Send + 'p>,
    sha256: Arc<Mutex<Sha256>>,
    /// Bytes of content that were read.
    offset: u64,
}

impl Stream<'_> {
    /// The first bytes of content, for a look at its format.
    pub(super) fn head(mut self) -> Result<Vec<u8>, SourceError> {
        let mut head = Vec::new();
        self.fill(&mut head, CHUNK_BYTES)?;
        Ok(head)
    }

    /// Adds up to `count` bytes to a buffer; fewer only at the end.
    fn fill(&mut self, buffer: &mut Vec<u8>, count: usize) -> Result<usize, SourceError> {
        let before = buffer.len();
        let read = self.content.by_ref().take(count as u64).read_to_end(buffer);
        let count = buffer.len() - before;
        self.offset += count as u64;
        match read {
            Ok(_) => Ok(count),
            Err(error) => Err(match self.packing {
                Some(packing) => SourceError::Refused(format!(
                    "{}: damaged {} data after {} bytes of content: {error}",
                    self.name,
                    packing.name(),
                    self.offset
                )),
                None => SourceError::unreadable(&self.name, &error),
            }),
        }
    }
}

/// Whole records of a file, divided into chunks.
pub(super) struct Block {
    bytes: Vec<u8>,
    /// Where each chunk ends.
    ends: Vec<usize>,
}

impl Block {
    /// The chunks, in order.
    pub(super) fn chunks(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end]).collect()
    }
}

/// Cuts the content of a file into blocks.
pub(super) struct Blocks<'p> {
    stream: Stream<'p>,
    /// What was read and not handed out yet.
    rest: Vec<u8>,
    is_at_end: bool,
}

impl<'p> Blocks<'p> {
    /// Reads as much as the format can be told by.
    pub(super) fn new(mut stream: Stream<'p>) -> Result<Self, SourceError> {
        let mut rest = Vec::new();
        let is_at_end = stream.fill(&mut rest, BLOCK_BYTES)? < BLOCK_BYTES;
        if rest.is_empty() {
            return Err(SourceError::empty(&stream.name));
        }
        Ok(Blocks { stream, rest, is_at_end })
    }

    /// What the file begins with.
    pub(super) fn head(&self) -> &[u8] {
        &self.rest
    }

    /// The next block, unless the file is at its end.
    pub(super) fn next(&mut self, reader: &dyn Reader) -> Result<Option<Block>, SourceError> {
        loop {
            if self.rest.len() < BLOCK_BYTES && !self.is_at_end {
                let missing = BLOCK_BYTES - self.rest.len();
                self.is_at_end = self.stream.fill(&mut self.rest, missing)? < missing;
            }
            let (mut ends, mut start) = (Vec::new(), 0);
            while let Some(length) = reader.chunk_end(&self.rest[start..], CHUNK_BYTES) {
                start += length;
                ends.push(start);
            }
            if self.is_at_end && start < self.rest.len() {
                start = self.rest.len();
                ends.push(start);
            }
            let open = self.rest.len() - start;
            if open > CHUNK_BYTES + reader.longest_record() {
                return Err(SourceError::Refused(format!(
                    "{}: no {} ends within {} bytes after byte {} of the content",
                    self.stream.name,
                    reader.format().record().name(),
                    reader.longest_record(),
                    self.stream.offset - open as u64
                )));
            }
            if !ends.is_empty() {
                return Ok(Some(self.block(start, ends)));
            }
            if self.is_at_end {
                return Ok(None);
            }
            let missing = BLOCK_BYTES;
            self.is_at_end = self.stream.fill(&mut self.rest, missing)? < missing;
        }
    }

    /// The first `length` bytes of what was read.
    fn block(&mut self, length: usize, ends: Vec<usize>) -> Block {
        let rest = self.rest.split_off(length);
        Block { bytes: std::mem::replace(&mut self.rest, rest), ends }
    }

    /// SHA-256 of the file as it is on the disk, in hexadecimal, once it has been read to its end.
    pub(super) fn sha256(self) -> String {
        let sha256 = self.stream.sha256.lock().unwrap_or_else(PoisonError::into_inner).clone();
        sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
