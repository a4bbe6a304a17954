//! The arguments of `arena datagen`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use arena::datagen::{Extent, Filter, Format, Settings, Source};
use arena::game::{Adjudication, Book, DrawRule, ResignRule, Variant};
use arena::player::Effort;
use clap::{Args, ValueEnum};

use super::{EffortArgs, EngineArgs};

/// The most nodes for a move, in terms of the soft limit, if only that is given.
const NODES_BY_SOFT_NODES: u64 = 10;
/// The most nodes for a move if nothing is given.
const DEFAULT_NODES: u64 = 5000;
/// The default of `--margin` where Merino plays.
const DEFAULT_MARGIN: i32 = 20;
/// The default of `--random-plies` without a book.
const DEFAULT_RANDOM_PLIES: u64 = 8;

/// The arguments of `arena datagen`.
#[derive(Args)]
#[command(after_long_help = NOTES)]
pub(crate) struct DatagenArgs {
    /// Output file. The state needed to resume is kept beside it, in FILE.state.json.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// The format; by default the ending of the file's name decides (`.zst` means epd.zst).
    #[arg(long, value_enum)]
    format: Option<FormatArg>,

    /// End with the game that reaches N positions; in viriformat, N moves.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    positions: u64,

    /// Go on with the output, if it exists; the settings must be the same.
    #[arg(long, conflicts_with = "force")]
    pub(crate) resume: bool,

    /// Overwrite the output, if it exists.
    #[arg(long)]
    pub(crate) force: bool,

    /// Games at a time; all cores if not given. The output does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    concurrency: Option<u16>,

    /// Games that are written at a time; a kill loses no more.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    chunk: u32,

    /// Seed of all random choices. Runs whose outputs are combined need different seeds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    pub(crate) player: EngineArgs,

    #[command(flatten)]
    opening: OpeningArgs,

    #[command(flatten)]
    play: PlayArgs,

    #[command(flatten)]
    filter: FilterArgs,
}

/// The openings of the games.
#[derive(Args)]
#[command(next_help_heading = "Openings")]
struct OpeningArgs {
    /// Positions to begin with, one a game in an order that the seed decides, and over again: EPD or FEN lines, or games
    /// in PGN, plain or compressed with gzip, zstd, xz or bzip2. Without it, games begin at the start of chess.
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,

    /// Start PERCENT of 100 games in double Chess960: each side has an array of its own. They have kings, rooks and
    /// pawns on squares that are rare in other games.
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=100))]
    chess960: u64,

    /// Random legal plies before the engine plays: N or one more, unless 0 [default: 8, with a book 0].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=100))]
    random_plies: Option<u64>,

    /// The largest lead of either side after them, in centipawns.
    ///
    /// A narrow limit keeps only imbalances with compensation: a tuner learns from them that material is worth little
    /// in the opening.
    #[arg(long, value_name = "CENTIPAWNS", default_value_t = 1000, value_parser = clap::value_parser!(i32).range(0..=30_000))]
    balance: i32,

    /// The nodes of the search that measures it.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    balance_nodes: u64,
}

/// The conditions under which games are played.
#[derive(Args)]
#[command(next_help_heading = "Games")]
struct PlayArgs {
    #[command(flatten)]
    limit: EffortArgs,

    /// Begin no iteration after N nodes; --nodes is then ten times as many if not given. A UCI engine is told to stop once it
    /// reports as many: that depends on the moment, and so does the output.
    #[arg(long, value_name = "N", conflicts_with_all = ["depth", "movetime"], value_parser = clap::value_parser!(u64).range(1..))]
    soft_nodes: Option<u64>,

    /// Merino's table for each thread, in mebibytes; emptied before every game.
    #[arg(long, value_name = "MIB", default_value_t = 4, conflicts_with = "engine", value_parser = clap::value_parser!(u16).range(1..=65_535))]
    hash: u16,

    /// Draw when, from MOVE on, both sides' scores stay within CENTIPAWNS for COUNT moves each.
    #[arg(long, value_name = "MOVE,COUNT,CENTIPAWNS|none", default_value = "40,8,8", value_parser = rule::<DrawRule>)]
    draw: Rule<DrawRule>,

    /// Loss of a side whose own score is this bad for COUNT of its moves; `,both`: the winner must see it too.
    #[arg(long, value_name = "COUNT,CENTIPAWNS[,both]|none", default_value = "4,1500,both", value_parser = rule::<ResignRule>)]
    resign: Rule<ResignRule>,

    /// Discard games that reach N plies: their result is unknown.
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    max_plies: u32,
}

/// The filter of positions; does not apply to whole games.
#[derive(Args)]
#[command(next_help_heading = "Positions kept (none of this applies to viriformat, which holds whole games)")]
struct FilterArgs {
    /// The source of positions.
    #[arg(long, value_enum, default_value_t = SourceArg::Game)]
    from: SourceArg,

    /// Skip N positions after the opening, in which pieces may hang after random moves.
    #[arg(long, value_name = "N", default_value_t = 4)]
    skip_plies: usize,

    /// The largest lead of Merino's quiescence score over its static one, in centipawns [default: 20, with --engine none].
    #[arg(long, visible_alias = "margin", value_name = "CENTIPAWNS", value_parser = clap::value_parser!(i32).range(0..=30_000))]
    quiet_margin: Option<i32>,

