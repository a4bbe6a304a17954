//! A tuning run: what `tuner` does without a command.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use clap::Args;
use common::files::{PARAMETERS, RunFiles, WriteError};
use common::note;
use engine::eval::params::Weights;
use tuner::features::Resolve;
use tuner::inspect::report::{Page, page};
use tuner::params_file::render;
use tuner::processes::is_first;
use tuner::tune::{Job, run};

use super::parameters::{BASELINE, ParamsFile};
use super::reference::ReferenceArgs;
use super::settings::{KeptArgs, SettingsArgs};
use super::{Answer, ConstraintArgs, DataArgs, MachineArgs, PrintArgs, SampleArgs};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// Where tuned parameters go if nothing else is said: into the folder at hand, not over what the engine ships with.
const OUTPUT: &str = "tuned.toml";

/// The arguments of a tuning run.
#[derive(Args)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    machine: MachineArgs,

    #[command(flatten)]
    data: DataArgs,

    #[command(flatten)]
    sample: SampleArgs,

    #[command(flatten)]
    parameters: StartArgs,

    #[command(flatten)]
    objective: PositionArgs,

    #[command(flatten)]
    settings: SettingsArgs,

    #[command(flatten)]
    kept: KeptArgs,

    #[command(flatten)]
    verdict: ReferenceArgs,

    #[command(flatten)]
    output: WrittenArgs,

    #[command(flatten)]
    print: PrintArgs,
}

/// What is tuned, and from where.
#[derive(Args)]
#[command(next_help_heading = "Parameters")]
pub(super) struct StartArgs {
    /// Parameters of the start, and the centre of the prior.
    #[arg(long, value_name = "FILE", default_value = BASELINE)]
    pub(super) params: PathBuf,

    #[command(flatten)]
    pub(super) constraints: ConstraintArgs,
}

/// What is minimised.
#[derive(Args)]
#[command(next_help_heading = "Objective")]
pub(super) struct PositionArgs {
    /// The position that counts: the leaf of the quiescence search, or the position itself.
    #[arg(long, value_enum, default_value_t = Resolve::Qsearch)]
    pub(super) resolve: Resolve,
}

/// What is written.
#[derive(Args)]
#[command(next_help_heading = "Output")]
struct WrittenArgs {
    /// The output file; never the file that --params names.
    #[arg(long, value_name = "FILE", default_value = OUTPUT)]
    output: PathBuf,

    /// Write the tuned parameters back into the file that --params names.
    #[arg(long, requires = "params", conflicts_with = "output")]
    write_back: bool,
}

impl TuneArgs {
    /// Where the tuned parameters go.
    fn output(&self) -> &Path {
        if self.output.write_back { &self.parameters.params } else { &self.output.output }
    }

    /// Sees that no file of the run is lost, and that all could be written.
    pub(super) fn check_files(&self) -> Result<()> {
        let mut files = RunFiles::default();
        self.data.register(&mut files)?;
        let output = if self.output.write_back {
            "--write-back"
        } else {
            files.reads("--params", &self.parameters.params)?;
            "--output"
        };
        files.writes(output, self.output(), PARAMETERS).map_err(|error| match &error {
            WriteError::Same { other, .. } if other == "--params" => anyhow!("{error}, or replace it by --write-back"),
            _ => error.into(),
        })?;
        self.kept.register(&mut files)?;
        Ok(self.verdict.register(&mut files)?)
    }

    pub(crate) fn run(&self, bars: &Bars) -> Result<Answer> {
        let (params, output) = (&self.parameters.params, self.output());
        let ParamsFile { name, text: input, weights: start } = ParamsFile::open(params)?;
        self.machine.use_threads()?;
        let report = run(self.job(start)?, self.kept.hooks(bars))?;
        let text = render(&input, &report.tuned, Some(&report.provenance()))?;
        let shown = output.display().to_string();
        let unwritten = |_: &WriteError| interrupt::show_unwritten(&report.to_table("standard output"), &text, bars);
        if let Some(file) = self.kept.report() {
            interrupt::write(file, page(&Page::of_run(&report, shown.clone(), name))).inspect_err(unwritten)?;
        }
        let refusal = self.output.write_back.then(|| self.verdict.refusal(&report.references, &shown)).flatten();
        if let Some(refusal) = refusal {
            bars.clear();
            if is_first() {
                note!("{}\n{refusal}", report.to_table("standard output"));
            }
            return Ok(Answer::new(text.clone(), false));
        }
        interrupt::write(output, &text).inspect_err(unwritten)?;
        if self.print.json {
            return Ok(format!("{:#}", report.to_json(&shown)).into());
        }
        let table = report.to_table(&shown);
        let (shown, params) = (shell_path(&shown), params.to_string_lossy());
        let params = shell_path(&params);
        let told = format!(
            "{table}\nbuild with   MERINO_PARAMS={shown} cargo build --release\n\
             test with    arena sprt --params {shown} --against {params}"
        );
        Ok(told.into())
    }

    /// What the library is to do.
    fn job(&self, start: Weights) -> Result<Job> {
        let settings = self.kept.add_to(self.settings.settings(self.parameters.constraints.constraints()));
        Ok(Job {
            resolve: self.objective.resolve,
            reading: self.sample.of(self.data.options()),
            references: self.verdict.sources()?,
            ..Job::new(self.data.sources()?, start, settings)
        })
    }
}

/// A path as a word of a shell, and as no flag.
fn shell_path(path: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=+./,:@%".contains(&byte);
    let front = if path.starts_with('-') { "./" } else { "" };
    match path.bytes().all(is_plain) {
        true if front.is_empty() => path.into(),
        true => format!("{front}{path}").into(),
        false => format!("'{front}{}'", path.replace('\'', r"'\''")).into(),
    }
}
