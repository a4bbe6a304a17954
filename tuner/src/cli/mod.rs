//! The command line: the arguments of each command, and its calls of the library.
//!
//! Each command has a file. Arguments of several commands are declared here. Flags are grouped by heading, one struct per
//! group: Data, Filters, Parameters, Objective, Method, Output.

mod bars;
mod convert;
mod data;
mod diff;
mod evaluate;
mod evaluation;
mod input;
pub(crate) mod interrupt;
mod outliers;
mod parameters;
mod reference;
mod report;
mod sources;
mod tune;
#[cfg(feature = "mpi")]
pub(crate) mod world;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, CommandFactory, Parser, Subcommand};
use common::files::{RunFiles, WriteError};
use engine::shell_files;
use serde::Serialize;
use tuner::data::{ReadOptions, Source, Weight};

pub(crate) use bars::Bars;
use input::Input;

/// The embedded positions, for runs without data: name and content.
const DEFAULT_DATA: (&str, &[u8]) = ("data/quiet.epd.zst", include_bytes!(env!("MERINO_QUIET")));

/// Fit the numbers of an evaluation to positions whose results or scores are known: Merino's own, or that of any engine
/// (--engine, --rows).
///
/// It minimises  mean (σ(K q) − y)² + λ Σ (θ − s θ₀)²  over the parameters θ, where q is the engine's score of a
/// position in centipawns and White's view, y the result of its game (1, ½, 0), σ(x) = 1 / (1 + 10^(−x/400)), θ₀ the
/// parameters of the start (centipawns; phase weights in their own unit) with a free scale s, and K a scale that it
/// fits to the start once. The minimum is exact: there are no epochs to choose. Progress goes to the terminal, the
/// result to standard output.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    tune: tune::TuneArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Compare how well evaluations predict results: of parameter files, of engines, of rows.
    Evaluate(evaluate::EvaluateArgs),
    /// The same as `tuner` with --engine or --rows; an older spelling.
    #[command(after_help = tune::FORMAT)]
    Fit(Box<tune::TuneArgs>),
    /// Convert data to another format, or filter them.
    Convert(convert::ConvertArgs),
    /// Report on data before you tune to them: counts, duplicates, labels that cannot be right.
    Data(data::DataReportArgs),
    /// List the changes between two parameter files.
    Diff(diff::DiffArgs),
    /// List the positions whose result is furthest from the prediction: mostly wrong labels.
    Outliers(outliers::OutliersArgs),
    /// Write a page about parameters, beside others: boards, calibration, residuals.
    Report(report::ReportArgs),
    /// Write shell completions and manual pages.
    ShellFiles {
        /// The folder for them; they go to `completions` and `man` there.
        folder: PathBuf,
    },
}

const EXAMPLES: &str = "\
Examples:
  tuner                                          tune on the embedded positions, write tuned.toml
  tuner --epd quiet_labeled.epd --resolve static data known to be quiet needs no quiescence search
  tuner --epd a.epd --epd b.epd --output my.toml several files, another output
  tuner --epd a.epd --epd b.epd=0.5              the positions of b.epd count half
  tuner --epd a.epd --freeze phase,psqt.king     some parameters stay as they are
  tuner --epd big.epd --prior 0 --skip-bad 100   no prior, skip up to 100 broken lines
  tuner --epd a.epd --symmetric psqt --prior 1e-9  boards that are their own mirror images";

impl Cli {
    /// Runs the command.
    pub(crate) fn run(&self, bars: &Bars) -> Result<CommandOutput> {
        Ok(match &self.command {
            Some(Command::Evaluate(args)) => args.run(bars)?.into(),
            Some(Command::Fit(args)) => args.run(true, bars)?,
            Some(Command::Convert(args)) => args.run(bars)?.into(),
            Some(Command::Data(args)) => args.run(bars)?.into(),
            Some(Command::Diff(args)) => args.run()?.into(),
            Some(Command::Outliers(args)) => args.run(bars)?.into(),
            Some(Command::Report(args)) => args.run(bars)?.into(),
            Some(Command::ShellFiles { folder }) => {
                shell_files::write(env!("CARGO_BIN_NAME"), Cli::command(), folder)?;
                format!("wrote {}", folder.display()).into()
            }
            None => self.tune.run(false, bars)?,
        })
    }
}

