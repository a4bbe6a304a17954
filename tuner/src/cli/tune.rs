//! A fit: `tuner` without a command, and `tuner fit`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use common::files::{HTML, PARAMETERS, RunFiles, WriteError};
use common::{note, out};
use engine::eval::params::Weights;
use serde_json::{Value, json};
use tuner::answer::report::{Page, page};
use tuner::run::{Hooks, Outcome, Seconds, Settings, run};
use tuner::source::{Parameter, Problem, with_values};
use tuner::write::toml::{provenance, provenance_of, render};
use tuner::write::{Language, check_names, emit};

use super::evaluation::EvaluationArgs;
use super::parameters::{BASELINE, ParamsFile};
use super::reference::ReferenceArgs;
use super::sources::{SourceArgs, SourceStart};
use super::{CommandOutput, PrintArgs};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// The default output of tuned parameters of Merino: in the working directory, so that the shipped file is kept.
const OUTPUT: &str = "tuned.toml";

/// The phase weight of pawns, frozen by default. Parameters tuned with it frozen are about 80 Elo stronger than those
/// tuned with it (`params/README.md`).
const PAWN_PHASE: &str = "phase.pawn";

/// Help for authors of other engines: the format of rows.
pub(super) const FORMAT: &str = "\
Your engine writes rows as text, in any language; docs/rows.md describes the format:

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

An engine can also answer FENs with rows on request: see docs/your-engine.md and kit/.";

/// The arguments of a fit.
#[derive(Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    evaluation: EvaluationArgs,

    /// Fit the rows, however far they are from the engine's own scores.
    #[arg(long, conflicts_with_all = ["tolerance", "check"], help_heading = "Data")]
    trust_rows: bool,

    /// Compare rows and formula with the engine's own scores, and fit nothing; exit status 1 if they do not agree.
    #[arg(long, help_heading = "Data")]
    check: bool,

    /// Tune Merino's phase weight of pawns, too. Otherwise it keeps its start unless a pattern names it: a taper by
    /// pawns predicts results better, and plays worse.
    #[arg(long, help_heading = "Parameters")]
    pawn_phase: bool,

    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    verdict: ReferenceArgs,

    #[command(flatten)]
    sources: SourceArgs,

    /// The format of the output for another engine than Merino.
    #[arg(long, value_enum, default_value_t = Language::Toml, help_heading = "Output")]
    emit: Language,

    /// The output file; never the file that --params names. Without it, Merino's parameters go to tuned.toml; those of
    /// another engine go to standard output, and the table of the run to standard error.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Write the tuned parameters back into the file that --params names.
    #[arg(long, requires = "params", conflicts_with = "output", help_heading = "Output")]
    write_back: bool,

    /// Write a page about the run: its course, calibration, parameters before and after. One file for a browser.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,

    #[command(flatten)]
    print: PrintArgs,
}

impl TuneArgs {
    /// Runs the fit. `is_fit` is true for the command `tuner fit`, which excludes Merino's own evaluation.
    pub(crate) fn run(&self, is_fit: bool, bars: &Bars) -> Result<CommandOutput> {
        self.check_files()?;
        if is_fit && self.evaluation.is_own() {
            bail!(
                "tuner fit: --engine COMMAND or --rows FILE says which evaluation is fitted; `tuner` fits Merino's own"
            );
        }
        let mut settings = self.settings();
        let started = Instant::now();
        self.evaluation.machine.use_threads()?;
        let params =
            self.evaluation.is_own().then(|| ParamsFile::open(&self.evaluation.params(BASELINE))).transpose()?;
        let (problem, fixed, start) = match &params {
            Some(file) => {
                let problem = self.evaluation.own_problem(file.weights.clone(), bars)?;
                (problem, Vec::new(), SourceStart::default())
            }
            None => self.external_problem(&mut settings, bars)?,
        };
        if self.check {
            return self.check_report(&problem);
        }
        let read = started.elapsed().as_secs_f64();
        let (declared, references) = (problem.parameters().to_vec(), self.verdict.sources()?);
        let hooks = Hooks { stop: Some(&interrupt::STOP), fitting: Some(&interrupt::fitting), ..Hooks::new(bars) };
        let seconds = Seconds { read, total: read, ..Seconds::default() };
        let outcome = run(problem, references, &settings, seconds, hooks)?;
        match params {
            Some(file) => self.finish_own(&outcome, &file, bars),
            None => self.finish_external(&outcome, &with_values(&declared, &outcome.theta), (&fixed, &start), bars),
        }
    }

