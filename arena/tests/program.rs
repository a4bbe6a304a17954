//! The program as its users run it: matches, tests, ratings, data.

mod datagen;
mod matches;
mod relabel;
#[path = "../../engine/tests/support/shell_files.rs"]
mod shell_files;
mod sprt;
mod spsa;
mod stats;

#[test]
fn files_for_shells_tell_all_commands() {
    shell_files::check("arena", env!("CARGO_BIN_EXE_arena"));
}
