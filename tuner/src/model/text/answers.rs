//! The reader of an engine's answers: rows of positions.
//!
//! The engine reads one FEN per line. It writes, in the format of [`super`], its declarations up to the line `rows`,
//! without the columns `result`, `group` and `search`, which the data provide. Then it writes for each FEN a row
//! without these columns, or `skip REASON`. Parameters of sums may also be declared behind the line `rows`, before
//! their first use. They get the next indices.

use std::io::BufRead;

use anyhow::Result;

use super::Parameter;
use super::gather::{Gather, RowLabels};
use super::header::Header;
use super::lines::LineReader;
use super::merge::ProcessRows;
use crate::data::io::Storage;
use crate::model::formula::brief;

/// A reader of the output of one process of an engine.
pub(crate) struct Answers<'t> {
    lines: LineReader<'t>,
    header: Header,
    gather: Gather,
    /// True if parameters were declared since the last row.
    has_new_parameters: bool,
}

/// The answer to a position.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    /// A row, with its score if the engine has a column for it.
    Row(Option<f32>),
    /// No row, with the reason.
    Skip(String),
}

impl<'t> Answers<'t> {
    /// Reads the declarations of an engine up to the line `rows`; messages call the engine `file`. Rows are kept in
    /// `storage`.
    pub(crate) fn open(file: &'t str, text: &'t mut dyn BufRead, storage: &Storage) -> Result<Self> {
        let mut lines = LineReader::new(file, text);
        let mut header = Header::default();
        header.is_of_engine = true;
        let model = header.open(&mut lines)?;
        Ok(Answers { gather: Gather::undivided(&header, model, storage), lines, header, has_new_parameters: false })
    }

    /// Reads the answer to a position. A row is kept if the `labels` of the position are given.
    pub(crate) fn answer(&mut self, labels: Option<RowLabels>) -> Result<Answer> {
        let (header, gather) = (&mut self.header, &mut self.gather);
        loop {
            if !self.lines.advance()? {
                return Err(self.lines.fault("the engine has ended"));
            }
            let (line, place) = self.lines.text()?;
            if line.starts_with("pair ") || line.starts_with("single ") {
                header.declare((line, place)).map_err(|error| self.lines.fault_in_header(error))?;
                self.has_new_parameters = true;
            } else if let Some(reason) =
                line.strip_prefix("skip").filter(|rest| rest.is_empty() || rest.starts_with(' '))
            {
                return Ok(Answer::Skip(brief(reason.trim_ascii()).escape_debug().to_string()));
            } else {
                if std::mem::take(&mut self.has_new_parameters) {
                    let model = header.model(place).map_err(|error| self.lines.fault_in_header(error))?;
                    gather.extend(header, model);
                }
                return gather.read_labelled(header, line, labels, &self.lines).map(Answer::Row);
            }
        }
    }

    /// Returns the parameters declared so far.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.header.parameters
    }

    /// Returns the rows that were kept.
    pub(crate) fn finish(self) -> Result<ProcessRows> {
        ProcessRows::new(self.header.lines, self.gather)
    }

    /// Returns true if the output of the engine has ended.
    pub(crate) fn is_over(&mut self) -> Result<bool> {
        Ok(!self.lines.advance()?)
    }
}
