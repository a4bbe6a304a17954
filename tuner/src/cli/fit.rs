//! `tuner fit`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use common::files::{RunFiles, WriteError};
use common::note;
use serde_json::json;
use tuner::data::{Source, Weight};
use tuner::features::Resolve;
use tuner::fit::{CommandLine, Declared, Engine, Fitted, Language, Parameter, Problem, Settings, check_names};
use tuner::inspect::report::{Page, page};
use tuner::processes::is_first;

use super::input::Input;
use super::positive;
use super::reference::ReferenceArgs;
use super::settings::{KeptArgs, PatternArgs, SettingsArgs};
use super::sources::{SourceArgs, Start};
use super::{Answer, DataArgs, MachineArgs, PrintArgs, SampleArgs};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// What an author of another engine has to know first.
const FORMAT: &str = "\
Your engine writes the rows as text, in any language; docs/rows.md describes the format:

  merino-rows 2
  sum main pair                           a sum of midgame and endgame values
  sum tempo single                        a sum of single values
  fact phase 0 1                          a number of each position: 1 opening, 0 endgame
  score = taper(main.mg, main.eg, phase) + tempo
  pair main PawnDoubled -13 -42           parameter 0, with the values that it has now
  pair main Mobility[0][3] -5 12          parameter 1
  single tempo Tempo 18                   parameter 2
  rows result score group phase           the columns of the following lines, one per position
  0.5 -31 17 0.75 0:1 1:-2 2:1            a draw, the engine says -31, game 17; then parameter:count

All numbers are White's view: scores in centipawns, results 1, 0.5 and 0, counts White's minus Black's. Write `-` as the \
group if you do not know the game. Give the engine's own score: the run then checks whether the rows add up to it, and \
keeps the difference (endgame tables, rounding) as a constant of the row.

An engine can also answer FENs with rows on request: see docs/your-engine.md and kit/.

Examples:
  tuner fit --engine './weiss trace' --data games.pgn --sample 1000 --check
  tuner fit --engine './weiss trace' --data games.pgn --cache rows --output params.toml
  myengine trace quiet.epd | tuner fit --rows - --output params.toml
  tuner fit --rows a.rows.zst --rows b.rows.gz --emit json --freeze Tempo --bound 'PSQT=-200..200'
  tuner fit --rows a.rows.zst --rows b.rows.zst=0.5 --output params.toml  those of b count half
  tuner fit --rows a.rows.zst --validation 0.1 --json --output params.toml
  tuner fit --rows rows.zst --rewrite src/evaluate.c --pair 'S({mg},{eg})' --dry-run
  tuner fit --rows rows.zst --start-from src/evaluate.c --rewrite src/evaluate.c  tune it anew";

/// The arguments of `tuner fit`.
#[derive(Args)]
#[command(after_help = FORMAT)]
pub(crate) struct FitArgs {
    /// Rows as text: declarations of sums, parameters and the score, then a line a position; see below. Plain, or
    /// compressed with gzip, zstd, xz or bzip2; `-` for standard input. May be given several times: all files then have
    /// the same declarations, and games of their own. Each may have a weight: every row of a.rows=0.5 counts as half a row.
    #[arg(
        long,
        value_name = "FILE[=WEIGHT]",
        required_unless_present = "engine",
        help_heading = "Data",
        value_parser = Input::parser()
    )]
    rows: Vec<Input>,

    #[command(flatten)]
    asked: AskedArgs,

    /// Centipawns by which a row may differ from the engine's own score. Nothing is fitted if more than a tenth of the
    /// rows differ by more. An engine that divides integers several times is often off by 2 or 3.
    #[arg(long, value_name = "CENTIPAWNS", default_value_t = Settings::TOLERANCE, value_parser = positive, help_heading = "Data")]
    tolerance: f64,

    /// Fit the rows, however far they are from the engine's own scores.
    #[arg(long, conflicts_with_all = ["tolerance", "check"], help_heading = "Data")]
    trust_rows: bool,

    /// Compare rows and formula with the engine's own scores, and fit nothing; exit status 1 if they do not.
    #[arg(long, help_heading = "Data")]
    check: bool,

    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

    #[command(flatten)]
    patterns: PatternArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    kept: KeptArgs,

    #[command(flatten)]
    verdict: ReferenceArgs,

    #[command(flatten)]
    sources: SourceArgs,

    /// The format of the output. With --rewrite there is one only if you name an --output.
    #[arg(long, value_enum, default_value_t = Language::Toml, help_heading = "Output")]
    emit: Language,

    /// The output file. Without it, the parameters go to standard output, and the table of the run to standard error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    print: PrintArgs,
}

