//! The examples of the documents, run in a folder that has what a clone has.

#[path = "../../../docs/examples.rs"]
mod examples;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use examples::{Example, examples_of};

use crate::support::{Folder, REPOSITORY, lines, tuner};

/// Positions of the files that examples read.
const POSITIONS: usize = 3000;

/// What the output of commands says that contain a text.
const SAYS: [(&str, &str); 8] = [
    ("tuner diff", "largest changes"),
    ("tuner evaluate", "Mean squared errors over"),
    ("tuner data data/quiet.epd.zst", "duplicates"),
    ("--unique --quiet-margin", "\"left_out\""),
    ("endings.csv.gz", "positions, csv, gzip"),
    ("--output suspects.epd", "suspects.epd"),
    ("--dry-run", "\n+++ evaluate.c\n"),
    ("--start-from", "\nrewrote      evaluate.c: "),
];

/// A game that has quiet positions.
const GAME: &str = "[Result \"1-0\"]\n\n1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 \
    9. Bg5 b5 10. Nxb5 cxb5 11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0\n";

/// Rows of another engine, with two parameters that results follow.
fn rows() -> String {
    let mut text =
        "merino-rows 2\nsum main pair\nsum one single\nfact phase 0 1\nscore = taper(main.mg, main.eg, phase) + one\n\
        single one tempo 10\npair main psqt[0][0] 30 40\nrows result group phase\n"
            .to_owned();
    for row in 0..200 {
        let count: i32 = row % 5 - 2;
        let result = if row % 7 == 0 { 0.5 } else { 0.5 + f64::from(count.signum()) / 2.0 };
        writeln!(text, "{result} {row} 1 0:1 1:{count}").unwrap();
    }
    text
}

/// Makes what a clone has.
fn clone(lines: &str) -> Folder {
    let folder = Folder::new();
    for name in ["params", "data"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    for name in ["params/baseline.toml", "params/tuned.toml"] {
        fs::copy(Path::new(REPOSITORY).join(name), folder.path(name)).unwrap();
    }
    folder.write("data/quiet.epd.zst", zstd::encode_all(lines.as_bytes(), 1).unwrap());
    folder
}

/// Makes the files that a reader would bring: what is named, is not there and is no output.
fn bring(folder: &Folder, example: &Example, lines: &str) {
    const OUTPUT: [&str; 4] = ["--output", "-o", "--report", "--cache"];
    let behind = |index: usize| index.checked_sub(1).map_or("", |before| &example.arguments[before]);
    for (index, word) in example.arguments.iter().enumerate() {
        let word = word.rsplit_once('=').map_or(&word[..], |(set, _weight)| set);
        if OUTPUT.contains(&behind(index)) || folder.path(word).exists() {
            continue;
        }
        let name = Path::new(word);
        match name.extension().and_then(|ending| ending.to_str()) {
            Some("epd") => folder.write(word, lines),
            Some("zst") => folder.write(word, zstd::encode_all(lines.as_bytes(), 1).unwrap()),
            Some("pgn") => folder.write(word, GAME),
            Some("txt") => folder.write(word, rows()),
            Some("c") => folder.write(word, "const int tempo = 10, psqt[1][1] = {{ S(30, 40) }};\n"),
            Some("toml") => folder.write(word, fs::read(folder.path("params/baseline.toml")).unwrap()),
            _ => continue,
        };
    }
}

/// Has a command be quick: few positions, where it would use the embedded ones, and a prior that is as strong as so few
/// ask for. The runs that are written down move few parameters and keep theirs.
fn hasten(example: &mut Example) {
    let command = example.subcommand().map(str::to_owned);
    let brings_data = matches!(command.as_deref(), Some("data" | "convert" | "diff" | "fit"));
    if !brings_data && !["--epd", "--data", "--rows"].iter().any(|flag| example.has(flag)) {
        example.set("--epd", "quiet-labeled.epd");
    }
    if tunes_merino(example) {
        example.set("--prior", "1e-5");
    }
}

/// Returns true if an example fits Merino's own evaluation.
fn tunes_merino(example: &Example) -> bool {
    example.subcommand().is_none() && !example.has("--rows")
}

#[test]
fn every_example_is_run_by_a_test_or_excused() {
    examples::check_all();
}

#[test]
fn examples_run_and_say_what_they_should() {
    let lines = lines(POSITIONS);
    let mut said = [0; SAYS.len()];
    for document in examples_of("tuner") {
        let folder = clone(&lines);
        for mut example in document {
            hasten(&mut example);
            bring(&folder, &example, &lines);
            let mut command = tuner();
            let output = command.current_dir(folder.0.path()).args(&example.arguments).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}\n{errors}", example.place());
            let text = String::from_utf8(output.stdout).unwrap();
            if tunes_merino(&example) && !example.has("--json") {
                assert!(text.contains("\nwrote        "), "{}\n{text}", example.place());
            }
            for (index, (part, words)) in SAYS.iter().enumerate().filter(|(_, says)| example.text.contains(says.0)) {
                assert!(text.contains(words), "{}: {part}: no {words} in\n{text}", example.place());
                said[index] += 1;
            }
        }
    }
    assert!(said.iter().all(|&count| count > 0), "{said:?} of {SAYS:?}");
}
