//! Data sets that count more or less than others.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, lines, refusal, tuner};

const QUICK: [&str; 7] = ["--resolve", "static", "--no-errors", "--min-seen", "0", "--only", "material"];

/// Two sets in a folder, which have no line in common.
fn sets(folder: &Folder) {
    let lines = lines(6000);
    let part = |rest: usize| lines.lines().enumerate().filter(move |(line, _)| line % 2 == rest).map(|(_, line)| line);
    folder.write("a.epd", part(0).flat_map(|line| [line, "\n"]).collect::<String>());
    folder.write("b.epd", part(1).take(1500).flat_map(|line| [line, "\n"]).collect::<String>());
}

/// What a run on sets of the folder says as JSON, and the parameters it writes.
fn tune(folder: &Path, sets: &[&str], arguments: &[&str]) -> (Value, String) {
    let mut command = tuner();
    command.current_dir(folder).args(["--params", concat!(env!("CARGO_MANIFEST_DIR"), "/../params/baseline.toml")]);
    sets.iter().for_each(|set| _ = command.args(["--epd", set]));
    let prior = if arguments.contains(&"--prior") { [].as_slice() } else { &["--prior", "1e-9"] };
    let run = command.args(QUICK).args(prior).args(arguments).args(["--output", "out.toml", "--json"]).assert();
    let json = serde_json::from_slice(&run.success().get_output().stdout).unwrap();
    (json, fs::read_to_string(folder.join("out.toml")).unwrap())
}

fn number(json: &Value, path: &str) -> f64 {
    json.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} of {json}"))
}

#[test]
fn a_set_that_counts_twice_is_a_set_given_twice() {
    let folder = Folder::new();
    sets(&folder);
    let folder = folder.0.path();
    // --prior auto goes by standard errors, for which the copies of a game are two games.
    let arguments = ["--validation", "0.2"];
    let (weighted, told) = tune(folder, &["a.epd", "b.epd=2"], &arguments);
    let (twice, _) = tune(folder, &["a.epd", "b.epd", "b.epd"], &arguments);
    for path in ["/k", "/prior", "/loss/before", "/loss/after", "/held_loss/after"] {
        let [weighted, twice] = [&weighted, &twice].map(|json| number(json, path));
        assert!((weighted / twice - 1.0).abs() < 1e-9, "{path}: {weighted} and {twice}");
    }
    assert_eq!(weighted["parameters"], twice["parameters"]);
    assert!(told.contains("b.epd: 1500 lines, weight 2\n") && told.contains("a.epd: 3000 lines\n"), "{told}");
    // Each set as if it were judged alone.
    let of_sets = |when: &str| [0, 1].map(|set| number(&weighted, &format!("/sets/{set}/loss/{when}")));
    let ([before, _], [a, b]) = (of_sets("before"), of_sets("after"));
    assert!(a < before);
    let (whole, _) = tune(folder, &["a.epd", "b.epd=2"], &["--prior", "1e6", "--k", "1"]);
    let [a_alone, b_alone] = [0, 1].map(|set| number(&whole, &format!("/sets/{set}/loss/before")));
    let mean = (3000.0 * a_alone + 2.0 * 1500.0 * b_alone) / 6000.0;
    assert!((number(&whole, "/loss/before") / mean - 1.0).abs() < 1e-9 && a != b);
}

#[test]
fn a_weight_of_one_is_none() {
    let folder = Folder::new();
    sets(&folder);
    let path = folder.0.path();
    let (plain, expected) = tune(path, &["a.epd", "b.epd"], &[]);
    let (ones, found) = tune(path, &["a.epd=1", "b.epd=1.0"], &[]);
    assert_eq!((&found, &plain["sets"]), (&expected, &Value::Array(Vec::new())));
    assert_eq!((&ones["loss"], &ones["sets"]), (&plain["loss"], &plain["sets"]));
    // A file of such a name is that file.
    fs::copy(path.join("b.epd"), path.join("b.epd=2")).unwrap();
    let (named, told) = tune(path, &["a.epd", "b.epd=2"], &[]);
    assert_eq!((&named["loss"], told.contains("b.epd=2: 1500 lines\n")), (&plain["loss"], true));
    let (twice, _) = tune(path, &["a.epd", "b.epd=2=2"], &[]);
    assert_ne!(twice["loss"], plain["loss"]);
}

#[test]
fn invalid_weights_are_refused_in_one_line() {
    let folder = Folder::new();
    sets(&folder);
    for weight in ["0", "-1", "nan", "inf", "1e9"] {
        let set = format!("a.epd={weight}");
        let refused = tuner().current_dir(folder.0.path()).args(["--epd", &set]).assert().code(2);
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        let expected =
            format!("{set}' for '--epd <FILE[=WEIGHT]>': a weight is a number from 0.000001 to 1000000, not");
        assert!(told.contains(&expected), "{told}");
    }
    let told = refusal(tuner().current_dir(folder.0.path()).args(["--epd", "a.epd=half"]));
    assert!(told.contains("a.epd=half: cannot be read"), "{told}");
    let told = refusal(tuner().current_dir(folder.0.path()).args(["data", "a.epd=2"]));
    assert_eq!(told, "error: a.epd: a weight (2) is for what is fitted; all positions are alike here");
}

#[test]
fn rows_of_other_engines_have_weights_too() {
    let folder = Folder::new();
    let head =
        "merino-rows 2\nsum main single\nscore = main\nsingle main Pawn 80\nsingle main Tempo 10\nrows result group\n";
    let row = |row: usize| {
        let (pawns, result) = ([2, -1, 1, -2, 0][row % 5], [1.0, 0.0, 0.5, 0.0, 1.0][row * row % 7 % 5]);
        format!("{result} {} 0:{pawns} 1:{}\n", row / 10, if row.is_multiple_of(2) { 1 } else { -1 })
    };
    let text = |rows: std::ops::Range<usize>| rows.map(row).fold(head.to_owned(), |text, row| text + &row);
    folder.write("a", text(0..300));
    folder.write("b", text(300..500));
    let fit = |files: &[&str]| {
        let mut command = tuner();
        command.current_dir(folder.0.path()).args([
            "fit",
            "--prior",
            "1e-7",
            "--no-errors",
            "--output",
            "out",
            "--json",
        ]);
        files.iter().for_each(|file| _ = command.args(["--rows", file]));
        let json: Value = serde_json::from_slice(&command.assert().success().get_output().stdout).unwrap();
        json
    };
    let (weighted, twice) = (fit(&["a=0.5", "b"]), fit(&["a", "b", "b"]));
    for path in ["/k", "/loss/before", "/loss/after"] {
        let [weighted, twice] = [&weighted, &twice].map(|json| number(json, path));
        assert!((weighted / twice - 1.0).abs() < 1e-9, "{path}: {weighted} and {twice}");
    }
    assert_eq!((&weighted["sets"][0]["weight"], &weighted["sets"][1]["positions"]), (&0.5.into(), &200.into()));
    let mean =
        (150.0 * number(&weighted, "/sets/0/loss/after") + 200.0 * number(&weighted, "/sets/1/loss/after")) / 350.0;
    assert!((number(&weighted, "/loss/after") / mean - 1.0).abs() < 1e-6);
}
