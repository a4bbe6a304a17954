//! `tuner`, the program: parameters and labelled positions in, better parameters out.

mod bars;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use clap::{Args, Parser, Subcommand};
use engine::eval::params::Weights;
use serde_json::{Value, json};
use tuner::dataset::Source;
use tuner::evaluate;
use tuner::features::Resolve;
use tuner::optimize::Method;
use tuner::params_file::{check_writable, render, write_atomically};
use tuner::selection::Selection;
use tuner::tune::{Job, PRIOR_PER_POSITION, run};

/// The project's own positions, for whoever brings none.
const DEFAULT_DATA: (&str, &[u8]) = ("data/quiet.epd.zst", include_bytes!("../../data/quiet.epd.zst"));

/// Exit status of a run that failed, as clap's for bad arguments.
const FAILURE: i32 = 2;
/// Exit status after Ctrl-C.
const INTERRUPTED: i32 = 130;

/// Held while the output is written, so that Ctrl-C leaves a whole file or none.
static WRITING: Mutex<()> = Mutex::new(());

/// Fit the evaluation's parameters to positions whose games' results are known.
///
/// Minimised is  mean (σ(K q) − y)² + λ Σ (θ − θ₀)²  over the parameters θ, where q is the engine's score of a position
/// in centipawns and White's view, y the result of its game (1, ½, 0), σ(x) = 1 / (1 + 10^(−x/400)), θ₀ the parameters
/// of the start (centipawns; phase weights in their own unit) and K a scale fitted to them once. The minimum is exact:
/// there are no epochs to choose. Progress goes to the terminal, the result to standard output.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    tune: TuneArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Say how well parameter files predict results, side by side.
    Evaluate(EvaluateArgs),
}

/// The arguments of `tuner evaluate`.
#[derive(Args)]
struct EvaluateArgs {
    /// Parameter files; the changes are against the first.
    #[arg(value_name = "PARAMS", required = true)]
    params: Vec<PathBuf>,

    /// Labelled positions, as for tuning.
    #[arg(long, value_name = "FILE")]
    epd: Vec<PathBuf>,

    /// K, the scale from centipawns to expected results, for all; fitted to each file if not given.
    #[arg(long, value_name = "K", value_parser = scale)]
    k: Option<f64>,

    /// Go on past at most N lines that cannot be read.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_bad: usize,

    /// Threads; all cores if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

/// The arguments of a tuning run.
#[derive(Args)]
struct TuneArgs {
    /// Labelled positions: a FEN and `c9 "1-0";` or `[1.0]` a line, plain or zstd; may be given several times.
    /// Without it, the project's own small set is used.
    #[arg(long, value_name = "FILE")]
    epd: Vec<PathBuf>,

    /// Parameters to start from, and to be pulled to.
    #[arg(long, value_name = "FILE", default_value = "params/baseline.toml")]
    params: PathBuf,

    /// Where the tuned parameters go. The input file is overwritten only if it is named here.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Tune these parameters only: a path of the parameter file such as material.queen, psqt.knight, phase; `*` stands
    /// for anything, `:mg` or `:eg` behind it for one number of each pair. May be given several times.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,

    /// Leave these parameters as they are: patterns as for --only.
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    freeze: Vec<String>,

    /// What a position is judged by: the leaf of its quiescence search, or at once.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch)]
    resolve: Resolve,

    /// How the minimum is found; all methods find the same.
    #[arg(long, value_enum, default_value_t = Method::Newton)]
    method: Method,

    /// Positions a step of Adam looks at; all if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    batch: Option<u32>,

    /// λ, the strength of the pull to the start, per squared centipawn. Little data wants more, much data less.
    #[arg(long, value_name = "λ", value_parser = prior, help = prior_help())]
    prior: Option<f64>,

    /// K, the scale from centipawns to expected results; fitted to the parameters of the start if not given.
    #[arg(long, value_name = "K", value_parser = scale)]
    k: Option<f64>,

    /// Go on past at most N lines that cannot be read, and report them by reason.
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip_bad: usize,

