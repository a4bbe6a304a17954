//! `data/relabel`, with an engine that is a script.
#![cfg(unix)]

use std::fs;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/relabel");

/// Answers with the number of the search in its game, as a mate at the third; with a bound behind it that does not count.
/// Unless there is a file `whole`, it ends at a position that says so, and waits at the first that says that.
const ENGINE: &str = r#"#!/bin/sh
n=0
while read -r word rest; do
    case "$word $rest" in
        position*end*) [ -e whole ] || exit ;;
        position*wait*) mkdir held && until [ -e whole ]; do sleep 0.05; done ;;
        ucinewgame*) n=0 ;;
        go*) n=$((n + 1))
            [ "$n" -ne 3 ] && kind="cp -$n" || kind="mate $n"
            echo "info depth 1 score $kind pv e2e4"
            echo "info depth 2 score cp 99 lowerbound pv e2e4"
            echo "bestmove e2e4" ;;
        quit*) exit ;;
    esac
done
"#;

fn position(operations: &str) -> String {
    format!("8/8/8/8/8/k7/8/K7 w - - {operations}")
}

/// A folder with an engine and positions; `None`, and a word about it, without Python.
fn folder(lines: &[String]) -> Option<TempDir> {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no python3");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("engine"), ENGINE).unwrap();
    Command::new("chmod").arg("+x").arg(folder.path().join("engine")).status().unwrap();
    fs::write(folder.path().join("old.epd"), lines.join("\n")).unwrap();
    Some(folder)
}

fn relabel(folder: &TempDir, engine: &str, source: &str) -> (Output, String) {
    let output = Command::new(SCRIPT).args([engine, "7", source, "new.epd"]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned();
    (output, said)
}

#[test]
fn scores_are_those_of_the_engine_and_all_else_stays() {
    let lines: Vec<String> =
        [r#"c0 "a"; c9 "1-0"; ce 5;"#, r#"c9 "0-1";"#, "ce -3;", "ce 0;", "ce 1;"].map(position).into();
    let Some(folder) = folder(&lines) else { return };
    assert!(relabel(&folder, "./engine", "old.epd").0.status.success());
    let new = [r#"c0 "a"; c9 "1-0"; ce -1;"#, r#"c9 "0-1"; ce -2;"#, "ce 3000;", "ce -4;", "ce -5;"].map(position);
    assert_eq!(fs::read_to_string(folder.path().join("new.epd")).unwrap(), new.join("\n") + "\n");
    let (output, said) = relabel(&folder, "./engine", "old.epd");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(said, "data/relabel: new.epd: exists; name another file, or remove it");
}

#[test]
fn faults_are_told_in_a_line_and_nothing_is_written() {
    let lines: Vec<String> = vec![position("ce 1;"), "end w - - ce 1;".to_owned(), "8/8 w".to_owned()];
    let Some(folder) = folder(&lines) else { return };
    fs::write(folder.path().join("short.epd"), "8/8 w").unwrap();
    fs::write(folder.path().join("one.epd"), position("ce 1;")).unwrap();
    for (engine, source, fault) in [
        ("./engine", "missing.epd", "missing.epd: No such file or directory"),
        ("./missing", "one.epd", "./missing: No such file or directory"),
        ("./engine", "short.epd", "short.epd:1: is no position"),
        ("./engine", "old.epd", "old.epd:3: is no position"),
    ] {
        let (output, said) = relabel(&folder, engine, source);
        assert_eq!((output.status.code(), said), (Some(1), format!("data/relabel: {fault}")));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    // It may end before it is asked, or thereafter.
    let (_, said) = relabel(&folder, "true", "one.epd");
    assert!(said.ends_with("true: ended without an answer"), "{said}");
}

#[test]
fn what_is_done_is_kept() {
    // The engine ends in the third block of a hundred lines.
    let mut lines: Vec<String> = (0..230).map(|index| position(&format!("c0 \"{index}\"; ce 1;"))).collect();
    lines[210] = "8/8/8/8/8/k7/8/K7 w - end ce 1;".to_owned();
    let Some(folder) = folder(&lines) else { return };
    let part = folder.path().join("new.epd.part");
    let (_, said) = relabel(&folder, "./engine", "old.epd");
    assert_eq!(said, "data/relabel: old.epd:211: ./engine: ended without an answer");
    let kept = fs::read_to_string(&part).unwrap();
    assert_eq!(kept.lines().count(), 201);
    // Marked lines, to see that they are taken; what was half written is not.
    fs::write(&part, kept.replace("c0 \"7\";", "c0 \"kept\";") + "8/8/8").unwrap();
    fs::write(folder.path().join("whole"), "").unwrap();
    fs::write(folder.path().join("other.epd"), position("ce 1;")).unwrap();
    let (_, said) = relabel(&folder, "./engine", "other.epd");
    let fault = "was begun with another engine, other nodes or other positions; remove it to begin anew";
    assert_eq!(said, format!("data/relabel: new.epd.part: {fault}"));
    assert!(relabel(&folder, "./engine", "old.epd").0.status.success());
    let new = fs::read_to_string(folder.path().join("new.epd")).unwrap();
    let expected = lines.iter().enumerate().map(|(index, line)| {
        let score = if index % 100 == 2 { 3000 } else { -(index as i32 % 100 + 1) };
        line.replace("c0 \"7\";", "c0 \"kept\";").replace("ce 1;", &format!("ce {score};")) + "\n"
    });
    assert_eq!(new, expected.collect::<String>());
    assert!(!part.exists());
}

#[test]
fn a_second_run_for_the_same_file_is_refused() {
    let Some(folder) = folder(&["8/8/8/8/8/k7/8/K7 w - wait ce 1;".to_owned()]) else { return };
    let part = folder.path().join("new.epd.part");
    let arguments = ["./engine", "7", "old.epd", "new.epd"];
    let mut first = Command::new(SCRIPT).args(arguments).current_dir(&folder).spawn().unwrap();
    while fs::read_to_string(&part).map_or(true, |text| text.is_empty()) {
        assert!(first.try_wait().unwrap().is_none(), "the first run ended");
        sleep(Duration::from_millis(10));
    }
    let (output, said) = relabel(&folder, "./engine", "old.epd");
    fs::write(folder.path().join("whole"), "").unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!((output.status.code(), said.as_str()), (Some(1), "data/relabel: new.epd.part: another run adds to it"));
    let new = fs::read_to_string(folder.path().join("new.epd")).unwrap();
    assert_eq!(new, "8/8/8/8/8/k7/8/K7 w - wait ce -1;\n");
}
