//! The program `merino` as its users run it.

use std::path::Path;

use assert_cmd::Command;
use engine::eval::params::Weights;
use engine::eval::toml_file::with_starts;

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn run(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_merino"));
    let assert = command.args(arguments).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_merino"));
    let assert = command.args(arguments).assert().failure();
    let output = assert.get_output();
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    text
}

/// The last column of the rows of a breakdown: the terms, and their sum as the table gives it.
fn tapered(table: &str) -> (Vec<i32>, i32) {
    let rows = table.lines().filter_map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [name, _, _, _, _, _, _, value] | [name, _, _, value] => Some((name.to_owned(), value.parse().ok()?)),
        _ => None,
    });
    let (total, terms): (Vec<_>, Vec<_>) = rows.partition(|(name, _)| name == "evaluation");
    (terms.into_iter().map(|(_, value)| value).collect(), total[0].1)
}

#[test]
fn eval_explains_with_any_parameters() {
    let embedded = run(&["eval", KIWIPETE]);
    let folder = tempfile::tempdir().unwrap();
    let [baseline, own] = ["../params/baseline.toml", "tests/data/params.toml"].map(|file| {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let whole = folder.path().join("whole.toml");
        std::fs::write(&whole, with_starts::<Weights>(&text).unwrap().text).unwrap();
        run(&["eval", "--params", whole.to_str().unwrap(), KIWIPETE])
    });
    let terms = run(&["eval", "--terms", KIWIPETE]);
    assert!(terms.contains("\npsqt.knight ") && terms.lines().count() > embedded.lines().count(), "{terms}");
    for table in [&embedded, &baseline, &own, &terms] {
        let (terms, total) = tapered(table);
        assert!(terms.len() > 3 && terms.iter().sum::<i32>() == total, "{table}");
    }
    // Which of them the program was built with is the user's to say.
    assert_ne!(baseline, own);
}

#[test]
fn eval_draws_the_worth_of_each_piece() {
    let text = run(&["eval", "--board", "4k3/4p3/8/8/8/8/8/Q3K3 w - - 0 1"]);
    assert!(text.contains("8 |       |       |       |       |   k   |") && !text.contains('\x1b'), "{text}");
    let queen = text.lines().nth(23).unwrap();
    assert!(queen[..10].contains('+') && text.contains("White's view; evaluation +"), "{text}");
}

#[test]
fn perft_counts_and_divides() {
    let text = run(&["perft", "3", KIWIPETE]);
    assert!(text.contains("e1g1: ") && text.contains("97862 leaves"), "{text}");
    assert!(run(&["perft", "4"]).contains("197281 leaves"));
    assert!(run(&["perft", "0"]).contains("1 leaves"));
    // Scripts that compare engines look for Stockfish's words.
    assert!(run(&["go perft 3"]).contains("\nNodes searched: 8902\nnodes 8902\n"));
}

#[test]
fn qsearch_shows_the_line_and_its_leaf() {
    // An unquoted FEN, and a queen that hangs.
    let text = run(&["qsearch", "4k3/8/8/3q4/8/8/3R4/4K3", "w", "-", "-"]);
    assert!(text.contains("line    d2d5") && text.contains("leaf    4k3/8/8/3R4/8/8/8/4K3 b - - 0 1"), "{text}");
    let mate = run(&["qsearch", "3r2k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"]);
    assert!(mate.contains("value   White mates in 1\n"), "{mate}");
}

#[test]
fn faults_are_reported_in_one_line() {
    assert!(refusal(&["eval", "8/8 w - -"]).contains("expected 8 ranks, found 2"));
    assert!(refusal(&["qsearch", "8/8/8/8/8/8/8/8 w - -"]).contains("expected one white king, found 0"));
    assert!(refusal(&["eval", "--params", "no/such.toml"]).contains("no/such.toml"));
    assert!(refusal(&["foo"]).starts_with("error: unknown command `foo`: `merino --help` lists commands"));
    assert!(refusal(&["position startpos", "og depth 1"]).contains("unknown command `og depth 1`"));
    assert!(refusal(&["bench", "16", "1", "13", "default", "depth"]).contains("bench: takes a depth alone"));
}

#[test]
fn refused_commands_end_with_an_error() {
    for arguments in [
        &["position startpos moves e2e5", "go depth 1"][..],
        &["go", "depht", "5"],
        &["go perft x"],
        &["setoption name Hsah value 16", "go depth 1"],
        &["genfens 12 seed x", "quit"],
        &["bench 5 1"],
    ] {
        let run = Command::new(env!("CARGO_BIN_EXE_merino")).args(arguments).assert().code(2);
        let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(text.starts_with("error: ") && text.lines().count() == 1, "{arguments:?}: {text}");
    }
}

/// As OpenBench calls it.
#[test]
fn genfens_prints_as_many_openings_as_asked_for() {
    let text = run(&["genfens 12 seed 9 book None ", "quit"]);
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("info string genfens ")).collect();
    assert_eq!(lines.len(), 12, "{text}");
    for fen in lines {
        assert_eq!(fen.split(' ').count(), 6);
        let perft = run(&["perft", "1", fen]);
        assert!(!perft.contains("\n0 leaves"), "{perft}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_output_ends_the_program_silently() {
    for arguments in [&["eval"][..], &["bench", "1"], &["perft", "2"], &["qsearch"], &["spsa-inputs"], &["go depth 1"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_merino"));
        let run = command.args(arguments).stdout(writer).output().unwrap();
        let text = String::from_utf8_lossy(&run.stderr);
        assert_eq!((run.status.code(), &*text), (Some(141), ""), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_read_as_parameters() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_merino"));
    let run = command.args(["eval", "--params", "/dev/zero"]).assert().failure();
    assert!(String::from_utf8_lossy(&run.get_output().stderr).contains("/dev/zero: cannot be read: has more than"));
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    if !std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no program mkfifo");
        return;
    }
    for option in ["EvalFile", "BookFile"] {
        let input = format!("setoption name {option} value {}\nisready\nquit\n", pipe.display());
        let run = Command::new(env!("CARGO_BIN_EXE_merino")).write_stdin(format!("uci\n{input}")).assert().success();
        let text = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
        assert!(text.contains("is not a regular file") && text.contains("readyok"), "{option}: {text}");
    }
}

#[test]
fn nothing_that_a_terminal_obeys_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let params = folder.path().join("evil.toml");
    std::fs::write(&params, "\"\\u001b[2J\\u202e\" = 1\n").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_merino")).arg("eval").arg("--params").arg(&params).assert().failure();
    let mut text = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    let run =
        Command::new(env!("CARGO_BIN_EXE_merino")).write_stdin("uci\n\u{1b}[2J\u{202e}\nquit\n").assert().success();
    text += &String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.contains("\\u001b") && !text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
}
