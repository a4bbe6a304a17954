//! `tuner fit`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use common::files::RunFiles;
use common::note;
use serde_json::json;
use tuner::data::Source;
use tuner::fit::{Declared, Language, Problem, Settings};
use tuner::inspect::report::{Page, page};
use tuner::processes::is_first;

use super::input::Input;
use super::settings::{KeptArgs, PatternArgs, SettingsArgs};
use super::{MachineArgs, MemoryArgs, PrintArgs};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// What an author of another engine has to know first.
const FORMAT: &str = "\
The rows are text that your engine writes, in any language; docs/rows.md has all of the format:

  merino-rows 2
  sum main pair                           a sum of midgame and endgame values
  sum tempo single                        a sum of single values
  fact phase 0 1                          a number of each position: 1 in the opening, 0 in the endgame
  score = taper(main.mg, main.eg, phase) + tempo
  pair main PawnDoubled -13 -42           parameter 0, with the values that it has now
  pair main Mobility[0][3] -5 12          parameter 1
  single tempo Tempo 18                   parameter 2
  rows result score group phase           the columns of the lines that follow, a line a position
  0.5 -31 17 0.75 0:1 1:-2 2:1            a draw, the engine says -31, game 17; then parameter:count

All numbers are White's view: scores in centipawns, results 1, 0.5 and 0, counts White's minus Black's. Write `-` as the
group if you do not know the game. Give the engine's own score: the run then checks whether the rows add up to it, and
what the formula does not have (endgame tables, rounding) follows by itself.

Examples:
  myengine trace quiet.epd | tuner fit --rows - --emit c --output params.h
  tuner fit --rows a.rows.zst --rows b.rows.gz --emit cpp --freeze Tempo --bound 'PSQT=-200..200'
  tuner fit --rows a.rows.zst --rows b.rows.zst=0.5 --output params.toml   rows of b.rows.zst count half
  tuner fit --rows a.rows.zst --validation 0.1 --json --output params.toml";

/// The arguments of `tuner fit`.
#[derive(Args)]
#[command(after_help = FORMAT)]
pub(crate) struct FitArgs {
    /// Rows as text: declarations of sums, parameters and the score, then a line a position; see below. Plain, or
    /// compressed with gzip, zstd, xz or bzip2; `-` for standard input. May be given several times: all files then have
    /// the same declarations, and games of their own. Each may have a weight: every row of a.rows=0.5 counts as half a row.
    #[arg(long, value_name = "FILE[=WEIGHT]", required = true, help_heading = "Data", value_parser = Input::parser())]
    rows: Vec<Input>,

    /// Fit rows although more than a tenth of them differ from the engine's own scores by more than 1 centipawn.
    #[arg(long, help_heading = "Data")]
    trust_rows: bool,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    patterns: PatternArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    kept: KeptArgs,

    /// The language that the tuned parameters are written in.
    #[arg(long, value_enum, default_value_t = Language::Toml, help_heading = "Output")]
    emit: Language,

    /// Where they go; to standard output if not given, and the table of the run to standard error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    print: PrintArgs,
}

impl FitArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        self.check_files()?;
        let constraints = self.patterns.constraints();
        let settings =
            Settings { trust_rows: self.trust_rows, ..self.kept.add_to(self.settings.settings(constraints)?) };
        self.machine.use_threads()?;
        let started = Instant::now();
        let accept = |declared: Declared<'_>| {
            declared.check_names(self.emit).with_context(|| self.rows[0].path.display().to_string())?;
            declared.check(&settings)?;
            Ok::<_, anyhow::Error>(())
        };
        let (paths, weights): (Vec<_>, Vec<_>) =
            self.rows.iter().map(|input| (input.path.clone(), input.weight)).unzip();
        let problem = Problem::read_rows(&paths, &self.memory.storage(), accept, bars)?.with_weights(&weights);
        let read = started.elapsed().as_secs_f64();
        let mut fitted = problem.fit(&settings, self.kept.hooks(bars))?;
        fitted.outcome.seconds.read = read;
        fitted.outcome.seconds.total += read;
        let text = fitted.emit(self.emit)?;
        if let Some(output) = &self.output {
            interrupt::write(output, &text)?;
        }
        if let Some(file) = self.kept.report() {
            let names: Vec<String> = self.rows.iter().map(|input| input.path.display().to_string()).collect();
            interrupt::write(file, page(&Page::of_fit(&fitted, &names.join(", "))))?;
        }
        let Some(output) = &self.output else {
            bars.clear();
            if is_first() {
                note!("{}", self.told(&fitted.to_table(), fitted.to_json()));
            }
            return Ok(text.trim_end().to_owned());
        };
        let mut json = fitted.to_json();
        json["output"] = json!(output.display().to_string());
        Ok(self.told(&format!("{}\nwrote        {}", fitted.to_table(), output.display()), json))
    }

    /// Sees that no file of the run is lost, that all could be written, and that input is read once.
    fn check_files(&self) -> Result<()> {
        let mut files = RunFiles::default();
        self.rows.iter().try_for_each(|input| files.reads("--rows", &input.path))?;
        self.output.iter().try_for_each(|output| files.writes("--output", output, self.emit.kind()))?;
        self.kept.register(&mut files)?;
        if self.rows.iter().filter(|input| input.path.as_os_str() == Source::STANDARD_INPUT).count() > 1 {
            bail!("--rows -: standard input can be read only once");
        }
        Ok(())
    }

    fn told(&self, table: &str, json: serde_json::Value) -> String {
        if self.print.json { format!("{json:#}") } else { table.to_owned() }
    }
}
