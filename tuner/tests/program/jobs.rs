//! Job files: runs that can be repeated.

use std::fs;

use engine::eval::params::Weights;

use crate::support::{Folder, GOOD, REPOSITORY, refusal, tuner};

/// A folder with data and parameters, and a job file of the given text.
fn folder(job: &str) -> Folder {
    let folder = Folder::new();
    folder.write("good.epd", GOOD);
    folder.write("tune.toml", job);
    fs::copy(format!("{REPOSITORY}/params/baseline.toml"), folder.path("start.toml")).unwrap();
    folder
}

/// What is said of a job file.
fn refused(job: &str) -> String {
    let folder = folder(job);
    let text = refusal(tuner().arg("--job").arg(folder.path("tune.toml")));
    text.strip_prefix(&format!("error: {}:", folder.path("tune.toml").display())).unwrap_or(&text).to_owned()
}

const JOB: &str = r#"
# Everything a run can be told.
epd = ["good.epd", "good.epd"]
params = "start.toml"
output = "out.toml"
resolve = "static"
prior = 1e-7
k = 1
seed = 7
json = true
min-seen = 0

[tuning]
only = ["material.pawn", "material.knight", "phase"]
freeze = "phase.pawn"
bound = ["material.pawn=50..150"]
"#;

#[test]
fn a_job_file_says_what_flags_say() {
    let folder = folder(JOB);
    tuner().arg("--job").arg(folder.path("tune.toml")).assert().success();
    let data = folder.path("good.epd");
    let mut flags = tuner();
    flags.arg("--epd").arg(&data).arg("--epd").arg(&data).arg("--params").arg(folder.path("start.toml"));
    flags.args(["--resolve", "static", "--prior", "1e-7", "--k", "1", "--seed", "7", "--json", "--min-seen", "0"]);
    flags.args(["--only", "material.pawn,material.knight,phase", "--freeze", "phase.pawn"]);
    flags.args(["--bound", "material.pawn=50..150", "--output"]).arg(folder.path("flags.toml"));
    flags.assert().success();
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(read("out.toml"), read("flags.toml"));
    assert!(Weights::load(folder.path("out.toml")).unwrap() != Weights::load(folder.path("start.toml")).unwrap());
}

#[test]
fn a_run_that_was_saved_is_repeated_byte_for_byte() {
    let folder = folder("");
    let mut command = tuner();
    command.arg("--epd").arg(folder.path("good.epd")).arg("--output").arg(folder.path("out.toml"));
    command.args(["--symmetric", "psqt.king", "--prior", "3e-8", "--seed", "5", "--method", "local-search"]);
    command.args(["--freeze", "phase,tempo", "--save-job"]).arg(folder.path("saved.toml"));
    command.assert().success();
    let read = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    let (saved, first) = (read("saved.toml"), read("out.toml"));
    for line in
        ["epd = [\"good.epd\"]", "output = \"out.toml\"", "prior = 3e-8", "seed = 5", "method = \"local-search\""]
    {
        assert!(saved.lines().any(|found| found == line), "{line} in\n{saved}");
    }
    assert!(saved.contains("[tuning]\nfreeze = [\"phase\", \"tempo\"]\nsymmetric = [\"psqt.king\"]\n"), "{saved}");

    fs::remove_file(folder.path("out.toml")).unwrap();
    tuner()
        .arg("--job")
        .arg(folder.path("saved.toml"))
        .arg("--save-job")
        .arg(folder.path("again.toml"))
        .assert()
        .success();
    assert_eq!((read("out.toml"), read("again.toml")), (first, saved));
}

#[test]
fn standard_input_has_its_weight_in_a_job_file_too() {
    let folder = folder("");
    let run = |arguments: &[&str], output: &str| {
        let mut command = tuner();
        command.args(arguments).args(["--prior", "1e-7", "--only", "material", "--output"]).arg(folder.path(output));
        command.write_stdin(GOOD).assert().success();
        fs::read_to_string(folder.path(output)).unwrap()
    };
    let [good, saved] = ["good.epd", "saved.toml"].map(|name| folder.path(name).display().to_string());
    let first = run(&["--epd=-=0.5", "--epd", &good, "--save-job", &saved], "out.toml");
    let text = fs::read_to_string(&saved).unwrap();
    assert!(text.contains("epd = [\"-=0.5\", \"good.epd\"]\n"), "{text}");
    assert_eq!(run(&["--job", &saved], "again.toml"), first);
}

#[test]
fn paths_are_relative_to_the_file_and_flags_win() {
    let folder = folder(JOB);
    let run = |arguments: &[&str]| {
        let mut command = tuner();
        command.arg("--job").arg(folder.path("tune.toml")).args(arguments);
        command.assert().success();
        Weights::load(folder.path("out.toml")).unwrap().to_vector()
    };
    let start = Weights::load(folder.path("start.toml")).unwrap().to_vector();
    let moved = |end: Vec<f64>| (0..start.len()).filter(|&index| end[index] != start[index]).collect::<Vec<_>>();
    let pawn = moved(run(&["--only", "material.pawn:eg", "--freeze", "phase"]));
    assert_eq!(pawn, [1], "the list of the file is replaced");
    assert!(moved(run(&["--prior", "1e6"])).is_empty());
    // Paths on the command line are relative to where it is.
    tuner().current_dir(folder.0.path()).args(["--job", "tune.toml", "--output", "mine.toml"]).assert().success();
    assert!(folder.path("mine.toml").exists());
}

#[test]
fn faults_of_job_files_are_named_with_their_line() {
    assert_eq!(refused("epd = []\nresolv = 1\n"), "2: unknown key `resolv`; the nearest is `resolve`");
    assert_eq!(refused("[tunning]\nonly = []\n"), "1: unknown key `tunning`; the nearest is `tuning`");
    assert_eq!(refused("\nonly = []\n"), "2: `only` belongs into the table [tuning]");
    assert_eq!(refused("[tuning]\nseed = 1\n"), "2: `seed` does not belong into the table [tuning], but above it");
    assert_eq!(refused("job = \"other.toml\"\n"), "1: unknown key `job`; the nearest is `json`");
    assert_eq!(refused("\n\nseed = \"7\"\n"), "3: seed: expected a number, found \"7\"");
    assert_eq!(refused("epd = 5\n"), "1: epd: expected a path, as a string, or several in an array, found 5");
    assert_eq!(refused("json = \"yes\"\n"), "1: json: expected true or false, found \"yes\"");
    assert_eq!(refused("k = [1]\n"), "1: k: expected a number, found [1]");
    assert_eq!(refused("k = -1\n"), "1: k: expected a finite number, from 0.001 to 1000, found -1");
    assert_eq!(refused("resolve = \"deep\"\n"), "1: resolve: expected one of qsearch, static, found deep");
    assert!(refused("threads = 0\n").starts_with("1: threads: 0 is not in 1..=1024"));
    assert_eq!(refused("tuning = 5\n"), "1: tuning: expected a table");
    assert!(refused("k = 1\nk = 2\n").starts_with("2: "));
    assert!(refused("seed = \n").starts_with("1: "));
    let text = refusal(tuner().args(["--job", "/no/such.toml"]));
    assert!(text.starts_with("error: /no/such.toml: cannot be read"), "{text}");
}
