//! `merino`, the engine's program.

// Output goes through `common`, which escapes it and does not panic.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Error, Result};
use clap::{Args, CommandFactory, Parser, Subcommand};
use common::{error_chain, out, print};
use engine::bench;
use engine::chess::{Position, divide};
use engine::eval::Evaluator;
use engine::options::{Offer, OpenTablebase};
use engine::panic::abort_on_panic;
use engine::search::{Pruning, Quiescence, Searcher, mate_distance};
use engine::{options, protocol, shell_files, uci};

/// A chess engine whose evaluation parameters are read from TOML. Without arguments it speaks UCI, or the protocol of
/// XBoard if the first line is `xboard`.
///
/// UCI commands may be given as arguments too, one in each: merino "position startpos" "go depth 10"
#[derive(Parser)]
#[command(version, about, name = "merino")]
struct Cli {
    /// Offer every number of the search as a UCI option, for tuning.
    #[arg(long)]
    tune_search: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Search fifty positions to a fixed depth: the signature of the search, and its speed.
    Bench {
        /// Depth in plies; 13 if none is given.
        #[arg(value_name = "DEPTH", allow_negative_numbers = true)]
        depth: Vec<String>,
        #[command(flatten)]
        parameters: Parameters,
    },
    /// Explain the evaluation of a position, by family or term by term.
    Eval {
        /// Show every term.
        #[arg(long)]
        terms: bool,
        /// Show the board with the worth of each piece: how much the evaluation changes without it.
        ///
        /// On a terminal the board is in colour, unless the variable NO_COLOR is set.
        #[arg(long, conflicts_with = "terms")]
        board: bool,
        #[command(flatten)]
        parameters: Parameters,
        #[command(flatten)]
        position: Fen,
    },
    /// Count the leaves of the tree of legal moves, move by move.
    Perft {
        /// Depth in plies.
        depth: u32,
        #[command(flatten)]
        position: Fen,
    },
    /// Resolve the captures of a position: the value of its quiescence search, the line and the leaf.
    Qsearch {
        #[command(flatten)]
        parameters: Parameters,
        #[command(flatten)]
        position: Fen,
    },
    /// Print the numbers of the search in the input format of OpenBench's SPSA.
    SpsaInputs,
    /// Write shell completions and manual pages.
    ShellFiles {
        /// The folder for them; they go to `completions` and `man` there.
        folder: PathBuf,
    },
    /// Speak the Chess Engine Communication Protocol (XBoard, WinBoard).
    Xboard,
    /// UCI commands.
    #[command(external_subcommand)]
    Uci(Vec<String>),
}

#[derive(Args)]
struct Parameters {
    /// Evaluation parameters (TOML); without it, those embedded when the program was built.
    #[arg(long, value_name = "FILE")]
    params: Option<PathBuf>,
}

impl Parameters {
    fn evaluator(&self) -> Result<Evaluator> {
        Ok(match &self.params {
            Some(file) => Evaluator::load(file)?,
            None => Evaluator::default(),
        })
    }
}

#[derive(Args)]
struct Fen {
    /// Position as a FEN of 4 or 6 fields, quoted or not; the start position if there is none.
    #[arg(value_name = "FEN")]
    fen: Vec<String>,
}

impl Fen {
    fn position(&self) -> Result<Position> {
        let fen = self.fen.join(" ");
        if fen.is_empty() {
            return Ok(Position::start());
        }
        Position::from_fen(&fen).with_context(|| format!("fen `{fen}`"))
    }
}

engine::require_cpu_features!();

fn main() {
    abort_on_panic();
    let Cli { tune_search, command } = Cli::parse();
    let offer = Offer { tune_search, open_tablebase: OPEN_TABLEBASE };
    let result = match command {
        None => protocol::run(offer).context(NO_READER),
        Some(command) => run(command, offer),
    };
    if let Err(error) = result {
        print::fail(&error_chain::to_line(error.as_ref()));
    }
}

