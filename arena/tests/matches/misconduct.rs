//! Matches against engines that misbehave: each is judged as it deserves, and none hangs or outlives the arena.

use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use super::support::{Arena, is_alive, mock, peak_memory};
use assert_cmd::Command;

/// Four games at fixed depth, of at most 12 plies, one after the other.
const SHORT: &[&str] = &["--games", "4", "--depth", "1", "--max-plies", "12", "--concurrency", "1"];
/// Eight games like these, two at a time.
const TWO: &[&str] = &["--games", "8", "--depth", "1", "--max-plies", "12", "--concurrency", "2"];
/// Two games by the clock.
const CLOCK: &[&str] =
    &["--games", "2", "--max-plies", "12", "--concurrency", "1", "--movetime", "500", "--time-margin", "500"];

/// Plays and checks how many games ended how, and which faults of the mock were counted; the honest engine has none.
fn expect(behaviours: &str, more: &[&str], ending: &str, games: u64, faults: &[(&str, u64)]) -> Output {
    let arena = Arena::new();
    let output = arena.play(behaviours, more);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{behaviours}: {stderr}");
    let json = arena.json();
    assert_eq!(json["endings"][ending], games, "{behaviours}: {json:#}");
    for (index, engine) in json["engines"].as_array().unwrap().iter().enumerate() {
        for (fault, count) in engine["faults"].as_object().unwrap() {
            let expected = faults.iter().find(|(name, _)| name == fault).map_or(0, |fault| fault.1);
            let expected = if index == 1 { expected } else { 0 };
            assert_eq!(*count, expected, "{behaviours}: {fault} of {}: {json:#}", engine["name"]);
        }
    }
    let lost = if ending == "maximum_length" { 0 } else { games };
    assert_eq!(json["wins"], lost, "{behaviours}: {json:#}");
    output
}

#[test]
fn honest_engines_have_no_faults() {
    expect("", SHORT, "maximum_length", 4, &[]);
    expect("args=garbage", SHORT, "maximum_length", 4, &[]);
    expect("restart=on", SHORT, "maximum_length", 4, &[]);
    expect("", &[SHORT, &["--variant", "chess960"]].concat(), "maximum_length", 4, &[]);
    expect("\"option.word with spaces=x\"", SHORT, "maximum_length", 4, &[]);
}

#[test]
fn blanks_around_lines_are_no_fault() {
    expect("args=\"blanks no-score\"", SHORT, "maximum_length", 4, &[]);
}

#[test]
fn threads_are_counted_against_cores() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let warning = format!("threads of an engine: 64, cores: {cores}");
    let more = ["--games", "2", "--depth", "1", "--max-plies", "4", "--option", "Threads=64"];
    let stderr = |behaviours: &str, more: &[&str]| {
        String::from_utf8_lossy(&Arena::new().play(behaviours, more).stderr).into_owned()
    };
    // One game at a time is the least, also where a machine has fewer cores.
    assert!(cores >= 64 || stderr("", &more).contains(&format!("games at a time: 1, {warning}")));
    assert!(!stderr("", &more[..6]).contains("threads of an engine"));
}

