//! Lines of a FEN and a label, in the styles in common use.
//!
//! * `FEN c9 "1-0";`: an EPD line with the result in an operation, mostly `c9`; see [`epd`]. The operation `c0` may
//!   name the game, and `ce` give a score in the view of the side to move, as written by `arena datagen`;
//! * `FEN [1.0]` or `FEN; [1.0]`: a result in brackets, optionally followed by a score;
//! * columns: see [`ColumnLayout`].
//!
//! Points may be an expected result: a share of the point such as 0.62.
//!
//! The FEN has four or six fields. A file uses one style throughout. Blank lines and lines that begin with `#` are
//! ignored.

mod epd;
mod table;

use std::borrow::Cow;

use engine::chess::Position;
use memchr::memchr;

use super::{Reader, Record, Sample, Sink};
use crate::data::label::LabelOptions;
use crate::data::outcome::ResultLabel;
use crate::data::record_error::RecordError;
use crate::data::results::Results;
use crate::data::{BadRecord, DatasetError, Place, ReadOptions};
use table::ColumnLayout;

/// The byte order mark that some editors put at the beginning of a text.
pub(super) const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Bytes of the longest line.
const LONGEST: usize = 1 << 16;

/// The style of the labels of a file: their place, and the notation of the results.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LabelStyle {
    layout: Layout,
    results: Results,
}

/// The place of the labels in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    /// An operation, by its opcode: `c9 "1-0";`
    Epd(Cow<'static, str>),
    /// A result in brackets: `[1.0]`
    Brackets,
    /// Columns.
    Table(ColumnLayout),
}

impl LabelStyle {
    fn example(&self) -> String {
        match (&self.layout, self.results) {
            (Layout::Epd(name), Results::Words) => {
                format!(
                    "`{name} \"1-0\";`, `{name} \"0-1\";` or `{name} \"1/2-1/2\";`, or a share such as `{name} \"0.62\";`"
                )
            }
            (Layout::Brackets, Results::Points) => {
                "`[1.0]`, `[0.5]` or `[0.0]`, or a share such as `[0.62]`".to_owned()
            }
            (_, results) => results.example().to_owned(),
        }
    }
}

/// Returns the error of a line without a result in the style of its file.
fn no_result(style: &LabelStyle) -> RecordError {
    RecordError::new("no result", format!("no result: expected {}", style.example()))
}

/// Returns the error of an unknown result.
fn unknown_result(found: &str, style: &LabelStyle) -> RecordError {
    let (example, about) = (style.example(), about_share(found));
    RecordError::new("unknown result", format!("unknown result `{found}`: expected {example}{about}"))
}

/// Returns a hint for a number that looks like a share of the point or a percentage; empty for other texts.
fn about_share(found: &str) -> &'static str {
    match found.trim_matches(['[', ']', '%']).parse::<f64>() {
        Ok(share) if share > 0.0 && share < 1.0 => {
            "; beside shares of the point, such as 0.62, wins, draws and losses are written as 1, 0.5 and 0"
        }
        Ok(share) if (1.0..=100.0).contains(&share) => {
            "; a share of the point is a number from 0 to 1, not a percentage"
        }
        _ => "",
    }
}

/// Returns the line without its end and surrounding blanks; `None` for blank lines and comments.
fn content(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    (!line.is_empty() && line[0] != b'#').then_some(line)
}

/// Decodes UTF-8, or ISO 8859-1 if it is invalid: names of players are not needed, so their encoding costs no position.
fn decoded(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => line.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Returns the lines that have content and are valid UTF-8.
fn contents(text: &[u8]) -> impl Iterator<Item = &str> + Clone {
    text.split(|&byte| byte == b'\n').filter_map(content).filter_map(|line| std::str::from_utf8(line).ok())
}

/// Returns true if a line begins with the board of a FEN, regardless of its other fields.
fn begins_like_fen(line: &str) -> bool {
    let board = line.split_ascii_whitespace().next().unwrap_or_default();
    board.contains('/') && board.bytes().all(|byte| b"/12345678PNBRQKpnbrqk".contains(&byte))
}

/// Returns the reader of a text with this beginning; `None` if no line has a result.
pub(super) fn detect(name: &str, head: &[u8], options: &ReadOptions) -> Result<Option<Box<dyn Reader>>, DatasetError> {
    let style = detect_style(head, &options.labels);
    let style = style.map_err(|fault| DatasetError::Refused(format!("{name}: {fault}")))?;
    let labels = options.labels.clone();
    Ok(style.map(|style| Box::new(TextReader { style, labels }) as Box<dyn Reader>))
}

fn detect_style(head: &[u8], labels: &LabelOptions) -> Result<Option<LabelStyle>, String> {
    let lines = || contents(head).filter(|line| begins_like_fen(line));
    if let Some((opcode, results)) = epd::detect(lines, labels)? {
        return Ok(Some(LabelStyle { layout: Layout::Epd(opcode.into()), results }));
    }
    let in_brackets = || {
        lines()
            .filter(|line| line.contains('['))
            .filter_map(|line| position_and_label(line).ok())
            .filter_map(|(_, label)| bracketed(label))
    };
    if labels.result_in.is_none()
        && let Some(results) = labels.results_of(in_brackets().map(|(result, _)| result))?
    {
        return Ok(Some(LabelStyle { layout: Layout::Brackets, results }));
    }
    let table = ColumnLayout::detect(contents(head), labels)?;
    Ok(table.map(|(table, results)| LabelStyle { layout: Layout::Table(table), results }))
}

/// Returns the error of a text in no known style: that of its first line with content.
pub(super) fn fault(name: &str, head: &[u8]) -> DatasetError {
    let mut lines = head.split(|&byte| byte == b'\n').zip(1..);
    let Some((line, number)) = lines.find(|(line, _)| content(line).is_some()) else {
        return DatasetError::Refused(format!("{name}: no positions"));
    };
    let text = decoded(content(line).unwrap_or_default());
    let none = "no result like `c9 \"1-0\";`, `[1.0]` or `; 1-0` after a FEN";
    let error = match Position::from_fen_prefix(&text) {
        Err(error) if text.contains('/') => error.into(),
        Ok((_, rest)) if !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()) => {
            RecordError::new("malformed FEN", format!("a FEN of five fields, expected four or six, and {none}"))
        }
        _ => RecordError::new("unknown style", none),
    };
    let place = Place { file: name.to_owned(), record: Record::Line, number };
    DatasetError::BadRecord { bad: Box::new(BadRecord { place, error: error.about(line) }), skipped: 0 }
}

