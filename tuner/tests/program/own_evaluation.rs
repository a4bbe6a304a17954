//! The example with another engine's evaluation, and `tuner fit` on the rows it writes.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tuner::fit::Language;

#[path = "../../examples/own_evaluation.rs"]
#[allow(dead_code, reason = "the example is a program of its own")]
mod example;

fn fit(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.current_dir(folder).args(["fit", "--rows", "rows.txt"]).args(arguments);
    command
}

#[test]
fn rows_of_the_example_give_its_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let (data, rows) = (folder.path().join("few.epd"), folder.path().join("rows.txt"));
    let text = zstd::decode_all(&include_bytes!("../../../data/quiet.epd.zst")[..]).unwrap();
    let few: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').step_by(10).collect();
    fs::write(&data, few.concat()).unwrap();
    let fitted = example::tune(Some(&data), Some(&rows)).unwrap();
    let [before, after] = fitted.loss;
    assert!(fitted.converged && after < 0.95 * before, "{}", fitted.to_table());
    let rust = fitted.emit(Language::Rust).unwrap();
    assert!(rust.contains("pub const RANK: [[[i32; 2]; 8]; 6] = [") && rust.contains("pub const TEMPO: i32 = "));

    let printed = fit(folder.path(), &["--emit", "rust"]).assert().success();
    assert_eq!(String::from_utf8_lossy(&printed.get_output().stdout), rust);
    for (language, name) in [
        (Language::Toml, "toml"),
        (Language::Json, "json"),
        (Language::C, "c"),
        (Language::Cpp, "cpp"),
        (Language::Csharp, "csharp"),
    ] {
        fit(folder.path(), &["--emit", name, "--output", name, "--threads", "1"]).assert().success();
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), fitted.emit(language).unwrap());
    }
}

#[test]
fn the_example_is_short() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/own_evaluation.rs")).unwrap();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let lines = text.lines().filter(is_code).count();
    assert!(lines < 60, "{lines} lines");
}

#[test]
fn rows_that_cannot_be_read_are_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.txt"), "merino-rows 1\nsingle tempo 0\nrows\n2 0 0 0 0 0 0 0\n").unwrap();
    let failed = fit(folder.path(), &["--output", "out"]).assert().code(2);
    let error = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
    assert_eq!(error, "error: rows.txt:4: rows: target 2 of row 0 is not in 0..=1\n");
    assert!(!folder.path().join("out").exists());
}
