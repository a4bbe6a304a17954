//! Reference sets that judge a fit. Numbers that a set judges worse are not written.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use common::files::{RunFiles, WriteError};
use tuner::data::Source;
use tuner::run::{Reference, Verdict, reference, worst};

/// The verdict on a fit.
#[derive(Args)]
#[command(next_help_heading = "Verdict")]
pub(super) struct ReferenceArgs {
    /// Judge the tuned numbers on these positions, too: data with a score for each, of games that are not fitted, best
    /// by deep searches of your engine (`arena relabel`). The program's own reference set comes first.
    #[arg(long, value_name = "FILE")]
    pub(super) reference: Vec<PathBuf>,

    /// Leave the program's own reference set out.
    #[arg(long)]
    no_embedded_reference: bool,

    /// Let --rewrite and --write-back write numbers that a reference set calls worse.
    #[arg(long)]
    anyway: bool,
}

impl ReferenceArgs {
    /// Registers the sets as inputs of the run.
    pub(super) fn register(&self, files: &mut RunFiles) -> Result<(), WriteError> {
        self.reference.iter().try_for_each(|path| files.reads("--reference", path))
    }

    /// Opens the sets.
    pub(super) fn sources(&self) -> Result<Vec<Source>> {
        let own = (!self.no_embedded_reference).then(reference::embedded);
        let given = self.reference.iter().map(|path| Source::open(path));
        Ok(own.into_iter().chain(given).collect::<Result<_, _>>()?)
    }

    /// Returns the reason not to write `target` if a set judges the numbers worse.
    pub(super) fn refusal(&self, references: &[Reference], target: &str) -> Option<String> {
        let worst = worst(references).filter(|worst| worst.verdict == Verdict::Worse && !self.anyway)?;
        Some(format!("not written {target}: {} on {}; --anyway writes them", worst.words(), worst.name))
    }
}
