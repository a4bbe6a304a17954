//! Commands of a loop with their values, and what they must have written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::args::CommandLine;

/// A program that a step runs, and the words behind its name.
pub(super) type Call = (PathBuf, Vec<String>);

/// A command line with its values.
pub(super) fn call(line: &CommandLine, values: &[(&str, Vec<String>)]) -> Result<Call> {
    let mut words = line.filled(values);
    let first = words.remove(0);
    let program = line.program()?;
    Ok((if text(&program).contains("{engine}") { first.into() } else { program }, words))
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Refuses a step that is done and has not made its file.
pub(super) fn written(path: &Path, is_done: bool) -> Result<()> {
    if is_done && !fs::metadata(path).is_ok_and(|file| file.len() > 0) {
        bail!("{}: was not written", path.display());
    }
    Ok(())
}