    /// Returns the settings that the flags give.
    fn settings(&self) -> Settings {
        let mut settings = Settings { explain: self.report.is_some(), ..self.settings.clone() };
        if self.trust_rows {
            settings.tolerance = f64::INFINITY;
        }
        if self.evaluation.is_own() && !self.pawn_phase && !settings.constraints.names(PAWN_PHASE) {
            settings.constraints.freeze.push(PAWN_PHASE.to_owned());
        }
        settings
    }

    /// Reads the problem of another evaluation. Returns it, true for each parameter that keeps its start, and the start
    /// from the sources.
    fn external_problem(&self, settings: &mut Settings, bars: &Bars) -> Result<(Problem, Vec<bool>, SourceStart)> {
        let (mut fixed, mut start) = (Vec::new(), SourceStart::default());
        let emits = !self.check && self.emits();
        let accept_names = |parameters: &[Parameter]| match emits {
            true => check_names(parameters).map_err(|error| error.to_string()),
            false => Ok(()),
        };
        let accept = |mut declared: Problem| {
            if emits {
                check_names(declared.parameters()).with_context(|| self.evaluation.name())?;
            }
            fixed = declared.fixed(&settings.constraints, settings.normalize)?;
            start = self.sources.start(declared.parameters(), &fixed)?;
            declared.start_from(start.parameters.clone());
            declared.constrained(&settings.constraints, settings.normalize).map(drop)
        };
        let mut problem = self.evaluation.external_problem(&accept_names, accept, bars)?;
        problem.warnings.extend(start.warning.take());
        problem.warnings.extend(problem.keep_at_zero(&start.left_out, &mut settings.constraints));
        problem.start_from(std::mem::take(&mut start.parameters));
        Ok((problem, fixed, start))
    }

    /// Writes parameters of Merino, and the report. Returns the table or JSON of the run.
    fn finish_own(&self, outcome: &Outcome, file: &ParamsFile, bars: &Bars) -> Result<CommandOutput> {
        let output = self.own_output();
        let block = provenance(outcome, self.evaluation.resolve);
        let text = render(&file.text, &Weights::from_vector(&outcome.theta).0, Some(&block))?;
        let shown = output.display().to_string();
        let table = outcome.to_table();
        let unwritten = || format!("{table}\nwrote        standard output");
        let on_error = |_: &WriteError| show_unwritten(&unwritten(), &text, bars);
        let lines = provenance_of(&block).unwrap_or_default();
        self.write_page(outcome, [&shown, &file.name, &lines]).inspect_err(on_error)?;
        let refusal = self.write_back.then(|| self.verdict.refusal(&outcome.references, &shown)).flatten();
        if let Some(refusal) = refusal {
            bars.note(&format!("{}\n{refusal}", unwritten()));
            return Ok(CommandOutput { text, is_good: false });
        }
        interrupt::write(&output, &text).inspect_err(on_error)?;
        let mut json = serde_json::to_value(outcome)?;
        json["output"] = json!(shown);
        let params = self.evaluation.params(BASELINE);
        let (file, params) = (shell_path(&shown), params.to_string_lossy());
        let table = format!(
            "{table}\nwrote        {shown}\nbuild with   MERINO_PARAMS={file} cargo build --release\n\
             test with    arena sprt --params {file} --against {}",
            shell_path(&params)
        );
        Ok(self.print.form(table, &json).into())
    }

