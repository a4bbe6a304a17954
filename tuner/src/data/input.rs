//! The inputs of a data set: files, pipes and bytes of the program, decompressed as a stream, block by block.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tools::compression::{Compression, LONGEST_MAGIC};

use super::formats::Reader;
use super::{BLOCK, CHUNK_BYTES, DatasetError, LabelOptions, Weight};
use crate::progress::Progress;

/// Bytes of complete records, and their division into chunks.
pub(super) type Block = (Vec<u8>, Vec<Range<usize>>);

/// Decompressed bytes that are held in memory at once. A block is read while the previous one is parsed.
pub(super) const BLOCK_BYTES: usize = BLOCK * CHUNK_BYTES;

impl DatasetError {
    /// Returns the error of a file that cannot be opened or read.
    pub(super) fn unreadable(name: &str, error: &io::Error) -> Self {
        DatasetError::Refused(format!("{name}: cannot be read: {error}"))
    }

    /// Returns the error of an empty file.
    fn empty(name: &str) -> Self {
        DatasetError::Foreign(format!("{name}: is empty"))
    }
}

/// The backing of a source.
enum Backing {
    /// A regular file; it is reopened when it is read.
    File {
        path: PathBuf,
        size: u64,
    },
    /// A stream that can be read only once.
    Pipe(Box<dyn Read + Send>),
    Memory(Cow<'static, [u8]>),
}

/// A file of labelled positions, plain or compressed, that has not been read yet.
pub struct Source {
    name: String,
    backing: Backing,
    /// The weight of a position of this source.
    pub weight: Weight,
    /// Label options of its own, which take precedence over those of the whole data set.
    pub labels: LabelOptions,
    /// The number of positions to sample; `None` for all.
    pub sample: Option<usize>,
}

impl Source {
    /// The path that stands for standard input.
    pub const STANDARD_INPUT: &'static str = "-";

    /// Opens a file and checks that it can be read.
    ///
    /// # Errors
    /// If it is missing, unreadable or empty.
    pub fn open(path: &Path) -> Result<Self, DatasetError> {
        let name = path.display().to_string();
        let unreadable = |error| DatasetError::unreadable(&name, &error);
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        let backing = match metadata.len() {
            _ if !metadata.is_file() => Backing::Pipe(Box::new(file)),
            0 => return Err(DatasetError::empty(&name)),
            size => Backing::File { path: path.to_owned(), size },
        };
        Ok(Source::new(name, backing))
    }

    /// Returns a source that reads standard input.
    pub fn standard_input() -> Self {
        let (name, backing) = ("standard input".to_owned(), Backing::Pipe(Box::new(io::stdin())));
        Source::new(name, backing)
    }

    /// Returns a source of bytes in memory, or of the program.
    ///
    /// # Errors
    /// If there are no bytes.
    pub fn in_memory(name: &str, bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, DatasetError> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(DatasetError::empty(name));
        }
        Ok(Source::new(name.to_owned(), Backing::Memory(bytes)))
    }

    fn new(name: String, backing: Backing) -> Self {
        Source { name, backing, weight: Weight::default(), labels: LabelOptions::default(), sample: None }
    }

    /// Describes the settings of this source that differ from the common ones; empty if none do.
    pub(crate) fn reading(&self) -> String {
        if self.labels == LabelOptions::default() && self.sample.is_none() {
            return String::new();
        }
        format!("{:?}, {:?}", self.labels, self.sample)
    }

    /// Returns the name as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size on the disk in bytes; 0 if it is unknown.
    pub(crate) fn size(&self) -> u64 {
        match &self.backing {
            Backing::File { size, .. } => *size,
            Backing::Pipe(_) => 0,
            Backing::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Computes the SHA-256 of the file as it is on the disk, in hexadecimal; `None` if it can be read only once.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn digest(&self, progress: &dyn Progress) -> Result<Option<String>, DatasetError> {
        let unreadable = |error| DatasetError::unreadable(&self.name, &error);
        let bytes: Box<dyn Read + Send + '_> = match &self.backing {
            Backing::File { path, .. } => Box::new(File::open(path).map_err(unreadable)?),
            Backing::Pipe(_) => return Ok(None),
            Backing::Memory(bytes) => Box::new(&bytes[..]),
        };
        let mut raw = HashingReader { bytes, sha256: Arc::default(), progress };
        io::copy(&mut raw, &mut io::sink()).map_err(unreadable)?;
        Ok(Some(hexadecimal(&raw.sha256)))
    }

    /// Opens the source for reading.
    pub(super) fn blocks(self, progress: &dyn Progress) -> Result<Blocks<'_>, DatasetError> {
        let Source { name, backing, .. } = self;
        let unreadable = |error| DatasetError::unreadable(&name, &error);
        let bytes: Box<dyn Read + Send> = match backing {
            Backing::File { path, .. } => Box::new(File::open(path).map_err(unreadable)?),
            Backing::Pipe(pipe) => pipe,
            Backing::Memory(bytes) => Box::new(io::Cursor::new(bytes)),
        };
        let sha256 = Arc::default();
        let mut raw = HashingReader { bytes, sha256: Arc::clone(&sha256), progress };
        let mut magic = Vec::new();
        raw.by_ref().take(LONGEST_MAGIC as u64).read_to_end(&mut magic).map_err(unreadable)?;
        let packing = Compression::of(&magic);
        let whole = io::Cursor::new(magic).chain(raw);
        let content: Box<dyn Read + Send> = match packing {
            None => Box::new(whole),
            Some(packing) => packing.decode(Box::new(whole)).map_err(unreadable)?,
        };
        Ok(Blocks { name, packing, content, sha256, offset: 0, rest: Vec::new(), is_at_end: false })
    }
}

