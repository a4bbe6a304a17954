//! The arguments of the program.

mod datagen;
mod looping;
mod player;
mod relabel;
mod settings;
mod sprt;
mod spsa;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use arena::game::{Adjudication, Book, Conditions, DrawRule, ResignRule, Tablebase, Variant};
use arena::report::Anchor;
use arena::schedule::{Format, Match, Pinning};
use arena::uci_client::{EngineSpec, LOG_MARK, Limit, NameError, Timeouts, checked_name, log_to};
use clap::{Args, ValueEnum};
use common::files::{HTML, Kind, RunFiles, WriteError};
use common::note;
pub(crate) use datagen::DatagenArgs;
pub(crate) use looping::{CommandLine, Games, LoopArgs, LoopSettings, MAY_CHANGE, REWRITTEN};
pub(crate) use player::{EffortArgs, EngineArgs};
pub(crate) use relabel::RelabelArgs;
pub(crate) use settings::matches;
pub(crate) use sprt::{CalcArgs, PlanArgs, SprtArgs};
pub(crate) use spsa::SpsaArgs;

/// The arguments of `arena match`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MatchArgs {
    /// The number of games; even, since each opening is played with both colours.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = even)]
    pub(crate) games: u32,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The arguments of `arena gauntlet` and `arena round-robin`.
#[derive(Args)]
pub(crate) struct TournamentArgs {
    /// The number of games of each encounter; even.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = even)]
    pub(crate) games: u32,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

fn even(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|&games: &u32| games > 0 && games % 2 == 0)
        .ok_or_else(|| "expected an even number".to_owned())
}

/// The arguments of `arena check`.
#[derive(Args)]
pub(crate) struct CheckArgs {
    /// The engine: its program, or a description of words key=value as for a match.
    #[arg(value_name = "ENGINE")]
    engine: String,

    /// Only checks whose name contains a text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

impl CheckArgs {
    /// The engine to check.
    pub(crate) fn spec(&self) -> Result<EngineSpec> {
        let is_description = self.engine.contains("cmd=");
        let spec = if is_description { EngineSpec::parse(&self.engine)? } else { EngineSpec::new(&self.engine) };
        Ok(spec.resolved())
    }

    /// Returns true if a check is to be done.
    pub(crate) fn is_wanted(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|text| name.contains(text))
    }
}

/// The arguments of `arena report`.
#[derive(Args)]
pub(crate) struct ReportArgs {
    /// The journal of a match, which may still go on.
    #[arg(value_name = "JOURNAL")]
    pub(crate) journal: PathBuf,

    /// Write a page to a file, for a browser, instead of a table to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Print one JSON object, as --json of the match writes it.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The arguments of `arena elo`.
#[derive(Args)]
pub(crate) struct EloArgs {
    /// Games in PGN, plain or compressed with gzip, zstd, xz or bzip2.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,

    /// A player with a known rating, such as old=2800. Without it, the mean of all is 0.
    #[arg(long, value_name = "NAME=ELO")]
    pub(crate) anchor: Option<Anchor>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A log of the exchange with engines.
const LOG: Kind = Kind { name: "a log of the arena", is_own: |head| head.starts_with(LOG_MARK.as_bytes()) };

const EXAMPLES: &str = "\
Example:
  arena match --engine \"cmd=./merino name=new\" --engine \"cmd=./merino-old name=old option.Hash=32\" \\
      --option Hash=16 --tc 8+0.08 --openings book.epd.zst --seed 1 --games 400 --concurrency 2 \\
      --draw 40,8,10 --resign 4,600 --pgn games.pgn --json result.json

An engine's description consists of words key=value: cmd, name, args, dir, restart=on|off, option.NAME, and tc, \
movetime, nodes or depth for games at odds. Put values with spaces in quotation marks.";

/// The arguments common to all kinds of match.
#[derive(Args)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    pub(crate) play: PlayArgs,

    /// Append every finished game to a file, as PGN.
    #[arg(long, value_name = "FILE")]
    pub(crate) pgn: Option<PathBuf>,

    /// Write the result to a file, as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    /// Write the page of --report every two seconds while games are played, with their boards; a browser that has it open
    /// follows the match.
    #[arg(long, requires = "report")]
    pub(crate) live: bool,

    /// The event name in PGN.
    #[arg(long, value_name = "NAME", default_value = "arena match", value_parser = event)]
    pub(crate) event: String,
}

/// The files that a run keeps, and the one from which it resumes.
#[derive(Args, Default)]
pub(crate) struct KeepArgs {
    /// Write a page about the run, for a browser.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,

