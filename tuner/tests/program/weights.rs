//! Data sets that count more or less than others, and what they tell of one another.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Folder, MATERIAL, lines, refusal, tuner};

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
    for path in ["/k", "/prior", "/loss/before/static", "/loss/after/static", "/held_loss/after/static"] {
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
    assert!((number(&whole, "/loss/before/static") / mean - 1.0).abs() < 1e-9 && a != b);
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
fn weights_that_cannot_be_are_told_in_one_line() {
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
fn caches_serve_all_weights() {
    let folder = Folder::new();
    sets(&folder);
    let path = folder.0.path();
    let (_, expected) = tune(path, &["a.epd", "b.epd=3"], &[]);
    let (written, _) = tune(path, &["a.epd", "b.epd"], &["--cache", "cache"]);
    let (reused, found) = tune(path, &["a.epd", "b.epd=3"], &["--cache", "cache"]);
    assert_eq!((&written["cache"]["state"], &reused["cache"]["state"]), (&"written".into(), &"reused".into()));
    assert_eq!(found, expected);
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

/// What `crosswise` says of sets of a folder.
fn crosswise(folder: &Path, arguments: &[&str]) -> String {
    let mut command = tuner();
    command.current_dir(folder).args(["crosswise", "--resolve", "static", "--target", "result", "--min-seen", "0"]);
    command.args(["--params", concat!(env!("CARGO_MANIFEST_DIR"), "/../params/baseline.toml")]).args(MATERIAL);
    String::from_utf8(command.args(arguments).assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn sets_are_judged_by_what_nobody_fitted() {
    let folder = Folder::new();
    // Pieces are worth something else where queens are on the board.
    let lines = lines(12_000);
    let heavy = |line: &str| line.split(' ').next().unwrap().contains(['Q', 'q']);
    let (queens, others): (Vec<&str>, Vec<&str>) = lines.lines().partition(|line| heavy(line));
    folder.write("queens.epd", queens.join("\n"));
    folder.write("others.epd", others.join("\n"));
    let path = folder.0.path();
    let told = crosswise(path, &["queens.epd", "others.epd", "--json", "--threads", "1"]);
    assert_eq!(crosswise(path, &["queens.epd", "others.epd", "--json", "--threads", "3"]), told);
    let json: Value = serde_json::from_str(&told).unwrap();
    let names: Vec<&str> = json["tuned"].as_array().unwrap().iter().map(|row| row["on"].as_str().unwrap()).collect();
    assert_eq!(names, ["start", "queens.epd", "others.epd", "all together"]);
    let loss = |row: usize, set: usize| number(&json, &format!("/tuned/{row}/losses/{set}/loss/static"));
    for (set, other) in [(0, 1), (1, 0)] {
        // Its own parameters are best for a set, those of the other set are not.
        assert!(loss(1 + set, set) < loss(0, set) && loss(1 + set, set) < loss(1 + other, set), "{json:#}");
        assert_eq!(number(&json, &format!("/tuned/3/losses/{set}/above_all/mean")), 0.0);
        let above = number(&json, &format!("/tuned/0/losses/{set}/above_all/mean"));
        assert!((above - (loss(0, set) - loss(3, set))).abs() < 1e-12);
    }
    // A run that holds out the same positions judges the start alike.
    let (run, _) = tune(path, &["queens.epd"], &["--validation", "0.2", "--target", "result"]);
    assert!((number(&run, "/held_loss/before/static") / loss(0, 0) - 1.0).abs() < 1e-12);
    assert!((number(&run, "/k") / number(&json, "/tuned/0/losses/0/k") - 1.0).abs() < 1e-12);
    let held = (&run["held_out"], number(&run, "/positions") - number(&run, "/held_out"));
    assert_eq!(held, (&json["sets"][0]["held_out"], number(&json, "/sets/0/fitted")));
    // What hardly counts changes little.
    let told = crosswise(path, &["queens.epd", "--epd", "others.epd=0.001", "--json"]);
    let json: Value = serde_json::from_str(&told).unwrap();
    let [own, other, all] = [1, 2, 3].map(|row| number(&json, &format!("/tuned/{row}/losses/0/loss/static")));
    assert!((all - own).abs() < 0.1 * (other - own), "{json:#}");
    let table = crosswise(path, &["queens.epd", "others.epd"]);
    for told in ["\n1 queens.epd ", "\n2 others.epd ", "\nall together ", " on 1 ", " on 2\n", " ± "] {
        assert!(table.contains(told), "{told} in {table}");
    }
}

#[test]
fn sets_that_cannot_be_judged_are_named() {
    let folder = Folder::new();
    sets(&folder);
    let run = |arguments: &[&str]| refusal(tuner().current_dir(folder.0.path()).arg("crosswise").args(arguments));
    let told = run(&["a.epd"]);
    assert_eq!(told, "error: crosswise: name two sets or more, as in `tuner crosswise a.epd b.epd`");
    let text = fs::read_to_string(folder.path("b.epd")).unwrap();
    folder.write("one.epd", text.lines().next().unwrap());
    let params = concat!(env!("CARGO_MANIFEST_DIR"), "/../params/baseline.toml");
    let told = run(&["a.epd", "one.epd", "--resolve", "static", "--params", params]);
    assert!(told.starts_with("error: one.epd: validation: a share of 0.2 leaves"), "{told}");
    let won: String = text.lines().filter(|line| line.contains("\"1-0\"")).flat_map(|line| [line, "\n"]).collect();
    folder.write("won.epd", won);
    let told = run(&["a.epd", "won.epd", "--resolve", "static", "--params", params, "--target", "result"]);
    assert!(
        told.starts_with("error: won.epd: ") && told.contains("nothing can be fitted to games that all ended alike")
    );
}