/// A reader of texts in one style.
pub(super) struct TextReader {
    style: LabelStyle,
    labels: LabelOptions,
}

impl TextReader {
    /// Reads a line; `None` if it has no content.
    fn read_line(&self, line: &[u8]) -> Option<Result<Sample, RecordError>> {
        let line = content(line)?;
        if line.len() > LONGEST {
            return Some(Err(RecordError::new("long line", format!("longer than {LONGEST} bytes"))));
        }
        let line = &decoded(line);
        match &self.style.layout {
            Layout::Table(table) => table.read(line, self),
            Layout::Epd(opcode) => Some(epd::read(line, opcode, self)),
            Layout::Brackets => Some(self.read_brackets(line)),
        }
    }

    fn read_brackets(&self, line: &str) -> Result<Sample, RecordError> {
        let (position, label) = position_and_label(line)?;
        let (result, rest) = bracketed(label).ok_or_else(|| no_result(&self.style))?;
        let outcome = self.outcome(result, self.style.results, &position);
        let outcome = outcome.ok_or_else(|| unknown_result(&format!("[{result}]"), &self.style))?;
        if !rest.is_empty() && rest.parse::<f64>().is_err() {
            let message = format!("unexpected `{rest}` after the result");
            return Err(RecordError::new("text after the result", message));
        }
        self.labels.sample(position, outcome, (!rest.is_empty()).then_some((rest, self.labels.score_view())), None)
    }

    /// Parses a result in a notation or in that of games, and converts it to White's view.
    fn outcome(&self, text: &str, results: Results, position: &Position) -> Option<ResultLabel> {
        ResultLabel::of_result(text).or_else(|| self.labels.outcome(text, results, position))
    }
}

impl Reader for TextReader {
    fn unit(&self) -> (Record, usize) {
        (Record::Line, LONGEST)
    }

    fn record_end(&self, bytes: &[u8]) -> Option<usize> {
        Some(memchr(b'\n', bytes)? + 1)
    }

    fn chunk_end(&self, bytes: &[u8], least: usize) -> Option<usize> {
        Some(least + self.record_end(bytes.get(least..)?)?)
    }

    fn read_record(&self, line: &[u8], number: &mut u32, sink: &mut dyn Sink) -> Result<(), RecordError> {
        if let Some(read) = self.read_line(line) {
            sink.sample(*number, &read.map_err(|error| error.about(line))?);
        }
        *number += 1;
        Ok(())
    }
}

/// Parses the position of a line, and returns it with the text from the bracket on. A semicolon, bar or comma may
/// separate the two.
fn position_and_label(line: &str) -> Result<(Position, &str), RecordError> {
    let end = line.find('[').unwrap_or(line.len());
    let before = line[..end].trim_ascii_end();
    let fen = before.strip_suffix([';', '|', ',']).unwrap_or(before);
    let (position, rest) = Position::from_fen_prefix(fen)?;
    Ok((position, if rest.is_empty() { &line[end..] } else { rest }))
}

/// Splits a label that begins with brackets into the text inside and the text after them.
fn bracketed(label: &str) -> Option<(&str, &str)> {
    let (inside, rest) = label.strip_prefix('[')?.split_once(']')?;
    let unquoted = inside.trim_ascii().trim_matches('"');
    Some((unquoted, rest.trim_ascii().trim_matches([';', ',', '|']).trim_ascii()))
}

#[cfg(test)]
mod tests;
