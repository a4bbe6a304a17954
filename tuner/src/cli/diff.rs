//! `tuner diff`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use common::input;
use engine::eval::params::Weights;
use engine::eval::toml_file::scale_of;
use tuner::answer::diff::{Diff, FileNumbers};
use tuner::source::numbers::Numbers;
use tuner::write::numbers_in;

use super::PrintArgs;
use super::parameters::ParamsFile;

/// The arguments of `tuner diff`.
#[derive(Args)]
pub(crate) struct DiffArgs {
    /// Numbers before: a parameter file of Merino, or a file of another engine that `tuner --output` wrote.
    #[arg(value_name = "BEFORE")]
    before: PathBuf,

    /// Numbers after.
    #[arg(value_name = "AFTER")]
    after: PathBuf,

    #[command(flatten)]
    print: PrintArgs,

    /// The number of largest changes to list.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    count: usize,
}

impl DiffArgs {
    pub(crate) fn run(&self) -> Result<String> {
        let files = [&self.before, &self.after];
        // If one file is Merino's, the other must be, too.
        let [before, after] = if files.iter().any(|path| is_own(path)) {
            files.map(|path| read_own(path))
        } else {
            files.map(|path| read_external(path))
        };
        let diff = Diff::new(before?, after?, self.count);
        Ok(self.print.form(diff.to_table(), &diff))
    }
}

/// Returns true if a file has parameters of Merino, or cannot be read.
fn is_own(path: &Path) -> bool {
    let text = input::read_text(path, input::SETTINGS);
    text.map_or(true, |text| Weights::from_toml(&text).is_ok())
}

/// Reads a parameter file of Merino.
fn read_own(path: &Path) -> Result<FileNumbers> {
    let file = ParamsFile::open(path)?;
    let scale = scale_of(&file.text).with_context(|| file.name.clone())?;
    let numbers = Numbers::declared();
    let values = numbers.iter().zip(file.weights.to_vector());
    let entries = values.map(|(number, value)| (number.table.clone(), number.name.clone(), value)).collect();
    Ok((file.name, entries, scale.map(|(scale, _)| scale)))
}

/// Reads a file of another engine's numbers.
fn read_external(path: &Path) -> Result<FileNumbers> {
    let name = path.display().to_string();
    let text = input::read_text(path, input::SETTINGS).with_context(|| format!("{name}: cannot be read"))?;
    let numbers = numbers_in(&text).with_context(|| name.clone())?;
    Ok((name, numbers, None))
}
