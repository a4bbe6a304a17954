//! `arena calc`, as users run it.

use std::fs;

use assert_cmd::Command;
use serde_json::Value;

fn calc(args: &[String]) -> Value {
    let output = Command::cargo_bin("arena").unwrap().arg("calc").args(args).arg("--json").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn strings(args: &[&str]) -> Vec<String> {
    args.iter().map(|&arg| arg.to_owned()).collect()
}

fn assert_close(found: &Value, expected: f64, tolerance: f64, what: &str) {
    let is_close = found.as_f64().is_some_and(|found| (found - expected).abs() <= tolerance);
    assert!(is_close, "{what}: {found}, expected {expected}");
}

#[test]
fn pairs_and_games_are_judged() {
    let pairs = calc(&strings(&["--penta", "120,900,2100,1010,150", "--bounds", "0,3"]));
    assert_close(&pairs["llr"], 2.164_841, 1e-6, "llr");
    assert_close(&pairs["elo"], 6.900_913, 1e-6, "elo");
    assert_close(&pairs["elo_error"], 4.346_976, 1e-6, "elo_error");
    assert_close(&pairs["nelo"], 11.688_04, 1e-6, "nelo");
    assert_close(&pairs["nelo_error"], 7.360_13, 1e-6, "nelo_error");
    assert_close(&pairs["los"], 0.999_072, 1e-6, "los");
    assert_eq!(pairs["sprt"]["verdict"], "undecided");
    let games = calc(&strings(&["--wdl", "716,2163,591", "--bounds", "0,6", "--model", "bayesian"]));
    assert_close(&games["llr"], 2.986_174, 1e-6, "llr");
    assert_eq!(games["sprt"]["verdict"], "H1 accepted");
    assert_eq!(calc(&strings(&["--penta", "0,0,0,0,9"]))["elo"], Value::Null);
}

#[test]
fn an_interval_without_a_spread_is_unknown() {
    for counts in ["0,1,0,0,0", "0,0,3,0,0", "0,0,0,0,4"] {
        let found = calc(&strings(&["--penta", counts]));
        assert_eq!((&found["elo_error"], &found["nelo_error"]), (&Value::Null, &Value::Null), "{counts}");
    }
    let output = Command::cargo_bin("arena").unwrap().args(["calc", "--penta", "0,1,0,0,0"]).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(table, "Elo       Elo -190.8 ± unknown (± is 95 %)\n");
}

/// Expected values: an independent evaluation of the same process with forty digits, by sines alone.
#[test]
fn estimates_of_stopped_tests_are_corrected_for_stopping() {
    let keys = ["nelo_low", "nelo", "nelo_high", "elo_low", "elo", "elo_high"];
    for (counts, bounds, model, expected) in [
        (
            "10,85,160,120,25",
            "0,20",
            "normalized",
            [9.732_430, 40.314_484, 70.501_895, 6.293_341, 26.115_023, 45.848_383],
        ),
        (
            "10,85,160,120,25",
            "0,20",
            "logistic",
            [2.738_415, 38.546_012, 73.311_600, 1.770_580, 24.965_399, 47.698_170],
        ),
        (
            "20,110,260,95,15",
            "0,20",
            "normalized",
            [-37.542_245, -11.484_613, 15.090_802, -22.040_611, -6.734_295, 8.849_680],
        ),
        (
            "120,900,2100,1010,150",
            "0,3",
            "normalized",
            [4.327_392, 11.687_655, 19.047_864, 2.554_711, 6.900_686, 11.248_789],
        ),
    ] {
        let found = calc(&strings(&["--penta", counts, "--bounds", bounds, "--model", model]));
        for (key, expected) in keys.into_iter().zip(expected) {
            assert_close(&found["sprt"]["unbiased"][key], expected, 1e-6, &format!("{counts} {model} {key}"));
        }
    }
    assert_eq!(calc(&strings(&["--penta", "0,0,9,0,0", "--bounds", "0,5"]))["sprt"]["unbiased"], Value::Null);
    let text =
        Command::cargo_bin("arena").unwrap().args(["calc", "--penta", "20,110,260,95,15", "--bounds", "0,20"]).output();
    let text = String::from_utf8_lossy(&text.unwrap().stdout).into_owned();
    assert!(text.contains("as if the number of games had been fixed"), "{text}");
    assert!(text.contains("Unbiased  Elo -6.7, 95 % between -22.0 and +8.8"), "{text}");
}

#[test]
fn bad_arguments_are_named() {
    for (args, message) in [
        (&["--penta", "1,2,3"][..], "expected 5 counts"),
        (&["--penta", "1,2,3,4,-5"], "expected 5 counts"),
        (&["--wdl", "1,2,3", "--bounds", "5,0"], "found `5,0`"),
        (&["--wdl", "1,2,3", "--alpha", "0"], "between 0 and 0.5"),
        (&["--penta", "1,2,3,4,5", "--bounds", "0,5", "--model", "bayesian"], "judges games, not pairs"),
        (&[], "--penta"),
    ] {
        let output = Command::cargo_bin("arena").unwrap().arg("calc").args(args).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn tests_are_planned() {
    let output =
        Command::cargo_bin("arena").unwrap().args(["plan", "--bounds", "0,3", "--elo", "1.5"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<&str> = text.lines().last().unwrap().split_ascii_whitespace().collect();
    assert_eq!(words, ["1.5", "50.0", "%", "116282"], "{text}");
}

#[test]
fn differences_beyond_all_games_are_refused() {
    let plan = |elo: &str| Command::cargo_bin("arena").unwrap().args(["plan", "--elo", elo]).output().unwrap();
    for elo in ["1e308", "-3001", "NaN", "inf"] {
        let output = plan(elo);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains("expected a number from -3000 to 3000"), "{error}");
    }
    let text = String::from_utf8(plan("-1e-308").stdout).unwrap();
    assert!(text.lines().last().unwrap().trim_start().starts_with("0  "), "{text}");
}

/// A file of vectors computed with other programs' code, named by the environment variable `SPRT_VECTORS`: an array
/// `vectors` of objects with `kind`, `counts_low_to_high`, `elo0`, `elo1`, `alpha`, `beta`, `model`, and what
/// `fishtest` and `fastchess` say.
#[test]
fn vectors_of_other_programs_agree() {
    let Some(path) = std::env::var_os("SPRT_VECTORS") else {
        eprintln!("skipped: SPRT_VECTORS names no file of vectors");
        return;
    };
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        let counts: Vec<String> =
            vector["counts_low_to_high"].as_array().unwrap().iter().map(Value::to_string).collect();
        let counts = if vector["kind"] == "trinomial" {
            ["--wdl".to_owned(), counts.iter().rev().cloned().collect::<Vec<_>>().join(",")]
        } else {
            ["--penta".to_owned(), counts.join(",")]
        };
        let model = vector["model"].as_str().unwrap();
        let mut args = counts.to_vec();
        args.extend(["--bounds".to_owned(), format!("{},{}", vector["elo0"], vector["elo1"])]);
        args.extend(["--model".to_owned(), model.to_owned()]);
        args.extend(["--alpha".to_owned(), vector["alpha"].to_string()]);
        args.extend(["--beta".to_owned(), vector["beta"].to_string()]);
        let found = calc(&args);
        let what = format!("{vector}");
        assert_close(&found["llr"], vector["fishtest"]["llr"].as_f64().unwrap(), 1e-6, &what);
        for (ours, theirs, scale) in [
            ("elo", "elo", 1.0),
            ("elo_error", "elo_err95", 1.0),
            ("nelo", "nelo", 1.0),
            ("nelo_error", "nelo_err95", 1.0),
            ("los", "los_percent", 0.01),
        ] {
            // What is given in percent is rounded to two digits.
            let tolerance = if scale < 1.0 { 5.1e-5 } else { 1.1e-6 };
            // What has no spread has no interval: 0 is not half its width.
            let is_told = |expected: &f64| ours != "elo_error" || *expected > 0.0;
            match vector["fastchess"][theirs].as_f64().filter(is_told) {
                Some(expected) => assert_close(&found[ours], scale * expected, tolerance, &format!("{ours} {what}")),
                None => assert!(found[ours].is_null(), "{ours} {what}: {found}"),
            }
        }
    }
}
