//! Completions for shells, and pages of the manual.

#[path = "support/shell_files.rs"]
mod shell_files;

#[test]
fn all_commands_are_told() {
    shell_files::check("merino", env!("CARGO_BIN_EXE_merino"));
}
