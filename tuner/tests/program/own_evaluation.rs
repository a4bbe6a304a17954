//! `tuner fit` on rows of another engine's evaluation.

use std::fs;
use std::io::Write;
use std::path::Path;

use assert_cmd::Command;

fn tuner_fit(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.current_dir(folder).arg("fit").args(arguments);
    command
}

fn fit(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = tuner_fit(folder, &["--rows", "rows.txt"]);
    command.args(arguments);
    command
}

/// What a command that must fail says, in one line.
fn refusal(mut command: Command) -> String {
    let failed = command.assert().code(2);
    String::from_utf8_lossy(&failed.get_output().stderr).into_owned()
}

#[test]
fn unreadable_rows_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("rows.txt"),
        "merino-rows 2\nsum main single\nscore = main\nsingle main tempo 0\nrows result group\n2 1 0:1\n",
    )
    .unwrap();
    let error = refusal(fit(folder.path(), &["--output", "out"]));
    assert_eq!(error, "error: rows.txt:6: rows: target 2 is not in 0..=1\n");
    assert!(!folder.path().join("out").exists());
}

const HEAD: &str = "\
merino-rows 2
sum main pair
sum tempo single
fact phase 0 1
score = taper(main.mg, main.eg, phase) + tempo
pair main Pawn[0] 80 100
pair main Pawn[1] 5 5
single tempo Tempo 10
rows result score group phase
";

/// Rows of games in which pawns decide, their scores times `sign`.
fn rows(games: usize, sign: i32) -> String {
    let mut text = HEAD.to_owned();
    for row in 0..10 * games {
        let (pawns, side) = ([2, -1, 1, -2, 0][row % 5], if row % 2 == 0 { 1 } else { -1 });
        let result = if pawns > 0 {
            "1"
        } else if row % 3 == 0 || pawns < 0 {
            "0"
        } else {
            "0.5"
        };
        let result = if row % 7 == 0 { "0.5" } else { result };
        let other = row % 3;
        let score = sign * (90 * pawns + 5 * other as i32 + 10 * side);
        text += &format!("{result} {score} {} 0.5 0:{pawns} 1:{other} 2:{side}\n", row / 10);
    }
    text
}

#[test]
fn rows_come_from_several_files_and_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let whole = rows(80, 1);
    let (first, second) = whole.split_at(HEAD.len() + whole[HEAD.len()..].find("\n0 ").unwrap() + 1);
    fs::write(folder.join("whole"), &whole).unwrap();
    fs::write(folder.join("first"), first).unwrap();
    let second = gzip(&format!("{HEAD}{second}"));
    let settings = ["--prior", "1e-9"];
    let printed = |inputs: &[&str], stdin: &[u8]| {
        let mut command = tuner_fit(folder, &settings);
        inputs.iter().for_each(|input| _ = command.args(["--rows", input]));
        let done = command.write_stdin(stdin).assert().success();
        (done.get_output().stdout.clone(), String::from_utf8_lossy(&done.get_output().stderr).into_owned())
    };
    let (expected, table) = printed(&["whole"], b"");
    assert!(table.contains("check        score − row: 100.0 % within 1 cp, rms 0.0 cp\n"), "{table}");
    assert!(table.contains("\nTempo ") && table.contains(" ± ") && table.contains("\nseconds      "), "{table}");
    let text = String::from_utf8_lossy(&expected).into_owned();
    assert!(text.starts_with("Pawn = [["), "{text}");
    assert_eq!(printed(&["first", "-"], &second).0, expected);
    assert_eq!(printed(&["-"], &gzip(&whole)).0, expected);
    let error = refusal(tuner_fit(folder, &["--rows", "-", "--rows", "-"]));
    assert_eq!(error, "error: --rows -: standard input can be read only once\n");
    fs::write(folder.join("other"), whole.replace("Tempo 10", "Tempo 11")).unwrap();
    let error = refusal(tuner_fit(folder, &["--rows", "whole", "--rows", "other", "--output", "out"]));
    assert!(
        error.starts_with("error: other: declares `single tempo Tempo 11`, but whole declares `single tempo Tempo 10"),
        "{error}"
    );
    assert!(!folder.join("out").exists());
}

