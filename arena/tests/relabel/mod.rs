//! New scores for positions: what is written, that it follows from lines and engine alone, and engines that misbehave.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use engine::chess::epd::Epd;
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use crate::matches::mock;

/// Runs `arena relabel` in a folder.
fn relabel(folder: &TempDir, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_arena"));
    command.arg("relabel").args(arguments).current_dir(folder.path());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The words of the mock engine with these behaviours.
fn words(behaviours: &str) -> String {
    format!("\"cmd={}\" \"args={behaviours}\"", mock().display())
}

/// Lines of different positions: pieces of White on a board with the kings and a pawn.
fn lines(count: usize) -> Vec<String> {
    let rank = |index: usize| {
        let digits = |count: usize| if count == 0 { String::new() } else { count.to_string() };
        format!("{}N{}", digits(index % 8), digits(7 - index % 8))
    };
    let line = |index: usize| {
        let side = if index.is_multiple_of(2) { "w" } else { "b" };
        let board = format!("3k4/8/{}/{}/{}/8/4P3/4K3", rank(index / 2), rank(index / 16), rank(index / 128));
        format!("{board} {side} - - c0 \"7.{}\"; c9 \"1-0\"; ce 5;", index / 8)
    };
    let is_playable = |line: &str| Epd::parse(line).is_ok_and(|epd| epd.position.has_legal_move());
    let lines: Vec<String> = (0..1024).map(line).filter(|line| is_playable(line)).take(count).collect();
    assert_eq!(lines.len(), count);
    lines
}

fn read(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

/// The scores of lines.
fn scores(text: &str) -> Vec<i32> {
    let score = |line: &str| Epd::parse(line).unwrap().operands("ce").unwrap()[0].parse().unwrap();
    text.lines().map(score).collect()
}

#[test]
fn scores_are_those_of_the_engine_and_all_else_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines(250);
    fs::write(folder.path().join("old.epd"), lines.join("\n")).unwrap();
    let mut packed = GzEncoder::new(fs::File::create(folder.path().join("old.gz")).unwrap(), Compression::fast());
    packed.write_all(lines.join("\n").as_bytes()).unwrap();
    packed.finish().unwrap();
    // Its score is the number of the search in its process, which is started anew for each block of a hundred.
    let engine = words("remembers") + " restart=on";
    for (input, name, threads) in [("old.epd", "one.epd", "1"), ("old.epd", "two.epd", "2"), ("old.gz", "gz.epd", "2")]
    {
        let arguments = [input, "--engine", &engine, "--nodes", "7", "--output", name, "--concurrency", threads];
        let output = relabel(&folder, &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        let expected =
            lines.iter().enumerate().map(|(at, line)| line.replace("ce 5", &format!("ce {}", at % 100 + 1)) + "\n");
        assert!(read(&folder, name) == expected.collect::<String>(), "{name}");
    }
    let again = relabel(&folder, &["old.epd", "--engine", &engine, "--nodes", "7", "--output", "one.epd"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(
        stderr(&again).contains("one.epd: exists; --resume continues it, --force overwrites it"),
        "{}",
        stderr(&again)
    );
}

#[test]
fn merino_scores_in_process() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.epd"), lines(30).join("\n")).unwrap();
    for (name, threads) in [("one.epd", "1"), ("two.epd", "2")] {
        let arguments = ["old.epd", "--nodes", "500", "--output", name, "--concurrency", threads, "--hash", "1"];
        assert!(relabel(&folder, &arguments).status.success());
    }
    assert_eq!(read(&folder, "one.epd"), read(&folder, "two.epd"));
    assert!(scores(&read(&folder, "one.epd")).iter().all(|score| score.abs() > 100));
}

#[test]
fn outputs_have_their_formats() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines(30);
    fs::write(folder.path().join("old.epd"), lines.join("\n")).unwrap();
    fs::write(folder.path().join("bare.epd"), "4k3/8/8/8/8/8/4P3/4K3 w - -\n").unwrap();
    let engine = words("scores");
    for name in ["new.epd", "new.epd.zst", "new.bullet"] {
        let output = relabel(&folder, &["old.epd", "--engine", &engine, "--nodes", "7", "--output", name]);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let packed = fs::read(folder.path().join("new.epd.zst")).unwrap();
    assert_eq!(String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap(), read(&folder, "new.epd"));
    let records = fs::read(folder.path().join("new.bullet")).unwrap();
    let expected = scores(&read(&folder, "new.epd"));
    let found = records.chunks(32).map(|record| i32::from(i16::from_le_bytes([record[24], record[25]])));
    // In the view of the side to move, as in EPD.
    assert_eq!(found.collect::<Vec<_>>(), expected);
    for (arguments, message) in [
        (["bare.epd", "x.bullet"], "bare.epd:1: has no result, and bulletformat needs one"),
        (["old.epd", "x.viri"], "x.viri: viriformat has games, and no single positions"),
        (["old.epd", "x.txt"], "x.txt: the name does not say the format"),
        (["none.epd", "x.epd"], "none.epd: cannot be read"),
    ] {
        let [input, name] = arguments;
        let output = relabel(&folder, &[input, "--engine", &engine, "--nodes", "7", "--output", name]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn chances_become_points() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.epd"), lines(30).join("\n")).unwrap();
    let engine = words("chances");
    let arguments = ["old.epd", "--engine", &engine, "--nodes", "7", "--wdl", "--output"];
    let output = relabel(&folder, &[&arguments[..], &["new.epd"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    for line in read(&folder, "new.epd").lines() {
        // The engine sees 0.7 for the side to move.
        let points = if line.contains(" w ") { "c9 \"0.7000\";" } else { "c9 \"0.3000\";" };
        assert!(line.contains(points), "{line}");
    }
    for (words, name, message) in [
        (words("scores"), "x.epd", "--wdl: mock_engine: has no option `UCI_ShowWDL`"),
        (words("chances"), "x.bullet", "--wdl: bulletformat has no place for expected points"),
    ] {
        let output = relabel(&folder, &["old.epd", "--engine", &words, "--nodes", "7", "--wdl", "--output", name]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    let output = relabel(&folder, &["old.epd", "--nodes", "7", "--wdl", "--output", "x.epd"]);
    assert!(stderr(&output).contains("--wdl: needs --engine"), "{}", stderr(&output));
}

#[test]
fn lines_without_a_score_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = lines(40);
    lines[3] = "7k/5Q2/6K1/8/8/8/8/8 b - - c9 \"1-0\"; ce 5;".to_owned();
    fs::write(folder.path().join("old.epd"), lines.join("\n")).unwrap();
    for (behaviour, row, count) in [
        ("no-score=5", "left out: no score", 1),
        ("bounds=5", "left out: no score", 1),
        ("mates=5", "scored with a mate", 0),
        ("crash=5", "left out: engine crashed", 7),
        ("illegal=5", "scored", 0),
    ] {
        let output = relabel(
            &folder,
            &[
                "old.epd",
                "--engine",
                &words(behaviour),
                "--nodes",
                "7",
                "--output",
                "new.epd",
                "--force",
                "--concurrency",
                "1",
            ],
        );
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{behaviour}: {}", stderr(&output));
        assert!(table.contains(row) && table.contains("left out: no legal move"), "{behaviour}: {table}");
        assert_eq!(read(&folder, "new.epd").lines().count(), 39 - count, "{behaviour}: {table}");
        assert_eq!(scores(&read(&folder, "new.epd")).contains(&3000), behaviour == "mates=5", "{behaviour}");
    }
    for (behaviour, message) in [
        ("crash", "10 lines in a row were left out, the last one for this: engine crashed"),
        ("no-score", "10 lines in a row were left out, the last one for this: no score"),
        ("die-at-start", "ended instead of sending uciok"),
    ] {
        let arguments = ["old.epd", "--engine", &words(behaviour), "--nodes", "7", "--output", "bad.epd", "--force"];
        let output = relabel(&folder, &arguments);
        assert_eq!(output.status.code(), Some(2), "{behaviour}");
        assert!(stderr(&output).lines().last().unwrap().contains(message), "{behaviour}: {}", stderr(&output));
    }
}

#[test]
fn faults_of_lines_are_reported_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.epd"), "\n# nothing\n4k3/8/8/8/8/8/4P3/4K3 w - - ce 5;\n8/8 w\n").unwrap();
    fs::write(folder.path().join("none.epd"), "\n").unwrap();
    fs::write(folder.path().join("good.epd"), lines(1).join("\n")).unwrap();
    for (arguments, message) in [
        (&["bad.epd", "--nodes", "7"][..], "bad.epd:4: expected 4 or 6 fields, found 2"),
        (&["none.epd", "--nodes", "7"], "none.epd: has no positions"),
        (&["bad.epd"], "a search needs a limit: --nodes, --depth or --movetime"),
        (&["good.epd", "--nodes", "7", "--engine", "cmd=./none nodes=8"], "the limit is given by --nodes"),
        (&["good.epd", "--nodes", "7", "--engine", "cmd=./none"], "none: cannot be started"),
        (&["bad.epd", "--nodes", "7", "--output", "bad.epd"], "bad.epd"),
    ] {
        let mut command = command(&folder, arguments);
        if !arguments.contains(&"--output") {
            command.args(["--output", "new.epd"]);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{message}: {}", stderr(&output));
        assert!(!folder.path().join("new.epd").exists());
    }
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = lines(450);
    fs::write(folder.path().join("old.epd"), lines.join("\n")).unwrap();
    let engine = words("scores slow");
    for ending in ["epd", "epd.zst"] {
        let start = |name: &str| {
            let output = format!("{name}.{ending}");
            let arguments = ["old.epd", "--engine", &engine, "--nodes", "7", "--output", &output, "--resume"];
            command(&folder, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        assert!(start("whole").wait().unwrap().success());
        let mut kills = 0;
        for attempt in 0..8 {
            let mut child = start("killed");
            std::thread::sleep(Duration::from_millis(30 + attempt * 67 % 200));
            child.kill().unwrap();
            kills += u32::from(!child.wait().unwrap().success());
        }
        assert!(kills > 0 && start("killed").wait().unwrap().success());
        let read = |name: &str| fs::read(folder.path().join(format!("{name}.{ending}"))).unwrap();
        assert_eq!(read("killed"), read("whole"));
    }
    let other =
        relabel(&folder, &["old.epd", "--engine", &engine, "--nodes", "8", "--output", "whole.epd", "--resume"]);
    assert!(stderr(&other).contains("was written with other settings: nodes is 7 there, 8 here"), "{}", stderr(&other));
    fs::write(folder.path().join("old.epd"), lines[1..].join("\n")).unwrap();
    let other =
        relabel(&folder, &["old.epd", "--engine", &engine, "--nodes", "7", "--output", "whole.epd", "--resume"]);
    assert!(stderr(&other).contains("input_sha256 is "), "{}", stderr(&other));
}

#[test]
fn ctrl_c_keeps_what_is_done_and_a_second_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("old.epd"), lines(450).join("\n")).unwrap();
    let engine = words("scores slow");
    let arguments =
        ["old.epd", "--engine", &engine, "--nodes", "7", "--output", "new.epd", "--resume", "--concurrency", "1"];
    let mut child = command(&folder, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let done = |path: &Path| fs::metadata(path).is_ok_and(|file| file.len() > 0);
    while !done(&folder.path().join("new.epd")) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = relabel(&folder, &arguments);
    assert!(stderr(&second).contains("new.epd: is in use"), "{}", stderr(&second));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let count = read(&folder, "new.epd").lines().count();
    assert!(count.is_multiple_of(100) && (100..450).contains(&count), "{count}");
    assert!(relabel(&folder, &arguments).status.success());
    assert_eq!(read(&folder, "new.epd").lines().count(), 450);
}
