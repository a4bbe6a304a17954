//! The examples of README.md that need no data of one's own.

use std::fs;

use crate::support::{Folder, REPOSITORY, tuner};

/// The commands of a section, without the name of the program.
fn commands(section: &str) -> Vec<String> {
    let readme = fs::read_to_string(format!("{REPOSITORY}/README.md")).unwrap();
    let text = readme.split("\n### ").find(|part| part.starts_with(section)).unwrap_or_else(|| panic!("no {section}"));
    text.lines().filter_map(|line| Some(line.strip_prefix("    tuner ")?.to_owned())).collect()
}

/// Runs a command in a folder that has what a clone has; what it prints.
fn run(folder: &Folder, command: &str) -> String {
    let assert = tuner().current_dir(folder.0.path()).args(command.split(' ')).assert().success();
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn clone() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.path("params")).unwrap();
    fs::create_dir(folder.path("data")).unwrap();
    for name in ["params/baseline.toml", "params/tuned.toml", "data/quiet.epd.zst"] {
        fs::copy(format!("{REPOSITORY}/{name}"), folder.path(name)).unwrap();
    }
    folder
}

#[test]
fn examples_of_constraints_run() {
    let commands = commands("What parameters keep to");
    assert_eq!(commands.len(), 5);
    let folder = clone();
    for command in commands {
        let text = run(&folder, &format!("{command} --prior 1e-9 --no-errors"));
        assert!(text.contains("wrote        params/tuned.toml"), "{command}: {text}");
    }
}

#[test]
fn examples_of_job_files_run_and_write_what_is_shown() {
    let commands = commands("Job files");
    assert_eq!(commands.len(), 3);
    let folder = clone();
    let mut written = Vec::new();
    for command in commands {
        run(&folder, &command);
        written.push(fs::read_to_string(folder.path("params/tuned.toml")).unwrap());
    }
    assert_eq!(written[0], written[1]);
    assert_ne!(written[1], written[2]);
    let readme = fs::read_to_string(format!("{REPOSITORY}/README.md")).unwrap();
    let shown = readme.split("    # tune.toml\n").nth(1).unwrap();
    let shown = shown.lines().take(5).map(|line| format!("{}\n", line.trim_start())).collect::<String>();
    assert_eq!(fs::read_to_string(folder.path("tune.toml")).unwrap(), shown);
}

#[test]
fn examples_of_data_run() {
    let folder = clone();
    let commands = commands("Looking at data");
    let texts: Vec<String> = commands.iter().map(|command| run(&folder, command)).collect();
    assert_eq!(texts.len(), 3);
    assert!(texts[0].contains("duplicates") && texts[1].contains("\"left_out\""));
    assert!(texts[2].contains("positions, csv, gzip") && folder.path("endings.csv.gz").exists(), "{}", texts[2]);
}

#[test]
fn examples_of_looking_run() {
    let folder = clone();
    let commands = commands("Looking at parameters");
    let texts: Vec<String> = commands.iter().map(|command| run(&folder, command)).collect();
    assert_eq!(texts.len(), 3);
    assert!(texts[0].contains("worth of pieces") && texts[1].ends_with("passed\n"));
    assert!(texts[2].contains("can go"), "{}", texts[2]);
}
