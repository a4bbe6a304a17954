//! The exchange with engines: all of it in a log, and that with an engine that failed in any case.

use std::fs;

use super::support::Arena;

const SHORT: &[&str] = &["--games", "2", "--depth", "1", "--max-plies", "12", "--concurrency", "1"];

fn stderr(arena: &Arena, behaviours: &str, more: &[&str]) -> String {
    let output = arena.play(behaviours, &[SHORT, more].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    stderr
}

#[test]
fn a_panic_is_shown_with_its_message() {
    let shown = stderr(&Arena::new(), "args=panics=2", &[]);
    for line in ["mock: report, line 1\n", "(43 lines)", "panicked at ", "mock: out of bounds\n", "RUST_BACKTRACE"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(!shown.contains("mock: report, line 30\n"), "{shown}");
}

#[test]
fn the_exchange_with_an_engine_that_failed_is_kept() {
    for (behaviours, last) in [
        ("args=panics=2", "! note: run with"),
        ("args=illegal=2", "< bestmove e1e8"),
        ("args=crash=2", "! mock: a fatal error"),
    ] {
        let arena = Arena::new();
        let shown = stderr(&arena, behaviours, &["--journal", "match.jsonl"]);
        assert!(shown.contains("match.jsonl.failures.txt"), "{shown}");
        let kept = fs::read_to_string(arena.path("match.jsonl.failures.txt")).unwrap();
        let lines: Vec<&str> = kept.lines().collect();
        assert!(lines[0].starts_with("# game 1, mock: "), "{kept}");
        assert!(lines[1].ends_with("> ucinewgame"), "{kept}");
        assert!(kept.contains("> position startpos moves ") && kept.contains("< readyok"), "{kept}");
        assert!(lines.iter().any(|line| line.contains(last)), "{last}: {kept}");
    }
    let arena = Arena::new();
    stderr(&arena, "", &["--journal", "match.jsonl"]);
    assert!(!arena.path("match.jsonl.failures.txt").exists());
}

/// Without a journal or a file of games the exchange is in a temporary file, which the message names.
#[test]
fn the_exchange_is_kept_without_a_journal() {
    let arena = Arena::new();
    let output = assert_cmd::Command::cargo_bin("arena")
        .unwrap()
        .current_dir(arena.folder.path())
        .env("TMPDIR", arena.folder.path())
        .args(arena.arguments("args=crash=2").into_iter().filter(|word| word != "--pgn" && word != "out.pgn"))
        .args(SHORT)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&output.stderr).into_owned();
    let start = shown.find(arena.folder.path().to_str().unwrap()).unwrap_or_else(|| panic!("{shown}"));
    let path = shown[start..].split(':').next().unwrap();
    assert!(fs::read_to_string(path).unwrap().contains("! mock: a fatal error"), "{shown}");
}

#[test]
fn a_log_has_all_lines_of_all_games() {
    let arena = Arena::new();
    stderr(&arena, "args=crash=2", &["--log", "all.log"]);
    let log = fs::read_to_string(arena.path("all.log")).unwrap();
    assert!(log.starts_with("# arena log: "), "{log}");
    for wanted in [
        "> uci\n",
        "< uciok\n",
        ", game 1 > go depth 1\n",
        ", game 2 < bestmove ",
        ", game 1 ! mock: a fatal error\n",
        "> quit\n",
    ] {
        assert!(log.contains(wanted), "{wanted}: {log}");
    }
    for line in log.lines().skip(1) {
        assert!(line.split(' ').next().unwrap().parse::<f64>().is_ok(), "{line}");
    }
    // The log has it already.
    assert!(!arena.path("out.pgn.failures.txt").exists());
    // A log grows, and no other file is taken for one.
    stderr(&arena, "", &["--log", "all.log"]);
    assert!(fs::read_to_string(arena.path("all.log")).unwrap().starts_with(&log));
    fs::write(arena.path("notes.txt"), "mine\n").unwrap();
    let output = arena.play("", &[SHORT, &["--log", "notes.txt"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(arena.path("notes.txt")).unwrap(), "mine\n");
}
