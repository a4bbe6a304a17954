//! Completions for shells, and pages of the manual.

#[path = "../../engine/tests/support/shell_files.rs"]
mod shell_files;

#[test]
fn all_commands_are_told() {
    shell_files::check("arena", env!("CARGO_BIN_EXE_arena"));
}
