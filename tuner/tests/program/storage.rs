//! Rows and positions beyond the memory that a run may take.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

use crate::support::positions;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn tuner(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command
        .current_dir(folder)
        .args(["--prior", "1e-6", "--no-errors", "--output", "out.toml", "--epd"])
        .arg(positions(folder, 20_000))
        .args(arguments);
    let baseline = format!("{REPOSITORY}/params/baseline.toml");
    for (flag, value) in [("--resolve", "static"), ("--params", &baseline)] {
        if !arguments.contains(&flag) {
            command.args([flag, value]);
        }
    }
    command
}

/// What a run prints, and the file it writes.
fn tune(folder: &Path, arguments: &[&str]) -> (String, String) {
    let assert = tuner(folder, arguments).assert().success();
    let told = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    (told, fs::read_to_string(folder.join("out.toml")).unwrap())
}

#[test]
fn little_memory_changes_nothing_but_where_rows_lie() {
    let folder = tempfile::tempdir().unwrap();
    let (_, plenty) = tune(folder.path(), &["--validation", "0.2"]);
    let (_, little) = tune(folder.path(), &["--validation", "0.2", "--memory", "1MiB"]);
    assert_eq!(little, plenty);
    let refused = tuner(folder.path(), &["--method", "local-search", "--memory", "1M"]).assert().code(2);
    let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(error.contains("keeps every row in memory") && error.contains("raise --memory"), "{error}");
    for unknown in ["lots", "4GiBiB", "4GGiB", "4194304iB", "4GB"] {
        tuner(folder.path(), &["--memory", unknown]).assert().code(2);
    }
    for few in ["1", "4096", "1023K"] {
        let refused = tuner(folder.path(), &["--memory", few]).assert().code(2);
        let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(error.contains("bytes are too few: at least 1MiB; a size has a unit"), "{error}");
    }
}
