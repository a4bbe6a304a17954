//! `arena check` on the mock engine, which answers every `go` at once.

use assert_cmd::Command;
use serde_json::Value;

use super::support::mock;

fn check(behaviours: &str, more: &[&str]) -> (Option<i32>, String) {
    let engine = format!("\"cmd={}\" {behaviours}", mock().display());
    let output = Command::cargo_bin("arena").unwrap().arg("check").arg(engine).args(more).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn each_check_is_listed_with_its_reason() {
    let (code, text) = check("", &["--json"]);
    assert_eq!(code, Some(1));
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["passed"], false);
    let found = |name: &str| {
        let check = json["checks"].as_array().unwrap().iter().find(|check| check["check"] == name);
        let check = check.unwrap_or_else(|| panic!("no check `{name}`"));
        (check["result"].as_str().unwrap(), check["reason"].as_str().unwrap())
    };
    for name in [
        "uci is answered with id and uciok",
        "isready is answered at once",
        "quit ends",
        "the end of input ends",
        "every line is legal",
    ] {
        assert_eq!(found(name), ("passed", ""), "{name}");
    }
    let missing = "missing: Hash, Move Overhead, Ponder, MultiPV";
    assert_eq!(found("the usual options are there"), ("warning", missing));
    assert!(found("go infinite lasts until stop").1.starts_with("sent bestmove "));
    assert_eq!(found("go depth ends at that depth"), ("FAILED", "depth 1"));
    assert_eq!(found("go ponder ends with stop"), ("skipped", "no option Ponder"));
}

#[test]
fn engines_that_misbehave_fail() {
    let score = &["--only", "there is a score"];
    assert_eq!(check("", score).0, Some(0));
    // A point that is only good to have is no failure.
    let (code, text) = check("args=no-score=2", score);
    assert_eq!((code, text.trim_end().lines().last()), (Some(0), Some("0 passed, 0 failed, 1 warned, 0 skipped")));
    let (code, text) = check("args=no-score=2", &["--only", "there is a score", "--json"]);
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &json["passed"], &json["checks"][0]["required"]), (Some(0), &true.into(), &false.into()));
    let (code, text) = check("args=crash", &["--only", "go depth"]);
    assert!(code == Some(1) && text.contains("ended instead of sending bestmove"), "{text}");
    let (code, text) = check("args=illegal-pv", &["--only", "every line"]);
    assert!(code == Some(1) && text.contains("illegal PVs: info depth 1"), "{text}");
    let missing = Command::cargo_bin("arena").unwrap().args(["check", "./no-such-engine"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
}

/// Nothing is waited for that cannot come any more.
#[test]
fn closed_input_of_an_engine_is_reported_at_once() {
    let script = "cmd=sh args=\"-c 'exec 0<&-; echo uciok; exec sleep 100'\"";
    let output = Command::cargo_bin("arena").unwrap().args(["check", script, "--only", "options"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    let failed = text.lines().filter(|line| line.contains("closed its input, or does not read it")).count();
    assert_eq!(failed, 5, "{text}");
}
