//! Several processes find what one finds, to the byte. Only with the feature `mpi`, and where `mpirun` is.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Tunes with so many processes; 0 for the program by itself. None where there is no `mpirun`.
fn tune(processes: usize, arguments: &[&str], folder: &Path) -> Option<Output> {
    let params = format!("{REPOSITORY}/params/baseline.toml");
    let own = ["--params", &params, "--sample", "20000", "--output", "out.toml", "--threads", "1"];
    run(processes, &[&own[..], arguments].concat(), folder)
}

/// Runs the program in so many processes; 0 for the program by itself. None where there is no `mpirun`.
fn run(processes: usize, arguments: &[&str], folder: &Path) -> Option<Output> {
    let tuner = env!("CARGO_BIN_EXE_tuner");
    let mut command = Command::new(if processes == 0 { tuner } else { "mpirun" });
    if processes > 0 {
        command.args(["--oversubscribe", "-n", &processes.to_string(), tuner]);
    }
    // Open MPI does not run for root unless asked twice.
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    match command.current_dir(folder).args(arguments).output() {
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
    let ways = [
        (&["--validation", "0.2"][..], &[1, 2, 4][..]),
        (&["--resolve", "static"], &[3]),
        (&["--resolve", "static", "--method", "adam", "--prior", "1e-7"], &[3]),
        (&["--resolve", "static", "--method", "local-search", "--only", "material.*", "--prior", "1e-7"], &[3]),
    ];
    for (arguments, numbers) in ways {
        let arguments = [&["--json"], arguments].concat();
        let alone = tune(0, &arguments, folder.path()).unwrap();
        assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
        let expected = fs::read_to_string(&out).unwrap();
        for &processes in numbers {
            fs::remove_file(&out).unwrap();
            let Some(output) = tune(processes, &arguments, folder.path()) else { return };
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(fs::read_to_string(&out).unwrap(), expected, "{processes} processes, {arguments:?}");
            // One object, not one a process.
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
        }
    }
}

#[test]
fn rows_of_any_engine_are_divided_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = "merino-rows 2\nsum main pair\nsum danger single sided\nfact phase 0 1\n\
        score = taper(main.mg, main.eg, phase) + max(0, danger.white) - max(0, danger.black)\n\
        pair main A 10 20\npair main B 30 10\npair main C 0 0\nsingle danger D 7\nsingle danger E 3\n\
        rows result group score phase\n"
        .to_owned();
    // Several chunks a process, and games that go on from one chunk to the next.
    for row in 0_i32..40_000 {
        let (a, b, c, d, e) = (row * 7 % 5 - 2, row * 11 % 7 - 3, row % 3 - 1, row % 4, row / 3 % 5);
        let (mg, eg, phase) = (10 * a + 30 * b, 20 * a + 10 * b, f64::from(row % 25) / 25.0);
        let score = phase * f64::from(mg) + (1.0 - phase) * f64::from(eg) + f64::from(7 * d - 3 * e);
        let points = (a + b + d - e).clamp(-1, 1) + i32::from(row / 30 % 3 == 0);
        let result = ["0", "0.5", "1"][(points.min(1) + 1) as usize];
        rows.push_str(&format!("{result} {} {score:.3} {phase} 0:{a} 1:{b} 2:{c} w 3:{d} b 4:{e}\n", row / 30));
    }
    fs::write(folder.path().join("rows.txt"), rows).unwrap();
    let fit = |processes: usize, arguments: &[&str]| {
        let command = ["fit", "--rows", "rows.txt", "--output", "out.toml", "--threads", "1", "--json"];
        run(processes, &[&command[..], arguments].concat(), folder.path())
    };
    for arguments in [&[][..], &["--validation", "0.2"], &["--method", "local-search", "--k", "1"]] {
        let alone = fit(0, arguments).unwrap();
        assert!(alone.status.success(), "{}", String::from_utf8_lossy(&alone.stderr));
        let expected = fs::read_to_string(folder.path().join("out.toml")).unwrap();
        for processes in [2, 3] {
            let Some(output) = fit(processes, arguments) else { return };
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(fs::read_to_string(folder.path().join("out.toml")).unwrap(), expected, "{arguments:?}");
            let printed = |output: &Output| -> serde_json::Value {
                let mut printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                printed.as_object_mut().unwrap().remove("seconds").unwrap();
                printed
            };
            assert_eq!(printed(&output), printed(&alone), "{arguments:?}");
        }
    }
}

