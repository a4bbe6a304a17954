//! Parameter files of Merino as arguments of commands.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use common::{input, note};
use engine::eval::params::Weights;
use engine::eval::toml_file::{EMBEDDED_TEXT, with_starts};

/// The default start of a fit.
pub(super) const BASELINE: &str = "params/baseline.toml";

/// The parameters that the engine ships with.
pub(super) const TUNED: &str = "params/tuned.toml";

/// Both files as embedded in the program, for working directories without them.
const EMBEDDED: [(&str, &str); 2] = [(BASELINE, include_str!(env!("MERINO_BASELINE"))), (TUNED, EMBEDDED_TEXT)];

/// A parameter file that has been read.
pub(super) struct ParamsFile {
    /// Its name as given.
    pub(super) name: String,
    /// Its text, with every declared field.
    pub(super) text: String,
    pub(super) weights: Weights,
}

impl ParamsFile {
    /// Reads a file. If one of the two known files does not exist, its embedded copy is read. Missing fields, as in files
    /// of older versions, are added at their declared start, with a note.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut name = path.display().to_string();
        let embedded = EMBEDDED.into_iter().find(|&(known, _)| path == Path::new(known));
        let text = match (input::read_text(path, input::SETTINGS), embedded) {
            (Err(error), Some((_, text))) if error.kind() == ErrorKind::NotFound => {
                name.push_str(" (built in)");
                text.to_owned()
            }
            (text, _) => text.with_context(|| format!("{name}: cannot be read"))?,
        };
        let completed = with_starts::<Weights>(&text).map_err(|fault| anyhow!("{name}: {fault}"))?;
        match &completed.added[..] {
            [] => {}
            [path] => note!("{name}: {path} is missing, and added from its declared start"),
            [first, rest @ ..] => {
                note!("{name}: {first} and {} more are missing, and added from their declared starts", rest.len());
            }
        }
        let weights = Weights::from_toml(&completed.text).map_err(|fault| anyhow!("{name}: {fault}"))?;
        Ok(ParamsFile { name, text: completed.text, weights })
    }
}
