//! Files that are either written whole or not at all.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use thiserror::Error;

use crate::processes;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 18;

/// Why a file cannot be written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The target exists, and is a folder, a device or something else that a file cannot take the place of.
    #[error("{}: is not a regular file", path.display())]
    NotAFile {
        /// The target.
        path: PathBuf,
    },
    /// The name that stands for standard output elsewhere.
    #[error("-: standard output cannot be replaced as a file is; name a file, or ./- if it is to be called so")]
    StandardOutput,
    /// The folder the file would be in does not exist.
    #[error("{}: there is no folder {}", path.display(), folder.display())]
    NoFolder {
        /// The target.
        path: PathBuf,
        /// Its folder.
        folder: PathBuf,
    },
    /// The system refused.
    #[error("{}: cannot be written: {error}", path.display())]
    Refused {
        /// The target.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Tells, before long work, whether [`write_atomically`] could write the file. Leaves nothing behind.
///
/// # Errors
///
/// If the target is there and is not a regular file, or its folder is missing or cannot be written to.
pub fn check_writable(path: impl AsRef<Path>) -> Result<(), WriteError> {
    let path = path.as_ref();
    temporary_beside(path, &followed(path)).map(drop)
}

/// Writes the file by way of a temporary one beside it, which is synced and then renamed: whoever opens the file sees
/// the old text or the new one, whatever happens in between.
///
/// A file that is there keeps its permissions, a new one gets those of any new file. A symbolic link is followed.
///
/// # Errors
///
/// As [`check_writable`], and if the disk fails or is full. The target is then as it was.
pub fn write_atomically(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<(), WriteError> {
    write_atomically_with(path, |file| file.write_all(content.as_ref()))
}

/// As [`write_atomically`], for content that is written bit by bit. Of several processes only the first writes.
///
/// # Errors
///
/// As [`write_atomically`].
pub fn write_atomically_with(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let path = path.as_ref();
    if !processes::is_first() {
        return Ok(());
    }
    let refused = |error| WriteError::Refused { path: path.to_owned(), error };
    let target = followed(path);
    let mut temporary = temporary_beside(path, &target)?;
    if let Ok(metadata) = fs::metadata(&target) {
        temporary.as_file().set_permissions(metadata.permissions()).map_err(refused)?;
    }
    let mut buffered = BufWriter::with_capacity(BUFFER, &mut temporary);
    write(&mut buffered).and_then(|()| buffered.flush()).map_err(refused)?;
    drop(buffered);
    temporary.as_file().sync_all().map_err(refused)?;
    temporary.persist(&target).map_err(|error| refused(error.error))?;
    Ok(())
}

/// The file a path leads to: itself, or what it links to.
fn followed(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A new file in the folder of `target`, gone when dropped. Errors name `path`.
fn temporary_beside(path: &Path, target: &Path) -> Result<NamedTempFile, WriteError> {
    if path == Path::new("-") {
        return Err(WriteError::StandardOutput);
    }
    let path = path.to_owned();
    if fs::metadata(target).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(WriteError::NotAFile { path });
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(WriteError::NoFolder { path, folder: folder.to_owned() });
    }
    let mut builder = Builder::new();
    builder.prefix(".merino-").suffix(".tmp");
    // The system takes off what the user's mask forbids, as for any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(|error| WriteError::Refused { path, error })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_made_and_replaced_with_nothing_left_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.toml");
        check_writable(&path).expect("writable");
        assert_eq!(names_in(folder.path()), [""; 0]);
        for text in ["first\n", "second, longer\n", ""] {
            write_atomically(&path, text).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("readable"), text);
        }
        check_writable(&path).expect("still writable");
        assert_eq!(names_in(folder.path()), ["out.toml"]);
        assert_eq!(fs::read_to_string(&path).expect("readable"), "");
    }

    #[test]
    fn a_bare_name_is_in_the_current_folder() {
        check_writable("merino-no-such-file.toml").expect("writable");
        assert!(!Path::new("merino-no-such-file.toml").exists());
    }

    #[test]
    fn a_dash_is_not_taken_for_a_file() {
        for error in [check_writable("-"), write_atomically("-", "x")] {
            assert!(error.expect_err("standard output").to_string().starts_with("-: standard output"));
        }
        assert!(!Path::new("-").exists());
        check_writable("./-").expect("writable");
    }

    #[test]
    fn a_folder_is_no_target() {
        let folder = tempfile::tempdir().expect("a folder");
        let expected = format!("{}: is not a regular file", folder.path().display());
        assert_eq!(check_writable(folder.path()).expect_err("a folder").to_string(), expected);
        assert_eq!(write_atomically(folder.path(), "x").expect_err("a folder").to_string(), expected);
        assert_eq!(names_in(folder.path()), [""; 0]);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("missing");
        let path = missing.join("out.toml");
        let expected = format!("{}: there is no folder {}", path.display(), missing.display());
        assert_eq!(check_writable(&path).expect_err("no folder").to_string(), expected);
        assert_eq!(write_atomically(&path, "x").expect_err("no folder").to_string(), expected);
        fs::write(&missing, "").expect("a file where the folder should be");
        assert_eq!(check_writable(&path).expect_err("no folder").to_string(), expected);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_the_old_file_or_of_any_new_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        let (plain, path) = (folder.path().join("plain"), folder.path().join("out.toml"));
        fs::write(&plain, "").expect("written");
        write_atomically(&path, "x").expect("written");
        assert_eq!(mode(&path), mode(&plain));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours to change");
        write_atomically(&path, "y").expect("written");
        assert_eq!(mode(&path), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("real.toml"), folder.path().join("link.toml"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write_atomically(&link, "new").expect("written");
        assert_eq!(fs::read_to_string(&file).expect("readable"), "new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        let error = check_writable("/dev/null").expect_err("a device").to_string();
        assert_eq!(error, "/dev/null: is not a regular file");
    }
}
