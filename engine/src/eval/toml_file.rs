//! Parameter files: the embedded one, and any other at run time, through one strict parser.
//!
//! `params/baseline.toml` shows the shape: a key for each declared field, a table where the field is keyed by names,
//! `[midgame, endgame]` for a pair, and for a board a drawing of each half with rank 8 on top. What the file must hold
//! is not written down a second time here: it follows from the declaration in [`params`](super::params).

mod error;
mod node;
mod read;
mod spelling;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use super::params::Weights;
pub use error::ParamsError;
pub use read::{Cell, cells_of, read};

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
        let path = path.as_ref();
        let file = || path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| ParamsError::Unreadable { file: file(), error })?;
        Self::from_toml(&text).map_err(|fault| ParamsError::InFile { file: file(), fault: Box::new(fault) })
    }

    /// The weights that were embedded when the engine was built.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: LazyLock<Weights> =
            LazyLock::new(|| Weights::from_toml(EMBEDDED_TEXT).expect("build.rs has read the same text"));
        &EMBEDDED
    }
}
