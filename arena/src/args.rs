//! The arguments that describe a match.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use arena::game::{Adjudication, Book, Conditions, DrawRule, ResignRule, Variant};
use arena::schedule::Match;
use arena::uci_client::{EngineSpec, Limit, Timeouts};
use clap::{Args, ValueEnum};

/// The arguments of `arena match`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MatchArgs {
    /// How many games; an even number, since each opening is played with both colours.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) games: u32,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

const EXAMPLES: &str = "\
Example:
  arena match --engine \"cmd=./merino name=new option.Hash=16\" --engine \"cmd=./merino-old name=old option.Hash=16\" \\
      --tc 8+0.08 --openings book.epd.zst --seed 1 --games 400 --concurrency 2 \\
      --draw 40,8,10 --resign 4,600 --pgn games.pgn --json result.json

An engine's description consists of words key=value: cmd, name, args, dir, restart=on|off, option.NAME, and tc,
movetime, nodes or depth where it plays at odds. Values with spaces are put in quotation marks.";

/// What every kind of match asks for.
#[derive(Args)]
pub(crate) struct CommonArgs {
    /// An engine, described as `cmd=PROGRAM [name=…] [args=…] [option.NAME=…] [tc=…] …`; given twice.
    #[arg(long, value_name = "WORDS", value_parser = engine)]
    engine: Vec<EngineSpec>,

    #[command(flatten)]
    limit: LimitArgs,

    /// Positions to begin with: EPD or FEN lines, plain or zstd. Chess960 needs none.
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,

    /// In what order openings are played.
    #[arg(long, value_enum, default_value_t = Order::Random)]
    order: Order,

    /// What decides the random order.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// The rules.
    #[arg(long, value_enum, default_value_t = VariantArg::Standard)]
    variant: VariantArg,

    /// Games at a time; all cores if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,

    /// How much longer than its limit a move may take, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 20)]
    time_margin: u32,

    /// How long a move may take at fixed nodes or depth, in seconds.
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    patience: u32,

    /// Draw when, from a move number on, both sides' scores stay within so many centipawns for so many moves each.
    #[arg(long, value_name = "MOVE,COUNT,CENTIPAWNS")]
    draw: Option<DrawRule>,

    /// Loss of a side whose own score is this bad for so many of its moves; `,both`: the winner must see it too.
    #[arg(long, value_name = "COUNT,CENTIPAWNS[,both]")]
    resign: Option<ResignRule>,

    /// Draw after so many plies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_plies: Option<u32>,

    /// Append every finished game to a file, as PGN.
    #[arg(long, value_name = "FILE")]
    pub(crate) pgn: Option<PathBuf>,

    /// Write the result to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// What the match is called in PGN.
    #[arg(long, value_name = "NAME", default_value = "arena match")]
    pub(crate) event: String,
}

/// What an engine may spend on a move, unless its own description says otherwise.
#[derive(Args)]
#[group(multiple = false)]
struct LimitArgs {
    /// Time on a clock, in seconds: `8+0.08`, `40/60+0.6`, `1:30+1` [default: 8+0.08].
    #[arg(long, value_name = "[MOVES/]TIME[+INC]", value_parser = |text: &str| Limit::parse("tc", text))]
    tc: Option<Limit>,

    /// Time for every move, in milliseconds.
    #[arg(long, value_name = "MS", value_parser = |text: &str| Limit::parse("movetime", text))]
    movetime: Option<Limit>,

    /// Nodes for every move.
    #[arg(long, value_name = "N", value_parser = |text: &str| Limit::parse("nodes", text))]
    nodes: Option<Limit>,

    /// Plies for every move.
    #[arg(long, value_name = "PLIES", value_parser = |text: &str| Limit::parse("depth", text))]
    depth: Option<Limit>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Order {
    /// Shuffled, as the seed says.
    Random,
    /// As in the file.
    Sequential,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VariantArg {
    Standard,
    Chess960,
}

fn engine(text: &str) -> Result<EngineSpec, String> {
    EngineSpec::parse(text).map(EngineSpec::resolved).map_err(|error| error.to_string())
}

impl CommonArgs {
    /// The match that the arguments describe.
    pub(crate) fn plan(&self, games: u32) -> Result<Match> {
        let variant = match self.variant {
            VariantArg::Standard => Variant::Standard,
            VariantArg::Chess960 => Variant::Chess960,
        };
        let limit = &self.limit;
        let given = limit.tc.or(limit.movetime).or(limit.nodes).or(limit.depth);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Match {
            engines: self.engines()?,
            limit: given.map_or_else(|| Limit::parse("tc", "8+0.08"), Ok)?,
            conditions: Conditions {
                variant,
                adjudication: Adjudication { draw: self.draw, resign: self.resign, max_plies: self.max_plies },
                margin: Duration::from_millis(self.time_margin.into()),
                patience: Duration::from_secs(self.patience.into()),
            },
            book: self.book(variant)?,
            games,
            concurrency: self.concurrency.map_or(cores, usize::from),
            timeouts: Timeouts::default(),
        })
    }

    fn engines(&self) -> Result<[EngineSpec; 2]> {
        let [first, second] = &self.engine[..] else {
            bail!("expected two --engine arguments, found {}", self.engine.len());
        };
        if first.name == second.name {
            bail!("both engines are called {}; give them names by name=…", first.name);
        }
        Ok([first.clone(), second.clone()])
    }

    fn book(&self, variant: Variant) -> Result<Book> {
        let book = match &self.openings {
            Some(path) => Book::load(path, variant)?,
            None if variant == Variant::Chess960 => Book::chess960(),
            None => return Err(anyhow::anyhow!("--openings FILE is missing")).context("standard chess"),
        };
        Ok(match self.order {
            Order::Random => book.shuffled(self.seed),
            Order::Sequential => book,
        })
    }
}
