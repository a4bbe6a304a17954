//! Matches that are ended by force and go on as if nothing had happened.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::support::{Arena, kill_until_done};

/// Forty games that take about half a second.
const LONG: &[&str] = &["--games", "40", "--depth", "1", "--max-plies", "12", "--concurrency", "2"];
const JOURNAL: &[&str] = &["--journal", "match.jsonl", "--resume"];

/// The games of a PGN file by their round, without the times of their moves.
fn games(arena: &Arena) -> BTreeMap<String, String> {
    let pgn = fs::read_to_string(arena.path("out.pgn")).unwrap();
    let mut games = BTreeMap::new();
    for game in pgn.split("[Event ").skip(1) {
        let round = game.lines().find(|line| line.starts_with("[Round")).unwrap().to_owned();
        let words = game.split_ascii_whitespace();
        let timeless: Vec<&str> = words.filter(|word| !(word.ends_with('s') && word.contains('.'))).collect();
        assert_eq!(games.insert(round, timeless.join(" ")), None);
    }
    games
}

#[test]
fn a_match_that_was_killed_goes_on_to_the_same_games() {
    let whole = Arena::new();
    assert_eq!(whole.play("args=slow", LONG).status.code(), Some(0));
    let arena = Arena::new();
    let arguments: Vec<String> = arena
        .arguments("args=slow")
        .into_iter()
        .chain([LONG, JOURNAL].concat().iter().map(|&arg| arg.into()))
        .collect();
    // Different moments of the start, of games and of writing.
    kill_until_done(&arena, &arguments, |attempt| 10 + attempt * 37 % 90);
    assert_eq!(games(&arena), games(&whole));
    let (found, expected) = (arena.json(), whole.json());
    for key in ["games", "wins", "losses", "draws", "pentanomial", "distinct_games", "endings", "plies", "match"] {
        assert_eq!(found[key], expected[key], "{key}");
    }
}

#[test]
fn journals_are_kept_from_harm() {
    let arena = Arena::new();
    let play = |more: &[&str]| {
        let output = arena.play("", &[&["--depth", "1", "--max-plies", "4"], more].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(play(&["--games", "2", "--journal", "match.jsonl"]).0, Some(0));
    let journal = fs::read(arena.path("match.jsonl")).unwrap();
    for (more, message) in [
        (&["--journal", "match.jsonl"][..], "out.pgn: exists"),
        (&["--resume"], "--journal"),
        (
            &["--journal", "match.jsonl", "--resume", "--seed", "9"],
            "match.jsonl:1: is of another match: openings_sha256",
        ),
        (&["--journal", "match.jsonl", "--resume", "--draw", "9,9,9"], "draw is null there, [9,9,9] here"),
    ] {
        let (code, stderr) = play(more);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
        assert_eq!(fs::read(arena.path("match.jsonl")).unwrap(), journal);
    }
    fs::write(arena.path("notes"), "my precious notes").unwrap();
    let (code, stderr) = play(&["--journal", "notes", "--resume"]);
    assert!(code == Some(2) && stderr.contains("notes: is not a journal of this match; left unchanged"), "{stderr}");
    assert_eq!(fs::read_to_string(arena.path("notes")).unwrap(), "my precious notes");
    // More games than before are the same match.
    assert_eq!(play(&["--games", "6", "--journal", "match.jsonl", "--resume"]).0, Some(0));
    assert_eq!(arena.json()["games"], 6);
    assert!(fs::read(arena.path("match.jsonl")).unwrap().starts_with(&journal));
}

#[test]
fn a_start_that_failed_is_not_in_the_way_of_the_next() {
    let arena = Arena::new();
    let play = |behaviours: &str| {
        let quick = ["--depth", "1", "--max-plies", "4", "--games", "2", "--journal", "match.jsonl"];
        arena.play(behaviours, &quick).status.code()
    };
    assert_eq!((play("args=die-at-start"), arena.path("match.jsonl").exists()), (Some(2), false));
    assert_eq!(play("option.Hash=1"), Some(2));
    assert_eq!((play(""), arena.path("match.jsonl").exists()), (Some(0), true));
    let journal = fs::read(arena.path("match.jsonl")).unwrap();
    assert_eq!(play("args=die-at-start"), Some(2));
    assert_eq!(fs::read(arena.path("match.jsonl")).unwrap(), journal);
}

#[test]
fn a_match_that_was_ended_says_so_by_its_status() {
    let arena = Arena::new();
    let mut match_ = Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(arena.arguments("args=slow"))
        .args(["--depth", "1", "--max-plies", "12", "--games", "100000", "--concurrency", "1"])
        .current_dir(arena.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while fs::metadata(arena.path("out.pgn")).map_or(0, |file| file.len()) == 0 {
        assert_eq!(match_.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &match_.id().to_string()]).status().unwrap().success());
    let output = match_.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("ends with the games in hand; Ctrl-C again gives them up"), "{said}");
    assert!(arena.json()["games"].as_u64().unwrap() < 100_000);
}

#[test]
fn copied_games_and_exceeded_limits_are_reported() {
    let arena = Arena::new();
    let output = arena.play("nodes=100", &["--games", "8", "--depth", "1", "--max-plies", "4"]);
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("Distinct  4 of 8 games"), "{table}");
    assert!(table.contains("Warning   4 games are exact copies of others"), "{table}");
    assert!(table.contains("Warning   the 2 openings were played more than once"), "{table}");
    assert!(table.contains("Warning   mock reports 1.0 on average; its limit is 100 nodes a move"), "{table}");
    assert_eq!(arena.json()["distinct_games"], 4);
    assert_eq!(arena.json()["warnings"].as_array().unwrap().len(), 3);
}
