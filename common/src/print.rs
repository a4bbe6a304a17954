//! Standard output and standard error, written without panicking.
//!
//! `println!` panics if standard output is full or closed. These functions end the program instead: with one line on
//! standard error and the status [`FAILURE`], or silently if whoever read it has gone, as behind `| head`. They escape the
//! text: see [`crate::text`].

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::text::escape_lines;

/// Exit status of a program that failed, as clap's for wrong arguments.
pub const FAILURE: i32 = 2;

/// Exit status of a program whose output nobody reads any more, as shells tell it of others (128 and SIGPIPE).
const CLOSED: i32 = 141;

/// Set in a process that leaves all printing to another one.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// Has this process print nothing, because another one prints the same, or has it print again.
pub fn set_silent(is_silent: bool) {
    IS_SILENT.store(is_silent, Ordering::Relaxed);
}

/// Returns true if this process prints nothing.
pub fn is_silent() -> bool {
    IS_SILENT.load(Ordering::Relaxed)
}

/// Prints text and a line end to standard output, at once. Ends the program if that fails.
pub fn line(text: fmt::Arguments<'_>) {
    unescaped(&escape_lines(&text.to_string()));
}

/// The same for text with control sequences of the program's own, such as colours, and with nothing from outside.
pub fn unescaped(text: &str) {
    exact(&format!("{text}\n"));
}

/// The same without the end of the line.
pub fn exact(text: &str) {
    if is_silent() {
        return;
    }
    let mut output = io::stdout().lock();
    match write!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => std::process::exit(CLOSED),
        Err(error) => fail(&format!("standard output: {error}")),
        Ok(()) => {}
    }
}

/// Prints text and a line end to standard error; ignores errors.
pub fn note(text: fmt::Arguments<'_>) {
    if is_silent() {
        return;
    }
    let text = text.to_string();
    _ = writeln!(io::stderr(), "{}", escape_lines(&text));
}

/// Prints an error in one line and ends the program.
pub fn fail(error: &str) -> ! {
    note(format_args!("error: {error}"));
    std::process::exit(FAILURE)
}

/// Prints a line to standard output: `println!` that escapes, and ends the program where `println!` panics.
#[macro_export]
macro_rules! out {
    ($($part:tt)*) => { $crate::print::line(format_args!($($part)*)) };
}

/// Prints a line to standard error: `eprintln!` that escapes, and never panics.
#[macro_export]
macro_rules! note {
    ($($part:tt)*) => { $crate::print::note(format_args!($($part)*)) };
}
