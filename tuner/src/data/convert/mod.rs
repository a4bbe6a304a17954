//! Conversion of data from one format into another.
//!
//! All data can be written as lines of text, and data with scores in bulletformat. Data with the move of every position
//! can be written in formats of games and chains, too. Positions form one game there as long as each is reached from
//! the one before by its move. Whole games stay whole; the rest of a filtered or sampled game is split into shorter
//! ones. PGN is not written: it holds whole games, from their beginning to their end.

mod encode;

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use common::files::write_whole_with;
use tools::compression::Compression;

use crate::data::{Chunks, Dataset, Grouping};
use crate::name_of;
use crate::progress::Progress;
use encode::Encoder;

/// An output format of positions.
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
    /// Games with moves and scores; every position needs both.
    Viri,
    /// Stockfish's chains of positions with moves and scores; every position needs a move. There is no room for
    /// castling in Chess960.
    Binpack,
}

impl OutputFormat {
    /// Returns true if positions need moves.
    pub(crate) fn needs_moves(self) -> bool {
        matches!(self, OutputFormat::Viri | OutputFormat::Binpack)
    }

    /// Returns true if results must be wins, draws or losses.
    pub(crate) fn needs_results(self) -> bool {
        matches!(self, OutputFormat::Bullet | OutputFormat::Viri | OutputFormat::Binpack)
    }

    /// Returns true if positions need scores.
    pub fn needs_scores(self) -> bool {
        matches!(self, OutputFormat::Wdl | OutputFormat::Bullet | OutputFormat::Viri)
    }
}

/// The compression level of xz: the default of the xz program.
const XZ_LEVEL: u32 = 6;

/// Compressions by the endings of file names.
const PACKED: [(&str, Compression); 4] =
    [(".gz", Compression::Gzip), (".zst", Compression::Zstd), (".xz", Compression::Xz), (".bz2", Compression::Bzip2)];

/// Lists the formats that accept any position.
fn for_all() -> String {
    any_of(|format| !format.needs_scores() && !format.needs_moves())
}

/// Lists the formats with a property.
fn any_of(is_one: impl Fn(OutputFormat) -> bool) -> String {
    let names: Vec<String> =
        OutputFormat::value_variants().iter().filter(|&&format| is_one(format)).map(name_of).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// The format and compression of an output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputEncoding {
    /// The format.
    pub format: OutputFormat,
    /// The compression; `None` for a plain file.
    pub compression: Option<Compression>,
}

impl OutputEncoding {
    /// Derives the encoding from a file name such as `a.epd.zst`, unless a format is given.
    ///
    /// # Errors
    /// If the name indicates no format, or one that is only read.
    pub fn of(path: &Path, format: Option<OutputFormat>) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let packed = PACKED.iter().find_map(|&(ending, how)| Some((name.strip_suffix(ending)?, how)));
        let (rest, compression) = packed.map_or((&name[..], None), |(rest, how)| (rest, Some(how)));
        let ending = rest.rsplit_once('.').map_or("", |(_, ending)| ending);
        let of_ending = || {
            let (name, names) = (path.display(), any_of(|_| true));
            match ending {
                "vf" => Ok(OutputFormat::Viri),
                "txt" => Ok(OutputFormat::Wdl),
                "pgn" => bail!(
                    "{name}: PGN keeps whole games, and what is converted are positions without them; write {names} instead"
                ),
                _ => OutputFormat::from_str(ending, false)
                    .map_err(|_| anyhow!("{name}: no format is known by this ending; say which with --to {names}")),
            }
        };
        Ok(OutputEncoding { format: format.map_or_else(of_ending, Ok)?, compression })
    }
}

impl fmt::Display for OutputEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", name_of(&self.format))?;
        self.compression.iter().try_for_each(|compression| write!(f, ", {}", compression.name()))
    }
}