/// A reader of the bytes on the disk that updates their hash and the progress.
struct HashingReader<'p> {
    bytes: Box<dyn Read + Send + 'p>,
    sha256: Arc<Mutex<Sha256>>,
    progress: &'p dyn Progress,
}

impl Read for HashingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.sha256.lock().unwrap_or_else(PoisonError::into_inner).update(&buffer[..count]);
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// A divider of the decompressed content of a file into blocks.
pub(super) struct Blocks<'p> {
    name: String,
    packing: Option<Compression>,
    content: Box<dyn Read + Send + 'p>,
    sha256: Arc<Mutex<Sha256>>,
    /// The number of bytes of content read so far.
    offset: u64,
    /// Bytes that were read and not yet returned.
    rest: Vec<u8>,
    is_at_end: bool,
}

impl Blocks<'_> {
    /// Returns the first bytes of the content, up to `count` unless more are there, for the detection of its format.
    pub(super) fn head(&mut self, count: usize) -> Result<&[u8], DatasetError> {
        self.fill(count)?;
        if self.rest.is_empty() { Err(DatasetError::empty(&self.name)) } else { Ok(&self.rest) }
    }

    /// Reads until `wanted` bytes are there, or to the end of the file.
    fn fill(&mut self, wanted: usize) -> Result<(), DatasetError> {
        let before = self.rest.len();
        if before >= wanted || self.is_at_end {
            return Ok(());
        }
        let read = self.content.by_ref().take((wanted - before) as u64).read_to_end(&mut self.rest);
        self.offset += (self.rest.len() - before) as u64;
        self.is_at_end = self.rest.len() < wanted;
        read.map(|_| ()).map_err(|error| match self.packing {
            Some(packing) => DatasetError::Refused(format!(
                "{}: damaged {} data after {} bytes of content: {error}",
                self.name,
                packing.name(),
                self.offset
            )),
            None => DatasetError::unreadable(&self.name, &error),
        })
    }

    /// Returns the next block; `None` at the end of the file.
    pub(super) fn next(&mut self, reader: &dyn Reader) -> Result<Option<Block>, DatasetError> {
        // The buffer grows as long as no chunk ends in it.
        let mut wanted = BLOCK_BYTES;
        loop {
            self.fill(wanted)?;
            let (mut chunks, mut start) = (Vec::new(), 0);
            while let Some(length) = reader.chunk_end(&self.rest[start..], CHUNK_BYTES) {
                chunks.push(start..start + length);
                start += length;
            }
            if self.is_at_end && start < self.rest.len() {
                chunks.push(start..self.rest.len());
                start = self.rest.len();
            }
            let open = self.rest.len() - start;
            let (record, longest) = reader.unit();
            if open > CHUNK_BYTES + longest {
                return Err(DatasetError::Refused(format!(
                    "{}: no {} ends within {longest} bytes after byte {} of the content",
                    self.name,
                    record.name(),
                    self.offset - open as u64
                )));
            }
            if !chunks.is_empty() {
                let rest = self.rest.split_off(start);
                return Ok(Some((std::mem::replace(&mut self.rest, rest), chunks)));
            }
            if self.is_at_end {
                return Ok(None);
            }
            wanted = self.rest.len() + BLOCK_BYTES;
        }
    }

    /// Returns the SHA-256 of the file as it is on the disk, in hexadecimal, once it has been read to its end.
    pub(super) fn sha256(self) -> String {
        hexadecimal(&self.sha256)
    }
}

fn hexadecimal(sha256: &Mutex<Sha256>) -> String {
    let sha256 = sha256.lock().unwrap_or_else(PoisonError::into_inner).clone();
    sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
