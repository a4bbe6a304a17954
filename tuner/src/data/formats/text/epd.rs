//! Results and scores in the operations of EPD lines.
//!
//! The operation `c9` holds the result if it is present. Otherwise, the result is in the only operation with values
//! that are all written like results of games, such as `c1 1/2-1/2;` of pgn-extract. If several operations qualify, a
//! flag must name one.

use std::collections::BTreeMap;

use engine::chess::Position;

use super::{RecordError, Sample, TextReader, no_result, unknown_result};
use crate::data::label::{LabelOptions, LabelView};
use crate::data::outcome::ResultLabel;
use crate::data::results::Results;

/// The result operation of quiet_labeled.epd and of files in its style.
pub(super) const USUAL: &str = "c9";

/// The number of lines that are examined to find the result operation.
const LINES: usize = 1000;

/// An operation: its opcode, and its operands without quotation marks.
type Operation<'t> = (&'t str, String);

/// Parses the operations after a FEN. The last one may lack its semicolon. If the number of quotation marks is odd,
/// every semicolon ends an operation.
fn operations(text: &str) -> Result<Vec<Operation<'_>>, RecordError> {
    let is_even = text.matches('"').count().is_multiple_of(2);
    let mut is_quoted = false;
    let parts = text.split(|c| {
        is_quoted ^= c == '"';
        c == ';' && !(is_quoted && is_even)
    });
    let mut operations = Vec::new();
    for part in parts.map(str::trim_ascii).filter(|part| !part.is_empty()) {
        let (opcode, operands) = part.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((part, ""));
        if opcode.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let words: Vec<&str> = operands.split('"').map(str::trim_ascii).filter(|word| !word.is_empty()).collect();
            operations.push((opcode, words.join(" ")));
        } else if is_even {
            return Err(RecordError::new("malformed operation", format!("`{opcode}` is not an opcode")));
        }
    }
    Ok(operations)
}

/// Finds the operation that holds the results of some lines, and the style of the results.
///
/// # Errors
/// If several operations qualify, or if the results are ambiguous.
pub(super) fn detect<'t, I>(lines: impl Fn() -> I, labels: &LabelOptions) -> Result<Option<(String, Results)>, String>
where
    I: Iterator<Item = &'t str>,
{
    let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (opcode, value) in lines().take(LINES).flat_map(of_line) {
        values.entry(opcode).or_default().push(value);
    }
    let is_usual = labels.result_in.is_none() && lines().any(|line| line.contains(" c9 "));
    let name = match &labels.result_in {
        Some(name) => name,
        None if is_usual => USUAL,
        None => match written_like_results(&values)? {
            Some(name) => name,
            None => return Ok(None),
        },
    };
    let Some(values) = values.get(name) else {
        // The name may be that of a column.
        return Ok(is_usual.then(|| (name.to_owned(), Results::Words)));
    };
    let results = labels.results_of(values.iter().map(String::as_str));
    let results = results.map_err(|fault| format!("operation {name}: {fault}"))?;
    Ok(Some((name.to_owned(), results.unwrap_or(Results::Words))))
}

fn of_line(line: &str) -> Vec<Operation<'_>> {
    let read = Position::from_fen_prefix(line).ok().and_then(|(_, rest)| operations(rest).ok());
    read.unwrap_or_default()
}

/// Finds the only operation with values that are all written as `1-0`, `0-1` or `1/2-1/2`.
fn written_like_results<'t>(values: &BTreeMap<&'t str, Vec<String>>) -> Result<Option<&'t str>, String> {
    let is_result = |values: &[String]| values.iter().all(|value| ResultLabel::of_result(value).is_some());
    let found: Vec<&str> = values.iter().filter(|(_, values)| is_result(values)).map(|(name, _)| *name).collect();
    match &found[..] {
        [] => Ok(None),
        [first, others @ ..] if others.iter().all(|name| values[name] == values[first]) => Ok(Some(first)),
        _ => Err(format!("the operations {} could all be the result; --result-in NAME says which", found.join(", "))),
    }
}

/// Parses the position and label of a line.
pub(super) fn read(line: &str, opcode: &str, reader: &TextReader) -> Result<Sample, RecordError> {
    let TextReader { style, labels } = reader;
    let (position, text) = Position::from_fen_prefix(line)?;
    let outcome = |result: &str| {
        // Shares of the point stand beside words. They have a decimal point: without one, 0 may be a draw elsewhere.
        let is_share = style.results == Results::Words && result.contains('.');
        let results = if is_share { Results::Points } else { style.results };
        reader.outcome(result, results, &position).ok_or_else(|| unknown_result(result, style))
    };
    // Fast path: most lines have no other operation.
    if let Some(result) = text.strip_prefix("c9 \"").and_then(|rest| rest.strip_suffix("\";"))
        && opcode == USUAL
        && !result.contains('"')
    {
        let outcome = outcome(result)?;
        return labels.sample(position, outcome, None, None);
    }
    let operations = operations(text)?;
    let result = value_of(&operations, opcode)?.ok_or_else(|| no_result(style))?;
    let outcome = outcome(result)?;
    // The standard defines `ce` in the view of the side to move.
    let (score_in, view) = match &labels.score_in {
        None => ("ce", labels.score_view.unwrap_or(LabelView::Mover)),
        Some(name) => (&name[..], labels.score_view()),
    };
    let score = value_of(&operations, score_in)?.map(|score| (score, view));
    let game = if opcode == "c0" { None } else { value_of(&operations, "c0")? };
    labels.sample(position, outcome, score, game)
}

/// Returns the value of an operation, if it is present. Repeated operations must have the same value.
fn value_of<'o>(operations: &'o [Operation<'_>], opcode: &str) -> Result<Option<&'o str>, RecordError> {
    let mut all = operations.iter().filter(|(name, _)| *name == opcode).map(|(_, value)| value.as_str());
    let Some(first) = all.next() else { return Ok(None) };
    match all.find(|other| *other != first) {
        Some(second) => {
            let message = format!("two operations `{opcode}`: `{first}` and `{second}`");
            Err(RecordError::new("contradicting operations", message))
        }
        None => Ok(Some(first)),
    }
}
