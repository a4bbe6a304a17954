//! The search of a folder for files in a known format.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use common::files::Kind;
use tools::compression::Compression;

use super::input::Source;
use super::{CHUNK_BYTES, DatasetError, ReadOptions, formats};

/// Labelled positions in any known format, plain or compressed, as a kind of file.
pub const POSITIONS: Kind = Kind { name: "a file of positions", is_own: is_positions };

impl Source {
    /// Returns the sources of a path: a file, all files in a known format in a folder and its subfolders in the order
    /// of their names, or standard input for `-`.
    ///
    /// # Errors
    /// If it is missing, unreadable or empty, or a folder without a readable file.
    pub fn find(path: &Path) -> Result<Vec<Self>, DatasetError> {
        if path.as_os_str() == Self::STANDARD_INPUT {
            return Ok(vec![Source::standard_input()]);
        }
        if path.is_dir() { sources(path) } else { Ok(vec![Source::open(path)?]) }
    }
}

/// Returns the files in a folder and its subfolders, in the order of their names. Hidden files and files in no known
/// format are skipped; a damaged file in a known format is an error.
fn sources(folder: &Path) -> Result<Vec<Source>, DatasetError> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    let (count, mut sources, mut damage) = (paths.len(), Vec::new(), None);
    for path in paths {
        match Source::open(&path).and_then(|source| Ok(is_known(source.blocks(&())?.head(CHUNK_BYTES)?))) {
            Ok(true) => sources.push(Source::open(&path)?),
            found => {
                let damaged = found.err().filter(|error| !matches!(error, DatasetError::Foreign(_)));
                damage = damage.or(damaged);
            }
        }
    }
    if sources.is_empty() {
        let name = folder.display();
        return Err(DatasetError::Refused(format!(
            "{name}: is a directory with nothing in it that can be read as positions; found {count} other files"
        )));
    }
    damage.map_or(Ok(sources), Err)
}

/// Returns true if a file with these first bytes is in a known format, as far as they show.
fn is_positions(head: &[u8]) -> bool {
    let packing = Compression::of(head);
    let mut content = Vec::new();
    match packing {
        None => content.extend_from_slice(head),
        // The rest of the file is missing, so decoding ends with an error.
        Some(packing) => _ = packing.decode(Box::new(head)).map(|mut unpacked| unpacked.read_to_end(&mut content)),
    }
    let lines = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    // A file compressed in large blocks yields no content this early.
    (content.is_empty() && packing.is_some())
        || [content.len(), lines].into_iter().any(|length| is_known(&content[..length]))
}

fn is_known(head: &[u8]) -> bool {
    !head.is_empty() && formats::detect("", head, &ReadOptions::default()).is_ok()
}

/// Collects all files below a folder. Links to folders are not followed, as they may form a cycle.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), DatasetError> {
    let unreadable = |error| DatasetError::unreadable(&folder.display().to_string(), &error);
    let mut entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>).map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_dir() {
            collect(&path, paths)?;
        } else if path.is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "8/8/8/8/8/k7/7R/K7 w - - [1.0]\n";

    fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    #[test]
    fn finds_readable_files_in_the_order_of_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for name in ["b.epd", "a/2.txt", "a/1.epd", ".hidden.epd", "c/d/e"] {
            write(root, name, LINE);
        }
        write(root, "a/3.zst", zstd::encode_all(LINE.as_bytes(), 1).expect("packed"));
        write(root, "README.md", "Nothing to be seen here.\n");
        write(root, "empty.epd", "");
        write(root, "logo.png", b"\x89PNG\0\0");
        let found = sources(root).expect("something to read");
        let names: Vec<String> = found
            .iter()
            .map(|source| Path::new(source.name()).strip_prefix(root).expect("below").display().to_string())
            .collect();
        assert_eq!(names, ["a/1.epd", "a/2.txt", "a/3.zst", "b.epd", "c/d/e"]);
    }

    #[test]
    fn reports_empty_folders_and_damaged_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = || sources(folder.path()).err().expect("an error").to_string();
        assert!(error().ends_with("found 0 other files"), "{}", error());
        for name in ["a.png", "b.png", "LICENSE"] {
            write(folder.path(), name, "x");
        }
        assert!(error().ends_with("found 3 other files"), "{}", error());
        write(folder.path(), "b.epd", LINE);
        let damaged = zstd::encode_all(LINE.as_bytes(), 1).expect("packed");
        write(folder.path(), "c.zst", &damaged[..damaged.len() - 4]);
        assert!(error().contains("c.zst: damaged zstd data"), "{}", error());
    }
}