    /// Keep every result in a file, from which --resume goes on.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,

    /// Go on with the run of the journal, if the journal exists.
    #[arg(long, requires = "journal")]
    pub(crate) resume: bool,
}

impl KeepArgs {
    /// Registers the files that are written.
    pub(crate) fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        for (what, path, kind) in [("--journal", &self.journal, Kind::ANY), ("--report", &self.report, HTML)] {
            path.iter().try_for_each(|path| files.writes(what, path, kind))?;
        }
        Ok(())
    }

    /// The journal, and whether to go on from it.
    pub(crate) fn opens(&self) -> Option<(&Path, bool)> {
        self.journal.as_deref().map(|path| (path, self.resume && path.exists()))
    }
}

/// The conditions under which games are played.
#[derive(Args, Clone)]
pub(crate) struct PlayArgs {
    /// An engine, described as `cmd=PROGRAM [name=…] [args=…] [option.NAME=…] [tc=…] …`; given twice.
    #[arg(long, value_name = "WORDS", value_parser = engine)]
    engine: Vec<EngineSpec>,

    /// An option for every engine whose description does not set it itself.
    #[arg(long, value_name = "NAME=VALUE", value_parser = option)]
    option: Vec<(String, String)>,

    #[command(flatten)]
    limit: LimitArgs,

    /// Positions to begin with: EPD or FEN lines, or games in PGN, plain or compressed with gzip, zstd, xz or bzip2. If not given,
    /// the arena's own book, or all starts of Chess960.
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,

    /// Plies to play of each game of a book in PGN; all, up to 40, if not given.
    #[arg(long, value_name = "N", requires = "openings", value_parser = clap::value_parser!(u16).range(1..))]
    plies: Option<u16>,

    /// The order of openings.
    #[arg(long, value_enum, default_value_t = Order::Random)]
    order: Order,

    /// The seed of the random order.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// The first opening of that order, from 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    start: u32,

    /// The rules.
    #[arg(long, value_enum, default_value_t = VariantArg::Standard)]
    variant: VariantArg,

    /// Games at a time; if not given, as many as the cores have room for with the option Threads of the engines.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,

    /// Give each concurrent game processors of its own, as many as an engine has threads. If there are too few, the
    /// arena prints a warning and does not pin.
    #[arg(long)]
    pin: bool,

    /// Tolerance on the time of a move, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 20)]
    time_margin: u32,

    /// Time after which an engine at fixed nodes or depth counts as stalled, in seconds.
    #[arg(long, alias = "patience", value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..))]
    stall_timeout: u32,

    /// Time from the start of an engine to `uciok`, in seconds.
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    startup: u32,

    /// Draw when, from MOVE on, both sides' scores stay within CENTIPAWNS for COUNT moves each. Captures and pawn moves
    /// begin the count anew.
    #[arg(long, value_name = "MOVE,COUNT,CENTIPAWNS")]
    draw: Option<DrawRule>,

    /// Loss of a side whose own score is this bad for COUNT of its moves; `,both`: the winner must see it too.
    #[arg(long, value_name = "COUNT,CENTIPAWNS[,both]")]
    resign: Option<ResignRule>,

    /// Folders of Syzygy tables, separated as in PATH, that end games whose result they know: after a capture or a pawn
    /// move, with the fifty-move rule.
    #[arg(long, value_name = "PATH")]
    tb: Option<OsString>,

    /// Draw after N plies.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_plies: Option<u32>,

