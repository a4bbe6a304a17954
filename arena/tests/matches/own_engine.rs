//! A loop over an engine whose parameters stand in its sources: games, rows, fit, rewriting, build and test.
//!
//! The evaluation is the kit's example in C; the mock engine plays.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::support::{Arena, mock};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A file of the kit for nights.
fn kit(name: &str) -> String {
    fs::read_to_string(Path::new(REPOSITORY).join("kit/night").join(name)).unwrap()
}

/// The settings of the kit for quick games.
fn settings() -> String {
    let mut settings = kit("night.toml");
    for (old, new) in [
        (
            "--nodes 5000 --positions 200000",
            "--nodes 20 --positions 300 --balance-nodes 20 --resign 1,5000 --concurrency 1",
        ),
        ("--nodes 20000", "--nodes 20 --concurrency 1"),
        ("tuner --engine", "tuner --threads 1 --k 1 --no-errors --target result --engine"),
        ("tc = \"8+0.08\"", "nodes = 20\nmax-plies = 8\nconcurrency = 1"),
        ("games = 20000", "games = 4"),
        ("\nadopt-into", "\ngenerations = 1\nadopt-into"),
    ] {
        assert!(settings.contains(old), "{old}");
        settings = settings.replacen(old, new, 1);
    }
    settings
}

/// An engine in a folder of its own, with the settings of a loop; none, with a word, if this machine cannot build it.
fn engine() -> Option<Arena> {
    let there = |program: &str| Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok();
    let tuner = Path::new(env!("CARGO_BIN_EXE_arena")).with_file_name("tuner");
    if !there("cc") || !there("make") || !tuner.exists() {
        eprintln!("skipped: needs cc, make, and the tuner beside the arena");
        return None;
    }
    let folder = Arena::new();
    fs::create_dir(folder.path("src")).unwrap();
    for (from, to) in [("examples/evaluation.c", "evaluate.c"), ("merino_rows.h", "merino_rows.h")] {
        fs::copy(Path::new(REPOSITORY).join("kit").join(from), folder.path("src").join(to)).unwrap();
    }
    let player = format!("printf '#!/bin/sh\\nexec {} tuned\\n' > $(EXE) && chmod +x $(EXE)", mock().display());
    let make = format!(
        "ifeq ($(FLAGS),)\nall:\n\tcc -fsyntax-only evaluate.c && {player}\nelse\n\
         all:\n\tcc -O1 $(FLAGS) evaluate.c -o $(EXE)\nendif\n"
    );
    fs::write(folder.path("src/Makefile"), make).unwrap();
    fs::write(folder.path("build.sh"), kit("build-c.sh")).unwrap();
    fs::write(folder.path("night.toml"), settings()).unwrap();
    Some(folder)
}

