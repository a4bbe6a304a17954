//! Parameter files: the embedded one, and any other at run time, through one strict parser.
//!
//! `params/baseline.toml` shows the shape: a key for each declared field, a table where the field is keyed by names,
//! `[midgame, endgame]` for a pair, and for a board a drawing of each half with rank 8 on top. What the file must hold
//! is not written down a second time here: it follows from the declaration in [`params`](super::params). One more key,
//! [`SCALE`], may be there.
//!
//! Reading is strict: a file from before a field existed is refused. [`with_starts`] brings such a file up to date.

mod error;
mod node;
mod read;
mod spelling;
mod starts;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::LazyLock;

use common::input;

use super::Evaluator;
use super::params::Weights;
pub use error::ParamsError;
pub use read::{Cell, SCALE, cells_of, read, scale_of};
pub use starts::{Completed, with_starts};

/// Text of the parameter file that was embedded when the engine was built; `build.rs` has checked it.
pub const EMBEDDED_TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/params.toml"));

/// Name of that file, as it was given to the build: `params/tuned.toml`, or what `MERINO_PARAMS` said.
pub const EMBEDDED_NAME: &str = env!("MERINO_EMBEDDED_NAME");

impl Weights {
    /// Reads the weights from a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds a fault; the message begins with the name of the file.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ParamsError> {
        load(path.as_ref(), Self::from_toml)
    }

    /// The weights that were embedded when the engine was built.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<Weights> =
            LazyLock::new(|| Weights::from_toml(EMBEDDED_TEXT).expect("build.rs has read the same text"));
        &EMBEDDED
    }
}

impl Evaluator {
    /// The evaluation by the parameters, and with the scale, of a text.
    ///
    /// # Errors
    ///
    /// As [`Weights::from_toml`].
    pub fn from_toml(text: &str) -> Result<Self, ParamsError> {
        let evaluator = Evaluator::new(Weights::from_toml(text)?);
        Ok(match scale_of(text)? {
            Some((scale, _)) => evaluator.with_scale(scale),
            None => evaluator,
        })
    }

    /// The evaluation by the parameters, and with the scale, of a file.
    ///
    /// # Errors
    ///
    /// As [`Weights::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ParamsError> {
        load(path.as_ref(), Self::from_toml)
    }
}

impl Default for Evaluator {
    /// The parameters that were embedded when the engine was built.
    fn default() -> Self {
        static EMBEDDED: LazyLock<Evaluator> =
            LazyLock::new(|| Evaluator::from_toml(EMBEDDED_TEXT).expect("build.rs has read the same text"));
        EMBEDDED.clone()
    }
}

/// Reads and parses a file; error messages begin with its name.
fn load<T>(path: &Path, read: impl FnOnce(&str) -> Result<T, ParamsError>) -> Result<T, ParamsError> {
    let file = || path.display().to_string();
    let text =
        input::read_text(path, input::SETTINGS).map_err(|error| ParamsError::Unreadable { file: file(), error })?;
    read(&text).map_err(|fault| ParamsError::InFile { file: file(), fault: Box::new(fault) })
}