    /// Append all lines to and from the engines to a file, with their times. Without it, the lines of games in which an
    /// engine crashed, stalled or played an illegal move are kept beside the journal or the PGN.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

/// The limit of a move, unless an engine's own description sets one.
#[derive(Args, Clone)]
#[group(multiple = false)]
struct LimitArgs {
    /// Time on a clock, in seconds: `8+0.08`, `40/60+0.6`, `1:30+1` [default: 8+0.08]. The increment comes after each move,
    /// so the first one has TIME alone.
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
    /// Shuffled by the seed.
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

fn event(text: &str) -> Result<String, NameError> {
    checked_name(text).map(str::to_owned)
}

fn option(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

/// Adds the options that a description does not set itself.
fn add_options(engine: &mut EngineSpec, options: &[(String, String)]) {
    let is_new = |(name, _): &&(String, String)| !engine.options.iter().any(|set| set.0.eq_ignore_ascii_case(name));
    let more: Vec<(String, String)> = options.iter().filter(is_new).cloned().collect();
    engine.options.extend(more);
}

/// A program by its name: beside the arena, where a build puts it, or on PATH.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok().map(|arena| arena.with_file_name(name));
    beside.filter(|path| path.is_file()).or_else(|| EngineSpec::new(name).file())
}

/// The most threads that the options give an engine.
fn threads(engines: &[EngineSpec]) -> usize {
    let set =
        |engine: &EngineSpec| engine.options.iter().rev().find(|set| set.0.eq_ignore_ascii_case("Threads")).cloned();
    let threads = engines.iter().filter_map(set).filter_map(|(_, value)| value.parse().ok()).max();
    threads.unwrap_or(1).max(1)
}

/// The number of games at a time: as many as asked for, with a warning where their threads have too few cores, or as many as
/// have cores.
fn concurrency(asked: Option<u16>, threads: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let games = asked.map_or((cores / threads).max(1), usize::from);
    let needed = games.saturating_mul(threads);
    if needed > cores {
        note!(
            "warning: games at a time: {games}, threads of an engine: {threads}, cores: {cores}; engines will lose time"
        );
    }
    games
}

/// Processors for so many games at a time, or a warning.
fn pinning(games: usize, threads: usize) -> Option<Pinning> {
    match Pinning::new(games, threads) {
        Ok(pinning) => Some(pinning),
        Err(error) => {
            note!("warning: engines are not pinned: {error}");
            None
        }
    }
}

impl PlayArgs {
    /// The files that are read, with the argument of each, except the programs of engines.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.openings.as_deref().map(|path| ("--openings", path)).into_iter()
    }

    /// Registers the file that is written.
    pub(crate) fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        self.log.iter().try_for_each(|path| files.writes("--log", path, LOG))
    }

    /// All lines to and from the engines are logged.
    pub(crate) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// Opens the log, if there is to be one.
    pub(crate) fn open_log(&self) -> Result<()> {
        self.log.as_deref().map_or(Ok(()), |path| log_to(path).with_context(|| path.display().to_string()))
    }

    /// The match between two engines that the arguments describe.
    pub(crate) fn plan(&self, mut engines: Vec<EngineSpec>, format: Format, games: u32) -> Result<Match> {
        for engine in &mut engines {
            checked_name(&engine.name)?;
            add_options(engine, &self.option);
        }
        let variant = match self.variant {
            VariantArg::Standard => Variant::Standard,
            VariantArg::Chess960 => Variant::Chess960,
        };
        let limit = &self.limit;
        let given = limit.tc.or(limit.movetime).or(limit.nodes).or(limit.depth);
        let threads = threads(&engines);
        let concurrency = concurrency(self.concurrency, threads);
        let pinning = if self.pin { pinning(concurrency, threads) } else { None };
        Ok(Match {
            engines,
            format,
            limit: given.map_or_else(|| Limit::parse("tc", "8+0.08"), Ok)?,
            conditions: Conditions {
                variant,
                adjudication: Adjudication { draw: self.draw, resign: self.resign, max_plies: self.max_plies },
                tablebase: self.tb.as_deref().map(Tablebase::open).transpose()?.map(Arc::new),
                margin: Duration::from_millis(self.time_margin.into()),
                stall_timeout: Duration::from_secs(self.stall_timeout.into()),
            },
            book: self.book(variant)?,
            games,
            concurrency,
            pinning,
            timeouts: Timeouts { start: Duration::from_secs(self.startup.into()), ..Timeouts::default() },
        })
    }

    /// The engines described one by one, which are to be two.
    pub(crate) fn two_engines(&self) -> Result<Vec<EngineSpec>> {
        if self.engine.len() != 2 {
            bail!("expected two --engine arguments, found {}", self.engine.len());
        }
        self.several_engines()
    }

    /// The engines described one by one, at least two.
    pub(crate) fn several_engines(&self) -> Result<Vec<EngineSpec>> {
        if self.engine.len() < 2 {
            bail!("expected at least two --engine arguments, found {}", self.engine.len());
        }
        for (index, engine) in self.engine.iter().enumerate() {
            if self.engine[..index].iter().any(|earlier| earlier.name == engine.name) {
                bail!("several engines are called {}; give them names by name=…", engine.name);
            }
        }
        Ok(self.engine.clone())
    }

    fn book(&self, variant: Variant) -> Result<Book> {
        let book = match &self.openings {
            Some(path) => Book::load(path, variant, self.plies.map(usize::from))?,
            None if variant == Variant::Chess960 => Book::chess960(),
            None => Book::own()?,
        };
        let ordered = match self.order {
            Order::Random => book.shuffled(self.seed),
            Order::Sequential => book,
        };
        Ok(ordered.starting_with(self.start as usize)?)
    }
}
