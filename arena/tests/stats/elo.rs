//! `arena elo`, as users run it.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// Games of two players by their results, colours in turn, results from the view of the first.
fn games(a: &str, b: &str, results: [u32; 3]) -> String {
    let mut text = String::new();
    let each = [("1-0", "0-1"), ("1/2-1/2", "1/2-1/2"), ("0-1", "1-0")];
    for ((as_white, as_black), count) in each.into_iter().zip(results) {
        for number in 0..count {
            let (white, black, result) = if number % 2 == 0 { (a, b, as_white) } else { (b, a, as_black) };
            text +=
                &format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n1. e4 e5 {result}\n\n");
        }
    }
    text
}

fn elo(folder: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("arena").unwrap().current_dir(folder).arg("elo").args(args).output().unwrap()
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = elo(folder, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn player<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["players"].as_array().unwrap().iter().find(|player| player["name"] == name).unwrap()
}

fn assert_close(found: &Value, expected: f64, tolerance: f64) {
    assert!(found.as_f64().is_some_and(|found| (found - expected).abs() < tolerance), "{found}, expected {expected}");
}

#[test]
fn two_players_are_as_far_apart_as_their_match_says() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pgn"), games("new", "old", [150, 200, 100])).unwrap();
    // 450 games, 55.6 %: Elo +38.76 ± 23.99, as `arena calc --wdl 150,200,100` has it.
    let found = json(folder.path(), &["a.pgn", "--anchor", "old=2500"]);
    assert_close(&player(&found, "new")["rating"], 2538.764, 1e-3);
    assert_close(&player(&found, "new")["rating_error"], 23.99, 0.1);
    assert_eq!(player(&found, "old")["rating"], 2500.0);
    let found = json(folder.path(), &["a.pgn"]);
    assert_close(&player(&found, "new")["rating"], 19.382, 1e-3);
    assert_close(&player(&found, "old")["rating"], -19.382, 1e-3);
    let both = &found["encounters"][0];
    assert_eq!(both["players"], serde_json::json!(["new", "old"]));
    assert_eq!([&both["games"], &both["wins"], &both["draws"], &both["losses"]], [450, 150, 200, 100]);
    assert!(found["model"].as_str().unwrap().contains("trinomial"));
}

#[test]
fn files_of_all_kinds_are_one_pool() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (first, second) = (games("a", "b", [30, 20, 10]), games("b", "c", [12, 30, 18]));
    fs::write(path("all.pgn"), format!("{first}{second}")).unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(first.as_bytes()).unwrap();
    fs::write(path("first"), encoder.finish().unwrap()).unwrap();
    fs::write(path("second"), zstd::encode_all(second.as_bytes(), 3).unwrap()).unwrap();
    let found = json(folder.path(), &["first", "second"]);
    assert_eq!(found, json(folder.path(), &["all.pgn"]));
    assert_eq!((&found["games"], &found["players"][0]["name"]), (&120.into(), &"a".into()));
    // Two thirds of the points are 120.41 Elo, 45 % are −34.86.
    let rating = |name: &str| player(&found, name)["rating"].as_f64().unwrap();
    assert!((rating("a") - rating("b") - 120.412).abs() < 1e-2 && (rating("b") - rating("c") + 34.86).abs() < 1e-2);
}

#[test]
fn unconnected_groups_of_engines_are_listed_apart() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        games("a", "b", [3, 2, 3]),
        games("b", "c", [2, 2, 3]),
        games("x", "y", [2, 1, 1]),
        games("a", "x", [4, 0, 0]),
        games("loser", "a", [0, 0, 6]),
        "[White \"a\"]\n[Black \"b\"]\n[Result \"*\"]\n\n1. e4 *\n".to_owned(),
    ];
    fs::write(folder.path().join("all.pgn"), text.concat()).unwrap();
    let found = json(folder.path(), &["all.pgn"]);
    let groups = ["a", "b", "c", "x", "y", "loser"].map(|name| player(&found, name)["group"].as_u64().unwrap());
    assert_eq!(groups, [1, 1, 1, 2, 2, 0]);
    assert!(player(&found, "loser")["rating"].is_null());
    assert_eq!((&found["games"], &found["left_out"]["without_a_result"]), (&29.into(), &1.into()));
    let table = String::from_utf8(elo(folder.path(), &["all.pgn", "--anchor", "y=100"]).stdout).unwrap();
    for text in [
        "group 1 (mean 0)",
        "group 2 (y 100)",
        "without rating",
        "Left out  1 without a result",
        "Groups    2",
        "Unused    10 games",
        "Model     ",
    ] {
        assert!(table.contains(text), "{text}:\n{table}");
    }
}

#[test]
fn long_names_are_cut_in_tables_alone() {
    let folder = tempfile::tempdir().unwrap();
    let name = "n".repeat(500_000);
    fs::write(folder.path().join("long.pgn"), games(&name, "b", [3, 2, 3])).unwrap();
    let table = String::from_utf8(elo(folder.path(), &["long.pgn"]).stdout).unwrap();
    assert!(table.contains(&format!("{}…", &name[..35])) && table.lines().all(|line| line.len() < 200), "{table}");
    assert_eq!(player(&json(folder.path(), &["long.pgn"]), &name)["games"], 8);
}

#[test]
fn lines_without_an_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("long.pgn"), games(&"n".repeat(5_000_000), "b", [1, 0, 0])).unwrap();
    fs::write(path("zeros.zst"), zstd::encode_all(std::io::repeat(0).take(1 << 28), 1).unwrap()).unwrap();
    for name in ["long.pgn", "zeros.zst"] {
        let output = elo(folder.path(), &[name]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert_eq!(stderr, format!("error: {name}: line 1 is longer than 1048576 bytes\n"));
    }
}

#[test]
fn games_that_cannot_be_rated_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("won.pgn"), games("a", "b", [3, 0, 0])).unwrap();
    fs::write(path("open.pgn"), "[White \"a\"]\n[Black \"b\"]\n[Result \"*\"]\n\n*\n").unwrap();
    fs::write(path("empty.pgn"), "\n").unwrap();
    fs::write(path("torn.zst"), &zstd::encode_all(games("a", "b", [9, 9, 9]).as_bytes(), 3).unwrap()[..60]).unwrap();
    let two = games("a", "b", [1, 0, 0]).replace("e5 1-0", "e5 0-1");
    fs::write(path("two.pgn"), games("a", "b", [9, 9, 9]) + &two).unwrap();
    for (args, message) in [
        (&["two.pgn"][..], "error: two.pgn: line 163: the tag Result contradicts the result after the moves\n"),
        (&["empty.pgn"][..], "error: empty.pgn: no games\n"),
        (&["open.pgn", "empty.pgn"], "open.pgn, empty.pgn: no games that count (1 without a result)"),
        (&["none.pgn"], "error: none.pgn: No such file"),
        (&["torn.zst"], "error: torn.zst: "),
        (&["won.pgn", "--anchor", "c=0"], "error: no player is called c"),
        (&["won.pgn", "--anchor", "a=0"], "a cannot be compared with anybody"),
        (&["won.pgn", "--anchor", "a"], "expected NAME=ELO, found `a`"),
        (&[], "FILE"),
    ] {
        let output = elo(folder.path(), args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
    // Without an anchor there is something to tell, if no rating.
    assert!(elo(folder.path(), &["won.pgn"]).status.success());
}
