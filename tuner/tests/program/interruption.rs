//! Runs of the program that signals end, or whose output cannot be written.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
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

/// Interrupts a command during its fit; what it writes.
fn best_so_far(tuner: fn(&Path, &str) -> Command, signal: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("best.toml");
    // Before the fit, a signal ends the run with nothing written; on a fast machine the run may be over before a signal.
    for pause in [100, 200, 400, 800, 1600, 3200, 6400] {
        let mut child = tuner(folder.path(), "best.toml").spawn().unwrap();
        sleep(Duration::from_millis(pause));
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let status = child.wait().unwrap().code();
        if output.exists() {
            assert_eq!(status, Some(130), "the run was over within {pause} ms");
            return fs::read_to_string(output).unwrap();
        }
    }
    panic!("no fit began in time");
}

#[test]
fn ctrl_c_in_a_fit_writes_the_best_so_far() {
    let best = best_so_far(tuner, "-INT");
    assert!(engine::eval::params::Weights::from_toml(&best).is_ok());
}

/// Returns true if this process, and so its children, ignore SIGHUP, which is signal 1.
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
        let best = best_so_far(tuner_fit, signal);
        assert!(best.contains("Table = ["), "{signal}");
    }
}

#[test]
fn a_run_under_nohup_outlives_its_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let run = tuner_fit(folder.path(), "best.toml");
    let mut command = Command::new("nohup");
    command.arg(run.get_program()).args(run.get_args());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn ctrl_c_in_a_fit_of_rows_writes_the_best_so_far() {
    let best = best_so_far(tuner_fit, "-INT");
    assert!(best.contains("Table = ["), "{best}");
}

#[test]
fn a_result_that_cannot_be_written_is_printed() {
    let full = "/dev/full";
    if !Path::new(full).exists() {
        eprintln!("skipped: there is no {full}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (command, found) in [(tuner as fn(&Path, &str) -> Command, "[material]"), (tuner_fit, "Table = [")] {
        let mut command = command(folder.path(), full);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = command.output().unwrap();
        let [parameters, told] = [run.stdout, run.stderr].map(|text| String::from_utf8(text).unwrap());
        assert_eq!(run.status.code(), Some(2), "{told}");
        assert!(parameters.contains(found), "{parameters}");
        assert!(told.contains("before") && told.contains("/dev/full: cannot be written: No space left"), "{told}");
    }
}

/// Runs an engine that hangs behind a wrapper until `end` of the tuner, and checks that both have died.
#[cfg(target_os = "linux")]
fn leaves_no_engine(timeout: &str, end: impl FnOnce(&mut std::process::Child)) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("data.epd"), crate::support::GOOD).unwrap();
    // The engine reads nothing, so that the end of its input does not end it.
    fs::write(at("wrapper.sh"), "sleep 600 &\necho $! > pid\nwait\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.current_dir(folder.path()).args(["--engine", "sh wrapper.sh", "--data", "data.epd", "--threads", "1"]);
    command.args(["--timeout", timeout, "--output", "out.toml"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let pid = (0..200).find_map(|_| {
        sleep(Duration::from_millis(50));
        fs::read_to_string(at("pid")).ok().filter(|pid| pid.ends_with('\n'))
    });
    let engine = Path::new("/proc").join(pid.expect("the wrapper starts").trim()).join("cmdline");
    assert!(fs::read_to_string(&engine).unwrap().contains("sleep"));
    end(&mut child);
    assert!(!child.wait().unwrap().success());
    // A process that has died may wait to be collected: it has no command line any more.
    let is_dead = || fs::read(&engine).map_or(true, |line| line.is_empty());
    assert!((0..100).any(|_| is_dead() || (sleep(Duration::from_millis(50)), false).1), "the engine lives on");
}

#[test]
#[cfg(target_os = "linux")]
fn an_engine_behind_a_wrapper_ends_with_the_tuner() {
    leaves_no_engine("1", |_| ());
    leaves_no_engine("600", |child| {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    });
}
