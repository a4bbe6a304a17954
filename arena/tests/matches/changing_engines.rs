//! Engines that do not stay as they were when the match began.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use assert_cmd::Command;

use super::support::{Arena, mock};

const SHORT: &[&str] = &["--depth", "1", "--max-plies", "4", "--concurrency", "1"];

/// Plays an honest engine against a script that is started anew for every game. It counts its starts in the file `starts`
/// and becomes the mock engine.
fn play(arena: &Arena, script: &str, words: &str, more: &[&str]) -> Output {
    let script = format!("#!/bin/sh\necho >> starts\n{script}\nexec {}\n", mock().display());
    fs::write(arena.path("engine"), script).unwrap();
    fs::set_permissions(arena.path("engine"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut arguments = arena.arguments(&format!("restart=on {words}"));
    let engine = arguments.last_mut().unwrap();
    *engine = engine.replace(mock().to_str().unwrap(), "./engine");
    let mut command = Command::cargo_bin("arena").unwrap();
    command.current_dir(arena.folder.path()).args(arguments).args(SHORT).args(more).output().unwrap()
}

/// The arena tells the result of the games, and then the fault.
#[test]
fn an_engine_that_starts_no_more_leaves_its_games() {
    let arena = Arena::new();
    let more = ["--games", "100", "--report", "page.html"];
    let output = play(&arena, "[ $(wc -l < starts) -le 4 ] || exit 1", "", &more);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("error: mock: could not be started for 10 games in a row: ended instead of"), "{stderr}");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(stdout.contains("Endings   maximum length 4, crash 9"), "{stdout}");
    assert_eq!(arena.json()["games"], 13);
    assert!(fs::read_to_string(arena.path("page.html")).unwrap().contains("maximum length"));
    assert_eq!(fs::read_to_string(arena.path("out.pgn")).unwrap().matches("[Event ").count(), 13);
}

#[test]
fn changed_files_of_engines_are_reported_once() {
    let arena = Arena::new();
    fs::write(arena.path("evaluation.toml"), "").unwrap();
    // The engine changes its own file, once it is started for the second time.
    let script = "[ $(wc -l < starts) -ge 2 ] && echo >> evaluation.toml";
    let output = play(&arena, script, "option.EvalFile=evaluation.toml", &["--games", "4"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    // The second game may begin before the arena reports the first.
    let told = "warning: mock: evaluation.toml has changed since the match began, noticed after game ";
    assert_eq!((stderr.matches(told).count(), stderr.matches("has changed").count()), (1, 1), "{stderr}");
    let unchanged = play(&Arena::new(), "", "", &["--games", "4"]);
    assert!(!String::from_utf8_lossy(&unchanged.stderr).contains("has changed"));
}
