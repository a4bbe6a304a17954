//! Files for the shell, made from the command line that a program declares: completions, and pages of the manual.

use std::io;
use std::path::Path;

use clap::{Command, ValueEnum};
use clap_complete::{Shell, generate_to};

/// The folder of the completions, within the one that is given.
const COMPLETIONS: &str = "completions";

/// The folder of the pages of the manual.
const MANUAL: &str = "man";

/// Writes the completions of the program of this name for every shell that is known into `FOLDER/completions`, and a page
/// of the manual for it and each of its commands into `FOLDER/man`. What is there already is overwritten.
///
/// # Errors
/// If the folders or the files cannot be made.
pub fn write(name: &'static str, command: Command, folder: &Path) -> io::Result<()> {
    let (completions, manual) = (folder.join(COMPLETIONS), folder.join(MANUAL));
    std::fs::create_dir_all(&completions)?;
    std::fs::create_dir_all(&manual)?;
    // Every command tells its own flags.
    let mut command = command.name(name).disable_help_subcommand(true);
    for &shell in Shell::value_variants() {
        generate_to(shell, &mut command, name, &completions)?;
    }
    clap_mangen::generate_to(command, &manual)
}
