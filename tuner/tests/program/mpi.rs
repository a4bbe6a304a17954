//! Several processes find what one finds, to the byte. Only with the feature `mpi`, and where `mpirun` is.

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

#[test]
fn what_is_no_run_is_told_once_too() {
    let folder = tempfile::tempdir().unwrap();
    for (argument, status) in [("--version", 0), ("--no-such-flag", 2)] {
        let Some(output) = tune(2, &[argument], folder.path()) else { return };
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        let word = if status == 0 { "merino-tuner" } else { "unexpected argument" };
        assert_eq!((told.matches(word).count(), output.status.code()), (1, Some(status)), "{told}");
        assert!(!told.contains("finalize"), "{told}");
    }
}

#[test]
fn what_cannot_be_read_and_what_is_chosen_are_the_same_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let data = "8/8/8/8/8/k7/7R/K7 w - - 0 1 c9 \"1-0\";\n8/8/8/8/8/k7/6R1/K7 w - - 0 1 c9 \"1-0\";\nno position\n";
    fs::write(folder.path().join("data.epd"), data.repeat(4000)).unwrap();
    let arguments = ["--epd", "data.epd", "--json", "--skip-bad", "4000", "--unique", "--k", "1", "--prior", "1e-6"];
    let outputs = [0, 2].map(|processes| tune(processes, &arguments, folder.path()));
    let [Some(alone), Some(two)] = outputs else { return };
    let told = |output: &Output| {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let (alone, two) = (told(&alone), told(&two));
    for key in ["positions", "skipped", "left_out", "loss"] {
        assert!(!alone[key].is_null() && alone[key] == two[key], "{key}: {} {}", alone[key], two[key]);
    }
}
