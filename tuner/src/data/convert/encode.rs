//! Encoding of positions in the output formats.

use std::io::{self, Write};
use std::ops::Range;

use anyhow::{Result, anyhow};
use engine::chess::Position;

use super::{OutputFormat, for_all};
use crate::data::{Dataset, LONGEST_CHAIN, LONGEST_GAME, Label, Sample, write_chain, write_game, write_position};
use crate::name_of;

/// An encoder of the positions of a data set in one format. The data set was checked for the format before.
pub(super) struct Encoder<'d> {
    pub(super) dataset: &'d Dataset,
    pub(super) format: OutputFormat,
    /// True if every position is of a known game.
    pub(super) has_games: bool,
    /// True if some results are shares.
    pub(super) has_shares: bool,
}

impl Encoder<'_> {
    /// Returns the header of the file.
    pub(super) fn head(&self) -> &'static [u8] {
        match (self.format, self.has_games) {
            (OutputFormat::Csv, true) => b"fen,score,result,game\n",
            (OutputFormat::Csv, false) => b"fen,score,result\n",
            _ => b"",
        }
    }

    /// Encodes the positions of a range; in formats of games and chains, each of the runs that begin in the range.
    pub(super) fn encode(&self, range: Range<usize>) -> Result<Vec<Vec<u8>>> {
        match self.format {
            OutputFormat::Viri => self.runs(range, LONGEST_GAME, write_game),
            OutputFormat::Binpack => self.runs(range, LONGEST_CHAIN, write_chain),
            _ => {
                let mut bytes = Vec::with_capacity(100 * range.len());
                for (position, label) in self.dataset.samples(range) {
                    self.write(&position, &label, &mut bytes).expect("a vector takes all");
                }
                Ok(vec![bytes])
            }
        }
    }

    fn runs(
        &self,
        range: Range<usize>,
        longest: usize,
        write: impl Fn(&[Sample], &mut Vec<u8>) -> std::result::Result<(), String>,
    ) -> Result<Vec<Vec<u8>>> {
        let dataset = self.dataset;
        let sample = |at| Sample { position: dataset.position(at), label: dataset.label(at), best: dataset.best(at) };
        let encoded = |run: Range<usize>| {
            let (first, mut bytes) = (run.start, Vec::new());
            write(&run.map(sample).collect::<Vec<_>>(), &mut bytes).map_err(|unfit| {
                let (place, called, others) = (dataset.place(first), name_of(&self.format), for_all());
                anyhow!("{place}: has {unfit}, for which {called} has no room: write {others}")
            })?;
            Ok(bytes)
        };
        dataset.runs(range, longest).map(encoded).collect()
    }

    /// Writes a position in one of the formats of single positions.
    fn write(&self, position: &Position, label: &Label, to: &mut Vec<u8>) -> io::Result<()> {
        let Label { outcome, score, group } = *label;
        let (points, score_or_none) = (outcome.points(), score.map(|score| score.to_string()).unwrap_or_default());
        let fen = || position.to_fen();
        match self.format {
            OutputFormat::Epd => {
                write!(to, "{}", fen())?;
                if self.has_games {
                    write!(to, " c0 \"{group:08x}\";")?;
                }
                write!(to, " c9 \"{outcome}\";")?;
                if let Some(score) = score {
                    write!(to, " ce {};", i32::from(score) * position.side_to_move().sign())?;
                }
                writeln!(to)
            }
            OutputFormat::Points => {
                writeln!(to, "{}", format!("{} [{points:?}] {score_or_none}", fen()).trim_end())
            }
            OutputFormat::Wdl => writeln!(to, "{} | {score_or_none} | {points:?}", fen()),
            OutputFormat::Csv => {
                // A column uses one style of results throughout.
                let result = if self.has_shares { format!("{points:?}") } else { outcome.to_string() };
                let game = if self.has_games { format!(",{group:08x}") } else { String::new() };
                writeln!(to, "{},{score_or_none},{result}{game}", fen())
            }
            _ => to.write_all(&write_position(position, label)),
        }
    }
}
