//! The commands beside tuning.

use serde_json::Value;

use crate::support::{Folder, refusal, tuner};

#[test]
fn files_are_compared() {
    let diff = |arguments: &[&str]| {
        let assert = tuner().arg("diff").args(arguments).assert().success();
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    };
    let (baseline, tuned) = ("params/baseline.toml", "params/tuned.toml");
    assert_eq!(diff(&[tuned, tuned]), format!("{tuned} and {tuned} hold the same numbers\n"));
    let text = diff(&[baseline, tuned, "--count", "3"]);
    for word in ["K none -> ", "psqt.knight", "worth of pieces", "largest changes", "midgame", "a    b    c"] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
    let json: Value = serde_json::from_str(&diff(&[baseline, tuned, "--count", "3", "--json"])).unwrap();
    assert_eq!((&json["identical"], json["largest"].as_array().unwrap().len()), (&false.into(), 3));
    let folder = Folder::new();
    let bad = folder.write("bad.toml", "tempo = 5\n");
    assert!(refusal(tuner().args(["diff", baseline]).arg(bad)).contains("bad.toml"));
}

#[test]
fn derivatives_are_checked_and_a_failure_is_told() {
    let check = |more: &[&str]| {
        let mut command = tuner();
        command.args(["gradient-check", "--sample", "12", "--resolve", "static"]).args(more);
        command
    };
    let text = |output: &std::process::Output| String::from_utf8(output.stdout.clone()).unwrap();
    let assert = check(&[]).assert().success();
    assert!(text(assert.get_output()).ends_with("\npassed\n"));
    let assert = check(&["--tolerance", "1e-30"]).assert().code(1);
    let failed = text(assert.get_output());
    assert!(failed.contains("12 slopes, errors up to 1.0e-30: WRONG") && failed.ends_with("\nFAILED\n"), "{failed}");
    let assert = check(&["--json", "--loss", "cross-entropy"]).assert().success();
    let json: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!((&json["passed"], &json["slopes"]["count"]), (&true.into(), &12.into()));
    assert!(refusal(&mut check(&["--params", "/no/such.toml"])).contains("/no/such.toml"));
}
