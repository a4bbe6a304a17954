//! Data from one format into another.
//!
//! Whatever can be read can be written again as lines of text, or as positions in bulletformat. Formats of whole games
//! are not written: what is converted are positions, chosen perhaps, and the games around them are gone.

mod compression;
mod encode;

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use clap::ValueEnum;
use thiserror::Error;

use crate::dataset::{Dataset, Grouping};
use crate::features::in_batches;
use crate::name_of;
use crate::params_file::{WriteError, write_atomically_with};
use crate::progress::Progress;
pub use compression::Compression;
use encode::Encoder;

/// A format that positions are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Lines of EPD: `FEN c9 "1-0"; ce -34;`, the score in the view of the side to move; `c0` names the game.
    Epd,
    /// Lines of `FEN [1.0] 34`, in White's view.
    Points,
    /// Lines of `FEN | 34 | 1.0`, in White's view; every position needs a score.
    Wdl,
    /// Columns between commas, named in the first line: fen, score, result and perhaps game, in White's view.
    Csv,
    /// Positions of 32 bytes; every position needs a score. Who was to move, castling, en passant and clocks are lost.
    Bullet,
}

/// Formats by the endings of names.
const ENDINGS: [(&str, OutputFormat); 6] = [
    ("epd", OutputFormat::Epd),
    ("points", OutputFormat::Points),
    ("wdl", OutputFormat::Wdl),
    ("csv", OutputFormat::Csv),
    ("bullet", OutputFormat::Bullet),
    ("txt", OutputFormat::Wdl),
];

/// Endings of formats that are only read, and why.
const ONLY_READ: [(&str, &str); 4] = [
    ("pgn", "PGN keeps whole games"),
    ("viri", "viriformat keeps whole games"),
    ("vf", "viriformat keeps whole games"),
    ("binpack", "binpack keeps positions with the moves that follow them"),
];

/// Why positions cannot be written.
#[derive(Debug, Error)]
pub enum ConvertError {
    /// The name does not tell the format.
    #[error("{name}: no format is known by this ending; say which with --to {}", names())]
    UnknownEnding {
        /// Name of the file.
        name: String,
    },
    /// The format is one that is only read.
    #[error("{name}: {reason}, and what is converted are positions without them; write {} instead", names())]
    OnlyRead {
        /// Name of the file.
        name: String,
        /// What the format needs.
        reason: &'static str,
    },
    /// A position has no score, and the format cannot do without.
    #[error("{place}: has no score, which {} cannot do without: write epd, points or csv", name_of(format))]
    NoScore {
        /// Where the position stands.
        place: String,
        /// The format.
        format: OutputFormat,
    },
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

fn names() -> String {
    let names: Vec<String> = OutputFormat::value_variants().iter().map(name_of).collect();
    names.join(", ")
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its format.
    pub format: OutputFormat,
    /// How it is compressed.
    pub compression: Compression,
}

impl Target {
    /// What the name of a file says, such as `a.epd.zst`, unless a format is given.
    ///
    /// # Errors
    /// If it says nothing, or a format that is only read.
    pub fn of(path: &Path, format: Option<OutputFormat>) -> Result<Self, ConvertError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let (rest, compression) = Compression::of_name(&name);
        let ending = rest.rsplit_once('.').map_or("", |(_, ending)| ending);
        let of_ending = || {
            let name = path.display().to_string();
            if let Some(&(_, reason)) = ONLY_READ.iter().find(|(known, _)| *known == ending) {
                return Err(ConvertError::OnlyRead { name, reason });
            }
            let found = ENDINGS.iter().find(|(known, _)| *known == ending);
            found.map(|&(_, format)| format).ok_or(ConvertError::UnknownEnding { name })
        };
        Ok(Target { format: format.map_or_else(of_ending, Ok)?, compression })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", name_of(&self.format))?;
        match self.compression.name() {
            Some(name) => write!(f, ", {name}"),
            None => Ok(()),
        }
    }
}

/// Writes the positions of a data set with their labels, in order: the whole file or nothing.
///
/// # Errors
/// A position that the format cannot hold; a file that cannot be written.
pub fn convert(dataset: &Dataset, path: &Path, target: Target, progress: &dyn Progress) -> Result<(), ConvertError> {
    let encoder = Encoder { format: target.format, has_games: dataset.grouping() == Grouping::Games };
    if encoder.needs_scores() {
        let missing = (0..dataset.len()).find(|&index| dataset.label(index).score.is_none());
        if let Some(index) = missing {
            return Err(ConvertError::NoScore { place: dataset.place(index).to_string(), format: target.format });
        }
    }
    let encode = |range: std::ops::Range<usize>| {
        let mut bytes = Vec::with_capacity(100 * range.len());
        dataset.samples(range).for_each(|(position, label)| encoder.encode(&position, &label, &mut bytes));
        bytes
    };
    let write = |file: &mut dyn Write| -> io::Result<()> {
        let mut packer = target.compression.pack(file)?;
        packer.write_all(encoder.head())?;
        let mut result = Ok(());
        let collect = |bytes: Vec<u8>| {
            if result.is_ok() {
                result = packer.write_all(&bytes);
            }
        };
        in_batches("writing", dataset, encode, collect, progress);
        result?;
        packer.finish()
    };
    Ok(write_atomically_with(path, write)?)
}

#[cfg(test)]
mod tests;
