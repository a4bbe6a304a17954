//! Lines of a FEN and a label, in the styles that exist in the wild.
//!
//! * `FEN c9 "1-0";`: an EPD whose operation `c9` is the result, White's, as in quiet_labeled.epd; the operation `c0` may
//!   name the game, and `ce` give a score in the view of the side to move, as `arena datagen` writes them;
//! * `FEN [1.0]` or `FEN; [1.0]`: points in brackets, perhaps with a score behind them;
//! * columns: see [`table`](super::table).
//!
//! Points may be a share of the point, such as 0.62: the result that is expected.
//!
//! The FEN has four or six fields. A file uses one style throughout; blank lines and lines that begin with `#` say
//! nothing.

use std::ops::ControlFlow;

use engine::chess::epd::{Epd, EpdError};
use engine::chess::{Color, Position};
use memchr::{memchr, memmem};
use serde::{Deserialize, Serialize};

use super::table::Table;
use super::{Format, Reader, Record, RecordError, Sample, Sink};
use crate::data::label::{Label, LabelView, Outcome, group_of_game, group_of_position};
use crate::data::{BadRecord, DatasetError, ReadOptions};

/// What a text begins with if its editor put it there.
pub(super) const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// Bytes of the longest line.
const LONGEST: usize = 1 << 16;

/// How a file writes labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelStyle {
    /// `c9 "1-0";`
    Epd,
    /// `[1.0]`
    Points,
    /// Columns.
    Table(Table),
}

impl LabelStyle {
    fn example(self) -> &'static str {
        match self {
            LabelStyle::Epd => "`c9 \"1-0\";`, `c9 \"0-1\";` or `c9 \"1/2-1/2\";`, or a share such as `c9 \"0.62\";`",
            LabelStyle::Points => "`[1.0]`, `[0.5]` or `[0.0]`, or a share such as `[0.62]`",
            LabelStyle::Table(table) => table.results.example(),
        }
    }
}

/// The error of a line without a result in the style of its file.
fn no_result(style: LabelStyle) -> RecordError {
    RecordError::new("no result", format!("no result: expected {}", style.example()))
}

/// The error of a result that is none of the three.
pub(super) fn unknown_result(found: &str, style: LabelStyle) -> RecordError {
    let (example, about) = (style.example(), about_share(found));
    RecordError::new("unknown result", format!("unknown result `{found}`: expected {example}{about}"))
}

/// What there is to say of a number that may be a share of the point, but not where it stands.
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

/// The line without its end and surrounding blanks; `None` if it says nothing.
fn content(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    (!line.is_empty() && line[0] != b'#').then_some(line)
}

/// The lines that say something and are text.
fn contents(text: &[u8]) -> impl Iterator<Item = &str> + Clone {
    text.split(|&byte| byte == b'\n').filter_map(content).filter_map(|line| std::str::from_utf8(line).ok())
}

/// Whether a line begins like a FEN, whatever else is wrong with it.
pub(super) fn begins_like_fen(line: &str) -> bool {
    let board = line.split_ascii_whitespace().next().unwrap_or_default();
    board.contains('/') && board.bytes().all(|byte| b"/12345678PNBRQKpnbrqk".contains(&byte))
}

/// The reader of a text that begins like this, by the first line that has a result; none if no line has one.
pub(super) fn detect(name: &str, head: &[u8], options: &ReadOptions) -> Result<Option<Box<dyn Reader>>, DatasetError> {
    let reader = |style| Ok(Some(Box::new(TextReader { style, view: options.view }) as Box<dyn Reader>));
    let old = contents(head).filter(|line| begins_like_fen(line)).find_map(|line| {
        if line.contains(" c9 ") {
            return Some(LabelStyle::Epd);
        }
        let (_, label) = line.split_once('[')?;
        label.contains(']').then_some(LabelStyle::Points)
    });
    if let Some(style) = old {
        return reader(style);
    }
    match Table::detect(contents(head), options.results) {
        Ok(Some(table)) => reader(LabelStyle::Table(table)),
        Ok(None) => Ok(None),
        Err(fault) => Err(DatasetError::Refused(format!("{name}: {fault}"))),
    }
}

