//! `tuner diff`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use engine::eval::toml_file::scale_of;
use tuner::inspect::diff::{Diff, Parameters};

use super::PrintArgs;
use super::parameters::ParamsFile;

/// The arguments of `tuner diff`.
#[derive(Args)]
pub(crate) struct DiffArgs {
    /// Parameters before.
    #[arg(value_name = "BEFORE")]
    before: PathBuf,

    /// Parameters after.
    #[arg(value_name = "AFTER")]
    after: PathBuf,

    #[command(flatten)]
    print: PrintArgs,

    /// How many of the largest changes to list.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    count: usize,
}

impl DiffArgs {
    pub(crate) fn run(&self) -> Result<String> {
        let [before, after] = [ParamsFile::open(&self.before)?, ParamsFile::open(&self.after)?];
        let diff = Diff::new(parameters(&before)?, parameters(&after)?);
        let names = [&before.name[..], &after.name[..]];
        Ok(if self.print.json {
            format!("{:#}", diff.to_json(names, self.count))
        } else {
            diff.to_table(names, self.count)
        })
    }
}

/// The parameters of a file, and K if it gives it.
fn parameters(file: &ParamsFile) -> Result<Parameters<'_>> {
    let scale = scale_of(&file.text).with_context(|| file.name.clone())?;
    Ok(Parameters { weights: &file.weights, scale: scale.map(|(scale, _)| scale) })
}