#[test]
fn rows_that_do_not_add_up_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.txt"), rows(40, -1)).unwrap();
    let error = refusal(fit(folder.path(), &["--output", "out"]));
    assert_eq!(error.lines().count(), 1);
    assert!(error.starts_with("error: the formula is not the engine's evaluation: score − row: "), "{error}");
    assert!(error.contains("; worst rows.txt:") && error.contains("White's view is wanted"), "{error}");
    assert!(!folder.path().join("out").exists());
    // The results are those of the rows, not of the scores.
    let trusted = fit(folder.path(), &["--output", "out", "--trust-rows", "--k", "1", "--prior", "0", "--json"])
        .assert()
        .success();
    let json: serde_json::Value = serde_json::from_slice(&trusted.get_output().stdout).unwrap();
    assert!(json["check"]["agreement"].as_f64().unwrap() < 0.9 && json["check"]["worst"][0]["row"].is_string());
    assert_eq!((&json["parameters"][4]["name"], &json["parameters"][4]["before"]), (&"Tempo".into(), &10.0.into()));
    assert!(json["parameters"][0]["error"].as_f64().is_some() && json["seconds"]["read"].is_number());
}

#[test]
fn flags_of_a_run_are_those_of_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.txt"), rows(80, 1)).unwrap();
    let flags =
        ["--freeze", "Tempo", "--bound", "Pawn=0..500", "--validation", "0.2", "--method", "adam", "--seed", "3"];
    let rest =
        ["--prior", "1e-8", "--prior-scale", "fixed", "--loss", "cross-entropy", "--no-errors", "--min-seen", "1"];
    let mut command = fit(folder.path(), &["--json", "--output", "out.toml"]);
    let done = command.args(flags).args(rest).args(["--no-centre"]).assert().success();
    let json: serde_json::Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    assert_eq!((&json["frozen"], &json["parameters"][4]["after"]), (&1.into(), &10.0.into()));
    assert!(json["held_out"].as_u64().unwrap() > 0 && json["parameters"][0]["error"].is_null());
    for (arguments, message) in [
        (&["--only", "Pwan"][..], "error: no parameter is called Pwan; the nearest is Pawn\n"),
        (&["--bound", "Tempo=20.."], "error: bound Tempo=20..: excludes the start: Tempo is 10\n"),
    ] {
        assert_eq!(refusal(fit(folder.path(), arguments)), message);
    }
    fs::write(folder.path().join("rows.txt"), rows(80, 1).replace("Pawn[1]", "Pawn[2]")).unwrap();
    let error = refusal(fit(folder.path(), &["--emit", "json"]));
    assert!(error.starts_with("error: rows.txt: `Pawn[2]`: expected `Pawn[1]`"), "{error}");
}

#[test]
fn patterns_of_parameters_are_checked_before_rows_are_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.txt"), format!("{HEAD}no row\n")).unwrap();
    for (arguments, message) in [
        (&["--freeze", "Pwan"][..], "error: no parameter is called Pwan; the nearest is Pawn\n"),
        (&["--tie", "Pawn=Tempo"], "error: tie Pawn=Tempo: "),
        (&["--only", "Tempo", "--freeze", "Tempo"], "error: nothing is left to be tuned"),
        (&["--bound", "Tempo=20.."], "error: bound Tempo=20..: excludes the start: Tempo is 10\n"),
        (&[], "error: rows.txt:10: "),
    ] {
        let error = refusal(fit(folder.path(), arguments));
        assert!(error.starts_with(message), "{error}");
    }
    fs::write(folder.path().join("rows.txt"), format!("{}no row\n", HEAD.replace("Pawn[1]", "Pawn[2]"))).unwrap();
    let error = refusal(fit(folder.path(), &["--emit", "json"]));
    assert!(error.starts_with("error: rows.txt: `Pawn[2]`: expected `Pawn[1]`"), "{error}");
}

#[test]
fn a_fit_has_a_report() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rows.txt"), rows(80, 1).replace("Tempo 10", "Tempo 10.25")).unwrap();
    let arguments = ["--output", "out.toml", "--report", "page.html", "--trust-rows", "--json"];
    let mut command = fit(folder.path(), &arguments);
    command.args(["--validation", "0.3", "--freeze", "Pawn[1]"]).assert().success();
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for told in [
        "<figcaption>Loss by step",
        "<figcaption>Calibration",
        "<h2>Pawn</h2>",
        "<h2>Parameters</h2>",
        "hold-out",
        "10.25 before",
        "numbers kept their start",
        "score − row: ",
    ] {
        assert!(page.contains(told), "{told} is missing");
    }
    assert!(!page.contains("Residuals by phase") && !page.contains("class=\"heat\""));
    let error = refusal(fit(folder.path(), &["--output", "rows.txt"]));
    assert!(error.contains("--rows"), "{error}");
}
