//! Files that are written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use super::WriteError;
use super::target::{Target, folder_of};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 18;

/// The beginning and the end of names of temporary files.
const TEMPORARY: [&str; 2] = [".merino-", ".tmp"];

/// A file has the name of one that a program was writing when it was killed.
pub fn is_left_over(path: &Path) -> bool {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    name.starts_with(TEMPORARY[0]) && name.ends_with(TEMPORARY[1])
}

/// Writes a file by way of a temporary one beside it, which is synced and then renamed: any reader sees the old content
/// or the new one, whatever happens in between.
///
/// A file that is there keeps its permissions and its owner; a new one gets those of any new file. Links are followed. What
/// goes to a device, a pipe or standard output is written there.
///
/// # Errors
/// If the name leads to a folder, its folder is missing, the file is write-protected, nobody reads the pipe, or the system
/// refuses. The file is then as it was.
pub fn write_whole(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<(), WriteError> {
    write_whole_with(path, |file| file.write_all(content.as_ref()))
}

/// As [`write_whole`], for content that is written bit by bit.
///
/// # Errors
/// As [`write_whole`], and what `write` says.
pub fn write_whole_with(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let path = path.as_ref();
    let refused = |error| WriteError::Refused { path: path.to_owned(), error };
    match Target::of(path)? {
        Target::File { path: end, .. } => {
            let filled = filled(temporary_beside(path, &end)?, &end, write).map_err(refused)?;
            filled.persist(end).map(drop).map_err(|error| refused(error.error))
        }
        Target::StandardOutput => buffered(io::stdout().lock(), write).map_err(refused),
        Target::Stream(stream) => {
            let stream = open_stream(&stream).map_err(refused)?;
            buffered(stream, write).map_err(refused)
        }
    }
}

/// Writes several files as [`write_whole`] does, none before all their contents are there under other names.
///
/// # Errors
/// As [`write_whole`], and if one is no file but a device, a pipe or standard output. The files are then as they were;
/// those that come before one that the system will not rename have their new content.
pub fn write_all_whole(files: &[(impl AsRef<Path>, impl AsRef<[u8]>)]) -> Result<(), WriteError> {
    let mut ready = Vec::new();
    for (path, content) in files {
        let path = path.as_ref();
        let refused = |error| WriteError::Refused { path: path.to_owned(), error };
        let Target::File { path: end, .. } = Target::of(path)? else {
            return Err(refused(io::Error::other("is not a file")));
        };
        let temporary = temporary_beside(path, &end)?;
        ready.push((path, filled(temporary, &end, |file| file.write_all(content.as_ref())).map_err(refused)?, end));
    }
    for (path, file, end) in ready {
        file.persist(end).map_err(|error| WriteError::Refused { path: path.to_owned(), error: error.error })?;
    }
    Ok(())
}

/// Checks, before long work, that a file could be written, and leaves nothing behind. Errors bear the name that was
/// given, `path`.
pub(super) fn check(target: &Target, path: &Path) -> Result<(), WriteError> {
    match target {
        Target::File { path: end, .. } => {
            if let Ok(metadata) = fs::metadata(end) {
                let refused = |error| WriteError::Refused { path: path.to_owned(), error };
                refuse_protected(&metadata).map_err(refused)?;
            }
            temporary_beside(path, end).map(drop)
        }
        Target::StandardOutput | Target::Stream(_) => Ok(()),
    }
}

/// A temporary file with its content, to which the permissions and the owner of another are given.
fn filled(
    mut temporary: NamedTempFile,
    target: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<NamedTempFile> {
    if let Ok(metadata) = fs::metadata(target) {
        refuse_protected(&metadata)?;
        keep_owner(temporary.as_file(), &metadata);
        temporary.as_file().set_permissions(metadata.permissions())?;
    }
    buffered(&mut temporary, write)?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// Refuses a file whose permissions let nobody write it: a rename would replace it all the same.
fn refuse_protected(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() && metadata.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "is write-protected"));
    }
    Ok(())
}

fn buffered(to: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = BufWriter::with_capacity(BUFFER, to);
    write(&mut buffer)?;
    buffer.flush()
}

/// Opens a device, a terminal or a pipe.
#[cfg(unix)]
fn open_stream(path: &Path) -> io::Result<Box<dyn Write>> {
    use std::os::unix::fs::FileTypeExt;
    if fs::metadata(path)?.file_type().is_fifo() {
        return Ok(Box::new(super::pipe::Pipe::open(path)?));
    }
    Ok(Box::new(OpenOptions::new().write(true).open(path)?))
}

#[cfg(not(unix))]
fn open_stream(path: &Path) -> io::Result<Box<dyn Write>> {
    Ok(Box::new(OpenOptions::new().write(true).open(path)?))
}

/// Gives a file the owner of another, where the system lets it.
#[cfg(unix)]
fn keep_owner(file: &File, like: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if file.metadata().is_ok_and(|own| (own.uid(), own.gid()) != (like.uid(), like.gid())) {
        _ = fchown(file, Some(like.uid()), Some(like.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

/// A new file in the folder of `target`, gone when dropped. Errors bear the name that was given, `path`.
fn temporary_beside(path: &Path, target: &Path) -> Result<NamedTempFile, WriteError> {
    if path == Path::new("-") {
        return Err(WriteError::StandardOutput);
    }
    if target.is_dir() {
        return Err(WriteError::Folder(path.to_owned()));
    }
    let folder = folder_of(target);
    if !folder.is_dir() {
        return Err(WriteError::NoFolder { path: path.to_owned(), folder: folder.to_owned() });
    }
    let mut builder = Builder::new();
    builder.prefix(TEMPORARY[0]).suffix(TEMPORARY[1]);
    // The system takes off what the user's mask forbids, as for any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(|error| WriteError::Refused { path: path.to_owned(), error })
}
