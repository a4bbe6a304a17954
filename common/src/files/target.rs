//! Resolution of paths.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::WriteError;

/// Links that are followed from one name, as the system does.
const LONGEST_CHAIN: usize = 40;

/// The identity of a file: device and inode.
#[cfg(unix)]
type Identity = (u64, u64);

/// The identity of a file: its path.
#[cfg(not(unix))]
type Identity = PathBuf;

/// The target of a path, links followed.
#[derive(Debug)]
pub(super) enum Target {
    /// To a regular file or a folder, or to where a file could be.
    File {
        /// The name at the end of all links.
        path: PathBuf,
        identity: Option<Identity>,
        /// Its folder and its name there, for files that are not there yet.
        place: Option<(Identity, OsString)>,
    },
    /// To the file that standard output was redirected to.
    StandardOutput,
    /// To a device, a pipe or a terminal, which is written to and not replaced.
    Stream(PathBuf),
}

impl Target {
    /// Follows a name.
    ///
    /// # Errors
    /// If links lead round in a circle.
    pub(super) fn of(path: &Path) -> Result<Self, WriteError> {
        let refused = |error| WriteError::Refused { path: path.to_owned(), error };
        if let Ok(metadata) = fs::metadata(path) {
            if is_standard_output(&metadata) {
                return Ok(Target::StandardOutput);
            }
            if !metadata.is_file() && !metadata.is_dir() {
                return Ok(Target::Stream(path.to_owned()));
            }
        }
        let mut end = path.to_owned();
        let mut links = 0;
        while let Ok(next) = fs::read_link(&end) {
            links += 1;
            if links > LONGEST_CHAIN {
                return Err(refused(io::Error::other("links lead round in a circle")));
            }
            end = folder_of(&end).join(next);
        }
        let identity = identity_of(&end);
        let place = identity_of(folder_of(&end)).zip(end.file_name().map(ToOwned::to_owned));
        Ok(Target::File { path: end, identity, place })
    }

    /// Returns true if two names lead to one file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Target::StandardOutput, Target::StandardOutput) => true,
            (Target::File { identity: a, place: at, .. }, Target::File { identity: b, place: bt, .. }) => {
                (a.is_some() && a == b) || (at.is_some() && at == bt)
            }
            _ => false,
        }
    }

    /// Returns true if it is the same file, or a file that is there, somewhere in that folder.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        let (Target::File { path: file, .. }, Target::File { path: folder, .. }) = (self, other) else { return false };
        match (fs::canonicalize(file), fs::canonicalize(folder)) {
            (Ok(file), Ok(folder)) => folder.is_dir() && file.starts_with(folder),
            _ => false,
        }
    }
}

/// The folder that a file is or will be in.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn identity_of(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().map(|metadata| identity(&metadata))
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Returns true if this is the regular file that standard output was redirected to: its name must not be given to
/// another file while the program prints.
#[cfg(unix)]
fn is_standard_output(metadata: &Metadata) -> bool {
    use std::os::fd::AsFd;
    let own = io::stdout().as_fd().try_clone_to_owned().map(fs::File::from).and_then(|file| file.metadata());
    metadata.is_file() && own.is_ok_and(|own| identity(&own) == identity(metadata))
}

#[cfg(not(unix))]
fn identity_of(path: &Path) -> Option<Identity> {
    fs::canonicalize(path).ok()
}

#[cfg(not(unix))]
fn is_standard_output(_: &Metadata) -> bool {
    false
}
