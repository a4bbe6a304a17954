//! Gauntlets and round robins, as users run them.

use super::support::{Arena, mock};
use assert_cmd::Command;

fn run(arena: &Arena, command: &str, behaviours: &[&str], more: &[&str]) -> (Option<i32>, String) {
    let engine = |(index, words): (usize, &&str)| format!("\"cmd={}\" name=e{index} {words}", mock().display());
    let engines = behaviours.iter().enumerate().flat_map(|words| ["--engine".to_owned(), engine(words)]);
    let output = Command::cargo_bin("arena")
        .unwrap()
        .current_dir(arena.folder.path())
        .args([command, "--openings", "book.epd", "--depth", "1", "--json", "out.json", "--pgn", "out.pgn"])
        .args(["--concurrency", "2", "--max-plies", "20"])
        .args(engines)
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

#[test]
fn everybody_meets_everybody_from_the_same_openings() {
    let arena = Arena::new();
    let (code, table) = run(&arena, "round-robin", &["", "args=illegal=9", "", "args=illegal=5"], &["--games", "4"]);
    assert_eq!(code, Some(0), "{table}");
    let json = arena.json();
    assert_eq!((&json["games"], &json["games_planned"]), (&24.into(), &24.into()));
    let encounters = json["encounters"].as_array().unwrap();
    let players: Vec<String> = encounters.iter().map(|encounter| encounter["players"].to_string()).collect();
    let all = ["0\",\"e1", "0\",\"e2", "0\",\"e3", "1\",\"e2", "1\",\"e3", "2\",\"e3"];
    assert_eq!(players, all.map(|pair| format!("[\"e{pair}\"]")));
    for encounter in encounters {
        let total: u64 = ["wins", "losses", "draws"].iter().map(|key| encounter[key].as_u64().unwrap()).sum();
        assert_eq!(total, 4);
    }
    let pgn = std::fs::read_to_string(arena.path("out.pgn")).unwrap();
    assert_eq!(pgn.matches("[FEN ").count(), 12);
    for name in ["e0", "e1", "e2", "e3"] {
        assert_eq!(pgn.matches(&format!("[White \"{name}\"]")).count(), 6);
        assert_eq!(pgn.matches(&format!("[Black \"{name}\"]")).count(), 6);
    }
    assert!(table.contains("rating (mean 0)"), "{table}");
    // Ratings from the games' file are those of the match.
    let output =
        Command::cargo_bin("arena").unwrap().arg("elo").arg(arena.path("out.pgn")).arg("--json").output().unwrap();
    let rated: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for engine in json["engines"].as_array().unwrap() {
        let player = rated["players"].as_array().unwrap().iter().find(|player| player["name"] == engine["name"]);
        let [found, expected] = [&player.unwrap()["rating"], &engine["rating"]].map(|rating| rating.as_f64());
        assert!(found.zip(expected).map_or(found == expected, |(a, b)| (a - b).abs() < 1e-6), "{table}\n{rated:#}");
    }
}

#[test]
fn a_gauntlet_is_the_first_against_the_rest_and_can_go_on() {
    let arena = Arena::new();
    let journal = ["--games", "4", "--journal", "match.jsonl", "--resume"];
    let (code, table) = run(&arena, "gauntlet", &["", "args=crash=5", ""], &journal);
    assert_eq!(code, Some(0), "{table}");
    let first = arena.json();
    assert_eq!(first["games"], 8);
    assert_eq!(first["encounters"][0]["wins"], 4);
    assert_eq!(first["engines"][1]["faults"]["crashes"], 4);
    // An engine that lost every game has no rating.
    assert!(first["engines"][1]["rating"].is_null() && table.contains("unknown"), "{table}");
    let pgn = std::fs::read_to_string(arena.path("out.pgn")).unwrap();
    assert_eq!(run(&arena, "gauntlet", &["", "args=crash=5", ""], &journal).0, Some(0));
    assert_eq!(arena.json()["encounters"], first["encounters"]);
    assert_eq!(std::fs::read_to_string(arena.path("out.pgn")).unwrap(), pgn);
}

#[test]
fn engines_need_names_and_games_come_in_pairs() {
    let arena = Arena::new();
    for (behaviours, more, message) in [
        (&["", ""][..], &["--games", "3"][..], "expected an even number"),
        (&[""], &[], "at least two --engine arguments, found 1"),
        (&["", ""], &["--engine", "cmd=x name=e0"], "several engines are called e0"),
    ] {
        let (code, stderr) = run(&arena, "round-robin", behaviours, more);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
    }
}
