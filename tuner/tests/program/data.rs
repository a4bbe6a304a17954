//! What the program takes as data: packings, folders, standard input, label styles.

use std::fs;
use std::io::Write;
use std::path::Path;

use engine::eval::params::Weights;
use serde_json::Value;

use crate::support::{Folder, GOOD, MATERIAL, refusal, run_on, tuner};

/// What the good positions become, given as data that are somewhere else.
fn tuned(folder: &Folder, data: &Path, more: &[&str]) -> Weights {
    let output = folder.path("out.toml");
    run_on(data, &output).args(MATERIAL).args(more).assert().success();
    Weights::load(&output).unwrap()
}

#[test]
fn packed_files_folders_and_standard_input_say_what_the_plain_file_says() {
    let folder = Folder::new();
    let expected = tuned(&folder, &folder.write("good.epd", GOOD), &[]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(GOOD.as_bytes()).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    xz.write_all(GOOD.as_bytes()).unwrap();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(GOOD.as_bytes()).unwrap();
    let zstd = zstd::encode_all(GOOD.as_bytes(), 1).unwrap();
    // The names say nothing.
    for packed in [gzip.finish().unwrap(), xz.finish().unwrap(), bzip2.finish().unwrap(), zstd] {
        assert_eq!(tuned(&folder, &folder.write("packed.txt", packed), &[]), expected);
    }

    let (first, second) = GOOD.split_at(GOOD.find("4k3/p6p").unwrap());
    fs::create_dir_all(folder.path("all/b")).unwrap();
    folder.write("all/a.epd", first);
    folder.write("all/README", "Positions.\n");
    folder.write("all/b/c.epd", second);
    assert_eq!(tuned(&folder, &folder.path("all"), &[]), expected);

    let output = folder.path("out.toml");
    run_on(Path::new("-"), &output).args(MATERIAL).write_stdin(GOOD).assert().success();
    assert_eq!(Weights::load(&output).unwrap(), expected);
    let text = refusal(run_on(Path::new("-"), &output).write_stdin(&GOOD[..GOOD.len() - 6]));
    assert!(text.starts_with("error: standard input:6: "), "{text}");
}

#[test]
fn label_styles_say_the_same_in_either_view() {
    let folder = Folder::new();
    let expected = tuned(&folder, &folder.write("good.epd", GOOD), &[]);
    let restyled = |of: &dyn Fn(&str, &str) -> String| -> String {
        let line = |line: &str| {
            let (fen, result) = line.split_once(" c9 ").unwrap();
            of(fen, result.trim_matches(['"', ';']))
        };
        GOOD.lines().map(line).collect()
    };
    let points =
        |result: &str| ["0.0", "0.5", "1.0"][["0-1", "1/2-1/2", "1-0"].iter().position(|r| *r == result).unwrap()];
    let letter = |fen: &str, result: &str| match (result, fen.contains(" w ")) {
        ("1/2-1/2", _) => 'D',
        ("1-0", true) | ("0-1", false) => 'W',
        _ => 'L',
    };
    let texts = [
        (restyled(&|fen, result| format!("{fen}; {result}\n")), "white"),
        (restyled(&|fen, result| format!("{fen}|{}\n", points(result))), "white"),
        (restyled(&|fen, result| format!("{fen} | 12 | {}\n", points(result))), "white"),
        (format!("result,fen\n{}", restyled(&|fen, result| format!("{},\"{fen}\"\n", points(result)))), "white"),
        (restyled(&|fen, result| format!("{fen}\t{}\n", letter(fen, result))), "mover"),
    ];
    for (text, view) in texts {
        let data = folder.write("styled", &text);
        assert_eq!(tuned(&folder, &data, &["--target", "result", "--view", view]), expected, "{text}");
    }
}

#[test]
fn data_that_leave_something_open_are_refused() {
    let folder = Folder::new();
    let refused = |text: &str| {
        let data = folder.write("data.csv", text);
        refusal(tuner().arg("--data").arg(data).arg("--output").arg(folder.path("out.toml")))
    };
    let fen = "8/8/8/8/8/k7/7R/K7 w - - 0 1";
    assert!(refused(&format!("{fen},1\n{fen},0\n")).contains("--results signed"));
    let unnamed = refused(&format!("fen,cp\n{fen},1\n"));
    assert!(
        unnamed.contains("data.csv: no column is called like a result: result, wdl")
            && unnamed.contains("found fen, cp")
    );
    assert!(refused(&format!("{fen},0.5\n{fen},1.7\n")).contains("data.csv:2: unknown result `1.7`"));
    assert!(refused(&format!("{fen},1-0\n{fen},0.7\n")).contains("wins, draws and losses are written as 1, 0.5 and 0"));
    let points = refused(&format!("{fen} [0.5]\n{fen} [62]\n"));
    assert!(points.contains("a share of the point is a number from 0 to 1, not a percentage"), "{points}");
    let halves = refused(&format!("{fen},35,1\n{fen},-20,2\n"));
    assert!(halves.contains("write --view mover for files of c-chess-cli"), "{halves}");
    let pawns = refused(&format!("{fen},0.35,1-0\n"));
    assert!(pawns.contains("score `0.35`: no whole number; write --scores pawns"), "{pawns}");
    assert!(refused(&format!("{{\"fen\": \"{fen}\"}}\n")).contains("data.csv: is JSON, which is not read: make lines"));
    assert!(refused(&format!("{fen},0.5\n{fen},0.5,7\n")).contains("data.csv:2: 3 columns, expected 2"));
    assert!(refused(&format!("{fen},0.5\n{}", "x".repeat(1 << 20))).contains("data.csv:2: longer than 65536 bytes"));
    let bomb = [format!("{fen},0.5\n").as_bytes(), &vec![b'x'; 1 << 28]].concat();
    let bomb = folder.write("bomb.zst", zstd::encode_all(&bomb[..], 1).unwrap());
    let text = refusal(&mut run_on(&bomb, &folder.path("out.toml")));
    assert!(text.contains("bomb.zst: no line ends within 65536 bytes after byte"), "{text}");
}

#[test]
fn every_set_of_a_run_is_read_in_its_own_way() {
    let folder = Folder::new();
    let good = folder.write("good.epd", GOOD);
    let line = |line: &str| {
        let (fen, result) = line.split_once(" c9 ").unwrap();
        let half_points = match (result.trim_matches(['"', ';']), fen.contains(" w ")) {
            ("1/2-1/2", _) => 1,
            ("1-0", true) | ("0-1", false) => 2,
            _ => 0,
        };
        format!("{fen},35,{half_points}\n")
    };
    folder.write("mover.csv", GOOD.lines().map(line).collect::<String>());
    let both = |set: &str| tuned(&folder, &good, &["--target", "result", "--data", set]);
    let [expected, found] = [good.display().to_string(), format!("{}=view:mover", folder.path("mover.csv").display())]
        .map(|set| both(&set));
    assert_eq!(found, expected);
    let sampled = format!("{}=sample:3", good.display());
    let assert = tuner().args(["data", "--json", &sampled]).assert().success();
    let told: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(told["positions"], 3);
}

#[test]
fn a_sample_is_the_same_for_any_number_of_threads() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD.repeat(3000));
    let run = |more: &[&str]| -> (Value, Vec<u8>) {
        let output = folder.path("out.toml");
        let assert =
            run_on(&data, &output).args(["--sample", "1000", "--json"]).args(MATERIAL).args(more).assert().success();
        (serde_json::from_slice(&assert.get_output().stdout).unwrap(), fs::read(&output).unwrap())
    };
    let (told, one) = run(&["--threads", "1"]);
    assert_eq!((&told["positions"], &told["left_out"]["positions not sampled"]), (&1000.into(), &17_000.into()));
    assert!(run(&["--threads", "3"]).1 == one);
    assert!(run(&["--sample-seed", "1"]).1 != one);
}

