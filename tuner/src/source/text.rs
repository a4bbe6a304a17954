//! Problems of rows in text form: files of rows, and rows that an engine has answered.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use tools::compression::decode_text;

use super::{Check, Declared, Problem, groups};
use crate::data::Source;
use crate::data::io::Storage;
use crate::model::text::{self, Text, TextError};
use crate::progress::{Progress, Unit};

impl Problem {
    /// Reads rows from text files, plain or compressed; `-` is standard input. Several files must have the same
    /// declarations. `accept` is called with them before the first row is read.
    ///
    /// # Errors
    /// The first fault, with file and line; the error of `accept`.
    ///
    /// # Panics
    /// If there is no path.
    pub fn read_rows(
        paths: &[PathBuf],
        storage: &Storage,
        accept: impl FnOnce(Declared<'_>) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        Self::read_texts(paths.iter().map(|path| open(path)), storage, accept, progress)
    }

    /// Reads rows from texts, as [`Problem::read_rows`] reads files.
    pub(super) fn read_texts(
        texts: impl IntoIterator<Item = Result<Text>>,
        storage: &Storage,
        accept: impl FnOnce(Declared<'_>) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("reading", 0, Unit::Iterations);
        let text = text::read(texts, |parameters, model| accept(Declared { parameters, model }), storage);
        progress.end();
        let mut text = text?;
        let check = Check::of(&mut text)?;
        let groups = groups::find(&text.groups, &text.rows);
        Ok(Problem {
            groups: groups.numbers,
            grouping: groups.grouping,
            check,
            warnings: groups.warning.into_iter().collect(),
            ..Problem::new(text, storage)
        })
    }
}

/// Opens a file of rows, or standard input.
fn open(path: &Path) -> Result<Text> {
    let is_input = path.as_os_str() == Source::STANDARD_INPUT;
    let file = if is_input { "standard input".to_owned() } else { path.display().to_string() };
    let raw = || -> io::Result<Box<dyn Read + Send>> {
        Ok(if is_input { Box::new(io::stdin()) } else { Box::new(File::open(path)?) })
    };
    match raw().and_then(decode_text) {
        Ok(text) => Ok((file, text)),
        Err(error) => Err(TextError::unreadable(&file, &error).into()),
    }
}