#[cfg(feature = "syzygy")]
const OPEN_TABLEBASE: Option<OpenTablebase> = Some(engine::syzygy::open);
#[cfg(not(feature = "syzygy"))]
const OPEN_TABLEBASE: Option<OpenTablebase> = None;

const NO_READER: &str = "no thread to read commands with";

fn run(command: Command, offer: Offer) -> Result<()> {
    match command {
        Command::Bench { depth, parameters } => {
            let words: Vec<&str> = depth.iter().map(String::as_str).collect();
            bench(bench::depth(&words).map_err(Error::msg)?, parameters.evaluator()?)
        }
        Command::SpsaInputs => {
            // OpenBench takes a last line end for an empty line, and refuses it.
            print::exact(options::spsa_inputs().trim_end());
            Ok(())
        }
        Command::ShellFiles { folder } => Ok(shell_files::write(env!("CARGO_BIN_NAME"), Cli::command(), &folder)?),
        Command::Xboard => protocol::run_xboard(offer).context(NO_READER),
        Command::Uci(words) => uci::run_commands(&commands_of(words), offer).map_err(Error::msg),
        Command::Eval { terms, board, parameters, position } => {
            let (evaluator, position) = (parameters.evaluator()?, position.position()?);
            let breakdown = evaluator.breakdown(&position);
            match (board, terms) {
                (true, _) => print::unescaped(&evaluator.board(&position, is_in_colour()).to_string()),
                (_, true) => out!("{}", breakdown.by_term()),
                _ => out!("{breakdown}"),
            }
            Ok(())
        }
        Command::Perft { depth, position } => {
            perft(depth, &position.position()?);
            Ok(())
        }
        Command::Qsearch { parameters, position } => qsearch(&parameters.evaluator()?, &position.position()?),
    }
}

/// Returns true if standard output shows colours: <https://no-color.org>.
fn is_in_colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// One command an argument; a command that was not quoted is put together again.
fn commands_of(words: Vec<String>) -> Vec<String> {
    let is_quoted = words.iter().any(|word| word.contains(' '));
    let takes_words = matches!(words[0].as_str(), "go" | "position" | "setoption");
    if takes_words && !is_quoted { vec![words.join(" ")] } else { words }
}

fn bench(depth: i32, evaluator: Evaluator) -> Result<()> {
    let mut searcher = Searcher::new(1)?;
    searcher.set_evaluator(Arc::new(evaluator));
    let report = bench::run(depth, &searcher, |fen, nodes| out!("{nodes:>9}  {fen}"))?;
    out!("{report}");
    Ok(())
}

fn perft(depth: u32, position: &Position) {
    let start = Instant::now();
    let parts = divide(position, depth);
    let nodes: u64 = if depth == 0 { 1 } else { parts.iter().map(|(_, nodes)| nodes).sum() };
    let seconds = start.elapsed().as_secs_f64();
    for (mv, nodes) in parts {
        out!("{mv}: {nodes}");
    }
    out!("{nodes} leaves in {seconds:.3} s, {:.0} million a second", nodes as f64 / seconds.max(1e-9) / 1e6);
}

fn qsearch(evaluator: &Evaluator, position: &Position) -> Result<()> {
    let mut search = Quiescence::new(evaluator, Pruning::Exact);
    let leaf = search.resolve(position);
    let line: Vec<String> = leaf.line.iter().map(ToString::to_string).collect();
    out!("static  {:+} centipawns, white's view", evaluator.evaluate_for_white(position));
    match mate_distance(leaf.score) {
        Some(0) => out!("value   checkmate"),
        Some(moves @ 1..) => out!("value   White mates in {moves}"),
        Some(moves) => out!("value   Black mates in {}", -moves),
        None => out!("value   {:+} centipawns, white's view", leaf.score),
    }
    out!("line    {}", if line.is_empty() { "-".to_owned() } else { line.join(" ") });
    out!("leaf    {}", leaf.position.to_fen());
    out!("nodes   {}", search.nodes());
    Ok(())
}