/// Why a text that begins like this is in no style: what is wrong with the first line that says something, in the style
/// that it looks most like.
pub(super) fn fault(name: &str, head: &[u8]) -> DatasetError {
    let mut lines = head.split(|&byte| byte == b'\n').zip(1..);
    let Some((line, number)) = lines.find(|(line, _)| content(line).is_some()) else {
        return DatasetError::Refused(format!("{name}: no positions"));
    };
    let looks_like = |sign: &[u8]| memmem::find(line, sign).is_some();
    let style = match (looks_like(b" c9 "), looks_like(b"[")) {
        (true, _) => Some(LabelStyle::Epd),
        (_, true) => Some(LabelStyle::Points),
        _ => None,
    };
    let read = style.and_then(|style| read_line(line, style, LabelView::default()));
    let error = read.and_then(Result::err).unwrap_or_else(|| {
        RecordError::new("unknown style", "no result like `c9 \"1-0\";`, `[1.0]` or `; 1-0` after a FEN")
    });
    let bad = BadRecord { file: name.to_owned(), record: Record::Line, number, error, excerpt: excerpt(line) };
    DatasetError::BadRecord { bad: Box::new(bad), skipped: 0 }
}

/// Reads texts in one style.
pub(super) struct TextReader {
    style: LabelStyle,
    view: LabelView,
}

impl Reader for TextReader {
    fn format(&self) -> Format {
        Format::Text(self.style)
    }

    fn longest_record(&self) -> usize {
        LONGEST
    }

    fn chunk_end(&self, bytes: &[u8], least: usize) -> Option<usize> {
        Some(least + memchr(b'\n', bytes.get(least..)?)? + 1)
    }

    fn read(&self, part: &[u8], sink: &mut dyn Sink) -> u32 {
        let (mut lines, mut rest) = (0, part);
        while !rest.is_empty() {
            let line;
            (line, rest) = rest.split_at(memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1));
            let flow = match read_line(line, self.style, self.view) {
                None => ControlFlow::Continue(()),
                Some(Ok((position, label))) => {
                    sink.sample(lines, &Sample { position, label, best: None });
                    ControlFlow::Continue(())
                }
                Some(Err(error)) => sink.fault(lines, error, excerpt(line)),
            };
            lines += 1;
            if flow.is_break() {
                break;
            }
        }
        lines
    }
}

/// Reads a line; `None` if it says nothing.
fn read_line(line: &[u8], style: LabelStyle, view: LabelView) -> Option<Result<(Position, Label), RecordError>> {
    let line = content(line)?;
    if line.len() > LONGEST {
        return Some(Err(RecordError::new("long line", format!("longer than {LONGEST} bytes"))));
    }
    let Ok(line) = std::str::from_utf8(line) else {
        return Some(Err(RecordError::new("not text", "not valid UTF-8")));
    };
    match style {
        LabelStyle::Table(table) => table.read(line, view),
        _ => Some(read_content(line, style, view)),
    }
}

fn read_content(line: &str, style: LabelStyle, view: LabelView) -> Result<(Position, Label), RecordError> {
    let (position, text) = match style {
        LabelStyle::Points => position_and_points(line)?,
        _ => Position::from_fen_prefix(line)?,
    };
    let label = match style {
        LabelStyle::Epd => match text.strip_prefix("c9 \"").and_then(|rest| rest.strip_suffix("\";")) {
            Some(result) if !result.contains('"') => Label::new(game_result(result)?, group_of_position(&position)),
            _ => label_of_operations(line, &position)?,
        },
        _ => {
            let (outcome, score) = points(text)?;
            let side = view.side(&position);
            let outcome = side.choose(outcome, outcome.flipped());
            let score = score.map(|score| side.choose(score, -score));
            Label { score, ..Label::new(outcome, group_of_position(&position)) }
        }
    };
    Ok((position, label))
}

