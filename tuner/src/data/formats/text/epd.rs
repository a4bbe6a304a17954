//! Results and scores in the operations of EPD lines.
//!
//! The operation `c9` holds the result if it is present. Otherwise, the result is in the only operation with values
//! that are all written like results of games, such as `c1 1/2-1/2;` of pgn-extract. If several operations qualify, a
//! flag must name one.

use std::collections::BTreeMap;

use engine::chess::Position;

use super::{LabelStyle, Labelled, RecordError, no_result, outcome_of, unknown_result};
use crate::data::label::{Label, LabelOptions, group_of};
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
    let is_usual = || labels.result_in.is_none() && lines().any(|line| line.contains(" c9 "));
    let name = match &labels.result_in {
        Some(name) => Some(name.clone()),
        None if is_usual() => Some(USUAL.to_owned()),
        None => written_like_results(lines())?,
    };
    let Some(name) = name else { return Ok(None) };
    let values: Vec<String> =
        lines().take(LINES).flat_map(of_line).filter(|(code, _)| *code == name).map(|(_, value)| value).collect();
    if values.is_empty() {
        // The name may be that of a column.
        return Ok(is_usual().then_some((name, Results::Words)));
    }
    let results = labels.results_of(values.iter().map(String::as_str));
    let results = results.map_err(|fault| format!("operation {name}: {fault}"))?;
    Ok(Some((name, results.unwrap_or(Results::Words))))
}

fn of_line(line: &str) -> Vec<Operation<'_>> {
    let read = Position::from_fen_prefix(line).ok().and_then(|(_, rest)| operations(rest).ok());
    read.unwrap_or_default()
}

/// Finds the only operation with values that are all written as `1-0`, `0-1` or `1/2-1/2`.
fn written_like_results<'t>(lines: impl Iterator<Item = &'t str>) -> Result<Option<String>, String> {
    let (mut values, mut is_result) = (BTreeMap::new(), BTreeMap::new());
    for (opcode, value) in lines.take(LINES).flat_map(of_line) {
        *is_result.entry(opcode.to_owned()).or_insert(true) &= ResultLabel::of_result(&value).is_some();
        values.entry(opcode.to_owned()).or_insert_with(Vec::new).push(value);
    }
    let found: Vec<String> = is_result.into_iter().filter(|(_, is_result)| *is_result).map(|(name, _)| name).collect();
    let are_equal = found.iter().all(|name| values[name] == values[&found[0]]);
    match &found[..] {
        [] => Ok(None),
        [first, ..] if are_equal => Ok(Some(first.clone())),
        _ => Err(format!("the operations {} could all be the result; --result-in NAME says which", found.join(", "))),
    }
}

/// Parses the position and label of a line.
pub(super) fn read(line: &str, opcode: &str, style: &LabelStyle, labels: &LabelOptions) -> Labelled {
    let (position, text) = Position::from_fen_prefix(line)?;
    let outcome = |result| outcome_of(result, style, labels, &position).ok_or_else(|| unknown_result(result, style));
    // Fast path: most lines have no other operation.
    if let Some(result) = text.strip_prefix("c9 \"").and_then(|rest| rest.strip_suffix("\";"))
        && opcode == USUAL
        && !result.contains('"')
    {
        let label = Label::new(outcome(result)?, group_of(None, &position));
        return Ok((position, label));
    }
    let operations = operations(text)?;
    let result = value_of(&operations, opcode)?.ok_or_else(|| no_result(style))?;
    let outcome = outcome(result)?;
    let score_in = labels.score_in.as_deref().unwrap_or("ce");
    // The standard defines `ce` in the view of the side to move.
    let side = match (&labels.score_in, labels.score_view) {
        (None, None) => position.side_to_move(),
        _ => labels.score_side(&position),
    };
    let score = labels.score(value_of(&operations, score_in)?, side)?;
    let game = if opcode == "c0" { None } else { value_of(&operations, "c0")? };
    let group = group_of(game, &position);
    Ok((position, Label { outcome, score, group }))
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