#[test]
fn an_engine_has_the_time_for_its_start_that_the_user_gives() {
    let started = Instant::now();
    let output = Arena::new().play("args=mute", &["--games", "2", "--depth", "1", "--startup", "1"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("mock: did not send uciok within 1000 ms"), "{stderr}");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

#[test]
fn a_second_move_answers_no_later_search() {
    let more = ["--games", "4", "--nodes", "2000", "--max-plies", "12", "--concurrency", "1"];
    expect("args=repeats", &more, "maximum_length", 4, &[]);
}

#[test]
fn crashes_lose_and_the_engine_is_started_anew() {
    let output = expect("args=crash=3", TWO, "crash", 8, &[("crashes", 8)]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("exit status: 3") && stderr.contains("stderr: mock: a fatal error"), "{stderr}");
    // Six searches are the first game of a process.
    expect("args=crash=8", SHORT, "crash", 2, &[("crashes", 2)]);
}

#[test]
fn illegal_moves_lose() {
    for behaviour in ["args=illegal=2", "args=no-move=2", "args=capitals=2"] {
        // The mock is not started anew, and has its second search once only.
        expect(behaviour, SHORT, "illegal_move", 1, &[("illegal_moves", 1), ("moves_unlike_pv", 1)]);
    }
}

/// The last comment of a game has the illegal move, whatever was sent as one.
#[test]
fn an_illegal_move_stands_in_the_pgn() {
    for (behaviour, comment) in [
        ("args=illegal=2", "{illegal move: bestmove e1e8} 1-0"),
        ("args=escapes", "{illegal move: bestmove \\u001b[2J\\u0007\\u001b]0;owned\\u0007\\u202e} 1-0"),
    ] {
        let arena = Arena::new();
        arena.play(behaviour, SHORT);
        let pgn = fs::read_to_string(arena.path("out.pgn")).unwrap().replace('\n', " ");
        assert!(pgn.contains(comment), "{comment}: {pgn}");
    }
}

#[test]
fn lines_are_checked() {
    expect("args=illegal-pv=2", SHORT, "maximum_length", 4, &[("illegal_pvs", 1)]);
    expect("args=false-mate=2", SHORT, "maximum_length", 4, &[("unfinished_mate_pvs", 1)]);
    expect("args=other-move=2", SHORT, "maximum_length", 4, &[("moves_unlike_pv", 1)]);
    expect("args=deep=2", SHORT, "maximum_length", 4, &[("limits_exceeded", 1)]);
    expect("args=no-score=2", SHORT, "maximum_length", 4, &[("moves_without_score", 1)]);
}

#[test]
fn an_engine_that_exceeds_its_time_forfeits_and_plays_on() {
    expect("args=late=2", CLOCK, "time_forfeit", 1, &[("time_losses", 1)]);
    expect("args=deaf=2", CLOCK, "time_forfeit", 1, &[("time_losses", 1)]);
    let odds = ["--games", "2", "--max-plies", "4", "--concurrency", "1", "--depth", "1"];
    expect("tc=1+0.1 args=deaf=1", &odds, "time_forfeit", 1, &[("time_losses", 1)]);
}

/// An arena that was stopped, as by Ctrl-Z, makes no engine lose on time.
#[test]
fn the_time_of_a_stopped_arena_counts_for_nobody() {
    let arena = Arena::new();
    let mut stopped = std::process::Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(arena.arguments("args=deaf=1"))
        .args(["--games", "2", "--max-plies", "4", "--concurrency", "1", "--log", "log"])
        .args(["--movetime", "1600", "--time-margin", "1000"])
        .current_dir(arena.folder.path())
        .spawn()
        .unwrap();
    let log = || fs::read_to_string(arena.path("log")).unwrap_or_default();
    // The mock answers its first search after 1.5 s.
    let is_thinking = |line: &str| line.contains(" mock[") && line.ends_with("> go movetime 1600");
    wait_until(|| log().lines().any(is_thinking), "the engine does not search");
    let signal = |name: &str| {
        let id = stopped.id().to_string();
        assert!(std::process::Command::new("kill").args([name, &id]).status().unwrap().success());
    };
    signal("-STOP");
    std::thread::sleep(Duration::from_millis(3000));
    signal("-CONT");
    assert_eq!(stopped.wait().unwrap().code(), Some(0));
    assert_eq!(arena.json()["endings"]["maximum_length"], 2, "{}", log());
}

#[test]
fn a_stalled_engine_is_killed_with_its_children() {
    let arena = Arena::new();
    let started = Instant::now();
    let output = arena.play(&format!("dir={} args=stall=2", arena.folder.path().display()), CLOCK);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    // Each of the two processes has a second to move, and is to be dead two seconds later.
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    assert_eq!(arena.json()["endings"]["stall"], 2);
    let child = fs::read_to_string(arena.path("mock.pid")).unwrap();
    wait_until(|| !is_alive(&child), "the child of a stuck engine has outlived the arena");
}

#[test]
fn an_arena_that_is_killed_leaves_nobody_behind() {
    let arena = Arena::new();
    let mut killed = std::process::Command::new(env!("CARGO_BIN_EXE_arena"))
        .args(arena.arguments(&format!("dir={} args=stall=2", arena.folder.path().display())))
        .args(["--movetime", "100000", "--concurrency", "1"])
        .current_dir(arena.folder.path())
        .spawn()
        .unwrap();
    let child = || fs::read_to_string(arena.path("mock.pid")).unwrap_or_default();
    wait_until(|| !child().is_empty() && is_alive(&child()), "the engine is not stuck");
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_until(|| !is_alive(&child()), "the child of a stuck engine has outlived the arena that was killed");
}

/// Waits for what does not happen at once: a process that was killed has to be given the time to die.
fn wait_until(happens: impl Fn() -> bool, otherwise: &str) {
    let patience = Instant::now() + Duration::from_secs(20);
    while !happens() {
        assert!(Instant::now() < patience, "{otherwise}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_engine_that_floods_its_output_is_killed() {
    expect("args=flood=2", CLOCK, "stall", 2, &[("stalls", 2)]);
}

/// Numbers that cannot be true count for nothing: sums of them would be no sums.
#[test]
fn huge_numbers_are_not_believed() {
    let arena = Arena::new();
    let output = arena.play("args=huge-numbers", SHORT);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json = arena.json();
    let mock = &json["engines"][1];
    assert_eq!((&mock["moves"], &mock["nodes"], &mock["depths"]), (&24.into(), &24.into(), &24.into()), "{mock:#}");
}

/// No engine decides how much memory or disk the arena takes.
#[test]
fn floods_fill_neither_memory_nor_disk() {
    for (behaviour, least) in [("flood-lines", 2000), ("flood-options", 0)] {
        let arena = Arena::new();
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_arena"))
            .args(arena.arguments(&format!("args={behaviour}")))
            .args(["--games", "2", "--nodes", "100", "--max-plies", "4", "--concurrency", "1"])
            .args(["--journal", "match.jsonl"])
            .current_dir(arena.folder.path())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let (status, peak) = peak_memory(&mut child);
        assert_eq!(status.code(), Some(0), "{behaviour}");
        match peak {
            Some(peak) => assert!(peak < 200_000, "{behaviour}: {peak} kB"),
            None => eprintln!("the memory of a process is not looked at: this system does not tell it in /proc"),
        }
        let journal = fs::metadata(arena.path("match.jsonl")).unwrap().len();
        assert!(journal < 10_000_000, "{behaviour}: {journal} bytes");
        let mock = &arena.json()["engines"][1];
        // What is not kept is counted.
        assert!(mock["faults"]["illegal_pvs"].as_u64().unwrap() >= least, "{mock:#}");
        let notes = mock["notes"].as_array().unwrap();
        assert!(notes.iter().all(|note| note.as_str().unwrap().len() < 1500), "{mock:#}");
    }
}

#[test]
fn engines_that_cannot_play_are_refused_by_name() {
    for (behaviour, message) in [
        ("args=die-at-start", "mock: ended instead of sending uciok (exit status: 1, stderr: mock: not today)"),
        ("args=complain option.UCI_Chess960=true", "mock: reports: error: no such value"),
        ("option.X=5000", "mock: its option `X` is a whole number from 0 to 100, not \"5000\""),
        ("option.UCI_Chess960=maybe", "mock: its option `UCI_Chess960` is true or false, not \"maybe\""),
        ("\"option.Y=1\nquit\"", "mock: its option `Y` is text without control characters, not \"1\\nquit\""),
        ("option.Hash=16", "mock: has no option `Hash`"),
        ("dir=/nowhere", "cannot be started: its folder /nowhere is not there"),
        ("depth=0", "depth is a number of plies, not `0`"),
        ("name=honest", "name is given twice"),
    ] {
        let arena = Arena::new();
        let output = arena.play(behaviour, SHORT);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{behaviour}: {stderr}");
        assert!(stderr.contains(message), "{behaviour}: {stderr}");
        assert!(!arena.path("out.json").exists());
    }
    let odd = Arena::new().play("", &["--games", "3", "--depth", "1"]);
    let stderr = String::from_utf8_lossy(&odd.stderr).into_owned();
    assert!(odd.status.code() == Some(2) && stderr.contains("expected an even number"), "{stderr}");
}

#[test]
fn names_that_would_break_files_are_refused() {
    let arena = Arena::new();
    let long = "n".repeat(70_000);
    for (name, event, message) in [
        ("x\ny", "e", "error: \"x\\ny\" has a control character, which no name may have"),
        (long.as_str(), "e", "error: a name has at most 1024 bytes, not 70000"),
        ("x", "e\n\n1. e4 1-0", "\"e\\n\\n1. e4 1-0\" has a control character"),
    ] {
        let engine = |name: &str| format!("\"cmd={}\" \"name={name}\"", mock().display());
        let output = Command::cargo_bin("arena")
            .unwrap()
            .current_dir(arena.folder.path())
            .args(["match", "--engine", &engine("a"), "--engine", &engine(name), "--event", event, "--pgn", "x.pgn"])
            .args(SHORT)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(message) && !arena.path("x.pgn").exists(), "{stderr}");
    }
}

#[test]
fn long_names_are_cut_in_tables_alone() {
    let arena = Arena::new();
    let name = "n".repeat(1000);
    let arguments = arena.arguments("").into_iter().map(|word| word.replace("name=mock", &format!("name={name}")));
    let mut command = Command::cargo_bin("arena").unwrap();
    let output = command.current_dir(arena.folder.path()).args(arguments).args(SHORT).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains(&format!("{}…", &name[..35])) && table.lines().all(|line| line.len() < 200), "{table}");
    assert_eq!(arena.json()["engines"][1]["name"], name);
}

#[test]
fn paths_that_are_no_program_are_refused_with_the_reason() {
    for (path, message) in [
        ("/", "/: is a directory"),
        (concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "Cargo.toml: may not be executed"),
        ("/no/such/engine", "/no/such/engine: No such file"),
    ] {
        let assert = Command::new(env!("CARGO_BIN_EXE_arena")).args(["check", path]).assert().code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(stderr.contains(message) && stderr.lines().count() == 1, "{stderr}");
    }
}

#[test]
fn games_are_written_as_pgn_and_read_back() {
    let arena = Arena::new();
    assert_eq!(arena.play("", SHORT).status.code(), Some(0));
    let pgn = fs::read_to_string(arena.path("out.pgn")).unwrap();
    let games: Vec<&str> = pgn.split("[Event ").skip(1).collect();
    assert_eq!(games.len(), 4);
    for game in games {
        let (tags, moves) = game.split_once("\n\n").unwrap();
        let moves = moves.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        assert!(tags.contains("[Result \"1/2-1/2\"]") && tags.contains("[PlyCount \"12\"]"), "{game}");
        let start = tags.split_once("[FEN \"").and_then(|(_, rest)| rest.split_once('"')).map(|(fen, _)| fen);
        let mut position = engine::chess::Position::start();
        if let Some(fen) = start {
            position = engine::chess::Position::from_fen(fen).unwrap();
        }
        let mut plies = 0;
        let mut is_comment = false;
        for word in moves.split_ascii_whitespace() {
            let is_move = !is_comment && word.starts_with(|c: char| c.is_ascii_alphabetic());
            is_comment = if word.contains('{') || is_comment { !word.ends_with('}') } else { false };
            if is_move {
                position.play(position.parse_move(word).unwrap());
                plies += 1;
            }
        }
        assert_eq!(plies, 12, "{game}");
        assert!(moves.contains("{+0.00/1 ") && moves.contains(" n=1}"), "{game}");
        assert!(moves.ends_with("{maximum length} 1/2-1/2"), "{game}");
    }
}

#[test]
fn a_test_ends_by_itself_and_its_status_says_how() {
    let arena = Arena::new();
    let sprt = |behaviour: &str, first: &str, more: &[&str]| {
        Command::cargo_bin("arena")
            .unwrap()
            .current_dir(arena.folder.path())
            .args(["sprt", "--openings", "book.epd", "--depth", "1", "--max-plies", "12", "--bounds", "0,400"])
            .args(["--engine", &format!("\"cmd={}\" name=first {first}", mock().display())])
            .args(["--engine", &format!("\"cmd={}\" name=second {behaviour}", mock().display())])
            .args(more)
            .output()
            .unwrap()
    };
    let accepted = sprt("args=illegal", "", &[]);
    let text = String::from_utf8_lossy(&accepted.stdout).into_owned();
    assert_eq!(accepted.status.code(), Some(0), "{text}");
    assert!(text.contains("SPRT      H1 accepted"), "{text}");
    assert_eq!(sprt("", "args=illegal", &[]).status.code(), Some(1));
    assert_eq!(sprt("", "", &["--games", "2"]).status.code(), Some(3));
    assert_eq!(sprt("args=die-at-start", "", &[]).status.code(), Some(2));
    let refused = sprt("", "", &["--games", "2", "--model", "bayesian"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((refused.status.code(), refused.stdout.is_empty()), (Some(2), true));
    assert!(stderr.contains("[possible values: normalized, logistic]"), "{stderr}");
    let odd = sprt("", "", &["--games", "3"]);
    let stderr = String::from_utf8_lossy(&odd.stderr).into_owned();
    assert!(odd.status.code() == Some(2) && stderr.contains("expected an even number"), "{stderr}");
}
