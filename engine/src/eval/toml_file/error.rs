//! Errors of parameter files.

use std::io;

use thiserror::Error;

/// Why a parameter file was refused. Every message fits one line, and names the place and what was found there.
#[derive(Debug, Error)]
pub enum ParamsError {
    /// The file cannot be read, or is not UTF-8.
    #[error("{file}: cannot be read: {error}")]
    Unreadable {
        /// The file, as it was named.
        file: String,
        /// The system's error.
        error: io::Error,
    },
    /// The file holds a fault.
    #[error("{file}: {fault}")]
    InFile {
        /// The file, as it was named.
        file: String,
        /// The fault.
        fault: Box<ParamsError>,
    },
    /// The text is not TOML.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault in characters, from 1.
        column: usize,
        /// The error of the TOML parser.
        message: String,
    },
    /// A key that no declared parameter has.
    #[error("{path}: unknown key, {}{}", hint.as_ref().map_or_else(
        || format!("expected one of {}", known.join(", ")),
        |hint| format!("did you mean `{hint}`?"),
    ), at(*line))]
    UnknownKey {
        /// Path of the key.
        path: String,
        /// The keys that may stand there.
        known: Vec<&'static str>,
        /// The one of them it may be a misspelling of.
        hint: Option<&'static str>,
        /// Line of the key, from 1.
        line: Option<usize>,
    },
    /// A declared field that the file does not give at all, as one from before the field existed.
    #[error("{path}: missing, expected {expected}; `tuner --params FILE --output NEW` adds it, from its declared start{}",
        at(*line))]
    Absent {
        /// Path of the field.
        path: String,
        /// The expected value.
        expected: String,
        /// Line of the table it is missing from, if that has a header.
        line: Option<usize>,
    },
    /// A part of a field that the file does not give.
    #[error("{path}: missing, expected {expected}{}", at(*line))]
    Missing {
        /// Path of the parameter.
        path: String,
        /// The expected value.
        expected: String,
        /// Line of the table it is missing from, if that has a header.
        line: Option<usize>,
    },
    /// A value of the wrong type, length or range.
    #[error("{path}: expected {expected}, found {found}{}", at(*line))]
    Unexpected {
        /// Path of the value.
        path: String,
        /// The expected value.
        expected: String,
        /// The value found.
        found: String,
        /// Line of the value, from 1.
        line: Option<usize>,
    },
}

/// The end of a message that gives the line, where it is known.
fn at(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!(" (line {line})"))
}