/// Writes the positions of a data set with their labels, in order: the whole file or nothing.
///
/// # Errors
/// A position without the data that the format needs, or that the format cannot represent; a file that cannot be written.
pub fn convert(dataset: &Dataset, path: &Path, encoding: OutputEncoding, progress: &dyn Progress) -> Result<()> {
    check(dataset, encoding.format)?;
    let is_share = |index| dataset.label(index).outcome.half_points().is_none();
    let encoder = Encoder {
        dataset,
        format: encoding.format,
        has_games: dataset.grouping() == Grouping::Games,
        has_shares: (0..dataset.len()).any(is_share),
    };
    // After an error, the remaining chunks are not encoded.
    let has_failed = AtomicBool::new(false);
    let encode = |range: Range<usize>| {
        if has_failed.load(Ordering::Relaxed) { Ok(Vec::new()) } else { encoder.encode(range) }
    };
    let mut refusal = None;
    let write = |to: &mut dyn Write| -> io::Result<()> {
        to.write_all(encoder.head())?;
        let mut chunks = Chunks::default();
        let mut result = Ok(());
        let collect = |encoded: Result<Vec<Vec<u8>>>| {
            if result.is_ok() {
                let encoded = encoded.map_err(|error| io::Error::other(refusal.insert(error).to_string()));
                result = encoded.and_then(|encoded| {
                    encoded.iter().try_for_each(|bytes| match encoding.format {
                        OutputFormat::Binpack => chunks.add(bytes, to),
                        _ => to.write_all(bytes),
                    })
                });
                has_failed.store(result.is_err(), Ordering::Relaxed);
            }
        };
        dataset.each_chunk("writing", encode, collect, progress);
        result?;
        chunks.finish(to)
    };
    let written = write_whole_with(path, |file| pack(encoding.compression, file, write));
    refusal.map_or(Ok(()), Err)?;
    Ok(written?)
}

/// Checks that every position has the data that a format needs.
fn check(dataset: &Dataset, format: OutputFormat) -> Result<()> {
    type Has<'d> = &'d dyn Fn(usize) -> bool;
    let called = name_of(&format);
    let has_move: Has = &|index| dataset.best(index).is_some();
    let has_result: Has = &|index| dataset.label(index).outcome.half_points().is_some();
    let has_score: Has = &|index| dataset.label(index).score.is_some();
    let no_move = format!("has no move, which {called} cannot do without");
    let share = format!("has a share of the point as its result, and {called} knows wins, draws and losses alone");
    let no_score = format!("has no score, which {called} cannot do without");
    let without_scores = any_of(|other| !other.needs_scores() && (!other.needs_moves() || format.needs_moves()));
    for (is_needed, has, fault, others) in [
        (format.needs_moves(), has_move, no_move, for_all()),
        (format.needs_results(), has_result, share, any_of(|other| !other.needs_results())),
        (format.needs_scores(), has_score, no_score, without_scores),
    ] {
        if is_needed && let Some(index) = (0..dataset.len()).find(|&index| !has(index)) {
            bail!("{}: {fault}: write {others}", dataset.place(index));
        }
    }
    Ok(())
}

/// Compresses the bytes that `write` produces, and finishes the compressed stream.
fn pack(
    how: Option<Compression>,
    to: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    macro_rules! pack {
        ($packer:expr) => {{
            let mut packer = $packer;
            write(&mut packer)?;
            packer.finish().map(drop)
        }};
    }
    match how {
        None => write(to),
        Some(Compression::Gzip) => pack!(flate2::write::GzEncoder::new(to, flate2::Compression::default())),
        Some(Compression::Zstd) => pack!(zstd::Encoder::new(to, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        Some(Compression::Xz) => pack!(liblzma::write::XzEncoder::new(to, XZ_LEVEL)),
        Some(Compression::Bzip2) => pack!(bzip2::write::BzEncoder::new(to, bzip2::Compression::default())),
    }
}

#[cfg(test)]
mod tests;
