//! Runs of the program that are killed or interrupted, and go on.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::support::positions;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A fit of few parameters to some of the embedded positions by small steps, which takes a while.
fn tuner(folder: &Path, output: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.current_dir(REPOSITORY).args(["--method", "adam", "--resolve", "static", "--prior", "1e-9"]);
    command.arg("--epd").arg(positions(folder, 20_000));
    command.args(["--only", "material,psqt,tempo,phase"]);
    command.args(["--validation", "0.1", "--no-errors", "--output"]).arg(folder.join(output));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Waits for a file to be there.
fn wait_for(path: &Path, child: &mut Child) {
    while !path.exists() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(5));
    }
}

/// The same for rows of another evaluation, whose results go with what they count.
fn tuner_fit(folder: &Path, output: &str) -> Command {
    const TABLE: usize = 60;
    let rows = folder.join("rows");
    if !rows.exists() {
        let mut text = "merino-rows 2\nsum main pair\nfact phase 0 1\n".to_owned();
        text += "score = taper(main.mg, main.eg, phase)\n";
        (0..TABLE).for_each(|place| text += &format!("pair main Table[{place}] {} {}\n", place / 2, 40 - place / 2));
        text += "rows result group phase\n";
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        for row in 0..60_000 {
            let places: Vec<usize> = (0..10).map(|entry| 6 * entry + below(6)).collect();
            let count = |place: usize| if place.is_multiple_of(3) { -1 } else { 1 };
            let balance: i32 = places.iter().map(|&place| count(place) * place as i32).sum();
            let result = if balance + below(400) as i32 > 300 { "1" } else { "0" };
            text += &format!("{result} {} 0.{}", row / 10, below(10));
            places.iter().for_each(|&place| text += &format!(" {place}:{}", count(place)));
            text.push('\n');
        }
        fs::write(&rows, text).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.arg("fit").arg("--rows").arg(rows).args(["--method", "adam", "--prior", "1e-9", "--no-errors"]);
    command.args(["--validation", "0.1", "--output"]).arg(folder.join(output));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Runs a command whole, and again with kills on the way.
fn kill_and_resume(tuner: fn(&Path, &str) -> Command) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(tuner(folder, "whole.toml").status().unwrap().success());
    let checkpoint = folder.join("run");
    let resumed = || {
        let mut command = tuner(folder, "resumed.toml");
        command.arg("--resume").arg("--checkpoint").arg(&checkpoint);
        command
    };
    let mut kills = 0;
    for pause in [0, 30, 100, 250, 400] {
        let mut child = resumed().spawn().unwrap();
        wait_for(&checkpoint, &mut child);
        sleep(Duration::from_millis(pause));
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 0, "every run was over before it could be killed");
    assert!(resumed().status().unwrap().success());
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("resumed.toml"), read("whole.toml"));
    assert!(!checkpoint.exists());
}

#[test]
fn a_run_killed_at_any_moment_goes_on_to_the_same_bytes() {
    kill_and_resume(tuner);
}

#[test]
fn a_fit_of_rows_killed_at_any_moment_goes_on_to_the_same_bytes() {
    kill_and_resume(tuner_fit);
}

/// Interrupts a command; what it has written then, and what the rest of the run writes.
fn interrupt_and_resume(tuner: fn(&Path, &str) -> Command, signal: &str) -> [String; 2] {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let checkpoint = folder.join("run");
    let ends_with = || {
        let mut child = tuner(folder, "best.toml").arg("--checkpoint").arg(&checkpoint).spawn().unwrap();
        wait_for(&checkpoint, &mut child);
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        child.wait().unwrap().code()
    };
    // On a busy machine a run may be over before the signal comes.
    let status = (0..5).map(|_| ends_with()).find(|&status| status != Some(0));
    assert_eq!(status, Some(Some(130)));
    let best = fs::read_to_string(folder.join("best.toml")).unwrap();
    assert!(checkpoint.exists());
    // Other weights are another run.
    let arguments: Vec<_> = tuner(folder, "rest.toml").get_args().map(OsStr::to_owned).collect();
    let data = arguments.iter().position(|argument| argument == "--epd" || argument == "--rows").unwrap() + 1;
    let mut other = Command::new(env!("CARGO_BIN_EXE_tuner"));
    other.current_dir(REPOSITORY).args(&arguments[..data]).arg(format!("{}=2", arguments[data].display()));
    other.args(&arguments[data + 1..]).arg("--resume").arg("--checkpoint").arg(&checkpoint);
    let told = String::from_utf8(other.output().unwrap().stderr).unwrap();
    assert!(told.contains("belongs to another run: the weighting was 1 there, and is 2 now"), "{told}");
    // What is left goes on from there.
    let mut rest = tuner(folder, "rest.toml");
    assert!(rest.arg("--resume").arg("--checkpoint").arg(&checkpoint).status().unwrap().success());
    assert!(!checkpoint.exists());
    [best, fs::read_to_string(folder.join("rest.toml")).unwrap()]
}

#[test]
fn ctrl_c_in_a_fit_writes_the_best_so_far() {
    let [best, rest] = interrupt_and_resume(tuner, "-INT");
    assert!(engine::eval::params::Weights::from_toml(&best).is_ok() && rest != best);
}

/// Whether this process, and so its children, ignore SIGHUP, which is signal 1.
fn hangup_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 != 0)
}

#[test]
fn sigterm_and_sighup_write_the_best_so_far_as_ctrl_c_does() {
    for signal in ["-TERM", "-HUP"] {
        if signal == "-HUP" && hangup_is_ignored() {
            eprintln!("skipped: these tests run under nohup, which the tuner heeds");
            continue;
        }
        let [best, rest] = interrupt_and_resume(tuner_fit, signal);
        assert!(best.contains("Table = [") && rest != best, "{signal}");
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, checkpoint) = (folder.path(), folder.path().join("run"));
    let run = tuner_fit(folder, "best.toml");
    let mut command = Command::new("nohup");
    command.arg(run.get_program()).args(run.get_args()).arg("--checkpoint").arg(&checkpoint);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&checkpoint, &mut child);
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!checkpoint.exists());
}

#[test]
fn ctrl_c_in_a_fit_of_rows_writes_the_best_so_far() {
    let [best, rest] = interrupt_and_resume(tuner_fit, "-INT");
    assert!(best.contains("Table = [") && rest.contains("Table = [") && rest != best, "{best}");
}

#[test]
fn what_cannot_be_written_is_printed_and_the_checkpoint_stays() {
    let full = "/dev/full";
    if !Path::new(full).exists() {
        eprintln!("skipped: there is no {full}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("run");
    for (command, found) in [(tuner as fn(&Path, &str) -> Command, "[material]"), (tuner_fit, "Table = [")] {
        let mut command = command(folder.path(), full);
        command.arg("--checkpoint").arg(&checkpoint).stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = command.output().unwrap();
        let [parameters, told] = [run.stdout, run.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(run.status.code(), Some(2), "{told}");
        assert!(parameters.contains(found), "{parameters}");
        assert!(told.contains("before") && told.contains("/dev/full: cannot be written: No space left"), "{told}");
        fs::remove_file(&checkpoint).unwrap();
    }
}
