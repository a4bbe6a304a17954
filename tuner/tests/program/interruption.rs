//! Runs of the program that are killed or interrupted, and go on.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A fit of the embedded positions by small steps, which takes a while.
fn tuner(folder: &Path, output: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tuner"));
    command.current_dir(REPOSITORY).args(["--method", "adam", "--resolve", "static", "--prior", "1e-9"]);
    command.args(["--validation", "0.1", "--no-errors", "--sample", "60000", "--output"]).arg(folder.join(output));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Waits for a file to be there.
fn wait_for(path: &Path, child: &mut Child) {
    while !path.exists() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_killed_at_any_moment_goes_on_to_the_same_bytes() {
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
fn ctrl_c_in_a_fit_writes_the_best_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let checkpoint = folder.join("run");
    let mut child = tuner(folder, "best.toml").arg("--checkpoint").arg(&checkpoint).spawn().unwrap();
    wait_for(&checkpoint, &mut child);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let text = fs::read_to_string(folder.join("best.toml")).unwrap();
    assert!(engine::eval::params::Weights::from_toml(&text).is_ok() && checkpoint.exists());
    // What is left goes on from there.
    let mut rest = tuner(folder, "rest.toml");
    assert!(rest.arg("--resume").arg("--checkpoint").arg(&checkpoint).status().unwrap().success());
    assert!(!checkpoint.exists() && fs::read_to_string(folder.join("rest.toml")).unwrap() != text);
}
