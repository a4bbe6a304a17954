//! The engine's source files, from which starting values are read and into which tuned numbers are written.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::{Kind, RunFiles, WriteError, write_all_whole};
use tuner::source::Parameter;
use tuner::write::{PairPattern, Rewritten, Sources};

use crate::cli::interrupt;

/// The source files and the form of their numbers.
#[derive(Args)]
pub(crate) struct SourceArgs {
    /// Start from the numbers that stand in this source file now, not from those that the rows declare. May be given
    /// several times; see --rewrite for what is found in it.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    start_from: Vec<PathBuf>,

    /// Write the tuned numbers into this source file (C, C++, C#, Go, Java, Python, Rust, Zig, JSON, TOML), in the
    /// place of those that stand there; nothing else of it changes but blanks between columns. Parameters stand under
    /// their names in the rows: `Mobility[2][7]` is in the declaration of `Mobility`; the numbers of a pair `P` may
    /// also be called `P_MG` and `P_EG`. May be given several times: each parameter that is not frozen must be declared
    /// once in all of them, or nothing is written.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    rewrite: Vec<PathBuf>,

    /// The form of pairs in the sources: S({mg}, {eg}), make_score({mg}, {eg}), ({eg} << 16) + {mg}. Otherwise, two
    /// numbers in any brackets are a pair.
    #[arg(long, value_name = "SHAPE", help_heading = "Output")]
    pair: Option<PairPattern>,

    /// Show what --rewrite would change, as `diff -u` does, and write nothing.
    #[arg(long, requires = "rewrite", conflicts_with = "output", help_heading = "Output")]
    pub(super) dry_run: bool,
}

/// The starting values, and findings about the sources.
#[derive(Debug, Default)]
pub(super) struct SourceStart {
    /// The parameters, with the values of --start-from.
    pub(super) parameters: Vec<Parameter>,
    /// Description of the difference between --start-from and the rows.
    pub(super) description: Option<String>,
    /// A warning that --rewrite names sources with other values than the start.
    pub(super) warning: Option<String>,
    /// True for each parameter that the initialiser lists of --rewrite leave out, so that it stays 0.
    pub(super) left_out: Vec<bool>,
}

impl SourceArgs {
    /// Returns true if sources are rewritten.
    pub(super) fn rewrites(&self) -> bool {
        !self.rewrite.is_empty()
    }

    /// Registers the sources as inputs and outputs of the run.
    pub(super) fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        let read = self.start_from.iter().filter(|path| !self.rewrite.contains(path));
        read.into_iter().try_for_each(|path| files.reads("--start-from", path))?;
        self.rewrite.iter().try_for_each(|path| files.writes("--rewrite", path, Kind::ANY))
    }

    /// Finds all parameters in the sources, before the fit, and reads their starting values.
    ///
    /// # Errors
    /// If some are not found in the sources.
    pub(super) fn start(&self, declared: &[Parameter], fixed: &[bool]) -> Result<SourceStart> {
        let (mut parameters, mut description, mut warning) = (declared.to_vec(), None, None);
        let mut left_out = vec![false; declared.len()];
        if !self.start_from.is_empty() {
            let sources = Sources::read(&self.start_from)?;
            parameters = sources.find(declared, fixed, self.pair.as_ref())?.values(declared);
            let (differing, all) = differing(&parameters, declared);
            let files = names(&self.start_from);
            description = Some(format!("{differing} of {all} numbers are not those of the rows: {files}"));
        }
        if self.rewrites() {
            let sources = Sources::read(&self.rewrite)?;
            let found = sources.find(declared, fixed, self.pair.as_ref())?;
            let (differing, all) = differing(&found.values(declared), &parameters);
            left_out = found.left_out().to_vec();
            found.rewritten(&parameters)?;
            warning = (differing > 0).then(|| {
                let files = names(&self.rewrite);
                format!("{differing} of {all} numbers in {files} are not those that the fit starts from (--start-from)")
            });
        }
        Ok(SourceStart { parameters, description, warning, left_out })
    }

    /// Reads the sources and replaces the values of parameters. Those that lists leave out must be 0.
    ///
    /// # Errors
    /// If some are not found, or cannot be written there.
    pub(super) fn rewritten(
        &self,
        parameters: &[Parameter],
        fixed: &[bool],
        left_out: &[bool],
    ) -> Result<Vec<Rewritten>> {
        let mut parameters = parameters.to_vec();
        for (parameter, _) in parameters.iter_mut().zip(left_out).filter(|(_, left_out)| **left_out) {
            parameter.start.fill(0.0);
        }
        Sources::read(&self.rewrite)?.find(&parameters, fixed, self.pair.as_ref())?.rewritten(&parameters)
    }

    /// Writes the sources; with --dry-run, returns the changes as a diff instead.
    pub(super) fn write(&self, rewritten: &[Rewritten]) -> Result<Option<String>, WriteError> {
        if self.dry_run {
            return Ok(Some(rewritten.iter().map(Rewritten::diff).collect()));
        }
        let changed = rewritten.iter().filter(|file| file.changed > 0);
        let changed: Vec<(&PathBuf, &Vec<u8>)> = changed.map(|file| (&file.path, &file.after)).collect();
        interrupt::written_once(|| write_all_whole(&changed))?;
        Ok(None)
    }
}

/// Counts the numbers that differ, and all numbers.
fn differing(parameters: &[Parameter], others: &[Parameter]) -> (usize, usize) {
    let numbers = |all: &[Parameter]| all.iter().flat_map(|one| &one.start).copied().collect::<Vec<f64>>();
    let (own, others) = (numbers(parameters), numbers(others));
    (own.iter().zip(&others).filter(|(a, b)| a != b).count(), own.len())
}

/// Joins paths by commas.
fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
