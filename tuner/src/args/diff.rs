//! `tuner diff`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use engine::eval::params::Weights;
use engine::eval::toml_file::scale_of;
use tuner::diff::{Diff, Parameters};

use super::PrintArgs;

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

    /// How many of the largest changes are listed.
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Output")]
    count: usize,
}

impl DiffArgs {
    pub(crate) fn run(&self) -> Result<String> {
        let [(before, before_scale), (after, after_scale)] = [load(&self.before)?, load(&self.after)?];
        let diff = Diff::new(
            Parameters { weights: &before, scale: before_scale },
            Parameters { weights: &after, scale: after_scale },
        );
        let names = [&self.before, &self.after].map(|path| path.display().to_string());
        let names = [&names[0][..], &names[1][..]];
        Ok(if self.print.json {
            format!("{:#}", diff.to_json(names, self.count))
        } else {
            diff.to_table(names, self.count)
        })
    }
}

/// The parameters of a file, and K if it gives it.
fn load(path: &Path) -> Result<(Weights, Option<f64>)> {
    let weights = Weights::load(path)?;
    let name = || path.display().to_string();
    let text = fs::read_to_string(path).with_context(name)?;
    let scale = scale_of(&text).with_context(name)?;
    Ok((weights, scale.map(|(scale, _)| scale)))
}
