//! `tuner outliers` as its users run it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A queen up or down, labelled as it should be but for line 3, and level positions.
const DATA: &str = "\
4k3/8/8/8/8/8/8/Q3K3 w - - c9 \"1-0\";
# a comment
4k3/8/8/8/8/8/8/QR2K3 w - - c9 \"0-1\";
q3k3/8/8/8/8/8/8/4K3 w - - c9 \"0-1\";
4k3/p7/8/8/8/8/P7/4K3 w - - c9 \"1/2-1/2\";
";

fn outliers(folder: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.current_dir(REPOSITORY).args(["outliers", "--params", "params/baseline.toml", "--epd"]);
    command.arg(folder.join("data.epd")).args(more);
    command
}

fn printed(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

#[test]
fn wrong_labels_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data.epd");
    fs::write(&data, DATA).unwrap();
    let json: Value =
        serde_json::from_str(&printed(&mut outliers(folder.path(), &["--count", "2", "--k", "1", "--json"]))).unwrap();
    let worst = json["outliers"].as_array().unwrap();
    assert_eq!((worst.len(), &json["positions"], &json["k"]), (2, &4.into(), &1.0.into()));
    assert_eq!((&worst[0]["line"], &worst[0]["result"]), (&3.into(), &"0-1".into()));
    assert_eq!(worst[0]["file"], data.display().to_string());
    assert!(worst[0]["expected"].as_f64().unwrap() > 0.99 && worst[0]["score"].as_f64().unwrap() > 1300.0);
    assert_eq!((&json["files"][0]["far_off"], &json["warnings"]), (&1.into(), &Value::Array(Vec::new())));

    let table = printed(&mut outliers(folder.path(), &["--count", "1", "--k", "1"]));
    assert!(
        table.contains("data.epd:3  0-1") && table.contains("1 of 4 positions are off by more than 0.9"),
        "{table}"
    );

    let output = folder.path().join("out.epd");
    let written = ["--count", "2", "--output", output.to_str().unwrap(), "--k", "1"];
    assert!(printed(&mut outliers(folder.path(), &written)).ends_with(&format!("wrote {}\n", output.display())));
    let text = fs::read_to_string(&output).unwrap();
    assert!(text.starts_with("4k3/8/8/8/8/8/8/QR2K3 w - - c9 \"0-1\"; c1 \"expected 0.99"), "{text}");
    assert!(text.contains(&format!("id \"{}:3\";\n", data.display())) && text.lines().count() == 2, "{text}");
    // What was written is data again.
    fs::write(&data, text).unwrap();
    assert!(printed(&mut outliers(folder.path(), &["--k", "1"])).contains("1 of 2 positions"));
}

#[test]
fn results_that_are_turned_around_are_noticed_even_where_no_scale_fits() {
    let folder = tempfile::tempdir().unwrap();
    let good: Vec<String> = (0..40)
        .map(|index| {
            let (fen, result) = match index % 4 {
                0 => ("4k3/8/8/8/8/8/8/Q3K3 w - -", "0-1"),
                1 => ("q3k3/8/8/8/8/8/8/4K3 w - -", "1-0"),
                2 => ("4k3/8/8/8/8/8/8/R3K3 b - -", "0-1"),
                _ => ("r3k3/8/8/8/8/8/8/4K3 b - -", "1-0"),
            };
            format!("{fen} {index} 50 c9 \"{result}\";\n")
        })
        .collect();
    fs::write(folder.path().join("data.epd"), good.concat()).unwrap();
    let table = printed(&mut outliers(folder.path(), &[]));
    assert!(table.contains("the results look as if they were in the view of Black"), "{table}");
    let words = ["--count", "0"];
    let refused = outliers(folder.path(), &words).assert().failure().code(2);
    assert!(String::from_utf8_lossy(&refused.get_output().stderr).contains("--count"));
}

#[test]
fn outliers_of_games_name_the_game() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data.epd");
    let game = |fen: &str, result: &str| {
        format!("[FEN \"{fen} w - - 0 1\"]\n[Result \"{result}\"]\n\n1. Ke2 Ke7 2. Ke3 Ke6 3. Kf3 Kf6 {result}\n\n")
    };
    let queen = "4k3/8/8/8/8/8/8/1Q2K3";
    fs::write(&data, [game(queen, "1-0"), game(queen, "0-1"), game(queen, "1-0")].concat()).unwrap();
    let output = folder.path().join("out.epd");
    let all = ["--k", "1", "--count", "1", "--skip-plies", "0", "--skip-last", "0", "--drop", "none"];
    let told = printed(outliers(folder.path(), &all).arg("--output").arg(&output));
    assert!(told.contains("data.epd, game 2  0-1"), "{told}");
    assert!(fs::read_to_string(&output).unwrap().contains(&format!("id \"{}, game 2\";", data.display())));
    let json: Value = serde_json::from_str(&printed(outliers(folder.path(), &all).arg("--json"))).unwrap();
    let worst = &json["outliers"][0];
    assert_eq!((&worst["game"], &worst["line"]), (&2.into(), &Value::Null));
}
