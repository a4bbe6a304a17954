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
        let error = String::from_utf8_lossy(&output.stderr);
        // The tables of the example are on no machine that tests: the engine names the folder.
        let lacks_tables = example.arguments.iter().any(|argument| argument.contains("SyzygyPath"));
        assert!(output.status.success() != lacks_tables, "{}\n{error}", example.place());
        assert_eq!(error.contains("/tables/345"), lacks_tables, "{}\n{error}", example.place());
        let is_silent = example.subcommand() == Some("xboard");
        assert!(is_silent || !output.stdout.is_empty(), "{}", example.place());
    }
}