/// Folders of a cache may be local to a machine: some processes read the rows, others ask for them.
#[test]
fn asked_rows_are_the_same_for_processes_with_and_without_a_cache_entry() {
    if !crate::asked::has_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data.epd"), crate::support::lines(9000)).unwrap();
    let engine = format!("python3 {REPOSITORY}/kit/examples/evaluation.py");
    let tuner = env!("CARGO_BIN_EXE_tuner");
    let command = format!(
        "exec {tuner} --engine '{engine}' --epd data.epd --resolve static --prior 1e-6 --no-errors --threads 1 \
         --no-embedded-reference --output out.toml --cache cache$OMPI_COMM_WORLD_RANK"
    );
    let ask = |processes: &[&str]| {
        let mut run = Command::new(processes[0]);
        run.args(&processes[1..]).args(["sh", "-c", &command]).current_dir(folder.path());
        run.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        let output = run.output().ok()?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(fs::read_to_string(folder.path().join("out.toml")).unwrap())
    };
    let two = ["mpirun", "--oversubscribe", "-n", "2"];
    let (alone, Some(first)) = (ask(&["env"]), ask(&two)) else { return };
    assert_eq!(alone.as_ref(), Some(&first));
    fs::remove_dir_all(folder.path().join("cache1")).unwrap();
    assert_eq!(ask(&two), Some(first));
}

/// Three processes do not divide the 64 parts evenly: the rows of a chunk beyond the 64th belong to the process that adds
/// up its part.
#[test]
fn three_processes_fit_more_than_64_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = "merino-rows 2\nsum main pair\nfact phase 0 1\nscore = taper(main.mg, main.eg, phase)\n\
        pair main A 10 10\npair main B 30 30\nrows result score phase\n"
        .to_owned();
    for row in 0_i32..66 * 4096 {
        let (a, b) = (row % 5 - 2, row / 5 % 7 - 3);
        let score = 10 * a + 30 * b;
        // One row in three is drawn, and one in five goes against its score.
        let points = (row / 35 % 3 > 0).then_some((score > 0) == (row / 35 % 5 > 0));
        let result = points.map_or("0.5", |is_won| if is_won { "1" } else { "0" });
        rows.push_str(&format!("{result} {score} 0.5 0:{a} 1:{b}\n"));
    }
    fs::write(folder.path().join("rows.txt"), rows).unwrap();
    let arguments = ["--rows", "rows.txt", "--output", "out.toml", "--prior", "1e-7", "--json"];
    let outputs = [0, 3].map(|processes| {
        let output = run(processes, &arguments, folder.path())?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some(fs::read_to_string(folder.path().join("out.toml")).unwrap())
    });
    let [alone, Some(three)] = outputs else { return };
    assert_eq!(alone, Some(three));
}

#[test]
fn an_error_is_printed_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some(output) = tune(3, &["--epd", "none.epd"], folder.path()) else { return };
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(printed.matches("error: none.epd").count(), 1, "{printed}");
    assert!(!output.status.success() && !folder.path().join("out.toml").exists());
}

#[test]
fn versions_and_refused_flags_are_printed_once() {
    let folder = tempfile::tempdir().unwrap();
    for (argument, status) in [("--version", 0), ("--no-such-flag", 2)] {
        let Some(output) = tune(2, &[argument], folder.path()) else { return };
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        let word = if status == 0 { "merino-tuner" } else { "unexpected argument" };
        assert_eq!((printed.matches(word).count(), output.status.code()), (1, Some(status)), "{printed}");
        assert!(!printed.contains("finalize"), "{printed}");
    }
}

#[test]
fn skipped_records_and_losses_are_the_same_for_all_processes() {
    let folder = tempfile::tempdir().unwrap();
    let data = "8/8/8/8/8/k7/7R/K7 w - - 0 1 c9 \"1-0\";\n8/8/8/8/8/k7/6R1/K7 w - - 0 1 c9 \"1/2-1/2\";\nno position\n";
    fs::write(folder.path().join("data.epd"), data.repeat(4000)).unwrap();
    let arguments = ["--epd", "data.epd", "--json", "--skip-bad", "4000", "--unique", "--k", "1", "--prior", "1e-6"];
    let outputs = [0, 2].map(|processes| tune(processes, &arguments, folder.path()));
    let [Some(alone), Some(two)] = outputs else { return };
    let printed = |output: &Output| {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let (alone, two) = (printed(&alone), printed(&two));
    for key in ["positions", "skipped", "left_out", "loss"] {
        assert!(!alone[key].is_null() && alone[key] == two[key], "{key}: {} {}", alone[key], two[key]);
    }
}
