//! `tuner report`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use common::files::{HTML, RunFiles};
use common::input;
use tuner::answer::report::{Page, compare, page};
use tuner::run::settings::scale;
use tuner::write::toml::provenance_of;
use tuner::write::values_of;

use super::evaluation::EvaluationArgs;
use super::parameters::{BASELINE, ParamsFile, TUNED};
use crate::cli::bars::Bars;
use crate::cli::interrupt;

/// The arguments of `tuner report`.
#[derive(Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    evaluation: EvaluationArgs,

    /// Numbers to compare with: a parameter file of Merino; for another engine, a file that `tuner --output` wrote, TOML
    /// or JSON. Otherwise, Merino's is compared with params/baseline.toml, and an engine's with itself.
    #[arg(long, value_name = "FILE", help_heading = "Parameters")]
    against: Option<PathBuf>,

    /// K, the scale from centipawns to expected results, for both; fitted to each if not given.
    #[arg(long, value_name = "K", value_parser = scale, help_heading = "Objective")]
    k: Option<f64>,

    /// The file of the page.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
}

impl ReportArgs {
    pub(crate) fn run(&self, bars: &Bars) -> Result<String> {
        let is_own = self.evaluation.is_own();
        let (params, baseline) = (self.evaluation.params(TUNED), PathBuf::from(BASELINE));
        let against = self.against.as_ref().or(is_own.then_some(&baseline));
        let mut files = RunFiles::default();
        self.evaluation.register(&mut files, Some(TUNED))?;
        against.iter().try_for_each(|path| files.reads("--against", path))?;
        files.writes("--output", &self.output, HTML)?;
        self.evaluation.machine.use_threads()?;
        let contents = if is_own {
            let (tuned, start) = (ParamsFile::open(&params)?, ParamsFile::open(against.unwrap_or(&baseline))?);
            let problem = |file: &ParamsFile| self.evaluation.own_problem(file.weights.clone(), bars);
            let (of_tuned, of_start) = (problem(&tuned)?, problem(&start)?);
            let contents = compare((tuned.name, &of_tuned), (start.name, &of_start), self.k, bars)?;
            Page {
                text: format!("{}\n\n{}", contents.text, provenance_of(&tuned.text).unwrap_or_default()),
                ..contents
            }
        } else {
            let tuned = self.evaluation.external_problem(&|_| Ok(()), |_| Ok(()), bars)?;
            let (mut start, mut name) = (tuned.clone(), "itself".to_owned());
            if let Some(path) = against {
                name = path.display().to_string();
                let text = input::read_text(path, input::SETTINGS).with_context(|| name.clone())?;
                let found = values_of(&text, tuned.parameters());
                start.start_from(found.with_context(|| name.clone())?);
            }
            compare((self.evaluation.name(), &tuned), (name, &start), self.k, bars)?
        };
        interrupt::write(&self.output, page(&contents))?;
        Ok(format!("wrote {}", self.output.display()))
    }
}
