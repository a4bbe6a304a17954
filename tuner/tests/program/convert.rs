//! From one format into another, moves among them.

use std::fs;
use std::path::Path;

use crate::support::{Folder, GOOD, refusal, tuner};

/// Castling both ways, en passant, promotions, mates, and a game that does not begin at the start.
const GAMES: &str = r#"[White "a"]
[Result "1-0"]

1. e4 {+0.31/9 0.1s} e6 {-0.28/9 0.1s} 2. e5 {+0.40/9 0.1s} d5 {-0.12/9 0.1s} 3. exd6 {+0.55/9 0.1s} Bxd6
{-0.60/9 0.1s} 4. Nf3 {+0.61/9 0.1s} Nf6 {-0.33/9 0.1s} 5. Be2 {+0.20/9 0.1s} O-O {0.00/9 0.1s} 6. O-O {+M12/9 0.1s}
Nc6 {-M11/9 0.1s} 1-0

[White "b"]
[Result "1/2-1/2"]
[FEN "r3k2r/P6P/8/8/8/8/3P3p/R3K3 b Qkq - 3 20"]

20... O-O-O {+1.50/9 0.1s} 21. a8=N {-2.00/9 0.1s} Rxh7 {+2.50/9 0.1s} 22. O-O-O {-3.00/9 0.1s} h1=Q
{+M1/9 0.1s} 1/2-1/2

"#;

/// What the program writes a file as, with these flags; the file.
fn converted(folder: &Folder, from: &Path, name: &str, flags: &[&str]) -> std::path::PathBuf {
    let output = folder.path(name);
    tuner().arg("convert").arg(from).arg("--output").arg(&output).args(flags).assert().success();
    output
}

/// The lines of EPD without the names of the games, which every format gives in its own way.
fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let nameless = |line: &str| {
        let (fen, rest) = line.split_once(" c0 ").unwrap();
        format!("{fen}{}", rest.split_once(';').unwrap().1)
    };
    text.lines().map(nameless).collect()
}

#[test]
fn games_go_through_all_formats_that_hold_them() {
    let folder = Folder::new();
    let games = folder.write("games.pgn", GAMES);
    let all = ["--drop", "none", "--skip-plies", "0", "--skip-last", "0"];
    let epd = converted(&folder, &games, "games.epd", &all);
    let viri = converted(&folder, &games, "games.viri.zst", &all);
    let binpack = converted(&folder, &viri, "games.binpack", &[]);
    let again = converted(&folder, &binpack, "again.epd", &[]);
    let expected = lines(&epd);
    assert_eq!((expected.len(), lines(&again)), (17, expected));
    let told = folder.path("told.vf");
    let assert = tuner()
        .arg("convert")
        .arg(&binpack)
        .args(["--to", "viri", "--unique", "--output"])
        .arg(&told)
        .assert()
        .success();
    let said = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
    assert!(said.contains("17 positions, viri"), "{said}");
    assert!(fs::read(told).unwrap() == zstd::decode_all(&fs::read(viri).unwrap()[..]).unwrap());
}

#[test]
fn formats_of_moves_refuse_positions_without_moves() {
    let folder = Folder::new();
    let lines = folder.write("lines.epd", GOOD);
    let games = folder.write("games.pgn", "[Result \"0-1\"]\n\n1. e4 e5 2. Nf3 Nf6 0-1\n");
    let output = folder.path("out.viri");
    let refused = |from: &Path| {
        let flags = ["--skip-plies", "0", "--skip-last", "0", "--output"];
        refusal(tuner().arg("convert").arg(from).args(flags).arg(&output))
    };
    let no_move = refused(&lines);
    assert!(no_move.contains("lines.epd:1: has no move, which viri cannot do without: write epd"), "{no_move}");
    let no_score = refused(&games);
    assert!(no_score.contains("games.pgn, game 1: has no score") && no_score.ends_with("or binpack"), "{no_score}");
    assert!(!output.exists());
    let binpack = converted(&folder, &games, "games.binpack", &["--skip-plies", "0", "--skip-last", "0"]);
    let epd = fs::read_to_string(converted(&folder, &binpack, "again.epd", &[])).unwrap();
    assert!(epd.lines().count() == 4 && epd.lines().all(|line| line.ends_with("c9 \"0-1\";")), "{epd}");
}
