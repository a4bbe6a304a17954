//! The arguments of `arena spsa`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use arena::schedule::{Format, Match};
use arena::spsa::{Gains, Tuning, load_options, load_starts};
use arena::stats::{Bounds, Model, Sprt};
use arena::uci_client::EngineSpec;
use clap::Args;
use common::files::RunFiles;

use super::{CommonArgs, KeepArgs, PlayArgs};

/// The most games of a test.
const MOST_GAMES: u32 = 200_000;

/// The gains of a run without given ones.
const SPALL: Gains = Gains::new(1);

const EXAMPLES: &str = "\
Examples:
  merino spsa-inputs > search.txt
  arena spsa search.txt --engine \"cmd=./merino args=--tune-search option.Hash=8\" --nodes 5000 \\
      --openings book.epd.zst --pairs 10000 --draw 40,8,10 --resign 4,800 \\
      --output tuned.txt --journal spsa.jsonl
  arena spsa tune.toml --pairs 20000

Each line of OPTIONS describes an option as OpenBench does, `name, int, start, min, max, step, rate`: The last pairs \
move it a `step` to either side; a good step costs about two Elo from the optimum. `rate` is the part of a step that a \
point moves it at the end: 0.002 for 30,000 pairs, or 0 for one that fits the number of pairs.

A file whose name ends in .toml holds the whole run. Each key is the name of a flag, flags of the command line win, and \
paths are relative to the file. The options are tables, or stand in a file that `options` names:
  nodes = 5000
  output = \"tuned.toml\"
  [engine]
  cmd = \"./merino\"
  args = \"--tune-search\"
  option.Hash = 8
  [options]
  rfp_margin = { start = 76, min = 30, max = 150, step = 6 }";

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// The arguments of `arena spsa`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpsaArgs {
    /// The options to tune, a line each; or the whole run in TOML, if its name ends in `.toml`.
    #[arg(value_name = "OPTIONS")]
    pub(crate) options: PathBuf,

    /// The number of pairs of games.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pairs: u32,

    /// Pairs played from the same values. More keep more cores busy; the result depends on it, but not on
    /// --concurrency.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) batch: u32,

    /// Spall's α: the power of the number of pairs with which rates fall.
    #[arg(long, value_name = "α", default_value_t = SPALL.alpha, value_parser = share)]
    alpha: f64,

    /// Spall's γ: the power of the number of pairs with which steps fall.
    #[arg(long, value_name = "γ", default_value_t = SPALL.gamma, value_parser = share)]
    gamma: f64,

    /// Spall's A, as a share of all pairs: the larger, the smaller are the first rates.
    #[arg(long, value_name = "SHARE", default_value_t = SPALL.stability, value_parser = share)]
    stability: f64,

    /// The output: options with the values found, as lines like those of OPTIONS, or as TOML if the name ends in
    /// `.toml`. Either can be tuned further.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Begin with the values of a file, in lines `name, value` as OpenBench prints the result of a tune; options that it does
    /// not name keep their start.
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,

    /// Then test the values found against the start, with other openings and these bounds in normalized Elo, [0, 5] by
    /// default.
    #[arg(long, value_name = "ELO0,ELO1", num_args = 0..=1, require_equals = true, default_missing_value = "0,5",
        allow_hyphen_values = true)]
    confirm: Option<Bounds>,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    play: PlayArgs,
}

impl SpsaArgs {
    /// The files that are read, with the argument of each, except the program of the engine.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let values = self.values.as_deref().map(|path| ("--values", path));
        self.play.inputs().chain([("the options", &*self.options)]).chain(values)
    }

    /// Registers the files that are written, except the output.
    pub(crate) fn register(&self, files: &mut RunFiles) -> Result<()> {
        self.play.register(files)?;
        Ok(self.keep.register(files)?)
    }

    /// See [`PlayArgs::open_log`].
    pub(crate) fn open_log(&self) -> Result<()> {
        self.play.open_log()
    }

    /// The games to be played: between two copies of the engine.
    pub(crate) fn plan(&self) -> Result<Match> {
        self.play.plan(vec![self.engine()?; 2], Format::Gauntlet, 2 * self.pairs)
    }

    /// The test of what is found, if there is to be one, and how it is played.
    pub(crate) fn confirmation(&self) -> Option<(Sprt, CommonArgs)> {
        let sprt = Sprt { model: Model::Normalized, bounds: self.confirm?, alpha: 0.05, beta: 0.05 };
        // Openings in another order, so that it begins with others.
        let play = PlayArgs { seed: self.play.seed.wrapping_add(1), ..self.play.clone() };
        let event = "arena spsa".to_owned();
        Some((sprt, CommonArgs { play, pgn: None, json: None, keep: KeepArgs::default(), live: false, event }))
    }

    /// A match, played as `play` says, of the engine with the values found against the engine with those of the start.
    pub(crate) fn test_plan(&self, play: &PlayArgs, [found, start]: &[Vec<(String, String)>; 2]) -> Result<Match> {
        let engine = self.engine()?;
        let side = |name: &str, set| EngineSpec { name: name.to_owned(), ..engine.clone().with_options(set) };
        play.plan(vec![side("tuned", found), side("start", start)], Format::Gauntlet, MOST_GAMES)
    }

    /// The engine, of which there is one.
    fn engine(&self) -> Result<EngineSpec> {
        match &self.play.engine[..] {
            [engine] => Ok(engine.clone()),
            engines => {
                bail!("expected one engine, by --engine or as [engine] in a file .toml, found {}", engines.len())
            }
        }
    }

    /// The options at their start, and the file that has them.
    pub(crate) fn tuning(&self) -> Result<(Tuning, PathBuf)> {
        let (mut options, file) = load_options(&self.options)?;
        self.values.iter().try_for_each(|path| load_starts(path, &mut options))?;
        let gains = Gains { pairs: self.pairs, alpha: self.alpha, gamma: self.gamma, stability: self.stability };
        Ok((Tuning::new(options, gains, self.play.seed), file))
    }
}
