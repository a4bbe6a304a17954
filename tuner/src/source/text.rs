//! Problems of rows in text form: files of rows, and rows that an engine has answered.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use tools::compression::decode_text;

use super::{Check, Declared, EngineRows, Positions, Problem, RowSource, groups, numbers_of};
use crate::data::{Dataset, Source};
use crate::io::Storage;
use crate::model::centre::homogeneity;
use crate::model::text::{self, Text, TextError, TextRows};
use crate::progress::{Progress, Unit};

impl Problem {
    fn of_text(mut text: TextRows, storage: &Storage) -> Result<Self> {
        let check = Check::of(&mut text)?;
        let groups = groups::find(&text.groups, &text.rows);
        Ok(Problem {
            numbers: numbers_of(&text.parameters),
            powers: homogeneity(&text.model),
            groups: groups.numbers,
            grouping: groups.grouping,
            weights: Vec::new(),
            shifts: None,
            positions: None,
            source: None,
            check,
            description: String::new(),
            warnings: groups.warning.into_iter().collect(),
            storage: storage.clone(),
            text,
        })
    }

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
        Self::of_text(read(paths.iter().map(|path| open(path)), storage, accept, progress)?, storage)
    }

    /// Reads rows that an engine has answered, as [`Problem::read_rows`] reads files.
    ///
    /// # Errors
    /// As of [`Problem::read_rows`].
    pub fn read_engine_rows(
        rows: &EngineRows,
        storage: &Storage,
        accept: impl FnOnce(Declared<'_>) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let text = rows.text().with_context(|| format!("{}: cannot be read", rows.name))?;
        let mut problem = Self::of_text(read([Ok((rows.name.clone(), text))], storage, accept, progress)?, storage)?;
        problem.check.iter_mut().try_for_each(|check| rows.name_rows(check))?;
        // Warnings about groups are for authors who number them. These groups are the games of the data.
        problem.warnings = rows.warnings();
        Ok(problem)
    }

    /// Adds the positions of the rows, all except those `without` a row, and the engine that answered them.
    pub(super) fn with_positions(self, dataset: Arc<Dataset>, without: &[usize], source: Arc<dyn RowSource>) -> Self {
        let positions = Some(Positions::new(Arc::clone(&dataset), without));
        Problem { grouping: dataset.grouping(), positions, source: Some(source), ..self }
    }
}

fn read(
    texts: impl IntoIterator<Item = Result<Text>>,
    storage: &Storage,
    accept: impl FnOnce(Declared<'_>) -> Result<()>,
    progress: &dyn Progress,
) -> Result<TextRows> {
    progress.begin("reading", 0, Unit::Iterations);
    let accept = |parameters: &_, model: &_| accept(Declared { parameters, model });
    let text = text::read(texts, accept, storage);
    progress.end();
    text
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