    /// Threads; all cores if not given. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Seed for methods that draw random numbers: local search, and Adam with --batch.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Print the result as one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  tuner                                          tune on the embedded positions, write params/tuned.toml
  tuner --epd quiet_labeled.epd --resolve static data known to be quiet needs no quiescence search
  tuner --epd a.epd --epd b.epd --output my.toml several files, another output
  tuner --epd a.epd --freeze phase,psqt.king     some parameters stay as they are
  tuner --epd big.epd --prior 0 --skip-bad 100   no pull to the start, tolerate broken lines";

fn prior_help() -> String {
    format!(
        "λ, the strength of the pull to the start, per squared centipawn [default: {PRIOR_PER_POSITION:e} / positions]"
    )
}

fn prior(text: &str) -> Result<f64, String> {
    number(text, |value| value >= 0.0, "at least 0")
}

fn scale(text: &str) -> Result<f64, String> {
    number(text, |value| value > 0.0, "positive")
}

fn number(text: &str, is_good: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && is_good(value) => Ok(value),
        _ => Err(format!("expected a finite number, {expected}")),
    }
}

fn main() {
    let cli = Cli::parse();
    let bars = bars::Bars::default();
    let on_interrupt = || {
        let _written = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        eprintln!("interrupted, nothing more is written");
        std::process::exit(INTERRUPTED);
    };
    let result =
        ctrlc::set_handler(on_interrupt).context("cannot listen for Ctrl-C").and_then(|()| match &cli.command {
            Some(Command::Evaluate(args)) => evaluate(args, &bars),
            None => tune(&cli.tune, &bars),
        });
    match result {
        Ok(text) => println!("{text}"),
        Err(error) => {
            bars.clear();
            eprintln!("error: {error:#}");
            std::process::exit(FAILURE);
        }
    }
}

fn tune(cli: &TuneArgs, bars: &bars::Bars) -> Result<String> {
    let output = output_path(cli)?;
    check_writable(&output)?;
    let start = Weights::load(&cli.params)?;
    let input = fs::read_to_string(&cli.params).with_context(|| cli.params.display().to_string())?;
    use_threads(cli.threads)?;
    let job = Job {
        sources: sources(&cli.epd)?,
        start,
        selection: Selection { only: cli.only.clone(), freeze: cli.freeze.clone() },
        resolve: cli.resolve,
        method: cli.method,
        seed: cli.seed,
        batch: batch(cli)?,
        prior: cli.prior,
        k: cli.k,
        skip_bad: cli.skip_bad,
    };
    let report = run(job, bars)?;
    let text = render(&input, &report.tuned, Some(&report.provenance()))?;
    {
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        write_atomically(&output, &text)?;
    }
    let output = output.display().to_string();
    Ok(if cli.json { format!("{:#}", report.to_json(&output)) } else { report.to_table(&output) })
}

fn evaluate(args: &EvaluateArgs, bars: &bars::Bars) -> Result<String> {
    let parameters = args.params.iter().map(|path| Ok(Weights::load(path)?)).collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = args.params.iter().map(|path| path.display().to_string()).collect();
    use_threads(args.threads)?;
    let (positions, found) = evaluate::evaluate(sources(&args.epd)?, &parameters, args.k, args.skip_bad, bars)?;
    if !args.json {
        return Ok(evaluate::table(&names, positions, &found));
    }
    let files: serde_json::Map<String, Value> =
        names.into_iter().zip(&found).map(|(name, found)| (name, json!(found))).collect();
    Ok(format!("{:#}", json!({ "positions": positions, "parameters": files })))
}

fn use_threads(threads: Option<u16>) -> Result<()> {
    if let Some(threads) = threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    Ok(())
}

fn sources(files: &[PathBuf]) -> Result<Vec<Source>> {
    if files.is_empty() {
        return Ok(vec![Source::embedded(DEFAULT_DATA.0, DEFAULT_DATA.1)?]);
    }
    files.iter().map(|file| Ok(Source::open(file)?)).collect()
}

/// Rows a step looks at.
fn batch(cli: &TuneArgs) -> Result<Option<usize>> {
    if cli.batch.is_some() && cli.method != Method::Adam {
        bail!("--batch is for --method adam; {} looks at all positions", cli.method.name());
    }
    Ok(cli.batch.map(|size| size as usize))
}

/// Where to write: as told, else to `params/tuned.toml`, but never silently over the input.
fn output_path(cli: &TuneArgs) -> Result<PathBuf> {
    if let Some(output) = &cli.output {
        return Ok(output.clone());
    }
    let output = Path::new("params/tuned.toml");
    if let (Ok(input), Ok(target)) = (fs::canonicalize(&cli.params), fs::canonicalize(output))
        && input == target
    {
        bail!("{}: is the input; name it with --output to overwrite it", output.display());
    }
    Ok(output.to_owned())
}