/// An engine that makes the rows of positions that it is sent.
#[derive(Args)]
#[command(next_help_heading = "Data")]
struct AskedArgs {
    /// Ask an engine for the rows of the positions in --data, as many processes of it as --threads. It reads FENs and
    /// answers rows: see docs/your-engine.md. Blanks separate the words of the command, except in quotation marks.
    #[arg(long, value_name = "COMMAND", conflicts_with = "rows")]
    engine: Option<CommandLine>,

    /// The position that the engine gets: the leaf of Merino's quiescence search, or the position itself.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch)]
    resolve: Resolve,

    #[command(flatten)]
    timeout: TimeoutArgs,

    /// Keep the answers in this folder: a file of rows, which is used again when data and engine are the same. The
    /// cache does not notice changes of other files that the engine reads.
    #[arg(long, value_name = "FOLDER", requires = "engine")]
    cache: Option<PathBuf>,
}

/// How long an engine is waited for.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub(super) struct TimeoutArgs {
    /// How long the engine may take for an answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = positive)]
    timeout: f64,
}

impl TimeoutArgs {
    pub(super) fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.timeout.min(1e6))
    }
}

impl AskedArgs {
    /// The engine, if one is asked.
    fn engine(&self, processes: usize) -> Option<Engine> {
        let (timeout, resolve) = (self.timeout.duration(), self.resolve);
        self.engine.as_ref().map(|command| Engine { command: command.clone(), processes, timeout, resolve })
    }
}

