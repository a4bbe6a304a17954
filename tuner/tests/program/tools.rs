//! The commands beside tuning.

use serde_json::Value;

use crate::support::{Folder, GOOD, refusal, tuner};

#[test]
fn files_are_compared() {
    let diff = |arguments: &[&str]| {
        let assert = tuner().arg("diff").args(arguments).assert().success();
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    };
    let (baseline, tuned) = ("params/baseline.toml", "params/tuned.toml");
    assert_eq!(diff(&[tuned, tuned]), format!("{tuned} and {tuned} hold the same numbers\n"));
    let text = diff(&[baseline, tuned, "--count", "3"]);
    for word in ["K none -> ", "psqt.knight", "largest changes", "mean change"] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
    let json: Value = serde_json::from_str(&diff(&[baseline, tuned, "--count", "3", "--json"])).unwrap();
    assert_eq!((&json["identical"], json["largest"].as_array().unwrap().len()), (&false.into(), 3));
    let folder = Folder::new();
    let bad = folder.write("bad.toml", "tempo = 5\n");
    assert!(refusal(tuner().args(["diff", baseline]).arg(bad)).contains("bad.toml"));
}

#[test]
fn data_are_reported_on_before_anything_is_tuned() {
    let folder = Folder::new();
    let lines = folder.write("a.epd", GOOD.repeat(2) + "8/8/8/8/8/k7/7Q/K7 w - - c9 \"0-1\";\n");
    let games = folder.write("b.pgn", "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 Nf6 3. Nxe5 Nc6 1-0\n");
    let report = |more: &[&str]| {
        let assert =
            tuner().arg("data").arg(&lines).arg(&games).args(["--skip-plies", "0"]).args(more).assert().success();
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    };
    let table = report(&[]);
    for word in ["b.pgn: 1 games, 2 positions", "duplicates    6 (", "a.epd:13: lost against the material: 0-1"] {
        assert!(table.contains(word), "{word} in\n{table}");
    }
    let json: Value = serde_json::from_str(&report(&["--json", "--unique", "--skip-last", "0"])).unwrap();
    assert_eq!((&json["positions"], &json["left_out"]["duplicates"]), (&12.into(), &6.into()));
    assert_eq!((&json["suspects"][0]["number"], &json["suspects"][1]["number"]), (&5.into(), &13.into()));
    let csv = folder.path("c.csv.gz");
    let assert = tuner().arg("convert").arg(&lines).args(["--unique", "--output"]).arg(&csv).assert().success();
    let said = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(said.starts_with("left out     6 duplicates\n") && said.contains("7 positions, csv, gzip"), "{said}");
    let assert = tuner().arg("data").arg(&csv).arg("--json").assert().success();
    let json: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(json["positions"], 7);
    let bullet = folder.path("d.bullet");
    let error = refusal(tuner().arg("convert").arg(&lines).arg("--output").arg(&bullet));
    assert!(error.contains("a.epd:1: has no score") && !bullet.exists(), "{error}");
    assert!(refusal(tuner().args(["data", "/no/such.epd"])).contains("/no/such.epd"));
    tuner().arg("data").arg(&lines).args(["--pieces", "5"]).assert().failure().code(2);
}