fn arena(folder: &Arena, more: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("arena").unwrap();
    // The shell of the games finds the arena as a user's does.
    let programs = Path::new(env!("CARGO_BIN_EXE_arena")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    command.env("PATH", path);
    command.current_dir(folder.folder.path()).args(["loop", "night.toml"]).args(more).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn record(folder: &Arena) -> Value {
    serde_json::from_slice(&fs::read(folder.path("night/gen-001/result.json")).unwrap()).unwrap()
}

fn without_numbers(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|byte| !byte.is_ascii_digit() && *byte != b'-').collect()
}

#[test]
fn the_night_of_the_kit_tunes_rewrites_builds_and_tests() {
    let Some(folder) = engine() else { return };
    let output = arena(&folder, &["--dry-run"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(printed.contains("\ncp night/start.c night/gen-001/tuned.c\n"), "{printed}");
    assert_eq!(printed.lines().count(), 7, "{printed}");
    assert!(!folder.path("night").exists());
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let source = fs::read(folder.path("src/evaluate.c")).unwrap();
    let tuned = fs::read(folder.path("night/gen-001/tuned.c")).unwrap();
    assert!(tuned != source && without_numbers(&tuned) == without_numbers(&source));
    let record = record(&folder);
    let [before, after] = ["before", "after"].map(|key| record["tune"]["loss"][key].as_f64().unwrap());
    assert!(after < before && record["tune"]["positions"].as_u64() > Some(10), "{record}");
    assert_eq!(record["test"]["games"], 4, "{record}");
    assert!(folder.path("night/gen-001/tune.html").exists());
}

#[test]
fn a_dry_run_builds_and_starts_the_engine() {
    let Some(folder) = engine() else { return };
    let source = fs::read_to_string(folder.path("src/evaluate.c")).unwrap();
    fs::write(folder.path("src/evaluate.c"), source.clone() + "no C\n").unwrap();
    let output = arena(&folder, &["--dry-run"]);
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("error: night.toml: build: ") && told.contains("evaluate.c"), "{told}");
    fs::write(folder.path("src/evaluate.c"), source).unwrap();
    let make = fs::read_to_string(folder.path("src/Makefile")).unwrap();
    fs::write(folder.path("src/Makefile"), make.replace(" tuned", " die-at-start")).unwrap();
    let told = stderr(&arena(&folder, &["--dry-run"]));
    assert!(told.contains("error: night.toml: build: ") && told.contains("start.engine: "), "{told}");
    assert!(!folder.path("night").exists());
}

/// A source that does not compile is made anew at the next attempt.
#[test]
fn a_tuned_source_that_does_not_build_is_no_result() {
    let Some(folder) = engine() else { return };
    let settings = settings();
    let line = settings.lines().find(|line| line.starts_with("command = \"tuner")).unwrap().to_owned();
    let broken = line.replacen("tuner", "sh tune.sh", 1);
    fs::write(folder.path("night.toml"), settings.replace(&line, &broken)).unwrap();
    fs::write(folder.path("tune.sh"), "echo no C > night/gen-001/tuned.c\n").unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("gen-001: tune: build: "), "{}", stderr(&output));
    assert!(record(&folder)["tune"].is_null());
    fs::write(folder.path("tune.sh"), "sed -i 's/Tempo = 10/Tempo = 11/' night/gen-001/tuned.c\n").unwrap();
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(record(&folder)["test"]["games"], 4);
}

#[test]
fn parameters_may_stand_in_several_files() {
    let Some(folder) = engine() else { return };
    let mut settings = settings();
    let line = settings.lines().find(|line| line.starts_with("command = \"tuner")).unwrap().to_owned();
    for (old, new) in [
        ("params = \"src/evaluate.c\"", "params = [\"src/evaluate.c\", \"src/more.h\"]"),
        ("adopt-into = \"src/evaluate.c\"", "adopt-into = \"src\""),
        (&line[..], "command = \"sh tune.sh {rewritten}/more.h {params}/evaluate.c {data}\""),
    ] {
        assert!(settings.contains(old), "{old}");
        settings = settings.replacen(old, new, 1);
    }
    fs::write(folder.path("night.toml"), settings).unwrap();
    fs::write(
        folder.path("build.sh"),
        kit("build-c.sh").replace("\"$1\" \"$2.src/evaluate.c\"", "\"$1\"/* \"$2.src\""),
    )
    .unwrap();
    fs::write(folder.path("src/more.h"), "int more = 1;\n").unwrap();
    fs::write(folder.path("tune.sh"), "test -f $2 && sed -i 's/1/2/' $1\n").unwrap();
    let dry = arena(&folder, &["--dry-run"]);
    assert_eq!(dry.status.code(), Some(0), "{}", stderr(&dry));
    assert!(String::from_utf8_lossy(&dry.stdout).contains("\ncp -r night/start night/gen-001/tuned\n"));
    let output = arena(&folder, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let read = |name: &str| fs::read(folder.path(name)).unwrap();
    assert_eq!(read("night/gen-001/tuned/more.h"), b"int more = 2;\n");
    assert_eq!(read("night/start/more.h"), b"int more = 1;\n");
    assert_eq!(read("night/gen-001/tuned/evaluate.c"), read("src/evaluate.c"));
    assert_eq!(read("night/best/evaluate.c"), read("src/evaluate.c"));
    assert_eq!(record(&folder)["test"]["games"], 4);
}
