//! Output formats of positions and games, and the keys that find duplicates.

pub(crate) mod bullet;
mod epd;
mod viri;

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufRead};
use std::path::Path;

use engine::chess::{FenError, Position};
use engine::search::Value;
use thiserror::Error;

use super::SelfGame;
use crate::game::named_enum;

named_enum! {
    /// The format of the output; see the [module](super).
    Format {
        /// Lines of EPD.
        Epd = "epd",
        /// Lines of EPD, in zstd frames.
        EpdZstd = "epd.zst",
        /// Positions in bulletformat.
        Bullet = "bullet",
        /// Games in viriformat.
        Viri = "viri",
    }
}

/// Why an output cannot be read back.
#[derive(Debug, Error)]
pub enum FormatError {
    /// The system refuses, or the compressed data are damaged.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    /// A line is no position.
    #[error("line {line}: {fault}")]
    Line {
        /// Which line, from 1.
        line: usize,
        /// The fault.
        fault: FenError,
    },
}

/// A record of the output.
#[derive(Clone, Debug)]
pub(super) struct Record {
    /// Equal for duplicates.
    pub(super) key: u64,
    /// The place in its game, in plies after the opening.
    pub(super) ply: usize,
    /// As it is written, before any compression.
    pub(super) bytes: Vec<u8>,
}

impl Format {
    /// The format of a file by its extension: the name of a format, or just `zst`.
    pub fn of_file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let has_ending = |format: &Self| name.ends_with(&format!(".{}", format.name()));
        Format::ALL.into_iter().find(has_ending).or_else(|| name.ends_with(".zst").then_some(Format::EpdZstd))
    }

    /// Returns true if games are written as a whole.
    pub fn is_of_games(self) -> bool {
        self == Format::Viri
    }

    /// A position of a game, with the value of its search in White's view.
    pub(super) fn position_record(self, game: &SelfGame, ply: usize, position: &Position, value: Value) -> Record {
        let (key, bytes) = match self {
            Format::Bullet => {
                let bytes = bullet::encode(position, value, game.outcome);
                (bullet::key(&bytes), bytes)
            }
            _ => (position.key(), epd::line(game, position, value).into_bytes()),
        };
        Record { key, ply, bytes }
    }

    /// A whole game.
    pub(super) fn game_record(game: &SelfGame) -> Record {
        let bytes = viri::encode(game);
        Record { key: viri::key(&bytes), ply: 0, bytes }
    }

    /// The keys of all records of a file that was written in this format.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn keys(self, mut file: impl BufRead) -> Result<Vec<u64>, FormatError> {
        match self {
            Format::Epd => epd::keys(file),
            // No frame at all is damage to the decoder.
            Format::EpdZstd if file.fill_buf()?.is_empty() => Ok(Vec::new()),
            Format::EpdZstd => epd::keys(io::BufReader::new(zstd::Decoder::with_buffer(file)?)),
            Format::Bullet => Ok(keys_of(|record| bullet::read(&mut file, record), bullet::key)?),
            Format::Viri => Ok(keys_of(|record| viri::read(&mut file, record), viri::key)?),
        }
    }
}

/// The keys of records that are read into a buffer, one after another, until there is none.
fn keys_of(mut read: impl FnMut(&mut Vec<u8>) -> io::Result<bool>, key: impl Fn(&[u8]) -> u64) -> io::Result<Vec<u64>> {
    let (mut keys, mut record) = (Vec::new(), Vec::new());
    while read(&mut record)? {
        keys.push(key(&record));
        record.clear();
    }
    Ok(keys)
}

/// A key of bytes, the same within a run of the program.
fn hash<'b>(parts: impl Iterator<Item = &'b [u8]>) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.for_each(|part| hasher.write(part));
    hasher.finish()
}
