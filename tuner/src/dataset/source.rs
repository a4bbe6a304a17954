//! Where the bytes of a data set come from.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// Every zstd frame begins with these bytes.
const ZSTD_MAGIC: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];

/// What an unpacked embedded or compressed file begins with, if its editor put it there.
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Why a file of data cannot be used.
#[derive(Debug, Error)]
pub enum SourceError {
    /// It cannot be opened or mapped.
    #[error("{name}: cannot be read: {error}")]
    Unreadable {
        /// Its name.
        name: String,
        /// What the system says.
        error: io::Error,
    },
    /// It is a folder.
    #[error("{0}: is a directory, expected a file of labelled positions")]
    Directory(String),
    /// It has no bytes.
    #[error("{0}: is empty")]
    Empty(String),
    /// It is not text.
    #[error("{name}: is not text: byte {offset} is 0")]
    Binary {
        /// Its name.
        name: String,
        /// Where the first zero byte stands.
        offset: usize,
    },
    /// Its compressed content is damaged.
    #[error("{name}: damaged zstd data: {error}")]
    Damaged {
        /// Its name.
        name: String,
        /// What the decoder says.
        error: io::Error,
    },
}

enum Bytes {
    Mapped(Mmap),
    Static(&'static [u8]),
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map) => map,
            Bytes::Static(bytes) => bytes,
        }
    }
}

/// A file of labelled positions: mapped, and unpacked in memory if it is compressed with zstd.
pub struct Source {
    name: String,
    raw: Bytes,
    unpacked: Option<Vec<u8>>,
}

impl Source {
    /// Maps a file.
    ///
    /// # Errors
    /// If it is missing, unreadable, a folder, empty, damaged or not text.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let name = path.display().to_string();
        let unreadable = |error| SourceError::Unreadable { name: name.clone(), error };
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(SourceError::Directory(name));
        }
        if metadata.is_file() && metadata.len() == 0 {
            return Err(SourceError::Empty(name));
        }
        // SAFETY: the map is only read. Whoever shortens the file meanwhile ends the program, as with every program
        // that maps its input; nothing is written before all input has been read.
        #[allow(unsafe_code, reason = "mapping a file cannot be had without")]
        let map = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
        Self::checked(name, Bytes::Mapped(map))
    }

    /// Takes bytes that are part of the program.
    ///
    /// # Errors
    /// As for [`Source::open`].
    pub fn embedded(name: &str, bytes: &'static [u8]) -> Result<Self, SourceError> {
        Self::checked(name.to_owned(), Bytes::Static(bytes))
    }

    fn checked(name: String, raw: Bytes) -> Result<Self, SourceError> {
        let unpacked = if raw.as_slice().starts_with(ZSTD_MAGIC) {
            let decoded = zstd::decode_all(raw.as_slice());
            Some(decoded.map_err(|error| SourceError::Damaged { name: name.clone(), error })?)
        } else {
            None
        };
        let source = Source { name, raw, unpacked };
        let text = source.text();
        if text.is_empty() {
            return Err(SourceError::Empty(source.name));
        }
        match text.iter().take(1 << 16).position(|&byte| byte == 0) {
            Some(offset) => Err(SourceError::Binary { name: source.name, offset }),
            None => Ok(source),
        }
    }

    /// Its name as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text, without a byte-order mark.
    pub fn text(&self) -> &[u8] {
        let text = self.unpacked.as_deref().unwrap_or(self.raw.as_slice());
        text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
    }

    /// SHA-256 of the file as it is on the disk, in hexadecimal.
    pub(super) fn sha256(&self) -> String {
        Sha256::digest(self.raw.as_slice()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