impl FitArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<Answer> {
        self.check_files()?;
        let constraints = self.patterns.constraints();
        let mut settings =
            Settings { tolerance: self.tolerance(), ..self.kept.add_to(self.settings.settings(constraints)) };
        self.machine.use_threads()?;
        let started = Instant::now();
        let (mut fixed, mut start) = (Vec::new(), Start::default());
        let accept = |declared: Declared<'_>| {
            if !self.check && self.emits() {
                declared.check_names().with_context(|| self.name())?;
            }
            fixed = declared.fixed(&settings)?;
            start = self.sources.start(declared.parameters, &fixed)?;
            declared.at(&start.parameters).check(&settings)?;
            Ok::<_, anyhow::Error>(())
        };
        let storage = self.data.memory.storage();
        let (engine, references) = (self.asked.engine(self.machine.threads()), self.verdict.sources()?);
        let mut problem = match &engine {
            None => {
                let inputs = self.rows.iter().map(|input| (input.path.clone(), input.weight));
                let (paths, weights): (Vec<_>, Vec<_>) = inputs.unzip();
                Problem::read_rows(&paths, &storage, accept, bars)?.with_weights(&weights)
            }
            Some(engine) => {
                let options = self.sample.of(self.data.options());
                let emits = !self.check && self.emits();
                let named = |parameters: &[Parameter]| match emits {
                    true => check_names(parameters).map_err(|error| error.to_string()),
                    false => Ok(()),
                };
                let cache = self.asked.cache.as_deref();
                let rows = engine.ask(self.data.sources()?, &options, cache, &named, bars)?;
                if is_first() {
                    note!("{}", rows.told.trim_end());
                }
                Problem::read_asked(&rows, &storage, accept, bars)?
            }
        };
        problem.warnings.extend(start.warning.take());
        problem.warnings.extend(problem.keep_at_zero(&start.left_out, &mut settings));
        problem.start_from(std::mem::take(&mut start.parameters));
        if self.check {
            return self.checked(&problem);
        }
        let read = started.elapsed().as_secs_f64();
        let mut fitted = problem.fit(&settings, self.kept.hooks(bars))?;
        fitted.outcome.references = match &engine {
            Some(engine) => engine.judge(&fitted, references, bars),
            None => Vec::new(),
        };
        fitted.outcome.seconds.read = read;
        fitted.outcome.seconds.total += read;
        self.finish(&fitted, &fixed, &start, bars)
    }

    /// Writes what was found, and says what there is to say.
    fn finish(&self, fitted: &Fitted, fixed: &[bool], start: &Start, bars: &Bars) -> Result<Answer> {
        let (mut table, mut json) = (fitted.to_table(), fitted.to_json());
        let mut shown = None;
        if let Some(told) = &start.told {
            table += &format!("\nstart        {told}");
            json["start"] = json!(told);
        }
        if self.emits() {
            let text = fitted.emit(self.emit)?;
            match &self.output {
                None => shown = Some(text),
                Some(output) => {
                    let unwritten = |_: &WriteError| interrupt::show_unwritten(&self.told(&table, &json), &text, bars);
                    interrupt::write(output, &text).inspect_err(unwritten)?;
                    table += &format!("\nwrote        {}", output.display());
                    json["output"] = json!(output.display().to_string());
                }
            }
        }
        if let Some(file) = self.kept.report() {
            let written = interrupt::write(file, page(&Page::of_fit(fitted, &self.name())));
            written.inspect_err(|_| self.note(&self.told(&table, &json), bars))?;
        }
        if let Some(refusal) = self.refusal(fitted) {
            // What is not written is not lost.
            let text = fitted.emit(Language::Json)?;
            self.note(&format!("{}\n{refusal}", self.told(&table, &json)), bars);
            return Ok(Answer::new(text, false));
        }
        if self.sources.rewrites() {
            let rewritten =
                self.sources.rewritten(&fitted.parameters, fixed, &start.left_out).map_err(anyhow::Error::from);
            let written = rewritten.and_then(|files| Ok((self.sources.write(&files)?, files)));
            // Should they have changed meanwhile, what was found is not lost.
            let (diff, files) = written.inspect_err(|_| self.note(&self.told(&table, &json), bars))?;
            for file in files.iter().filter(|_| diff.is_none()) {
                table += &format!("\nrewrote      {}: {} numbers", file.path.display(), file.changed);
            }
            let told =
                files.iter().map(|file| json!({ "file": file.path.display().to_string(), "changed": file.changed }));
            json["rewritten"] = told.collect();
            shown = diff;
        }
        let told = self.told(&table, &json);
        let Some(text) = shown else { return Ok(told.into()) };
        self.note(&told, bars);
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned().into())
    }

    /// Why no source is rewritten, if a reference set calls the numbers worse.
    fn refusal(&self, fitted: &Fitted) -> Option<String> {
        let is_written = self.sources.rewrites() && !self.sources.is_dry_run();
        is_written.then(|| self.verdict.refusal(&fitted.references, "to --rewrite")).flatten()
    }

    /// What is fitted, for messages and pages.
    fn name(&self) -> String {
        match &self.asked.engine {
            Some(command) => format!("rows of `{command}`"),
            None => self.rows.iter().map(|input| input.path.display().to_string()).collect::<Vec<_>>().join(", "),
        }
    }

    /// How well the formula agrees with the engine.
    fn checked(&self, problem: &Problem) -> Result<Answer> {
        let Some(check) = &problem.check else {
            bail!("--check: {} have no scores of the engine to compare: let them have a column `score`", self.name());
        };
        let text = self.told(&check.to_string(), &check.to_json());
        Ok(Answer::new(text, !check.has_failed(self.tolerance())))
    }

    /// How far rows may be from the engine's own scores.
    fn tolerance(&self) -> f64 {
        if self.trust_rows { f64::INFINITY } else { self.tolerance }
    }

    /// Says what standard output is not for.
    fn note(&self, text: &str, bars: &Bars) {
        bars.clear();
        if is_first() {
            note!("{text}");
        }
    }

    /// Whether parameters are written as tables of a language.
    fn emits(&self) -> bool {
        self.output.is_some() || !self.sources.rewrites()
    }

    /// Sees that no file of the run is lost, that all could be written, and that input is read once.
    fn check_files(&self) -> Result<()> {
        let mut files = RunFiles::default();
        self.data.register(&mut files)?;
        if self.asked.engine.is_none() && !self.data.epd.is_empty() {
            bail!("--data: rows are data already; positions are for --engine");
        }
        if self.data.epd.iter().any(|input| input.weight != Weight::default()) {
            bail!("--data: weights are for --rows; an engine's rows count alike");
        }
        if self.rows.iter().any(Input::has_reading) {
            bail!("--rows: a file of rows has a weight and no other settings");
        }
        self.rows.iter().try_for_each(|input| files.reads("--rows", &input.path))?;
        self.output.iter().try_for_each(|output| files.writes("--output", output, self.emit.kind()))?;
        self.kept.register(&mut files)?;
        self.verdict.register(&mut files)?;
        if self.asked.engine.is_none() && self.verdict.are_given() {
            bail!("--reference: rows of a file cannot be asked about other positions; use --engine");
        }
        self.sources.register(&mut files)?;
        if self.rows.iter().filter(|input| input.path.as_os_str() == Source::STANDARD_INPUT).count() > 1 {
            bail!("--rows -: standard input can be read only once");
        }
        Ok(())
    }

    fn told(&self, table: &str, json: &serde_json::Value) -> String {
        if self.print.json { format!("{json:#}") } else { table.to_owned() }
    }
}
