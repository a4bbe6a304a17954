//! Options tuned by games: what is found, and what becomes of interrupted runs and bad input.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use super::support::{Arena, kill_until_done, mock};

const OPTIONS: &str = "# of the mock engine\nX, int, 40, 0, 100, 9.7, 0\nY, float, 45.123, 0, 100, 10.3, 0.0213\n";

/// The arguments of a run with an engine of these behaviours.
fn arguments(behaviours: &str, more: &[&str]) -> Vec<String> {
    let engine = format!("\"cmd={}\" name=mock {behaviours}", mock().display());
    let run =
        ["spsa", "options.txt", "--variant", "chess960", "--nodes", "50", "--max-plies", "8", "--resign", "1,5000"];
    let files = ["--output", "found.txt", "--journal", "spsa.jsonl", "--engine", &engine];
    run.iter().chain(&files).chain(more).map(|&arg| arg.to_owned()).collect()
}

pub(super) fn arena(options: &str) -> Arena {
    let arena = Arena::new();
    fs::write(arena.path("options.txt"), options).unwrap();
    arena
}

pub(super) fn run(arena: &Arena, arguments: &[String]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("arena").unwrap();
    command.current_dir(arena.folder.path()).args(arguments).output().unwrap()
}

/// The values found.
pub(super) fn found(arena: &Arena) -> Vec<f64> {
    let text = fs::read_to_string(arena.path("found.txt")).unwrap();
    text.lines().map(|line| line.split(", ").nth(2).unwrap().parse().unwrap()).collect()
}

#[test]
fn options_move_to_where_games_are_won() {
    let arena = arena(OPTIONS);
    let output = run(&arena, &arguments("args=tuned", &["--pairs", "600", "--concurrency", "3", "--confirm"]));
    let (stdout, stderr) =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).into();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let values = found(&arena);
    assert!((55.0..85.0).contains(&values[0]) && (5.0..35.0).contains(&values[1]), "{values:?}");
    assert!(stdout.starts_with("option      start      found    steps    drift\nX              40 "), "{stdout}");
    let test = stdout.lines().find(|line| line.starts_with("test with")).unwrap();
    assert!(test.starts_with("test with    arena sprt --engine \"cmd=") && test.contains(" option.X="), "{test}");
    // The engine itself would begin with other values.
    assert!(test.contains("name=start") && test.contains(" option.X=40 option.Y=45.123000\""), "{test}");
    assert!(stdout.contains("H1 accepted"), "{stdout}");
    // What was written can be tuned further.
    fs::rename(arena.path("found.txt"), arena.path("options.txt")).unwrap();
    fs::remove_file(arena.path("spsa.jsonl")).unwrap();
    assert_eq!(run(&arena, &arguments("args=tuned", &["--pairs", "2"])).status.code(), Some(0));
}

/// The output takes the place of an earlier one alone.
#[test]
fn other_files_are_not_replaced() {
    for (name, text) in [
        ("main.c", "#include <stdio.h>\nint main(void) { return 0; }\n"),
        ("notes.txt", "X, Y\n"),
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("run.toml", "[options]\nX = { start = 40, min = 0, max = 100, step = 9.7 }\n[engine]\ncmd = \"./x\"\n"),
    ] {
        let arena = arena(OPTIONS);
        fs::write(arena.path(name), text).unwrap();
        let words = arguments("args=tuned", &["--pairs", "2"]);
        let words: Vec<String> =
            words.into_iter().map(|word| if word == "found.txt" { name.to_owned() } else { word }).collect();
        let output = run(&arena, &words);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && stderr.contains("is there and is not a file of options"),
            "{stderr}"
        );
        assert_eq!(fs::read_to_string(arena.path(name)).unwrap(), text);
    }
    let arena = arena(OPTIONS);
    for _ in 0..2 {
        assert_eq!(run(&arena, &arguments("args=tuned", &["--pairs", "2"])).status.code(), Some(0));
        fs::remove_file(arena.path("spsa.jsonl")).unwrap();
    }
}

/// Checks that two runs have left the same bytes.
fn assert_same(arena: &Arena, other: &Arena) {
    for file in ["found.txt", "spsa.jsonl", "page.html"] {
        let [text, expected] = [arena, other].map(|arena| fs::read_to_string(arena.path(file)).unwrap());
        assert!(text == expected, "{file}:\n{text}\nis not\n{expected}");
    }
}