#[test]
fn samples_are_reported_and_converted() {
    let folder = Folder::new();
    let data = folder.write("good.epd", GOOD.repeat(100));
    let run = |arguments: &[&str]| -> Value {
        let assert = tuner().args(arguments).arg(&data).args(["--sample", "120", "--json"]).assert().success();
        serde_json::from_slice(&assert.get_output().stdout).unwrap()
    };
    assert_eq!(run(&["data"])["positions"], 120);
    let output = folder.path("sample.epd");
    assert_eq!(run(&["convert", "--output", output.to_str().unwrap()])["positions"], 120);
    assert_eq!(fs::read_to_string(output).unwrap().lines().count(), 120);
}

#[test]
fn results_of_the_side_to_move_are_warned_of() {
    let folder = Folder::new();
    let boards = ["7k/8/8/8/8/8/8/R6K", "r6k/8/8/8/8/8/8/7K"];
    let line = |number: usize, is_mover: bool| {
        let (ahead, black) = (number % 2, number / 2 % 2);
        let has_won = if number.is_multiple_of(7) { 1 } else { 0 };
        let white = ahead == has_won;
        let points = if is_mover && black == 1 { !white } else { white };
        format!("{} {} - - 0 1 [{}.0]\n", boards[ahead], ["w", "b"][black], u8::from(points))
    };
    let text = |is_mover: &dyn Fn(usize) -> bool| (0..2000).map(|i| line(i, is_mover(i))).collect::<String>();
    let warnings = |text: String, more: &[&str]| {
        let data = folder.write("data.epd", text);
        let assert = run_on(&data, &folder.path("out.toml")).args(["--k", "1", "--json"]).args(more).assert().success();
        let told: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
        told["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
    };
    let found: Vec<String> = warnings(text(&|_| false), &[]);
    assert_eq!(found, [""; 0]);
    assert_eq!(warnings(text(&|_| true), &["--view", "mover"]), found);
    let all: Vec<String> = warnings(text(&|_| true), &[]);
    assert!(all.len() == 1 && all[0].contains("--view mover"), "{all:?}");
    let half: Vec<String> = warnings(text(&|i| i < 1000), &[]);
    assert!(half.len() == 1 && half[0].contains("some results are White's"), "{half:?}");
}
