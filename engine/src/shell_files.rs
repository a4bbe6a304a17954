//! Files for the shell, made from the command line that a program declares: completions, and pages of the manual.

use std::fs;
use std::path::Path;

use clap::{Command, ValueEnum};
use clap_complete::{Generator, Shell, generate};
use clap_mangen::Man;
use common::files::{WriteError, write_whole};

/// The folder of the completions, within the one that is given.
const COMPLETIONS: &str = "completions";

/// The folder of the pages of the manual.
const MANUAL: &str = "man";

/// Writes the completions of the program of this name for every shell that is known into `FOLDER/completions`, and a page
/// of the manual for it and each of its commands into `FOLDER/man`. Files of these names are replaced.
///
/// # Errors
/// If the folders or the files cannot be made.
pub fn write(name: &'static str, command: Command, folder: &Path) -> Result<(), WriteError> {
    let [completions, manual] = [COMPLETIONS, MANUAL].map(|name| folder.join(name));
    for folder in [&completions, &manual] {
        fs::create_dir_all(folder).map_err(|error| WriteError::Refused { path: folder.clone(), error })?;
    }
    // Every command has its own flags.
    let mut command = command.name(name).disable_help_subcommand(true);
    for &shell in Shell::value_variants() {
        let mut script = Vec::new();
        generate(shell, &mut command, name, &mut script);
        write_whole(completions.join(shell.file_name(name)), script)?;
    }
    command.build();
    write_pages(command, &manual)
}

/// Writes the pages of a command and of the commands below it.
fn write_pages(command: Command, folder: &Path) -> Result<(), WriteError> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below.clone(), folder)?;
    }
    let page = Man::new(command);
    let path = folder.join(page.get_filename());
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| WriteError::Refused { path: path.clone(), error })?;
    write_whole(path, text)
}