    /// The most positions of a game, drawn at random.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    per_game: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum SourceArg {
    /// The game: positions in which moves were played.
    Game,
    /// The end of the best line of each search: what the engine had in view.
    PvEnd,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    /// Lines of EPD with game, result and score.
    Epd,
    /// The same, compressed.
    #[value(name = "epd.zst")]
    EpdZstd,
    /// Positions of 32 bytes, bulletformat.
    Bullet,
    /// Whole games with scores, unfiltered, viriformat.
    Viri,
}

/// A rule, or none.
#[derive(Clone, Copy)]
struct Rule<R>(Option<R>);

fn rule<R: std::str::FromStr>(text: &str) -> Result<Rule<R>, R::Err> {
    if text == "none" { Ok(Rule(None)) } else { text.parse().map(|rule| Rule(Some(rule))) }
}

impl DatagenArgs {
    /// The files that are read, with the argument of each.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.player.inputs().chain(self.opening.openings.as_deref().map(|path| ("--openings", path)))
    }

    /// The settings of the arguments.
    pub(crate) fn settings(&self) -> Result<Settings> {
        let book = match &self.opening.openings {
            Some(path) => Some(Book::load(path, Variant::Standard, None)?.shuffled(self.seed)),
            None => None,
        };
        let format = self.format()?;
        let source = match self.filter.from {
            SourceArg::Game => Source::Game,
            SourceArg::PvEnd => Source::PvEnd,
        };
        ensure!(
            source == Source::Game || !format.is_of_games(),
            "--from pv-end: viriformat has games and no other positions; write .epd, .epd.zst or .bullet"
        );
        let default_plies = if book.is_some() { 0 } else { DEFAULT_RANDOM_PLIES };
        let variant = if self.opening.chess960 > 0 { Variant::Chess960 } else { Variant::Standard };
        let engine = self.player.uci(variant, false)?;
        let default_margin = engine.is_none().then_some(DEFAULT_MARGIN);
        Ok(Settings {
            engine,
            seed: self.seed,
            random_plies: self.opening.random_plies.unwrap_or(default_plies),
            book,
            chess960: self.opening.chess960,
            balance: self.opening.balance,
            balance_nodes: self.opening.balance_nodes,
            effort: self.play.effort(),
            hash: self.play.hash.into(),
            adjudication: Adjudication {
                draw: self.play.draw.0,
                resign: self.play.resign.0,
                max_plies: Some(self.play.max_plies),
            },
            filter: Filter {
                source,
                skip_plies: self.filter.skip_plies,
                margin: self.filter.quiet_margin.or(default_margin),
                per_game: self.filter.per_game as usize,
            },
            format,
            evaluator: self.player.evaluator()?,
        })
    }

    /// Returns the extent of the run.
    pub(crate) fn extent(&self) -> Extent {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.concurrency.map_or(cores, usize::from);
        Extent { positions: self.positions, threads, chunk: self.chunk }
    }

    fn format(&self) -> Result<Format> {
        let given = self.format.map(|format| match format {
            FormatArg::Epd => Format::Epd,
            FormatArg::EpdZstd => Format::EpdZstd,
            FormatArg::Bullet => Format::Bullet,
            FormatArg::Viri => Format::Viri,
        });
        given.or_else(|| Format::of_file(&self.output)).with_context(|| {
            format!(
                "{}: the name does not say the format, as .epd, .zst, .bullet or .viri would",
                self.output.display()
            )
        })
    }
}

impl PlayArgs {
    fn effort(&self) -> Effort {
        let by_soft = self.soft_nodes.map(|nodes| nodes.saturating_mul(NODES_BY_SOFT_NODES));
        match self.limit.effort().unwrap_or_else(|| Effort::nodes(by_soft.unwrap_or(DEFAULT_NODES))) {
            Effort::Nodes { most, .. } => Effort::Nodes { most, soft: self.soft_nodes },
            other => other,
        }
    }
}

const NOTES: &str = "\
Examples:
  arena datagen --output data.epd.zst --positions 100000
  arena datagen --output data.epd.zst --positions 1000000 --resume
  arena datagen --output games.viri --positions 1000000 --soft-nodes 5000 --params params/tuned.toml
  arena datagen --engine \"cmd=./engine name=mine option.Hash=8\" --output own.epd.zst --positions 500000 --nodes 4000

A position is kept if its side to move is not in check, the move played neither captures nor promotes (--from game), the \
search gave a score and saw no forced mate, Merino's quiescence score is within --quiet-margin of its static one, and it \
was not kept before. A line \
of EPD is
  FEN c0 \"SEED.GAME\"; c9 \"RESULT\"; ce SCORE;
with the score of the search in centipawns, as seen by the side to move. The tuner reads it as it is. bulletformat \
has no place for the game, castling rights and en passant; viriformat takes all moves of a game, with White's scores.

The output depends on the settings and the seed alone. Ctrl-C ends the run with the chunk of games in hand, Ctrl-C again \
at once; in either case, and after a kill, --resume goes on to the same output.

Each thread runs a process of the engine, which plays both sides and is sent `ucinewgame` and `isready` before the balance \
of an opening is measured; the game follows. With --nodes or --depth the output then depends on the engine's program, too, \
and on nothing else, if the engine forgets at `ucinewgame`. That is tried at the start; restart=on in the description \
starts the engine anew for each game. Games in which it crashes, stalls or plays an illegal move are left out and \
counted; after ten in a row the run ends, and can be resumed.";