/// The output of a command.
pub(crate) struct CommandOutput {
    /// The text for standard output.
    pub(crate) text: String,
    /// True for exit status 0, false for 1.
    pub(crate) is_good: bool,
}

impl From<String> for CommandOutput {
    fn from(text: String) -> Self {
        CommandOutput { text, is_good: true }
    }
}

/// Labelled positions.
#[derive(Args)]
#[command(next_help_heading = "Data")]
struct DataArgs {
    /// Labelled positions: a file in any format of the field, recognised by its content, plain or compressed with gzip,
    /// zstd, xz or bzip2; a folder for all such files in it; `-` for standard input. May be given several times, each
    /// with a weight: every position of a.epd=0.5 counts as half a position. Other settings of a set follow as words:
    /// a.epd=weight:0.5,view:mover,score-view:white,results:signed,scores:pawns,result-in:c1,score-in:eval,sample:50000.
    /// A file with such a name is taken as it is. Without --epd, the embedded positions.
    #[arg(long, visible_alias = "data", value_name = "FILE[=WEIGHT]", value_parser = Input::parser())]
    epd: Vec<Input>,

    #[command(flatten)]
    options: ReadOptions,
}

impl DataArgs {
    /// Returns these files, followed by those of `--epd`; the embedded positions if there are none.
    fn sources(&self, files: &[Input]) -> Result<Vec<Source>> {
        if files.is_empty() && self.epd.is_empty() {
            return Ok(vec![Source::in_memory(DEFAULT_DATA.0, DEFAULT_DATA.1)?]);
        }
        let found = files.iter().chain(&self.epd).map(Input::sources).collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Registers the data as inputs of the run.
    fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        self.epd.iter().try_for_each(|input| files.reads("--epd", &input.path))
    }
}

/// Labelled positions of commands whose only input they are.
#[derive(Args)]
struct InputArgs {
    #[command(flatten)]
    machine: MachineArgs,

    /// Labelled positions, as for --epd.
    #[arg(value_name = "FILE", value_parser = Input::parser())]
    files: Vec<Input>,

    #[command(flatten)]
    data: DataArgs,
}

impl InputArgs {
    fn sources(&self) -> Result<Vec<Source>> {
        if let Some(input) = self.files.iter().chain(&self.data.epd).find(|input| input.weight != Weight::default()) {
            bail!(
                "{}: a weight ({}) is for what is fitted; all positions are alike here",
                input.path.display(),
                input.weight
            );
        }
        self.data.sources(&self.files)
    }

    /// Registers the data as inputs of the run.
    fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        self.files.iter().try_for_each(|input| files.reads("data", &input.path))?;
        self.data.register(files)
    }
}

/// The use of the machine. Must precede groups with a heading, as it has none of its own.
#[derive(Args)]
struct MachineArgs {
    /// Threads; all cores if not given. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl MachineArgs {
    /// Returns the number of threads.
    fn threads(&self) -> usize {
        self.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }

    /// Starts the global thread pool with this number of threads.
    fn use_threads(&self) -> Result<()> {
        if let Some(threads) = self.threads {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
            pool.build_global().with_context(|| format!("--threads {threads}: so many threads cannot be started"))?;
        }
        Ok(())
    }
}

/// The form of the printed result.
#[derive(Args)]
#[command(next_help_heading = "Output")]
struct PrintArgs {
    /// Print the result as one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

impl PrintArgs {
    /// Returns the result in the form that `--json` chooses.
    fn form(&self, table: String, json: &impl Serialize) -> String {
        if self.json { serde_json::to_string_pretty(json).expect("names are strings") } else { table }
    }
}
