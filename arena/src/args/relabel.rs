//! The arguments of `arena relabel`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use arena::datagen::Format;
use arena::game::Variant;
use arena::relabel::{Input, Settings};
use clap::Args;

use super::{EffortArgs, EngineArgs};

/// The arguments of `arena relabel`.
#[derive(Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct RelabelArgs {
    /// Positions, a line each: FEN and operations of EPD, as `arena datagen` and `tuner convert` write them, or FEN, points in
    /// brackets and a score; plain or compressed with gzip, zstd, xz or bzip2.
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,

    /// Output file: .epd, .epd.zst or .bullet. The state needed to resume is kept beside it, in FILE.state.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    player: EngineArgs,

    #[command(flatten)]
    limit: EffortArgs,

    /// Merino's table for each thread, in mebibytes; emptied before every hundred lines.
    #[arg(long, value_name = "MIB", default_value_t = 16, conflicts_with = "engine", value_parser = clap::value_parser!(u16).range(1..=65_535))]
    hash: u16,

    /// Write the expected points of White as the result, from the engine's chances of win, draw and loss.
    #[arg(long)]
    wdl: bool,

    /// Searches at a time; all cores if not given. The output does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,

    /// Go on with the output, if it exists; lines and settings must be the same.
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,

    /// Overwrite the output, if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

impl RelabelArgs {
    /// The files that are read, with the argument of each, but for the engine's.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.player.inputs().chain([("the input", self.input.as_path())])
    }

    /// The lines and the settings of the arguments.
    pub(crate) fn settings(&self) -> Result<(Input, Settings)> {
        let place = || self.output.display().to_string();
        let format = Format::of_file(&self.output).with_context(|| {
            format!("{}: the name does not say the format, as .epd, .epd.zst or .bullet would", place())
        })?;
        ensure!(!format.is_of_games(), "{}: viriformat has games, and no single positions", place());
        let effort = self.limit.effort().context("a search needs a limit: --nodes, --depth or --movetime")?;
        ensure!(
            !self.wdl || format != Format::Bullet,
            "--wdl: bulletformat has no place for expected points; write .epd or .epd.zst"
        );
        ensure!(
            !self.wdl || self.player.engine.is_some(),
            "--wdl: needs --engine, with an engine that has the option UCI_ShowWDL"
        );
        let input = Input::read(&self.input, format == Format::Bullet)?;
        let variant = if input.is_chess960() { Variant::Chess960 } else { Variant::Standard };
        let (engine, evaluator) = (self.player.uci(variant, self.wdl)?, self.player.evaluator()?);
        Ok((input, Settings { engine, evaluator, hash: self.hash.into(), effort, format }))
    }

    /// Searches at a time.
    pub(crate) fn threads(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.concurrency.map_or(cores, usize::from)
    }
}

const NOTES: &str = "\
Examples:
  arena relabel games.epd.zst --nodes 50000 --output deep.epd.zst
  arena relabel games.epd.zst --engine \"cmd=./engine option.Hash=16\" --nodes 40000 --output deep.epd.zst --resume
  arena relabel games.epd.zst --engine \"cmd=./engine\" --depth 12 --wdl --output chances.epd

A line keeps all but its score: `ce`, in centipawns of the side to move, or the number behind points in brackets, in \
White's view. A mate counts as 3,000 centipawns. Lines are left out and counted whose position has no legal move, or that \
the engine gave no score for but bounds, or that it crashed or stalled at; after ten in a row the run ends.

The engine is sent `ucinewgame` before every hundred lines. So with --nodes or --depth the same engine writes the same file \
on any machine, with any number of processes, whether it was interrupted or not. A killed run goes on with --resume. \
Ctrl-C ends the run with the hundred lines in hand (a thousand in .epd.zst), Ctrl-C again at once.";
