//! Problems of rows in text form: files of rows, and rows that an engine has answered.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tools::compression::decode_text;

use super::{Check, Problem, groups};
use crate::data::Source;
use crate::data::io::Storage;
use crate::model::text::{self, Text, TextRows, unreadable};
use crate::objective::scores;
use crate::progress::{Progress, Unit};

impl Problem {
    /// Reads rows from text files, plain or compressed; `-` is standard input. Several files must have the same
    /// declarations. `accept` is called with their problem, as yet without rows, before the first row is read.
    ///
    /// # Errors
    /// The first fault, with file and line; the error of `accept`.
    ///
    /// # Panics
    /// If there is no path.
    pub fn read_rows(
        paths: &[PathBuf],
        storage: &Storage,
        accept: impl FnOnce(Problem) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let texts = paths.iter().map(|path| open(path));
        Self::read_texts(texts, storage, (accept, TextRows::place), progress)
    }

    /// Reads rows from texts, as [`Problem::read_rows`] reads files. Messages call a row by its `place`.
    pub(super) fn read_texts(
        texts: impl IntoIterator<Item = Result<Text>>,
        storage: &Storage,
        (accept, place): (impl FnOnce(Problem) -> Result<()>, impl FnMut(&TextRows, usize) -> String),
        progress: &dyn Progress,
    ) -> Result<Self> {
        progress.begin("reading", 0, Unit::Iterations);
        let text = text::read(texts, |declared| accept(Problem::new(declared.clone(), storage)), storage);
        progress.end();
        Self::checked(text?, storage, place)
    }

    /// Makes the problem of rows, which it checks.
    ///
    /// # Errors
    /// The first row, called by its `place`, whose score is not finite.
    pub(super) fn checked(
        mut text: TextRows,
        storage: &Storage,
        mut place: impl FnMut(&TextRows, usize) -> String,
    ) -> Result<Self> {
        let formula = finite_scores(&text, &mut place)?;
        let check = Check::of(&mut text, &formula, place)?;
        let (groups, grouping, warning) = groups::find(&text.groups, &text.rows);
        let warnings = warning.into_iter().collect();
        Ok(Problem { groups, grouping, check, warnings, ..Problem::new(text, storage) })
    }
}

/// Returns the scores of the formula at the start. Refuses rows whose scores are not finite.
fn finite_scores(text: &TextRows, mut place: impl FnMut(&TextRows, usize) -> String) -> Result<Vec<f64>> {
    let scores = scores(&text.rows, &text.model, &text.start());
    if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
        bail!(
            "{}: the score of this row is {} where the parameters start: the formula goes beyond what numbers can hold; \
             bound what it takes powers or exponentials of, as in exp(min(50, …))",
            place(text, row),
            scores[row]
        );
    }
    Ok(scores)
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
        Err(error) => Err(unreadable(&file, &error)),
    }
}