#[test]
fn a_run_that_was_killed_goes_on_to_the_same_bytes() {
    let size = ["--pairs", "100", "--batch", "4", "--report", "page.html", "--resume"];
    let whole = arena(OPTIONS);
    assert_eq!(
        run(&whole, &arguments("args=tuned", &[&size[..], &["--concurrency", "1"]].concat())).status.code(),
        Some(0)
    );
    let arena = arena(OPTIONS);
    let arguments = arguments("args=tuned", &[&size[..], &["--concurrency", "3"]].concat());
    kill_until_done(&arena, &arguments, |attempt| 20 + attempt * 37 % 150);
    assert_same(&arena, &whole);
    for (flag, difference) in [("--seed", "openings"), ("--gamma", "gains")] {
        let output = run(&arena, &[&arguments[..], &[format!("{flag}=0")]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let message = format!("spsa.jsonl:1: is of another match: {difference}");
        assert!(output.status.code() == Some(2) && stderr.contains(&message), "{stderr}");
    }
}

#[test]
#[ignore = "plays 20,000 games, for about half a minute"]
fn ten_thousand_games_killed_at_twenty_moments_end_in_the_same_bytes() {
    const PAIRS: usize = 5000;
    const BATCH: usize = 16;
    const KILLS: usize = 20;
    let run_of = |concurrency: &str| {
        let (pairs, batch) = (PAIRS.to_string(), BATCH.to_string());
        let size = ["--pairs", &pairs, "--batch", &batch, "--concurrency", concurrency];
        arguments("args=tuned", &[&size[..], &["--report", "page.html", "--resume"]].concat())
    };
    let [whole, killed] = [(); 2].map(|()| arena(OPTIONS));
    assert_eq!(run(&whole, &run_of("2")).status.code(), Some(0));
    let batches = || fs::read(killed.path("spsa.jsonl")).map_or(0, |text| text.split(|&byte| byte == b'\n').count());
    for kill in 1..=KILLS {
        let mut program = Command::new(env!("CARGO_BIN_EXE_arena"));
        program.args(run_of("3")).current_dir(killed.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut program = program.spawn().unwrap();
        while batches() < kill * PAIRS / BATCH / (KILLS + 1) && program.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        // Somewhere in a batch, or as it is written.
        thread::sleep(Duration::from_millis(kill as u64 * 7 % 20));
        program.kill().unwrap();
        assert_eq!(program.wait().unwrap().code(), None, "kill {kill}");
    }
    assert_eq!(run(&killed, &run_of("1")).status.code(), Some(0));
    assert_same(&killed, &whole);
}

#[test]
fn invalid_options_are_refused_before_the_first_game() {
    for (options, behaviours, more, message) in [
        ("Z, int, 5, 0, 10, 1, 0", "", &[][..], "error: mock: has no option `Z`"),
        ("X, int, 5, 0, 200, 1, 0", "", &[], "error: mock: takes X from 0 to 100, not from 0 to 200"),
        ("X, int, 50, 0, 10, 1, 0", "", &[], "error: options.txt: line 1: X: start 50 is not within 0 to 10"),
        ("X, int, 5, 0, 10, 11, 0", "", &[], "options.txt: line 1: X: step 11 is not above 0"),
        (OPTIONS, "args=die-at-start", &[], "error: mock: ended instead of sending uciok"),
        (
            OPTIONS,
            "",
            &["--engine", "cmd=x name=other"],
            "expected one engine, by --engine or as [engine] in a file .toml, found 2\n",
        ),
        (OPTIONS, "", &["--pairs", "0"], "--pairs"),
        (OPTIONS, "", &["--alpha", "1.5"], "'--alpha <α>': expected a number from 0 to 1"),
        (OPTIONS, "", &["--openings", "found.txt"], "found.txt"),
    ] {
        let arena = arena(options);
        let arguments = arguments(behaviours, more);
        let output = run(&arena, &arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && stderr.contains(message), "{stderr}");
        assert_eq!(fs::read_to_string(arena.path("options.txt")).unwrap(), options);
        assert!(!arena.path("spsa.jsonl").exists() && !arena.path("found.txt").exists());
    }
}

#[test]
fn an_engine_that_fails_for_some_values_loses_and_ends_the_run_if_it_fails_often() {
    let arena = arena("X, int, 50, 0, 100, 20, 0\n");
    let output = run(&arena, &arguments("args=crash-above", &["--pairs", "60", "--batch", "4"]));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("pair 1: crash") && stderr.contains("mock failed in ") && stderr.contains("narrow the bounds"),
        "{stderr}"
    );
    // Where it fails, it loses: the value moves away from there.
    assert!(found(&arena)[0] < 50.0);
}