/// The position of a line and what stands behind it, from the bracket on. A semicolon, bar or comma may part them.
fn position_and_points(line: &str) -> Result<(Position, &str), RecordError> {
    let end = line.find('[').unwrap_or(line.len());
    let before = line[..end].trim_ascii_end();
    let fen = before.strip_suffix([';', '|', ',']).unwrap_or(before);
    let (position, rest) = Position::from_fen_prefix(fen)?;
    Ok((position, if rest.is_empty() { &line[end..] } else { rest }))
}

/// A result as games are written, or White's points: with a decimal point, without which 0 may be a draw elsewhere.
fn game_result(result: &str) -> Result<Outcome, RecordError> {
    let points = || result.parse().ok().filter(|_| result.contains('.')).and_then(Outcome::of_points);
    Outcome::of_result(result).or_else(points).ok_or_else(|| unknown_result(result, LabelStyle::Epd))
}

fn label_of_operations(line: &str, position: &Position) -> Result<Label, RecordError> {
    let epd = Epd::parse(line).map_err(|error| match error {
        EpdError::Fen(error) => error.into(),
        error => RecordError::new("malformed operation", error.to_string()),
    })?;
    let result = said(&epd, "c9")?.ok_or_else(|| no_result(LabelStyle::Epd))?;
    let outcome = game_result(&result)?;
    let mover = said(&epd, "ce")?.map(|score| centipawns(&score)).transpose()?;
    let score = mover.map(|score| if position.side_to_move() == Color::White { score } else { -score });
    let group = match said(&epd, "c0")? {
        Some(game) => group_of_game(game.as_bytes()),
        None => group_of_position(position),
    };
    Ok(Label { outcome, score, group })
}

/// What an operation says, if it is there; where it is there several times, all must say the same.
fn said(epd: &Epd, opcode: &'static str) -> Result<Option<String>, RecordError> {
    let operations = epd.operations.iter().filter(|operation| operation.opcode == opcode);
    let mut all = operations.map(|operation| operation.operands.join(" "));
    let Some(first) = all.next() else { return Ok(None) };
    match all.find(|other| *other != first) {
        Some(second) => {
            let message = format!("two operations `{opcode}`: `{first}` and `{second}`");
            Err(RecordError::new("contradicting operations", message))
        }
        None => Ok(Some(first)),
    }
}

/// A score within the range of an evaluation or a mate.
pub(super) fn centipawns(text: &str) -> Result<i16, RecordError> {
    match text.parse::<f64>() {
        Ok(score) if score.abs() <= 32_000.0 => Ok(score.round() as i16),
        _ => {
            let message = format!("score `{text}`: expected centipawns, a number from -32000 to 32000");
            Err(RecordError::new("unknown score", message))
        }
    }
}

fn points(label: &str) -> Result<(Outcome, Option<i16>), RecordError> {
    let style = LabelStyle::Points;
    let inside = label.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (points, rest) = inside.ok_or_else(|| no_result(style))?;
    let outcome = points.trim_ascii().parse().ok().and_then(Outcome::of_points);
    let outcome = outcome.ok_or_else(|| unknown_result(&format!("[{points}]"), style))?;
    let rest = rest.trim_ascii();
    if rest.is_empty() {
        return Ok((outcome, None));
    }
    if rest.parse::<f64>().is_err() {
        let message = format!("unexpected `{rest}` after the result");
        return Err(RecordError::new("text after the result", message));
    }
    Ok((outcome, Some(centipawns(rest)?)))
}

/// A line for an error message: printable, and not too long.
pub(super) fn excerpt(line: &[u8]) -> String {
    const LENGTH: usize = 120;
    common::text::excerpt(&String::from_utf8_lossy(line.trim_ascii()), LENGTH)
}

#[cfg(test)]
mod tests;
