//! The files of a run.
//!
//! [`RunFiles`] knows them all before the work begins, and refuses what would lose one. [`write_whole`] writes them.

mod kind;
#[cfg(unix)]
mod pipe;
mod target;
#[cfg(test)]
mod tests;
mod write;

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use kind::{HTML, JSON, Kind, PARAMETERS, PGN, TOML};
use target::Target;
pub use write::{is_left_over, write_all_whole, write_whole, write_whole_with};

/// Why a file cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The name leads to a folder.
    #[error("{}: is a folder; name a file in it", .0.display())]
    Folder(PathBuf),
    /// The name that stands for standard output elsewhere.
    #[error("-: standard output cannot be replaced as a file is; name a file, or ./- if it is to be called so")]
    StandardOutput,
    /// The folder that the file would be in does not exist.
    #[error("{}: there is no folder {}", path.display(), folder.display())]
    NoFolder {
        /// The name.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// The file would take the place of another file of the run.
    #[error("{what} {}: is the same file as {other} {}; name another", path.display(), place.display())]
    Same {
        /// The argument of the file, such as `--output`.
        what: String,
        /// The name.
        path: PathBuf,
        /// The argument of the other file.
        other: String,
        /// The name of the other file.
        place: PathBuf,
    },
    /// The file that is there is something else than what is to be written.
    #[error("{what} {}: is there and is not {}; name another file, or remove it", path.display(), kind.name)]
    OtherKind {
        /// The argument of the file.
        what: String,
        /// The name.
        path: PathBuf,
        /// The kind to be written.
        kind: Kind,
    },
    /// The system refuses.
    #[error("{}: cannot be written: {error}", path.display())]
    Refused {
        /// The name.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// A file of a run.
struct Known {
    /// Its argument, such as `--output`.
    what: String,
    path: PathBuf,
    target: Target,
    is_output: bool,
}

/// All files that a run reads and writes. Register every one before the work begins.
///
/// An output is refused if it is an input or another output, by whatever name or link, or if something of another kind is
/// there. Devices, pipes and terminals lose nothing, and may serve several times.
#[derive(Default)]
pub struct RunFiles {
    known: Vec<Known>,
}

impl RunFiles {
    /// Registers a file, or a folder of files, that the run reads. It need not be there.
    ///
    /// # Errors
    /// If it is an output.
    pub fn reads(&mut self, what: &str, path: &Path) -> Result<(), WriteError> {
        let Ok(target) = Target::of(path) else { return Ok(()) };
        let new = Known { what: what.to_owned(), path: path.to_owned(), target, is_output: false };
        self.refuse_clashes(&new)?;
        self.known.push(new);
        Ok(())
    }

    /// Registers a file that the run writes, and sees that it could be written. Leaves nothing behind.
    ///
    /// # Errors
    /// If it is another file of the run, is there and of another kind, or could not be written.
    pub fn writes(&mut self, what: &str, path: &Path, kind: Kind) -> Result<(), WriteError> {
        let new = Known { what: what.to_owned(), path: path.to_owned(), target: Target::of(path)?, is_output: true };
        self.refuse_clashes(&new)?;
        write::check(&new.target, path)?;
        let refused = |error| WriteError::Refused { path: path.to_owned(), error };
        if !kind.may_replace(&new.target).map_err(refused)? {
            return Err(WriteError::OtherKind { what: what.to_owned(), path: path.to_owned(), kind });
        }
        self.known.push(new);
        Ok(())
    }

    /// Refuses a file that would be lost, or take the place of one that is known.
    fn refuse_clashes(&self, new: &Known) -> Result<(), WriteError> {
        let clashes = |old: &&Known| match (old.is_output, new.is_output) {
            (false, false) => false,
            (true, true) => old.target.is_same(&new.target),
            (true, false) => old.target.is_part_of(&new.target),
            (false, true) => new.target.is_part_of(&old.target),
        };
        if let Some(old) = self.known.iter().find(clashes) {
            let (written, other) = if new.is_output { (new, old) } else { (old, new) };
            return Err(WriteError::Same {
                what: written.what.clone(),
                path: written.path.clone(),
                other: other.what.clone(),
                place: other.path.clone(),
            });
        }
        Ok(())
    }
}
