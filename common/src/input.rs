//! Reading whole files within a bound on their size.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest file of settings that is read, in bytes: parameters, jobs, states. The largest of ours has a megabyte.
pub const SETTINGS: u64 = 64 << 20;

/// Reads a whole file, pipe or device.
///
/// # Errors
/// If it cannot be read, is a folder, or has more than `limit` bytes; then no more than these are read.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// As [`read`], for text in UTF-8.
///
/// # Errors
/// As [`read`], and if a byte is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("is not text: byte {byte} is not UTF-8"))
    })
}

/// Checks that a path is a regular file: reading from a pipe may block for ever. Protocols check the files that they are
/// told to open.
///
/// # Errors
/// If there is nothing of that name, or no regular file.
pub fn require_regular(path: &Path) -> io::Result<()> {
    if path.metadata()?.is_file() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a regular file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_may_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(read_text(&path, 3).unwrap(), "abc");
        assert_eq!(read(&path, 2).unwrap_err().to_string(), "has more than 2 bytes");
        std::fs::write(&path, b"ab\xFF").unwrap();
        assert_eq!(read_text(&path, 3).unwrap_err().to_string(), "is not text: byte 2 is not UTF-8");
        assert!(read(folder.path(), 3).is_err());
        require_regular(&path).unwrap();
        assert_eq!(require_regular(folder.path()).unwrap_err().to_string(), "is not a regular file");
    }

    #[cfg(unix)]
    #[test]
    fn endless_files_are_refused() {
        let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(require_regular(Path::new("/dev/zero")).is_err());
    }
}
