//! The examples of the documents that are the engine's.

use crate::examples::{REPOSITORY, examples_of};
use assert_cmd::Command;

/// Plies of a bench that takes no time.
const SHALLOW: &str = "4";

#[test]
fn examples_run_and_say_something() {
    for mut example in examples_of("merino").into_iter().flatten() {
        if example.arguments == ["bench"] {
            example.arguments.push(SHALLOW.to_owned());
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_merino"));
        let output = command.current_dir(REPOSITORY).args(&example.arguments).output().unwrap();
        assert!(output.status.success(), "{}\n{}", example.place(), String::from_utf8_lossy(&output.stderr));
        let is_silent = example.subcommand() == Some("xboard");
        assert!(is_silent || !output.stdout.is_empty(), "{}", example.place());
    }
}
