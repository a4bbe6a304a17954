//! The text of rows that comes of the answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use anyhow::{Context, Result};
use tools::compression::decode_text;

use super::super::Check;
use crate::model::text::answers::{Joint, renumber};
use crate::model::text::{DATA, VERSION};

/// What begins the lines in front of the rows that tell what they are.
pub(super) const TOLD: &str = "# ";

/// What begins the lines that warn.
pub(super) const WARNING: &str = "warning      ";

/// A text of rows that an engine has answered.
pub struct AskedRows {
    /// What messages call it.
    pub(in crate::source) name: String,
    /// What the rows are of, and what is missing, line by line.
    pub told: String,
    /// Compressed, wherever it is read.
    pub(super) file: File,
}

impl AskedRows {
    /// The text, from its beginning.
    pub(in crate::source) fn text(&self) -> io::Result<Box<dyn BufRead>> {
        let mut file = self.file.try_clone()?;
        file.rewind()?;
        decode_text(Box::new(file))
    }

    /// What the user should know of the positions before their rows are fitted.
    pub(in crate::source) fn warnings(&self) -> Vec<String> {
        self.told.lines().filter_map(|line| Some(line.strip_prefix(WARNING)?.to_owned())).collect()
    }

    pub(super) fn lines(&self) -> Result<io::Lines<Box<dyn BufRead>>> {
        Ok(self.text().with_context(|| format!("{}: cannot be read", self.name))?.lines())
    }

    /// Names the rows of a check by their positions.
    pub(in crate::source) fn name_rows(&self, check: &mut Check) -> Result<()> {
        if check.worst.is_empty() {
            return Ok(());
        }
        for (number, line) in (1_u64..).zip(self.lines()?) {
            let Ok(line) = line else { break };
            for worst in check.worst.iter_mut().filter(|worst| worst.line == number) {
                worst.place = line.split_once(" # ").map_or(&line[..], |(_, fen)| fen).to_owned();
            }
        }
        Ok(())
    }
}

/// What a process has answered to a chunk of positions.
#[derive(Clone, Default)]
pub(super) struct Piece {
    /// Where its rows stand, and whose numbers they have.
    pub(super) start: u64,
    pub(super) bytes: usize,
    pub(super) process: usize,
    pub(super) asked: u64,
    /// Rows of each file of the data, by its number.
    pub(super) of_files: BTreeMap<usize, usize>,
    /// Positions without a row.
    pub(super) without: Vec<usize>,
    /// Positions without a row, by reason.
    pub(super) skipped: BTreeMap<String, u64>,
    /// Positions that were asked for with the colours exchanged, too; those whose scores are not negated then; the one
    /// that is off most, in centipawns, as a message has it.
    pub(super) compared: u64,
    pub(super) off: u64,
    pub(super) worst: Option<(f32, String)>,
}

/// All that was answered, with the numbers of the processes.
pub(super) struct Answered {
    pub(super) file: File,
    pub(super) joint: Joint,
    pub(super) pieces: Vec<Piece>,
    /// The files of the data.
    pub(super) files: Vec<String>,
    pub(super) told: String,
}

impl Answered {
    /// The positions that have no row, in ascending order.
    pub(super) fn without(&self) -> Vec<usize> {
        let mut without: Vec<usize> = self.pieces.iter().flat_map(|piece| &piece.without).copied().collect();
        without.sort_unstable();
        without
    }

    /// Writes the text of rows, compressed.
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut packed = zstd::Encoder::new(to, 1)?;
        packed.include_checksum(true)?;
        writeln!(packed, "{VERSION}")?;
        self.told.lines().try_for_each(|line| writeln!(packed, "{TOLD}{line}"))?;
        packed.write_all(self.joint.head.as_bytes())?;
        let mut file = BufReader::new(&self.file);
        let (mut rows, mut present) = (String::new(), None);
        for Piece { start, bytes, process, of_files, .. } in &self.pieces {
            file.seek(SeekFrom::Start(*start))?;
            let mut piece = vec![0; *bytes];
            file.read_exact(&mut piece)?;
            rows.clear();
            let piece = String::from_utf8(piece).map_err(io::Error::other)?;
            let mut lines = piece.lines();
            for (&file, &count) in of_files {
                if present.replace(file) != Some(file) && self.files.len() > 1 {
                    rows.extend([DATA, &self.files[file].escape_debug().to_string(), "\n"]);
                }
                lines.by_ref().take(count).for_each(|row| renumber(row, &self.joint.numbers[*process], &mut rows));
            }
            packed.write_all(rows.as_bytes())?;
        }
        packed.finish().map(drop)
    }
}
