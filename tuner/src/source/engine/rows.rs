//! The text of rows that is assembled from the answers.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result};
use tools::compression::decode_text;

use super::super::{Check, Problem};
use crate::data::io::Storage;
use crate::model::text::answers::{Joint, renumber};
use crate::model::text::{DATA, VERSION};
use crate::progress::Progress;

/// The prefix of the lines before the rows that describe them.
const DESCRIPTION: &str = "# ";

/// The prefix of warnings in a description.
pub(super) const WARNING: &str = "warning      ";

/// A text of rows that an engine has answered.
pub(super) struct EngineRows {
    /// Its name in messages.
    pub(super) name: String,
    /// Description of the rows' data and of positions without a row, in lines.
    pub(super) description: String,
    /// The text, compressed. The file offset is arbitrary.
    pub(super) file: File,
}

impl EngineRows {
    /// Opens a cache entry that was `used` now, such as written.
    pub(super) fn cached(path: &Path, used: &str) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("{name}: cannot be read"))?;
        let mut rows = EngineRows { name, description: String::new(), file };
        let described = |line: io::Result<String>| Some(line.ok()?.strip_prefix(DESCRIPTION)?.to_owned() + "\n");
        let lines = rows.text()?.lines().skip(1).map_while(described);
        rows.description = lines.collect::<String>() + &format!("cache        {used} {}\n", rows.name);
        Ok(rows)
    }

    /// Reads the rows; `accept` is called with their declarations before the first one is read.
    pub(super) fn problem(
        self,
        storage: &Storage,
        accept: impl FnOnce(Problem) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<Problem> {
        let mut problem = Problem::read_texts([Ok((self.name.clone(), self.text()?))], storage, accept, progress)?;
        problem.check.iter_mut().try_for_each(|check| self.name_rows(check))?;
        // Warnings about groups are for authors who number them. These groups are the games of the data.
        let warnings = self.description.lines().filter_map(|line| Some(line.strip_prefix(WARNING)?.to_owned()));
        problem.warnings = warnings.collect();
        problem.description = self.description;
        Ok(problem)
    }

    /// Opens the text at its beginning.
    fn text(&self) -> Result<Box<dyn BufRead>> {
        let open = || {
            let mut file = self.file.try_clone()?;
            file.rewind()?;
            decode_text(Box::new(file))
        };
        open().with_context(|| format!("{}: cannot be read", self.name))
    }

    /// Sets the places in a check to the FENs of the rows.
    fn name_rows(&self, check: &mut Check) -> Result<()> {
        if check.worst.is_empty() {
            return Ok(());
        }
        for (number, line) in (1..).zip(self.text()?.lines()) {
            let Ok(line) = line else { break };
            for worst in check.worst.iter_mut().filter(|worst| worst.line == number) {
                worst.place = line.split_once(" # ").map_or(&line[..], |(_, fen)| fen).to_owned();
            }
        }
        Ok(())
    }
}

/// The counts of a batch's answers, and the place of its rows in the temporary file.
#[derive(Clone, Default)]
pub(super) struct BatchAnswers {
    /// Offset of the first row, in bytes.
    pub(super) start: u64,
    /// The size of the rows, in bytes.
    pub(super) bytes: usize,
    /// The process that answered. Its numbers of parameters are used in the rows.
    pub(super) process: usize,
    /// The number of positions.
    pub(super) asked: u64,
    /// The number of rows of each data file, by its index.
    pub(super) of_files: BTreeMap<usize, usize>,
    /// Indices of the positions without a row.
    pub(super) without: Vec<usize>,
    /// The number of positions without a row, by reason.
    pub(super) skipped: BTreeMap<String, u64>,
    /// The number of positions that were compared with their mirror images (colours exchanged).
    pub(super) compared: u64,
    /// The number of these whose mirror image does not have the negated score.
    pub(super) asymmetric: u64,
    /// The largest such difference, in centipawns, and its message.
    pub(super) worst: Option<(f32, String)>,
}

/// The answers to all positions.
pub(super) struct CollectedAnswers {
    /// The rows of all batches, in the order of their arrival.
    pub(super) file: File,
    pub(super) joint: Joint,
    /// The batches in the order of the data.
    pub(super) batches: Vec<BatchAnswers>,
    /// Names of the data files.
    pub(super) files: Vec<String>,
    pub(super) description: String,
}

impl CollectedAnswers {
    /// Returns the indices of the positions that have no row, in ascending order.
    pub(super) fn without(&self) -> Vec<usize> {
        let mut without: Vec<usize> = self.batches.iter().flat_map(|batch| &batch.without).copied().collect();
        without.sort_unstable();
        without
    }

    /// Writes the text of rows, compressed.
    pub(super) fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        let mut packed = zstd::Encoder::new(to, 1)?;
        packed.include_checksum(true)?;
        writeln!(packed, "{VERSION}")?;
        self.description.lines().try_for_each(|line| writeln!(packed, "{DESCRIPTION}{line}"))?;
        packed.write_all(self.joint.head.as_bytes())?;
        let mut file = BufReader::new(&self.file);
        let (mut rows, mut present) = (String::new(), None);
        for BatchAnswers { start, bytes, process, of_files, .. } in &self.batches {
            file.seek(SeekFrom::Start(*start))?;
            let mut text = vec![0; *bytes];
            file.read_exact(&mut text)?;
            rows.clear();
            let text = String::from_utf8(text).map_err(io::Error::other)?;
            let mut lines = text.lines();
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
