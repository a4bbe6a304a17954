//! The program as its users run it: commands, protocols, documents.

mod build_script;
mod commands;
mod documents;
#[path = "../../../docs/examples.rs"]
#[allow(dead_code, reason = "each package runs the examples of its own program")]
mod examples;
mod panic;
#[path = "../support"]
mod support {
    pub(crate) mod book;
    pub(crate) mod session;
    pub(crate) mod shell_files;
    pub(crate) mod xboard;
}
#[cfg(feature = "syzygy")]
mod tables;
mod uci;
mod uci_book;
mod uci_conformance;
mod uci_fuzz;
mod workloads;
mod xboard;
mod xboard_thinking;

#[test]
fn files_for_shells_tell_all_commands() {
    support::shell_files::check("merino", env!("CARGO_BIN_EXE_merino"));
}
