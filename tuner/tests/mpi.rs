//! Several processes find what one finds, to the byte. Only with the feature `mpi`, and where `mpirun` is.

#![cfg(feature = "mpi")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Tunes with so many processes; 0 for the program by itself. None where there is no `mpirun`.
fn tune(processes: usize, arguments: &[&str], folder: &Path) -> Option<Output> {
    let tuner = env!("CARGO_BIN_EXE_tuner");
    let mut command = Command::new(if processes == 0 { tuner } else { "mpirun" });
    if processes > 0 {
        command.args(["--oversubscribe", "-n", &processes.to_string(), tuner]);
    }
    // Open MPI does not run for root unless told twice.
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.current_dir(folder).args(["--params", &format!("{REPOSITORY}/params/baseline.toml")]);
    match command.args(["--sample", "20000", "--output", "out.toml", "--threads", "1"]).args(arguments).output() {
        Err(error) if processes > 0 && error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: there is no mpirun");
            None
        }
        output => Some(output.unwrap()),
    }
}

#[test]
fn any_number_of_processes_writes_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.toml");
    for arguments in [&["--json", "--validation", "0.2"][..], &["--json", "--resolve", "static", "--method", "lbfgs"]] {
        let alone = tune(0, arguments, folder.path()).unwrap();
        assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
        let expected = fs::read_to_string(&out).unwrap();
        for processes in [1, 2, 4] {
            fs::remove_file(&out).unwrap();
            let Some(output) = tune(processes, arguments, folder.path()) else { return };
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(fs::read_to_string(&out).unwrap(), expected, "{processes} processes");
            // One object, not one a process.
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
        }
    }
}

#[test]
fn an_error_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = tune(3, &["--epd", "none.epd"], folder.path()) else { return };
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(told.matches("error: none.epd").count(), 1, "{told}");
    assert!(!output.status.success() && !folder.path().join("out.toml").exists());
}