    /// Writes parameters of another engine, the report and the sources. Returns the text for standard output.
    fn finish_external(
        &self,
        outcome: &Outcome,
        parameters: &[Parameter],
        (fixed, start): (&[bool], &SourceStart),
        bars: &Bars,
    ) -> Result<CommandOutput> {
        let (mut table, mut json) = (outcome.to_table(), serde_json::to_value(outcome)?);
        let result = |table: &str, json: &Value| self.print.form(table.to_owned(), json);
        let mut shown = None;
        if let Some(description) = &start.description {
            table += &format!("\nstart        {description}");
            json["start"] = json!(description);
        }
        if self.emits() {
            let text = emit(parameters, self.emit)?;
            match &self.output {
                None => shown = Some(text),
                Some(output) => {
                    let on_error = |_: &WriteError| show_unwritten(&result(&table, &json), &text, bars);
                    interrupt::write(output, &text).inspect_err(on_error)?;
                    table += &format!("\nwrote        {}", output.display());
                    json["output"] = json!(output.display().to_string());
                }
            }
        }
        self.write_page(outcome, [&self.evaluation.name(), "their start", ""])
            .inspect_err(|_| bars.note(&result(&table, &json)))?;
        let rewrites = self.sources.rewrites();
        let is_written = rewrites && !self.sources.dry_run;
        let refusal = is_written.then(|| self.verdict.refusal(&outcome.references, "to --rewrite")).flatten();
        if let Some(refusal) = refusal {
            // The numbers go to standard output instead, so that they are not lost.
            bars.note(&format!("{}\n{refusal}", result(&table, &json)));
            return Ok(CommandOutput { text: emit(parameters, Language::Json)?, is_good: false });
        }
        if rewrites {
            let rewritten = self.sources.rewritten(parameters, fixed, &start.left_out);
            let written = rewritten.and_then(|files| Ok((self.sources.write(&files)?, files)));
            // If the sources have changed meanwhile, the result of the fit is still printed.
            let (diff, files) = written.inspect_err(|_| bars.note(&result(&table, &json)))?;
            for file in files.iter().filter(|_| diff.is_none()) {
                table += &format!("\nrewrote      {}: {} numbers", file.path.display(), file.changed);
            }
            let counts =
                files.iter().map(|file| json!({ "file": file.path.display().to_string(), "changed": file.changed }));
            json["rewritten"] = counts.collect();
            shown = diff;
        }
        let result = result(&table, &json);
        let Some(text) = shown else { return Ok(result.into()) };
        bars.note(&result);
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned().into())
    }

    /// Writes the page about the run, if one is wanted, with the names of the numbers and of their start, and the
    /// provenance.
    fn write_page(&self, outcome: &Outcome, [name, start, provenance]: [&str; 3]) -> Result<(), WriteError> {
        let Some(path) = &self.report else { return Ok(()) };
        let text = format!("{}\n\n{provenance}", outcome.to_table());
        let contents = Page { name: name.to_owned(), against: start.to_owned(), outcome: outcome.clone(), text };
        interrupt::write(path, page(&contents))
    }

    /// Reports the comparison of rows and formula with the engine's own scores.
    fn check_report(&self, problem: &Problem) -> Result<CommandOutput> {
        let Some(check) = &problem.check else {
            bail!(
                "--check: {} have no scores of the engine to compare: let them have a column `score`",
                self.evaluation.name()
            );
        };
        if !problem.description.is_empty() {
            note!("{}", problem.description.trim_end());
        }
        let text = self.print.form(check.to_string(), &json!(check));
        Ok(CommandOutput { text, is_good: !check.has_failed(self.settings().tolerance) })
    }

    /// Returns true if parameters of another engine are written in the format of `--emit`.
    fn emits(&self) -> bool {
        self.output.is_some() || !self.sources.rewrites()
    }

    /// Returns the output file of Merino's parameters.
    fn own_output(&self) -> PathBuf {
        match (self.write_back, &self.output) {
            (true, _) => self.evaluation.params(BASELINE),
            (false, Some(output)) => output.clone(),
            (false, None) => OUTPUT.into(),
        }
    }

    /// Checks that the run overwrites none of its own files, and that all outputs are writable.
    fn check_files(&self) -> Result<()> {
        let mut files = RunFiles::default();
        self.evaluation.register(&mut files, (!self.write_back).then_some(BASELINE))?;
        if self.evaluation.is_own() {
            self.register_own(&mut files)?;
        } else {
            self.output.iter().try_for_each(|output| files.writes("--output", output, self.emit.kind()))?;
        }
        self.report.iter().try_for_each(|path| files.writes("--report", path, HTML))?;
        self.verdict.register(&mut files)?;
        if !self.evaluation.rows.is_empty() && !self.verdict.reference.is_empty() {
            bail!("--reference: rows of a file cannot be asked about other positions; use --engine");
        }
        Ok(self.sources.register(&mut files)?)
    }

    /// Registers the files of a fit of Merino's own evaluation.
    fn register_own(&self, files: &mut RunFiles) -> Result<()> {
        if self.sources.rewrites() || self.check {
            bail!(
                "--rewrite and --check are for --engine and --rows; --write-back writes into Merino's parameter file"
            );
        }
        let flag = if self.write_back { "--write-back" } else { "--output" };
        files.writes(flag, &self.own_output(), PARAMETERS).map_err(|error| match &error {
            WriteError::Same { other, .. } if other == "--params" => anyhow!("{error}, or replace it by --write-back"),
            _ => error.into(),
        })
    }
}

/// Prints the result and the parameters of a run whose output cannot be written.
fn show_unwritten(result: &str, parameters: &str, bars: &Bars) {
    bars.note(result);
    out!("{}", parameters.trim_end());
}

/// Quotes a path as a shell word that is not taken for a flag.
fn shell_path(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=+./,:@%".contains(&byte);
    let path = format!("{}{path}", if path.starts_with('-') { "./" } else { "" });
    if path.bytes().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
