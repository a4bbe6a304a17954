//! Two files of parameters against each other, with nothing else said: what the tuner made is kept or not.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use sha2::{Digest, Sha256};

use super::support::{Arena, mock};

const SHORT: &[&str] = &["--games", "4", "--depth", "1", "--max-plies", "6", "--concurrency", "1"];

/// A folder with two files of parameters.
fn folder() -> Arena {
    let arena = Arena::new();
    fs::write(arena.path("new.toml"), "x = 1").unwrap();
    fs::write(arena.path("old.toml"), "x = 2").unwrap();
    arena
}

/// Runs `arena sprt` in the folder, by this program and with this PATH.
fn run(arena: &Arena, program: &Path, path: &Path, more: &[&str]) -> Output {
    let files = ["sprt", "--params", "new.toml", "--against", "old.toml", "--json", "out.json"];
    let mut command = Command::new(program);
    command.current_dir(arena.folder.path()).env("PATH", path).args(files).args(SHORT).args(more).output().unwrap()
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn two_files_are_all_it_needs() {
    let arena = folder();
    let mock = mock();
    let more = ["--merino", mock.to_str().unwrap(), "--journal", "match.jsonl"];
    let output = run(&arena, Path::new(env!("CARGO_BIN_EXE_arena")), Path::new(""), &more);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let json = arena.json();
    assert_eq!(json["games"], 4);
    assert!(json["openings"].as_str().unwrap().starts_with("data/openings.epd.zst"));
    assert_eq!(json["sprt"]["model"], "normalized");
    assert_eq!(json["sprt"]["bounds"].to_string(), "[0.0,5.0]");
    let journal = fs::read_to_string(arena.path("match.jsonl")).unwrap();
    for (index, name) in ["new", "old"].into_iter().enumerate() {
        let engine = &json["match"]["engines"][index];
        assert_eq!(engine["name"], name);
        let sha256: String = Sha256::digest(fs::read(arena.path(&format!("{name}.toml"))).unwrap())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(engine["option_files_sha256"]["EvalFile"], sha256);
        assert!(journal.lines().next().unwrap().contains(&sha256));
    }
}

#[test]
fn a_file_that_the_engine_refuses_ends_it_before_the_first_game() {
    let arena = folder();
    fs::write(arena.path("new.toml"), "fault").unwrap();
    let mock = mock();
    let more = ["--merino", mock.to_str().unwrap()];
    let stderr = error(&run(&arena, Path::new(env!("CARGO_BIN_EXE_arena")), Path::new(""), &more));
    assert!(stderr.starts_with("error: new: reports: error: ") && stderr.contains("new.toml: has a fault"), "{stderr}");
    assert!(!arena.path("out.json").exists());
    fs::remove_file(arena.path("new.toml")).unwrap();
    let stderr = error(&run(&arena, Path::new(env!("CARGO_BIN_EXE_arena")), Path::new(""), &more));
    assert!(stderr.starts_with("error: new.toml: "), "{stderr}");
}

#[test]
fn the_engine_is_looked_for_beside_the_arena_and_on_path() {
    let arena = folder();
    let place = |folder: &str, name: &str, program: &Path| {
        fs::create_dir_all(arena.path(folder)).unwrap();
        let copy = arena.path(folder).join(name);
        fs::copy(program, &copy).unwrap();
        copy
    };
    let program = place("bin", "arena", Path::new(env!("CARGO_BIN_EXE_arena")));
    let found = || arena.json()["match"]["engines"][0]["command"].as_str().unwrap().to_owned();
    let path = arena.path("path");
    let stderr = error(&run(&arena, &program, &path, &[]));
    assert!(stderr.contains("bin/merino: is not there") && stderr.contains("--merino PROGRAM"), "{stderr}");
    let on_path = place("path", "merino", &mock());
    assert_eq!(run(&arena, &program, &path, &[]).status.code(), Some(3));
    assert_eq!(found(), on_path.display().to_string());
    let beside = place("bin", "merino", &mock());
    assert_eq!(run(&arena, &program, &path, &[]).status.code(), Some(3));
    // The system may know the folder by another name.
    assert_eq!(fs::canonicalize(found()).unwrap(), fs::canonicalize(beside).unwrap());
}
