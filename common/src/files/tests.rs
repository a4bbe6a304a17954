//! Tests of mishaps that must never happen to files.

use std::fs;
use std::path::Path;

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_are_written_whole_and_leave_nothing_beside_them() {
    let folder = folder();
    let path = folder.path().join("out.toml");
    for text in ["a = 1\n", "b = 2\n", ""] {
        write_whole(&path, text).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    let failed = write_whole_with(&path, |file| file.write_all(b"half").and(Err(io::Error::other("no more"))));
    assert_eq!(failed.unwrap_err().to_string(), format!("{}: cannot be written: no more", path.display()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "");
    assert_eq!(listing(folder.path()), ["out.toml"]);
}

#[test]
fn several_files_are_written_together_or_not_at_all() {
    let folder = folder();
    let [a, b, missing] = ["a.c", "b.c", "missing/c.c"].map(|name| folder.path().join(name));
    for path in [&a, &b] {
        fs::write(path, "old").unwrap();
    }
    write_all_whole(&[(&a, "new"), (&missing, "new")]).unwrap_err();
    write_all_whole(&[(&a, "new"), (&folder.path().to_owned(), "new")]).unwrap_err();
    assert_eq!((fs::read_to_string(&a).unwrap(), listing(folder.path()).len()), ("old".to_owned(), 2));
    write_all_whole(&[(&a, "1"), (&b, "2")]).unwrap();
    assert_eq!([&a, &b].map(|path| fs::read_to_string(path).unwrap()), ["1", "2"]);
    assert_eq!(listing(folder.path()), ["a.c", "b.c"]);
}

#[test]
fn a_folder_that_is_missing_is_named() {
    let folder = folder();
    let missing = folder.path().join("missing");
    let path = missing.join("out.toml");
    let expected = format!("{}: there is no folder {}", path.display(), missing.display());
    assert_eq!(RunFiles::default().writes("--output", &path, TOML).unwrap_err().to_string(), expected);
    assert_eq!(write_whole(&path, "x").unwrap_err().to_string(), expected);
    let error = write_whole(folder.path(), "x").unwrap_err().to_string();
    assert_eq!(error, format!("{}: is a folder; name a file in it", folder.path().display()));
    assert!(matches!(write_whole("-", "x"), Err(WriteError::StandardOutput)));
}

#[test]
fn no_output_takes_the_place_of_another_file_of_the_run() {
    let folder = folder();
    let [data, page, none] = ["d.epd", "p.html", "none"].map(|name| folder.path().join(name));
    fs::write(&data, "x").unwrap();
    let mut files = RunFiles::default();
    files.reads("--epd", &data).unwrap();
    files.reads("--epd", &data).unwrap();
    files.writes("--report", &page, HTML).unwrap();
    let error = files.writes("--output", &data, Kind::ANY).unwrap_err().to_string();
    assert_eq!(error, format!("--output {0}: is the same file as --epd {0}; name another", data.display()));
    // Neither file is there yet.
    let round_about = folder.path().join(".").join("p.html");
    assert!(matches!(files.writes("--json", &round_about, JSON), Err(WriteError::Same { .. })));
    assert!(matches!(files.reads("--params", &page), Err(WriteError::Same { .. })));
    files.reads("--params", &none).unwrap();
    assert!(matches!(files.writes("--json", &none, JSON), Err(WriteError::Same { .. })));
    assert_eq!(listing(folder.path()), ["d.epd"]);
}

#[test]
fn files_of_a_folder_that_is_read_are_not_replaced() {
    let folder = folder();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::write(data.join("a.epd"), "x").unwrap();
    let mut files = RunFiles::default();
    files.reads("--epd", &data).unwrap();
    assert!(matches!(files.writes("--output", &data.join("a.epd"), Kind::ANY), Err(WriteError::Same { .. })));
    files.writes("--output", &data.join("tuned.toml"), TOML).unwrap();
}

#[test]
fn only_the_same_kind_is_replaced() {
    let folder = folder();
    let path = folder.path().join("notes.txt");
    fs::write(&path, "my notes").unwrap();
    let error = RunFiles::default().writes("--report", &path, HTML).unwrap_err().to_string();
    let expected =
        format!("--report {}: is there and is not a page in HTML; name another file, or remove it", path.display());
    assert_eq!(error, expected);
    for own in ["", "<!DOCTYPE html>"] {
        fs::write(&path, own).unwrap();
        RunFiles::default().writes("--report", &path, HTML).unwrap();
    }
}

#[test]
fn a_write_protected_file_is_not_replaced() {
    let folder = folder();
    let path = folder.path().join("out.toml");
    fs::write(&path, "a = 1\n").unwrap();
    let writable = fs::metadata(&path).unwrap().permissions();
    let mut protected = writable.clone();
    protected.set_readonly(true);
    fs::set_permissions(&path, protected).unwrap();
    let expected = format!("{}: cannot be written: is write-protected", path.display());
    assert_eq!(RunFiles::default().writes("--output", &path, TOML).unwrap_err().to_string(), expected);
    assert_eq!(write_whole(&path, "b = 2\n").unwrap_err().to_string(), expected);
    assert_eq!(write_all_whole(&[(&path, "b = 2\n")]).unwrap_err().to_string(), expected);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a = 1\n");
    assert_eq!(listing(folder.path()), ["out.toml"]);
    fs::set_permissions(&path, writable).unwrap();
    write_whole(&path, "b = 2\n").unwrap();
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    use super::*;

    #[test]
    fn permissions_are_those_of_the_old_file_or_of_any_new_one() {
        let folder = folder();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (plain, path) = (folder.path().join("plain"), folder.path().join("out.toml"));
        fs::write(&plain, "").unwrap();
        write_whole(&path, "x").unwrap();
        assert_eq!(mode(&path), mode(&plain));
        for expected in [0o640, 0o600] {
            fs::set_permissions(&path, fs::Permissions::from_mode(expected)).unwrap();
            write_whole(&path, "y").unwrap();
            assert_eq!(mode(&path), expected);
        }
    }

    #[test]
    fn links_are_followed() {
        let folder = folder();
        let [file, link, chain, circle] = ["real", "link", "chain", "circle"].map(|name| folder.path().join(name));
        symlink("real", &link).unwrap();
        symlink(&link, &chain).unwrap();
        symlink("circle", &circle).unwrap();
        // The file at the end of the chain is not there yet, then it is.
        for text in ["new", "newer"] {
            write_whole(&chain, text).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), text);
            assert!([&link, &chain].iter().all(|link| fs::symlink_metadata(link).unwrap().is_symlink()));
        }
        assert!(write_whole(&circle, "x").unwrap_err().to_string().contains("circle"));
        let mut files = RunFiles::default();
        files.reads("--epd", &file).unwrap();
        assert!(matches!(files.writes("--output", &chain, Kind::ANY), Err(WriteError::Same { .. })));
        let hard = folder.path().join("hard");
        fs::hard_link(&file, &hard).unwrap();
        assert!(matches!(files.writes("--output", &hard, Kind::ANY), Err(WriteError::Same { .. })));
    }

    #[test]
    fn two_names_of_one_missing_file_are_one() {
        let folder = folder();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        symlink("file", &link).unwrap();
        let mut files = RunFiles::default();
        files.writes("--output", &file, TOML).unwrap();
        assert!(matches!(files.writes("--report", &link, HTML), Err(WriteError::Same { .. })));
    }

    #[test]
    fn devices_are_written_to_and_stay() {
        let null = Path::new("/dev/null");
        let mut files = RunFiles::default();
        files.writes("--json", null, JSON).unwrap();
        files.writes("--report", null, HTML).unwrap();
        write_whole(null, "x").unwrap();
        assert!(fs::metadata(null).unwrap().file_type().is_char_device());
        let full = Path::new("/dev/full");
        if full.exists() {
            assert!(matches!(write_whole(full, "x"), Err(WriteError::Refused { .. })));
            assert!(fs::metadata(full).unwrap().file_type().is_char_device());
        }
    }

    /// A pipe in a folder; none where there is no program for it.
    fn pipe_in(folder: &Path) -> Option<std::path::PathBuf> {
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|status| status.success()) {
            return Some(pipe);
        }
        eprintln!("skipped: there is no program mkfifo");
        None
    }

    #[test]
    fn pipes_are_written_through() {
        let folder = folder();
        let Some(pipe) = pipe_in(folder.path()) else { return };
        // More than a pipe holds.
        let long = "through\n".repeat(1 << 15);
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        write_whole(&pipe, &long).unwrap();
        assert!(reader.join().unwrap() == long);
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
    }

    #[test]
    fn a_pipe_that_nobody_reads_is_refused_after_a_while() {
        let folder = folder();
        let Some(pipe) = pipe_in(folder.path()) else { return };
        let error = write_whole(&pipe, "lost").unwrap_err().to_string();
        let expected = "cannot be written: nobody has read this pipe for 2 seconds";
        assert_eq!(error, format!("{}: {expected}", pipe.display()));
    }
}
