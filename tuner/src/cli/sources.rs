//! The engine's own source files: where a fit starts, and where its numbers go.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::{Kind, RunFiles, WriteError, write_all_whole};
use tuner::source::{Parameter, Start as Value};
use tuner::write::{PairPattern, Rewritten, SourceFileError, Sources};

use crate::cli::interrupt;

/// Numbers in source files.
#[derive(Args)]
pub(crate) struct SourceArgs {
    /// Start from the numbers that stand in this source file now, not from those that the rows declare. May be given
    /// several times; see --rewrite for what is found in it.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    start_from: Vec<PathBuf>,

    /// Write the tuned numbers into this source file (C, C++, C#, Go, Java, Python, Rust, Zig, JSON, TOML), in the place
    /// of those that stand there; nothing else of it changes but blanks between columns. Parameters stand under their names in the rows: `Mobility[2][7]` is in
    /// the declaration of `Mobility`; the numbers of a pair `P` may also be called `P_MG` and `P_EG`. May be given
    /// several times: each parameter that is not frozen must be declared once in all of them, or nothing is written.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    rewrite: Vec<PathBuf>,

    /// How the sources write pairs: S({mg}, {eg}), make_score({mg}, {eg}), ({eg} << 16) + {mg}. Otherwise, two numbers
    /// in any brackets are a pair.
    #[arg(long, value_name = "SHAPE", help_heading = "Output")]
    pair: Option<PairPattern>,

    /// Show what --rewrite would change, as `diff -u` does, and write nothing.
    #[arg(long, requires = "rewrite", conflicts_with = "output", help_heading = "Output")]
    dry_run: bool,
}

/// Where the parameters start, and what stands in the sources.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// The parameters, at the values of --start-from.
    pub(super) parameters: Vec<Parameter>,
    /// What is to be told of it.
    pub(super) told: Option<String>,
    /// What is wrong with it.
    pub(super) warning: Option<String>,
    /// By parameter: whether the lists of --rewrite leave it out, so that it stays 0.
    pub(super) left_out: Vec<bool>,
}

impl SourceArgs {
    /// Whether sources are rewritten.
    pub(super) fn rewrites(&self) -> bool {
        !self.rewrite.is_empty()
    }

    /// Whether changes are shown and not written.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Tells the files of the run.
    pub(super) fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        let read = self.start_from.iter().filter(|path| !self.rewrite.contains(path));
        read.into_iter().try_for_each(|path| files.reads("--start-from", path))?;
        self.rewrite.iter().try_for_each(|path| files.writes("--rewrite", path, Kind::ANY))
    }

    /// Finds all parameters, before anything is fitted, and where they start.
    ///
    /// # Errors
    /// If some are not found in the sources.
    pub(super) fn start(&self, declared: &[Parameter], fixed: &[bool]) -> Result<Start, SourceFileError> {
        let read =
            |paths: &[PathBuf]| Ok(Sources::read(paths)?.find(declared, fixed, self.pair.as_ref())?.values(declared));
        let (mut parameters, mut told, mut warning) = (declared.to_vec(), None, None);
        let mut left_out = vec![false; declared.len()];
        if !self.start_from.is_empty() {
            parameters = read(&self.start_from)?;
            let (differing, all) = differing(&parameters, declared);
            told = Some(format!("{differing} of {all} numbers are not those of the rows: {}", names(&self.start_from)));
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
        Ok(Start { parameters, told, warning, left_out })
    }

    /// The sources with the values of parameters, as they are now; those that lists leave out are 0.
    ///
    /// # Errors
    /// If some are not found, or cannot be written there.
    pub(super) fn rewritten(
        &self,
        parameters: &[Parameter],
        fixed: &[bool],
        left_out: &[bool],
    ) -> Result<Vec<Rewritten>, SourceFileError> {
        let mut parameters = parameters.to_vec();
        for (parameter, _) in parameters.iter_mut().zip(left_out).filter(|(_, left_out)| **left_out) {
            parameter.start = match parameter.start {
                Value::Single(_) => Value::Single(0.0),
                Value::Pair(_) => Value::Pair([0.0; 2]),
            };
        }
        Sources::read(&self.rewrite)?.find(&parameters, fixed, self.pair.as_ref())?.rewritten(&parameters)
    }

    /// Writes them; if that is not to be done, what would change.
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

/// How many numbers differ, of how many.
fn differing(parameters: &[Parameter], others: &[Parameter]) -> (usize, usize) {
    let numbers = |all: &[Parameter]| all.iter().flat_map(|one| one.start.numbers()).copied().collect::<Vec<f64>>();
    let (own, others) = (numbers(parameters), numbers(others));
    (own.iter().zip(&others).filter(|(a, b)| a != b).count(), own.len())
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
